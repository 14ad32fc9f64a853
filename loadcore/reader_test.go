package loadcore

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// choppy is a socket that gives its bytes in pieces of random length.
type choppy struct {
	sink
	rng  *rand.Rand
	most int
	left []byte
}

func (c *choppy) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+c.rng.IntN(c.most))], c.left)
	c.left = c.left[n:]
	return n, nil
}

// However the bytes are cut into reads, the same deliveries come out: short bodies, bodies of several frames, empty and
// short ones, heartbeats and the frames of another channel between them.
func TestReadsCutAnywhere(t *testing.T) {
	var frames []byte
	var want []event.Delivery
	rng := rand.New(rand.NewPCG(1, 2))
	const frameMax = 4096
	for i := range uint64(300) {
		size := []int{0, 5, 12, 24, 100, 4087, 4088, 4089, 9000}[rng.IntN(9)]
		body := make([]byte, size)
		row := event.Delivery{DeliveryTag: i + 1, Due: event.None, Size: uint32(size), Body: event.Unstamped, Redelivered: i%5 == 0}
		if size >= StampSize {
			PutStamp(body, Stamp{Tag: 9, Producer: 8, Seq: i, Due: int64(i)})
			row.Body, row.Tag, row.Producer, row.Seq = event.Intact, 9, 8, i
			if size >= StampDueSize {
				row.Due = int64(i)
			}
			if i%7 == 0 {
				body[size-1] ^= 1
				row.Body, row.Due = event.Corrupt, event.None // the identity is not damaged: it lies in front
			}
		}
		want = append(want, row)
		frames = wire.AppendDeliver(frames, 1, "0", i+1, row.Redelivered, []byte("exchange"), []byte("key"))
		frames = wire.AppendHeader(frames, 1, uint64(size), &wire.Properties{ContentType: "x"})
		frames = wire.AppendHeartbeat(frames)
		for n := 0; n < size; n += frameMax - wire.FrameOverhead {
			frames = wire.AppendBody(frames, 1, body[n:min(size, n+frameMax-wire.FrameOverhead)], frameMax)
			frames = wire.AppendHeartbeat(frames)
		}
	}
	for seed := range uint64(60) {
		e, _ := bare(nil, []manifest.Consumer{{AckEvery: 1}})
		rec := &memory{}
		e.rec = rec
		c := e.conn(0)
		socket := &choppy{rng: rand.New(rand.NewPCG(seed, 3)), most: 1 << (seed % 18), left: frames}
		c.link.sock, c.link.limits.FrameMax = socket, frameMax
		c.in.buf = nil
		c.readers.Add(1)
		c.readLoop()
		var got []event.Delivery
		for _, d := range rec.deliveries {
			got = append(got, d.Rows...)
		}
		if !slices.Equal(got, want) {
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("seed %d, pieces of up to %d: %d rows, number %d differs, want %+v; lost because %v", seed, socket.most, len(got), i, want[i], c.lossReason())
				}
			}
		}
		if len(c.in.buf) > readBufferMax {
			t.Errorf("the read buffer has grown to %d bytes", len(c.in.buf))
		}
	}
}

// A method frame larger than the read buffer is waited for in a larger one, bounded by frame-max.
func TestLargeMethodFrame(t *testing.T) {
	e, _ := bare(nil, []manifest.Consumer{{AckEvery: 1}})
	c := e.conn(0)
	table := wire.Table{{Key: "k", Value: string(make([]byte, 100_000))}}
	frames := wire.AppendMethod(nil, 0, &wire.ConnectionStart{ServerProperties: table})
	c.link.sock = &choppy{rng: rand.New(rand.NewPCG(1, 1)), most: 5000, left: frames}
	c.readers.Add(1)
	c.readLoop()
	if got := c.lossReason().text; got != "connection lost: the broker sent connection.start, which is out of place on an open connection" {
		t.Error(got)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(deliveries(nil, 1, 3, 40), uint16(50))
	f.Add(wire.AppendAck(wire.AppendHeartbeat(nil), 1, 1, true), uint16(3))
	f.Add(wire.AppendMethod(nil, 2, &wire.ChannelClose{ReplyCode: 404, ReplyText: "x"}), uint16(9))
	f.Add(wire.AppendBody(wire.AppendHeader(wire.AppendReturn(nil, 2, 312, "NO_ROUTE", nil, nil), 2, 12, nil), 2, make([]byte, 12), 4096), uint16(20))
	f.Fuzz(func(t *testing.T, frames []byte, cut uint16) {
		e, _ := bare([]manifest.Producer{{Size: 12, Confirm: 10}}, []manifest.Consumer{{AckEvery: 2}})
		c := e.conn(0)
		e.producers[0].win.publish(5)
		c.link.sock = &choppy{rng: rand.New(rand.NewPCG(1, 1)), most: int(cut) + 1, left: frames}
		c.readers.Add(1)
		c.readLoop() // ends with the input, whatever it is
		if c.current() != event.Lost && c.current() != event.Closed {
			t.Errorf("the connection is %v", c.current())
		}
		if p := e.producers[0]; p.unsettled() < 0 || p.unsettled() > 5 {
			t.Errorf("%d messages are unsettled", p.unsettled())
		}
	})
}
