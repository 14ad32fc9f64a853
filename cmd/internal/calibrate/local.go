package calibrate

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"time"

	"leveret/capture/event"
	"leveret/loadcore"
	"leveret/loadcore/wire"
)

// Clock is the record's clock.
type Clock struct {
	ReadNS       float64 `json:"read_ns"`
	ResolutionNS int64   `json:"resolution_ns"` // least difference seen between two readings that differ
}

func (c *calibration) measureClock(ctx context.Context) error {
	span := c.long(200 * time.Millisecond)
	c.Clock.ReadNS = perCall(span, func() { c.clock.Now() })
	least := int64(math.MaxInt64)
	for end, last := c.clock.Now()+int64(span), c.clock.Now(); last < end; {
		now := c.clock.Now()
		if d := now - last; d > 0 {
			least = min(least, d)
		}
		last = now
	}
	c.Clock.ResolutionNS = least
	return nil
}

// perCall calls f for about span and gives the nanoseconds of a call: the median of blocks too short to be interrupted often,
// so that other work on the machine changes it little.
func perCall(span time.Duration, f func()) float64 {
	const block = 50 * time.Microsecond
	calls := 1
	for { // as many calls as make a block
		begun := time.Now()
		for range calls {
			f()
		}
		if time.Since(begun) >= block || calls >= 1<<20 {
			break
		}
		calls *= 2
	}
	var blocks []float64
	for begun := time.Now(); len(blocks) == 0 || time.Since(begun) < span; {
		start := time.Now()
		for range calls {
			f()
		}
		blocks = append(blocks, float64(time.Since(start))/float64(calls))
	}
	slices.Sort(blocks)
	return blocks[len(blocks)/2]
}

// Codec is what the protocol and the checksum cost, in nanoseconds a message of this size, without a socket. The engine
// encodes a producer's messages once and patches the stamp of each, so that a message that it sends costs less than Encode.
type Codec struct {
	SizeBytes int     `json:"size_bytes"`
	EncodeNS  float64 `json:"encode_ns"` // method, header and body from nothing
	ParseNS   float64 `json:"parse_ns"`  // method, header and body of a delivery
	StampNS   float64 `json:"stamp_ns"`  // identity and CRC-32C put into the whole body
	CheckNS   float64 `json:"check_ns"`  // and checked
}

func (c *calibration) measureCodec(ctx context.Context) error {
	span := c.long(80 * time.Millisecond)
	for _, size := range []int{12, 1024, 65536} {
		body := make([]byte, size)
		frames := make([]byte, 0, size+256)
		m := Codec{SizeBytes: size}
		m.EncodeNS = perCall(span, func() {
			frames = wire.AppendPublish(frames[:0], 1, "", "calibrate", false)
			frames = wire.AppendHeader(frames, 1, uint64(size), nil)
			frames = wire.AppendBody(frames, 1, body, loadcore.DefaultFrameMax)
		})
		seq := uint64(0)
		m.StampNS = perCall(span, func() {
			loadcore.PutStamp(body, loadcore.Stamp{Tag: 1, Seq: seq, Due: event.None})
			seq++
		})
		what := event.Intact
		m.CheckNS = perCall(span, func() { _, what = loadcore.ReadStamp(body) })
		if what != event.Intact {
			return fmt.Errorf("a body of %d bytes did not pass its own check", size)
		}
		delivery := wire.AppendDeliver(nil, 1, "0", 1, false, nil, []byte("calibrate"))
		delivery = wire.AppendHeader(delivery, 1, uint64(size), nil)
		delivery = wire.AppendBody(delivery, 1, body, loadcore.DefaultFrameMax)
		var failure error
		m.ParseNS = perCall(span, func() {
			if err := parseDelivery(delivery); err != nil {
				failure = err
			}
		})
		if failure != nil {
			return failure
		}
		c.Codec = append(c.Codec, m)
	}
	return nil
}

func parseDelivery(frames []byte) error {
	method, n, err := wire.NextFrame(frames, loadcore.DefaultFrameMax)
	if err != nil {
		return err
	}
	_, args, err := wire.PeekMethod(method.Payload)
	if err != nil {
		return err
	}
	if _, err = wire.ParseDeliver(args); err != nil {
		return err
	}
	header, m, err := wire.NextFrame(frames[n:], loadcore.DefaultFrameMax)
	if err != nil {
		return err
	}
	if _, err = wire.ParseHeader(header.Payload); err != nil {
		return err
	}
	_, _, err = wire.NextFrame(frames[n+m:], loadcore.DefaultFrameMax)
	return err
}

// Loopback is bytes through a TCP connection over 127.0.0.1 between two goroutines, beside the same bytes copied in memory.
type Loopback struct {
	WriteBytes      int     `json:"write_bytes"` // of each write call
	SocketBytesPerS float64 `json:"socket_bytes_per_s"`
	CopyBytesPerS   float64 `json:"copy_bytes_per_s"`
}

func (c *calibration) measureLoopback(ctx context.Context) error {
	const chunk = 64 << 10
	span := c.long(500 * time.Millisecond)
	near, far, err := socketPair(ctx)
	if err != nil {
		return err
	}
	defer near.Close()
	defer far.Close()
	type taken struct {
		bytes int64
		at    time.Time
	}
	received := make(chan taken, 1)
	go func() {
		buf := make([]byte, 4*chunk)
		n := int64(0)
		for {
			k, err := far.Read(buf)
			n += int64(k)
			if err != nil { // EOF: the writer has closed
				received <- taken{n, time.Now()}
				return
			}
		}
	}()
	from, to := make([]byte, chunk), make([]byte, chunk)
	begun := time.Now()
	for time.Since(begun) < span && ctx.Err() == nil {
		if _, err := near.Write(from); err != nil {
			return err
		}
	}
	near.Close()
	all := <-received
	c.Loopback = Loopback{
		WriteBytes: chunk, SocketBytesPerS: float64(all.bytes) / all.at.Sub(begun).Seconds(),
		CopyBytesPerS: chunk / perCall(span/4, func() { copy(to, from) }) * 1e9,
	}
	return nil
}

// socketPair connects this process to itself.
func socketPair(ctx context.Context) (near, far net.Conn, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer ln.Close()
	var d net.Dialer
	if near, err = d.DialContext(ctx, "tcp", ln.Addr().String()); err != nil {
		return nil, nil, err
	}
	if far, err = ln.Accept(); err != nil {
		near.Close()
		return nil, nil, err
	}
	return near, far, nil
}
