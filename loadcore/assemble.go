package loadcore

import (
	"encoding/binary"
	"hash/crc32"
	"net"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// assembler puts together the frames of messages that differ in more than a stamp at the beginning of the body: in route,
// routing key, size or body, or that carry their stamp in a header. Messages up to batchBytes lie one behind the other in
// buf; a larger one is written by itself, from pieces that alias the pool's bodies or the filler.
type assembler struct {
	channel   uint16
	payload   int // most bytes of a body in one frame
	mandatory bool
	routes    []manifest.Route // taken in turn
	longest   int              // bytes of the longest basic.publish frame
	keys      randomKeys
	header    []byte // the content header frame; body size, stamp and timestamp are patched
	stampAt   int    // offset of the stamp in header; 0: it is in the body
	timeAt    int    // offset of PerfTest's timestamp in header; 0: there is none
	identity  uint64 // of the stamp, without the sequence
	perfTest  bool   // the body begins as PerfTest writes it
	millis    bool   // PerfTest's times are milliseconds

	bodies []pooledBody // taken in turn; nil: zeros, of form's size
	course sizeCourse
	form   *sizeForm

	buf   []byte
	ends  []int // where in buf the messages end
	large bool  // what was put last is to be written from all
	all   net.Buffers
	left  net.Buffers // what the call under way has not written; WriteTo consumes it
	joint [2][8]byte  // end octet and head between the frames of a large body: full frames, the last one

	sizes  []uint32 // of the messages put last; only with bodies
	routed []uint16 // likewise; only where there are several routes
	first  uint16   // index of routes[0] in the topology
}

// sizeForm is what is the same for all bodies of one size that consist of a stamp and zeros.
type sizeForm struct {
	size int
	st   *stamper     // body stamp
	rest *constantSum // of what follows PerfTest's 12 bytes; nil: nothing does
	sum  uint32       // of a body that is all zeros
}

// contentBodySize is the offset of the body size in a content header frame.
const contentBodySize = wire.FrameOverhead - 1 + 4

// fit is how many messages from seq on, at most most, make a batch.
func (a *assembler) fit(seq uint64, most int) int {
	if a.bodies == nil {
		return min(most, max(batchBytes/a.length(a.form.size), 1))
	}
	total := 0
	for i := range most {
		total += a.length(len(a.body(seq + uint64(i)).data))
		if total > batchBytes {
			return max(i, 1)
		}
	}
	return most
}

// length bounds the bytes of a message's frames.
func (a *assembler) length(size int) int {
	frames := (size + a.payload - 1) / a.payload
	return a.longest + len(a.header) + size + frames*wire.FrameOverhead
}

func (a *assembler) body(seq uint64) *pooledBody { return &a.bodies[seq%uint64(len(a.bodies))] }

// put makes the frames of the next n messages, as many as fit allows: seq is the sequence of the first; due has n times, or
// is nil; now is the time that PerfTest's stamp tells.
func (a *assembler) put(seq uint64, n int, due []int64, now int64) {
	a.describe(seq, n)
	a.buf, a.ends, a.large = a.buf[:0], a.ends[:0], false
	if n == 1 && a.length(a.sizeOf(seq)) > batchBytes {
		a.gather(seq, dueAt(due, 0), now)
		return
	}
	for i := range n {
		a.append(seq+uint64(i), dueAt(due, i), now)
		a.ends = append(a.ends, len(a.buf))
	}
}

func dueAt(due []int64, i int) int64 {
	if due == nil {
		return event.None
	}
	return due[i]
}

// describe notes sizes and routes of n messages for the record.
func (a *assembler) describe(seq uint64, n int) {
	if a.bodies != nil {
		a.sizes = a.sizes[:0]
		for i := range n {
			a.sizes = append(a.sizes, uint32(len(a.body(seq+uint64(i)).data)))
		}
	}
	if len(a.routes) > 1 {
		a.routed = a.routed[:0]
		for i := range n {
			a.routed = append(a.routed, a.first+uint16((seq+uint64(i))%uint64(len(a.routes))))
		}
	}
}

func (a *assembler) sizeOf(seq uint64) int {
	if a.bodies != nil {
		return len(a.body(seq).data)
	}
	return a.form.size
}

// append appends the frames of one message to buf.
func (a *assembler) append(seq uint64, due, now int64) {
	headerAt := a.head(seq)
	if a.bodies != nil {
		b := a.body(seq)
		for rest := b.data; len(rest) > 0; {
			n := min(len(rest), a.payload)
			a.buf = append(appendBodyHead(a.buf, a.channel, n), rest[:n]...)
			a.buf = append(a.buf, wire.FrameEnd)
			rest = rest[n:]
		}
		a.stamp(headerAt, nil, b.sum, seq, due, now)
		return
	}
	begin := len(a.buf) + wire.FrameOverhead - 1 // of the body, behind its frame's head
	for left := a.form.size; left > 0; left -= min(left, a.payload) {
		n := min(left, a.payload)
		a.buf = append(appendBodyHead(a.buf, a.channel, n), filler[:n]...)
		a.buf = append(a.buf, wire.FrameEnd)
	}
	var lead []byte
	if n := a.lead(); n > 0 {
		lead = a.buf[begin : begin+n]
	}
	a.stamp(headerAt, lead, a.form.sum, seq, due, now)
}

// head appends basic.publish and the content header, and returns where the latter begins.
func (a *assembler) head(seq uint64) int {
	r := &a.routes[0]
	if len(a.routes) > 1 {
		r = &a.routes[seq%uint64(len(a.routes))]
	}
	if r.Random {
		a.buf = wire.AppendPublish(a.buf, a.channel, r.Exchange, anyKey, a.mandatory)
		end := len(a.buf) - publishTail
		a.keys.put(a.buf[end-len(anyKey):end], seq)
	} else {
		a.buf = wire.AppendPublish(a.buf, a.channel, r.Exchange, r.RoutingKey, a.mandatory)
	}
	at := len(a.buf)
	a.buf = append(a.buf, a.header...)
	binary.BigEndian.PutUint64(a.buf[at+contentBodySize:], uint64(a.sizeOf(seq)))
	return at
}

// publishTail is what follows the routing key in a basic.publish frame: the flags and the end octet.
const publishTail = 2

// lead is how many bytes at the beginning of a body differ from message to message.
func (a *assembler) lead() int {
	switch {
	case a.bodies != nil:
		return 0
	case a.stampAt == 0:
		return min(a.form.size, StampDueSize)
	case a.perfTest:
		return perfTestSize
	}
	return 0
}

// stamp stamps a message whose content header frame begins at headerAt. lead is the beginning of its body, and sum the
// checksum of all of it where lead is empty.
func (a *assembler) stamp(headerAt int, lead []byte, sum uint32, seq uint64, due, now int64) {
	if a.stampAt == 0 {
		a.form.st.body(lead)
		a.form.st.put(lead, seq, due)
		return
	}
	if a.perfTest {
		if a.millis {
			now /= 1_000_000
		}
		if len(lead) > 0 {
			binary.BigEndian.PutUint32(lead, uint32(seq)) // cut off as in PerfTest
			binary.BigEndian.PutUint64(lead[4:], uint64(now))
			if sum = crc32.Update(0, castagnoli, lead); a.form.rest != nil {
				sum = a.form.rest.update(sum)
			}
		}
		if a.timeAt > 0 {
			binary.BigEndian.PutUint64(a.buf[headerAt+a.timeAt:], uint64(now))
		}
	}
	at := headerAt + a.stampAt
	putHeaderStamp(a.buf[at:at+StampHeaderSize], a.identity|seq, due, sum)
}

// gather lists the pieces of one large message: its heads in buf, and the body where it lies.
func (a *assembler) gather(seq uint64, due, now int64) {
	size, lead := a.sizeOf(seq), a.lead()
	var data []byte
	sum := uint32(0)
	if a.bodies != nil {
		data, sum = a.body(seq).data, a.body(seq).sum
	} else {
		sum = a.form.sum
	}
	headerAt := a.head(seq)
	n := min(size, a.payload)
	a.buf = appendBodyHead(a.buf, a.channel, n)
	begin := len(a.buf)
	a.buf = append(a.buf, filler[:lead]...)
	a.stamp(headerAt, a.buf[begin:], sum, seq, due, now)

	a.large, a.all = true, append(a.all[:0], a.buf)
	a.addBody(data, lead, n-lead)
	for at := n; at < size; at += n {
		k := 0
		if n = min(size-at, a.payload); n < a.payload {
			k = 1
		}
		a.all = append(a.all, appendBodyHead(append(a.joint[k][:0], wire.FrameEnd), a.channel, n))
		a.addBody(data, at, n)
	}
	a.all = append(a.all, frameEnd[:])
}

var frameEnd = [1]byte{wire.FrameEnd}

// addBody adds n bytes of a body from an offset on; data nil: of one that is zeros.
func (a *assembler) addBody(data []byte, from, n int) {
	if data != nil && n > 0 {
		a.all = append(a.all, data[from:from+n:from+n])
		return
	}
	for n > 0 {
		k := min(n, len(filler))
		a.all = append(a.all, filler[:k:k])
		n -= k
	}
}

// begun is how many of the messages that were put last began in the first bytes bytes.
func (a *assembler) begun(bytes int) int {
	if bytes == 0 {
		return 0
	}
	for i, end := range a.ends {
		if bytes <= end {
			return i + 1
		}
	}
	return max(len(a.ends), 1)
}

func (a *assembler) write(sock net.Conn) (int, error) {
	a.left = a.all
	n, err := a.left.WriteTo(sock)
	return int(n), err
}
