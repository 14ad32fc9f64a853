package loadcore

import (
	"context"
	"os"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asSink) != "":
		sinkMain()
		return
	case os.Getenv(asBroker) != "":
		brokerMain()
		return
	}
	rabbitmqtest.Main(m)
}

// noLeaks fails the test if it leaves a goroutine behind. It comes first in a test, so that it looks last, when the brokers
// of the test are gone; brokers that outlive the test are started before.
func noLeaks(t *testing.T) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
}

// admin is a plain blocking client for what tests need besides the engine: declaring and counting.
type admin struct {
	t    testing.TB
	link *link
}

func newAdmin(t testing.TB, ep Endpoint) *admin {
	t.Helper()
	l, err := open(t.Context(), &ep, ConnectOptions{Name: "admin"}.withDefaults(&ep))
	if err != nil {
		t.Fatal(err)
	}
	a := &admin{t: t, link: l}
	t.Cleanup(func() { l.tcp.Close() })
	a.ask(&wire.ChannelOpen{}, wire.ChannelOpenOkID)
	return a
}

func (a *admin) ask(m wire.Method, want wire.MethodID) wire.Method {
	a.t.Helper()
	a.link.sock.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := a.link.sock.Write(wire.AppendMethod(nil, 1, m)); err != nil {
		a.t.Fatal(err)
	}
	h := &adminReader{link: a.link, buf: a.link.ahead}
	reply, err := h.next()
	a.link.ahead = h.buf
	if err != nil || reply.ID() != want {
		a.t.Fatalf("%s: answer %#v, error %v", m.ID(), reply, err)
	}
	return reply
}

func (a *admin) declare(queue string, args wire.Table) {
	a.t.Helper()
	durable := len(args) > 0
	a.ask(&wire.QueueDeclare{Queue: queue, Durable: durable, Arguments: args}, wire.QueueDeclareOkID)
}

func (a *admin) count(queue string) int {
	a.t.Helper()
	return int(a.ask(&wire.QueueDeclare{Queue: queue, Passive: true}, wire.QueueDeclareOkID).(*wire.QueueDeclareOk).MessageCount)
}

type adminReader struct {
	link *link
	buf  []byte
}

func (r *adminReader) next() (wire.Method, error) {
	for {
		f, n, err := wire.NextFrame(r.buf, 0)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			r.buf = r.buf[n:]
			if f.Type == wire.FrameMethod {
				return wire.ParseMethod(f.Payload)
			}
			continue
		}
		chunk := make([]byte, 4096)
		k, err := r.link.sock.Read(chunk)
		if err != nil {
			return nil, err
		}
		r.buf = append(r.buf, chunk[:k]...)
	}
}

func mustParse(t testing.TB, uri string) Endpoint {
	t.Helper()
	ep, err := ParseURI(uri)
	if err != nil {
		t.Fatal(err)
	}
	return ep
}

// oneQueue is a plan with one queue behind the default exchange.
func oneQueue(ep Endpoint, queue string, producers []manifest.Producer, consumers []manifest.Consumer) *Plan {
	zero := int64(0)
	connections := 0
	for i := range producers {
		producers[i].Connection = connections
		connections++
	}
	for i := range consumers {
		consumers[i].Connection = connections
		consumers[i].Queues = []int{0}
		connections++
	}
	return &Plan{
		Endpoint: ep, Clock: event.NewClock(), Tag: 0xabc, ID: "test",
		Topology: &manifest.Topology{
			Queues: []manifest.Queue{{Name: queue, Type: "classic", Declare: true, ReadyAtStart: &zero}},
			Routes: []manifest.Route{{RoutingKey: queue, Queues: []int{0}, Known: true}},
		},
		Producers: producers, Consumers: consumers, Connections: connections,
		DrainTimeout: 20 * time.Second, CloseTimeout: 5 * time.Second,
	}
}

// runPlan runs a plan that has to begin.
func runPlan(t *testing.T, plan *Plan) (*manifest.Outcome, *memory) {
	t.Helper()
	rec := &memory{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := Run(ctx, plan, rec)
	if err != nil {
		t.Fatal(err)
	}
	return out, rec
}

// confirmed is a producer of a limited number of messages with confirms.
func confirmed(size int, limit int64) manifest.Producer {
	return manifest.Producer{Size: size, Confirm: 100, Limit: limit}
}
