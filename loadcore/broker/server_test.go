package broker_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/goleak"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    broker.Options
		want string
	}{
		{broker.Options{FrameMax: 4095}, "FrameMax is 4095; the protocol's minimum is 4096"},
		{broker.Options{FrameMax: 1 << 30}, "at most 16777216"},
		{broker.Options{VHosts: []string{}}, "VHosts is empty"},
		{broker.Options{MaxMessageSize: -1}, "MaxMessageSize is -1"},
		{broker.Options{MaxMemory: -1}, "MaxMemory is -1"},
		{broker.Options{Heartbeat: 70000 * time.Second}, "Heartbeat is 19h26m40s; at most 65535 s"},
		{broker.Options{Addr: "256.0.0.1:1"}, "broker: listen on 256.0.0.1:1: "},
	} {
		s, err := broker.Start(c.o)
		if err == nil {
			s.Close()
			t.Errorf("%+v is accepted", c.o)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q does not contain %q", err, c.want)
		}
	}
}

func TestURI(t *testing.T) {
	s := start(t, broker.Options{VHosts: []string{"a/b"}, Users: map[string]string{"me": "secret"}})
	if want := "amqp://" + s.Addr().String() + "/a%2Fb"; s.URI() != want {
		t.Errorf("%s, want %s", s.URI(), want)
	}
	conn, err := amqp.DialConfig(s.URI(), amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "me", Password: "secret"}}})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// TestMemoryBound: over the bound publishers wait and consumers do not, and nothing is lost.
func TestMemoryBound(t *testing.T) {
	const limit, size, total = 1 << 20, 2000, 5000 // 10 MB through 1 MiB
	s := start(t, broker.Options{MaxMemory: limit})
	pub, err := amqp.Dial(s.URI())
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	blocked := pub.NotifyBlocked(make(chan amqp.Blocking, 2*total)) // amqp091-go stops reading when it is full
	ch, err := pub.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range total {
			if err := ch.Publish("", "q", false, false, amqp.Publishing{Body: bytes.Repeat([]byte{byte(n)}, size)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer wg.Wait()
	if b := <-blocked; !b.Active || b.Reason != "low on memory" {
		t.Fatalf("%+v", b)
	}
	// One read of the connection comes on top of the bound, and its messages' cost beside their bytes.
	if n := s.Stats().MemoryBytes; n > limit+(256<<10) {
		t.Errorf("%d bytes are held under a bound of %d", n, limit)
	}
	con, err := amqp.Dial(s.URI())
	if err != nil {
		t.Fatal(err)
	}
	defer con.Close()
	cch, err := con.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if err := cch.Qos(100, 0, false); err != nil {
		t.Fatal(err)
	}
	ds, err := cch.Consume("q", "", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range total {
		select {
		case d := <-ds:
			if len(d.Body) != size || d.Body[0] != byte(n) {
				t.Fatalf("message %d is not what was sent", n)
			}
			if err := d.Ack(false); err != nil {
				t.Fatal(err)
			}
		case <-time.After(patience):
			t.Fatalf("nothing after %d messages: %+v", n, s.Stats())
		}
	}
	wg.Wait()
	for active := true; active; {
		b := <-blocked
		if b.Active == active {
			t.Fatal("blocked or unblocked twice in a row")
		}
		active = b.Active
		if !active && len(blocked) > 0 { // and again, and again
			active = (<-blocked).Active
		}
	}
}

// TestOutputBound: a client that asks and does not read does not make the broker keep all answers.
func TestOutputBound(t *testing.T) {
	const size, gets = 100_000, 600
	s := start(t, broker.Options{})
	c := openRaw(t, s)
	c.send(t, 1, &wire.QueueDeclare{Queue: "q"})
	c.expect(t, wire.QueueDeclareOkID)
	msg := wire.AppendPublish(nil, 1, "", "q", false)
	msg = wire.AppendHeader(msg, 1, size, nil)
	msg = wire.AppendBody(msg, 1, make([]byte, size), c.frameMax)
	for range gets {
		c.write(t, msg)
	}
	c.send(t, 1, &wire.QueueDeclare{Queue: "q", Passive: true}) // all have arrived
	c.expect(t, wire.QueueDeclareOkID)
	var asks []byte
	for range gets {
		asks = wire.AppendMethod(asks, 1, &wire.BasicGet{Queue: "q", NoAck: true})
	}
	c.write(t, asks)
	time.Sleep(200 * time.Millisecond) // to do as much as it will
	// 60 MB are asked for. What fits is the output's bound, one turn's last answer, the buffer being written, and the
	// sockets: some 10 MB on Linux.
	if n := s.Stats().Delivered; n > gets/3 {
		t.Errorf("%d of %d answers were made although none is read", n, gets)
	}
	for n := range gets {
		c.expect(t, wire.BasicGetOkID)
		for left := size; left > 0; {
			f, err := c.next()
			if err != nil {
				t.Fatalf("answer %d: %v", n, err)
			}
			if f.Type == wire.FrameBody {
				left -= len(f.Payload)
			}
		}
	}
}

// TestClose: whatever clients do, Close ends everything, and those that listen are told.
func TestClose(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s, err := broker.Start(broker.Options{MaxMemory: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	polite, err := amqp.Dial(s.URI())
	if err != nil {
		t.Fatal(err)
	}
	told := reason(polite)
	dialRaw(t, s) // says nothing
	openRaw(t, s) // does not answer
	full := openRaw(t, s)
	full.send(t, 1, &wire.QueueDeclare{Queue: "q"})
	full.expect(t, wire.QueueDeclareOkID)
	var msgs []byte
	for range 200 {
		msgs = wire.AppendPublish(msgs, 1, "", "q", false)
		msgs = wire.AppendHeader(msgs, 1, 1000, nil)
		msgs = wire.AppendBody(msgs, 1, make([]byte, 1000), 0)
	}
	full.write(t, msgs)
	full.expect(t, wire.ConnectionBlockedID) // and stays so
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error("second close: ", err)
	}
	select {
	case e := <-told:
		if e == nil || e.Code != 320 || e.Reason != "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'" {
			t.Errorf("told %v", e)
		}
	case <-time.After(patience):
		t.Error("not told")
	}
	if n := s.Stats().MemoryBytes; n != 0 {
		t.Errorf("%d bytes are held by a closed broker", n)
	}
	if _, err := amqp.Dial(s.URI()); err == nil {
		t.Error("a closed broker answers")
	}
	goleak.VerifyNone(t, before)
}

// TestMemoryIsFreed: whatever way messages leave, their memory is given back.
func TestMemoryIsFreed(t *testing.T) {
	r := newRig(t, "drop@3,nack@4,return@5,duplicate@6,reorder@7", broker.Options{})
	r.publish(r.pub, 1, 500, true)
	r.answers(500)
	for n := range 50 {
		if d, ok, err := r.pub.Get("q", n%2 == 0); err != nil || !ok {
			t.Fatalf("%v %v %v", d, ok, err)
		}
	}
	if err := r.pub.Ack(4, false); err != nil {
		t.Fatal(err)
	}
	if err := r.pub.Nack(6, false, false); err != nil {
		t.Fatal(err)
	}
	ds, err := r.pub.Consume("q", "c", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-ds
	if err := r.pub.Cancel("c", false); err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 the deprecated method is what is tested
	if err := r.pub.Recover(true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pub.QueueDelete("q", false, false, false); err != nil {
		t.Fatal(err)
	}
	r.conn.Close()
	for end := time.Now().Add(patience); r.server.Stats().MemoryBytes != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%+v: nothing is left, but memory is held", r.server.Stats())
		}
	}
}

// connections waits until the broker has so many: it counts one until its last goroutine has ended.
func connections(t *testing.T, s *broker.Server, want int) {
	t.Helper()
	for end := time.Now().Add(patience); s.Stats().Connections != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections, want %d", s.Stats().Connections, want)
		}
	}
}

func TestStats(t *testing.T) {
	r := newRig(t, "", broker.Options{})
	r.publish(r.pub, 1, 10, false)
	r.answers(10)
	for range 4 {
		if _, _, err := r.pub.Get("q", false); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.pub.Ack(2, true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pub.QueueDeclarePassive("q", false, false, false, false, nil); err != nil { // the ack has arrived
		t.Fatal(err)
	}
	st := r.server.Stats()
	if st.Connections != 1 || st.ConnectionsTotal != 1 || st.Queues != 1 || st.Published != 10 || st.Delivered != 4 ||
		st.Acknowledged != 2 || st.Ready != 6 || st.Unacked != 2 || st.Returned != 0 || st.Blocked || st.MemoryBytes <= 0 {
		t.Errorf("%+v", st)
	}
}
