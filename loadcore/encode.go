package loadcore

import (
	"net"

	"leveret/loadcore/wire"
)

// batchBytes bounds a batch that is written at once: about what a socket takes in one go.
const batchBytes = 64 << 10

// encoder holds the frames of one producer's messages, encoded once: per message only the stamp in the body is patched.
// Where more differs the frames are put together message by message (assembler).
//
// Messages up to batchBytes lie one behind the other in buf, which grows with the batches that happen, to batchBytes at
// most. Larger ones are written one at a time from pieces (pieces), whose filler is shared by all producers of the process.
type encoder struct {
	stamper *stamper
	one     []byte // the frames of one message
	body    int    // offset of the body in one
	stamped int    // bytes of the body that the stamp may take
	copies  int    // messages in buf
	buf     []byte
	pieces  *pieces
	asm     *assembler // for messages that differ in more than that; then most alone of the others is used
	most    int        // messages in a batch
}

// newEncoder is for messages of size bytes, at least StampSize, published with publish, a basic.publish frame, on the
// channel. most bounds the messages of a batch; 0: only batchBytes does.
func newEncoder(st *stamper, publish []byte, channel uint16, size int, props *wire.Properties, frameMax uint32, most int) *encoder {
	e := &encoder{stamper: st, stamped: min(size, StampDueSize), most: 1}
	head := wire.AppendHeader(publish, channel, uint64(size), props)
	payload := int(frameMax) - wire.FrameOverhead
	if frames := (size + payload - 1) / payload; len(head)+size+frames*wire.FrameOverhead > batchBytes {
		e.pieces = newPieces(st, head, channel, size, payload)
		return e
	}
	e.body = len(head) + wire.FrameOverhead - 1
	body := make([]byte, size)
	st.body(body[:e.stamped])
	e.one = wire.AppendBody(head, channel, body, frameMax)
	e.most = max(batchBytes/len(e.one), 1)
	if most > 0 {
		e.most = min(e.most, most)
	}
	return e
}

// bytes is the length of the frames of one message.
func (e *encoder) bytes() int {
	if e.pieces != nil {
		return e.pieces.total
	}
	return len(e.one)
}

// begun is how many of the messages written last began in the first bytes bytes.
func (e *encoder) begun(bytes int) int {
	if e.asm != nil {
		return e.asm.begun(bytes)
	}
	return (bytes + e.bytes() - 1) / e.bytes()
}

// fit is how many messages from seq on, at most most, make a batch.
func (e *encoder) fit(seq uint64, most int) int {
	most = min(most, e.most)
	if e.asm != nil {
		return e.asm.fit(seq, most)
	}
	return most
}

// stamp patches the next n messages, n at most most: first is the sequence of the first; due has n times, or is nil.
func (e *encoder) stamp(first uint64, n int, due []int64) {
	if e.pieces != nil {
		t := int64(0)
		if due != nil {
			t = due[0]
		}
		e.stamper.put(e.pieces.stamp, first, t)
		return
	}
	if n > e.copies {
		e.grow(n)
	}
	at := e.body
	for i := 0; i < n; i++ {
		t := int64(0)
		if due != nil {
			t = due[i]
		}
		e.stamper.put(e.buf[at:at+e.stamped], first+uint64(i), t)
		at += len(e.one)
	}
}

// grow makes room for n copies, and for up to twice as many, so that it is seldom called.
func (e *encoder) grow(n int) {
	want := min(max(2*e.copies, n), e.most)
	e.buf = make([]byte, 0, want*len(e.one))
	for range want {
		e.buf = append(e.buf, e.one...)
	}
	e.copies = want
}

// write puts the n messages that were stamped last into the socket, in one call; it returns the bytes that it took.
func (e *encoder) write(sock net.Conn, n int) (int, error) {
	switch {
	case e.pieces != nil:
		return e.pieces.write(sock)
	case e.asm != nil && e.asm.large:
		return e.asm.write(sock)
	}
	return sock.Write(e.frames(n))
}

// frames are the bytes of the n messages that were stamped last; nil where they are no single piece.
func (e *encoder) frames(n int) []byte {
	switch {
	case e.pieces != nil:
		return nil
	case e.asm != nil && e.asm.large:
		return nil
	case e.asm != nil:
		return e.asm.buf
	}
	return e.buf[:n*len(e.one)]
}

// pieces are the frames of one large message as slices for one writev: what differs from message to message is in stamp,
// everything else is constant.
//
//	publish, header, body head, stamp | filler | end, body head | filler | ... | end
type pieces struct {
	stamp []byte // of the first piece
	all   [][]byte
	left  net.Buffers // what the call under way has not written; WriteTo consumes it
	work  [][]byte
	total int
}

// filler is what bodies consist of. It is never written to.
var filler [128 << 10]byte

func newPieces(st *stamper, head []byte, channel uint16, size, payload int) *pieces {
	p := &pieces{}
	stamped := min(size, StampDueSize)
	first := appendBodyHead(head, channel, min(size, payload))
	first = append(first, make([]byte, stamped)...)
	p.stamp = first[len(first)-stamped : len(first) : len(first)]
	st.body(p.stamp)
	p.add(first)
	p.addFiller(min(size, payload) - stamped)
	for left := size - min(size, payload); left > 0; left -= min(left, payload) {
		p.add(appendBodyHead([]byte{wire.FrameEnd}, channel, min(left, payload)))
		p.addFiller(min(left, payload))
	}
	p.add([]byte{wire.FrameEnd})
	return p
}

func (p *pieces) add(b []byte) {
	p.all = append(p.all, b)
	p.total += len(b)
}

func (p *pieces) addFiller(n int) {
	for n > 0 {
		k := min(n, len(filler))
		p.add(filler[:k:k])
		n -= k
	}
}

// appendBodyHead appends the 7 bytes in front of a body frame's payload of n bytes.
func appendBodyHead(dst []byte, channel uint16, n int) []byte {
	return append(dst, wire.FrameBody, byte(channel>>8), byte(channel), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func (p *pieces) write(sock net.Conn) (int, error) {
	p.work = append(p.work[:0], p.all...)
	p.left = p.work
	n, err := p.left.WriteTo(sock)
	return int(n), err
}
