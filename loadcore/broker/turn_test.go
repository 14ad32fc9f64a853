package broker

import (
	"net"
	"testing"
	"time"

	"leveret/loadcore/wire"
)

// deadEnd is a connection that nothing comes from, for tests that call the reader's and the writer's parts themselves.
type deadEnd struct{ net.Conn }

func (deadEnd) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (deadEnd) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (deadEnd) Close() error                     { return nil }
func (deadEnd) SetWriteDeadline(time.Time) error { return nil }

// bench is a broker with a publishing and a consuming connection and no sockets.
type bench struct {
	pub, con       *conn
	pubIn, conIn   *readBuffer
	pubOut, conOut []byte
	acks           []byte
}

func newBench(tb testing.TB, o Options) *bench {
	tb.Helper()
	s, err := Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	b := &bench{pubIn: newReadBuffer(1 << 20), conIn: newReadBuffer(1 << 20)}
	for _, p := range []**conn{&b.pub, &b.con} {
		c := newConn(s, deadEnd{})
		c.vhost, c.frameMax, c.channelMax, c.state = s.vhosts["/"], 131072, 100, stateRunning
		*p = c
		tb.Cleanup(c.teardown)
	}
	open := wire.AppendMethod(nil, 1, &wire.ChannelOpen{})
	b.turn(tb, b.pub, b.pubIn, wire.AppendMethod(open, 1, &wire.ConfirmSelect{NoWait: true}))
	open = wire.AppendMethod(open, 1, &wire.QueueDeclare{Queue: "q", NoWait: true})
	b.turn(tb, b.con, b.conIn, wire.AppendMethod(open, 1, &wire.BasicConsume{Queue: "q", ConsumerTag: "c", NoWait: true}))
	return b
}

// turn lets a connection process these bytes.
func (b *bench) turn(tb testing.TB, c *conn, in *readBuffer, data []byte) {
	in.buf, in.begin, in.end = data, 0, len(data)
	if _, err := c.turn(in); err != nil {
		tb.Fatal(err)
	}
}

// publishes is a batch of n messages.
func publishes(n, size int) []byte {
	var data []byte
	for range n {
		data = wire.AppendPublish(data, 1, "", "q", false)
		data = wire.AppendHeader(data, 1, uint64(size), &wire.Properties{DeliveryMode: 2})
		data = wire.AppendBody(data, 1, make([]byte, size), 0)
	}
	return data
}

// cycle publishes a batch, delivers it and acknowledges every message; tag is the last delivery tag before it.
func (b *bench) cycle(tb testing.TB, batch []byte, n int, tag uint64) {
	b.turn(tb, b.pub, b.pubIn, batch)
	b.pubOut = drain(b.pub, b.pubOut)
	b.conOut = drain(b.con, b.conOut)
	b.acks = b.acks[:0]
	for i := range n {
		b.acks = wire.AppendAck(b.acks, 1, tag+uint64(i)+1, false)
	}
	b.turn(tb, b.con, b.conIn, b.acks)
}

// drain takes all that a connection has to write, as its writer does. It returns the buffer that is left over.
func drain(c *conn, spare []byte) []byte {
	for {
		out, _ := c.gather(spare)
		spare = out
		if len(out) == 0 {
			return spare
		}
	}
}

// TestNothingAllocatedPerMessage: taking, confirming, delivering and settling a message allocates nothing once buffers
// have their size. What a garbage collection takes out of the pools comes back as an allocation now and then, so the
// bound is one for a whole cycle of 500 messages.
func TestNothingAllocatedPerMessage(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector allocates by itself; checked without it")
		return
	}
	const n = 500
	for _, size := range []int{0, 12, 1000} {
		b := newBench(t, Options{})
		batch := publishes(n, size)
		tag := uint64(0)
		cycle := func() {
			b.cycle(t, batch, n, tag)
			tag += n
		}
		for range 20 {
			cycle()
		}
		if allocs := testing.AllocsPerRun(100, cycle); allocs > 1 {
			t.Errorf("size %d: %v allocations for %d messages", size, allocs, n)
		}
		if st := b.pub.srv.Stats(); st.Published != tag || st.Delivered != tag || st.Acknowledged != tag || st.Ready != 0 || st.Unacked != 0 {
			t.Errorf("size %d: after %d messages %+v", size, tag, st)
		}
	}
}

// BenchmarkTurn is the broker's own work for a message, without sockets and clients: take, confirm, deliver, ack.
func BenchmarkTurn(b *testing.B) {
	const n = 500
	t := newBench(b, Options{})
	batch := publishes(n, 12)
	b.ReportAllocs()
	tag := uint64(0)
	for b.Loop() {
		t.cycle(b, batch, n, tag)
		tag += n
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(tag), "ns/msg")
}
