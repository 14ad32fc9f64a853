package loadcore

import (
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// flood is a socket that gives the same frames again and again.
type flood struct {
	sink
	frames []byte
	at     int
	left   int // bytes
	full   bool
	closed chan struct{}
}

func (s *flood) Read(p []byte) (n int, err error) {
	if s.left <= 0 {
		return 0, net.ErrClosed
	}
	for n < len(p) {
		k := copy(p[n:], s.frames[s.at:])
		n, s.at = n+k, (s.at+k)%len(s.frames)
	}
	s.left -= n
	return n, nil
}

// Write waits where the socket is full.
func (s *flood) Write(p []byte) (int, error) {
	if s.full {
		<-s.closed
		return 0, net.ErrClosed
	}
	return len(p), nil
}

func (s *flood) Close() error {
	close(s.closed)
	return nil
}

// A broker may send what it likes for as long as it likes: what is kept of it is bounded. 16 MiB of each kind of frame are read, and
// at most 4 MiB of heap are in use afterwards that were not before; what is allocated on the way is at most a few times what is
// read, so that no claim of a length is believed.
func TestFloodsTakeNoMemory(t *testing.T) {
	megabytes := 16
	if raceDetector { // ten times as slow
		megabytes = 2
	}
	returned := wire.AppendHeader(wire.AppendReturn(nil, 1, wire.ReplyNoRoute, "NO_ROUTE", nil, []byte("q")), 1, 0, nil)
	table := wire.AppendHeader(wire.AppendReturn(nil, 1, wire.ReplyNoRoute, "NO_ROUTE", nil, nil), 1, 0, &wire.Properties{Headers: manyFields(100_000)})
	endless := wire.AppendDeliver(nil, 2, "0", 1, false, nil, nil)
	endless = wire.AppendHeader(endless, 2, 1<<62, nil)
	for _, c := range []struct {
		name   string
		before []byte
		frames []byte
		full   bool   // nothing of what we answer is taken
		lost   string // what the connection is lost with; "": with the end of the flood
	}{
		{name: "heartbeats", frames: wire.AppendHeartbeat(nil)},
		{name: "acks of what is settled", before: wire.AppendAck(nil, 1, 5, true), frames: wire.AppendAck(nil, 1, 3, false)},
		{name: "nacks of all that is settled", before: wire.AppendAck(nil, 1, 5, true), frames: wire.AppendNack(nil, 1, 0, true, false)},
		{name: "returns", frames: returned},
		{name: "returns with large tables", frames: table},
		{name: "a message without an end", before: endless, frames: wire.AppendBody(nil, 2, make([]byte, 100_000), 131072)},
		{name: "blocked and unblocked", frames: wire.AppendMethod(wire.AppendMethod(nil, 0, &wire.ConnectionBlocked{Reason: strings.Repeat("x", 200)}), 0, &wire.ConnectionUnblocked{})},
		{name: "channel.flow", frames: wire.AppendMethod(nil, 1, &wire.ChannelFlow{Active: true})},
		{name: "channel.flow, and nothing is taken", frames: wire.AppendMethod(nil, 1, &wire.ChannelFlow{Active: true}), full: true, lost: errNotTaken.Error()},
		{name: "channel.close", frames: wire.AppendMethod(nil, 1, &wire.ChannelClose{ReplyCode: 406}), lost: "closed before"},
		{name: "basic.cancel", frames: wire.AppendMethod(nil, 2, &wire.BasicCancel{ConsumerTag: "0"}), lost: "consumes nothing"},
		{name: "answers", frames: wire.AppendMethod(nil, 2, &wire.BasicQosOk{}), lost: "nothing had asked"},
		{name: "a frame as long as can be said", frames: []byte{wire.FrameMethod, 0, 1, 0xff, 0xff, 0xff, 0xff, 0}, lost: "frame-max"},
		{name: "an unfinished frame as long as is allowed", frames: append([]byte{wire.FrameMethod, 0, 1, 0, 1, 0xff, 0xf8}, make([]byte, 131064)...), lost: "end octet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, _ := bare([]manifest.Producer{{Size: 12, Confirm: 10, Mandatory: true}}, []manifest.Consumer{{AckEvery: 1}})
			conn := e.conn(0)
			e.producers[0].win.publish(5)
			if err := conn.feed(c.before); err != nil {
				t.Fatal(err)
			}
			socket := &flood{frames: c.frames, left: megabytes << 20, full: c.full, closed: make(chan struct{})}
			conn.link.tcp, conn.link.sock, conn.out.sock, conn.in = socket, socket, socket, inbound{streaming: conn.in.streaming, channel: conn.in.channel, left: conn.in.left}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			conn.readers.Add(1)
			conn.readLoop()
			if c.full { // the writing end reports it a second later, for what the broker may have to say
				select {
				case <-conn.dead:
				case <-time.After(20 * time.Second):
					t.Fatal("the connection is not given up")
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
				t.Errorf("%d bytes of heap are kept", grown)
			}
			if all := after.TotalAlloc - before.TotalAlloc; all > uint64(40*megabytes)<<20 {
				t.Errorf("%d bytes were allocated for %d read", all, megabytes<<20)
			}
			if why := conn.lossReason().text; conn.current() != event.Lost || c.lost != "" && !strings.Contains(why, c.lost) {
				t.Errorf("%v: %s, want %q", conn.current(), why, c.lost)
			}
			runtime.KeepAlive(e)
		})
	}
}

// manyFields is a table of about so many bytes.
func manyFields(bytes int) (t wire.Table) {
	for range bytes / 4 {
		t = append(t, wire.Field{Key: "k"})
	}
	return t
}

// The handshake, whose frames have a limit of their own, makes room for no more than it is sent either.
func TestHandshakeTakesNoMemory(t *testing.T) {
	for name, frames := range map[string][]byte{
		"a length of 2 GiB":            {wire.FrameMethod, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 10, 0, 10},
		"a table of 2 GiB":             {wire.FrameMethod, 0, 0, 0, 0, 0, 10, 0, 10, 0, 10, 0, 9, 0x7f, 0xff, 0xff, 0xff, wire.FrameEnd},
		"a table as long as a frame":   wire.AppendMethod(nil, 0, &wire.ConnectionStart{VersionMinor: 9, ServerProperties: manyFields(130_000), Mechanisms: "NONE"}),
		"more tables in it than shall": nestedTables(5000),
		"heartbeats without end":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			addr := rawListener(t, nil, func(c net.Conn) {
				c.Read(make([]byte, 8))
				c.Write(frames)
				for err := error(nil); frames == nil && err == nil; {
					_, err = c.Write(wire.AppendHeartbeat(nil))
				}
				c.Read(make([]byte, 8))
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Probe(t.Context(), mustParse(t, "amqp://"+addr), ConnectOptions{Timeout: deadline})
			runtime.ReadMemStats(&after)
			if all := after.TotalAlloc - before.TotalAlloc; err == nil || all > 64<<20 {
				t.Errorf("%d bytes were allocated; %v", all, err)
			}
		})
	}
}

// nestedTables is connection.start with a table in a table in a table...
func nestedTables(deep int) []byte {
	table := []byte{0, 0, 0, 0}
	for range deep {
		inner := append([]byte{1, 'k', 'F'}, table...)
		table = append([]byte{byte(len(inner) >> 24), byte(len(inner) >> 16), byte(len(inner) >> 8), byte(len(inner))}, inner...)
	}
	payload := append([]byte{0, 10, 0, 10, 0, 9}, table...)
	return wire.AppendFrame(nil, wire.FrameMethod, 0, append(payload, 0, 0, 0, 0, 0, 0, 0, 0))
}

// Bytes that come one at a time are the same frames.
func TestSlowBytes(t *testing.T) {
	e, _ := bare(nil, []manifest.Consumer{{AckEvery: 1}})
	rec := &memory{}
	e.rec = rec
	c := e.conn(0)
	c.link.sock = &choppy{rng: rand.New(rand.NewPCG(1, 1)), most: 1, left: deliveries(nil, 1, 50, 100)}
	c.readers.Add(1)
	c.readLoop()
	if times, bodies := rec.received(); len(times) != 50 || bodies[event.Intact] != 50 {
		t.Errorf("%d messages, %v", len(times), bodies)
	}
}
