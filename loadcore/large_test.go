package loadcore

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// C064: what a body of so many bytes takes at a frame-max of 131072, whose payload is 131064.
func TestFramesOfABody(t *testing.T) {
	for _, c := range []struct {
		size   int
		frames []int // payloads
	}{
		{131063, []int{131063}},
		{131064, []int{131064}},
		{131065, []int{131064, 1}},
		{262128, []int{131064, 131064}},
		{262129, []int{131064, 131064, 1}},
	} {
		sock := &keepingSink{}
		e := newEncoder(newStamper(0xabc, 0, c.size, false), wire.AppendPublish(nil, 1, "", "q", false), 1, c.size, nil, 131072, 0)
		e.stamp(7, 1, nil)
		if n, err := e.write(sock, 1); err != nil || n != e.bytes() {
			t.Fatalf("%d bytes written of %d, %v", n, e.bytes(), err)
		}
		var got []int
		var body []byte
		for rest := sock.kept; len(rest) > 0; {
			f, n, err := wire.NextFrame(rest, 131072)
			if err != nil || n == 0 {
				t.Fatalf("size %d: %v", c.size, err)
			}
			if rest = rest[n:]; f.Type == wire.FrameBody {
				got = append(got, len(f.Payload))
				body = append(body, f.Payload...)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.frames) {
			t.Errorf("size %d: body frames of %v bytes, want %v", c.size, got, c.frames)
		}
		if s, b := ReadStamp(body); b != event.Intact || s.Seq != 7 || len(body) != c.size {
			t.Errorf("size %d: %v, %+v", c.size, b, s)
		}
	}
}

// keepingSink keeps what is written to it.
type keepingSink struct {
	sink
	kept []byte
}

func (s *keepingSink) Write(p []byte) (int, error) {
	s.kept = append(s.kept, p...)
	return len(p), nil
}

// largest is a body that RabbitMQ 3.10 takes; its limit is 128 MiB.
const largest = 100 << 20

// allocated is how many bytes of heap do took, whether they were given back or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Bodies of 100 MiB through RabbitMQ and back: neither the producers nor the consumer have a buffer of that size.
func TestRabbitMQLargestBodies(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	noLeaks(t)
	plan := oneQueue(ep, "q",
		[]manifest.Producer{{Size: largest, Confirm: 1, Limit: 1}, {Size: largest, Confirm: 1, Limit: 1}},
		[]manifest.Consumer{{AckEvery: 1, Prefetch: 1}})
	plan.DrainTimeout = time.Minute
	var out *manifest.Outcome
	var rec *memory
	bytes := allocated(func() { out, rec = runPlan(t, plan) })
	complete(t, out, rec, 2)
	if r := rec.deliveries[0].Rows[0]; r.Size != largest {
		t.Errorf("a body of %d bytes", r.Size)
	}
	if bytes > 8<<20 {
		t.Errorf("%d bytes of memory were taken for two bodies of %d", bytes, largest)
	}
}

// Through the embedded broker, which keeps the body once, in this process.
func TestEmbeddedLargestBody(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: largest, Confirm: 1, Limit: 2}}, []manifest.Consumer{{AckEvery: 1, Prefetch: 1}})
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 2)
	if r := rec.deliveries[0].Rows[0]; r.Size != largest {
		t.Errorf("a body of %d bytes", r.Size)
	}
}

// A hundred producers of 100 MiB bodies share the filler. With a frame-max of 128 KiB a producer has 800 frame heads and
// the list of its pieces.
func TestLargeBodiesShareTheirFiller(t *testing.T) {
	const producers = 100
	specs := make([]manifest.Producer, producers)
	for i := range specs {
		specs[i] = manifest.Producer{Size: largest}
	}
	var e *engine
	bytes := allocated(func() {
		e, _ = bare(specs, nil)
		for _, p := range e.producers {
			n := p.take()
			p.stamp(n)
			if n != 1 || !p.send(n) {
				t.Fatal("not sent")
			}
		}
	})
	if perProducer := bytes / producers; perProducer > 256<<10 {
		t.Errorf("%d bytes of memory a producer", perProducer)
	}
}

// Bodies at the boundaries of frames, through both brokers.
func TestRabbitMQBodiesAtFrameBoundaries(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, size := range []int{131063, 131064, 131065, 262128, 262129} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			ep := mustParse(t, node.URI(t))
			newAdmin(t, ep).declare("q", nil)
			noLeaks(t)
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: size, Confirm: 5, Limit: 20}}, []manifest.Consumer{{AckEvery: 1, Prefetch: 5}})
			out, rec := runPlan(t, plan)
			complete(t, out, rec, 20)
			for _, d := range rec.deliveries {
				for _, r := range d.Rows {
					if int(r.Size) != size {
						t.Fatalf("a body of %d bytes", r.Size)
					}
				}
			}
		})
	}
}

// C066: the stub fails the test if a frame of another kind comes between the frames of one message on its channel. Acks for
// the one half travel with the messages of the other.
func TestC066FramesStayTogether(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{limits: wire.Limits{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 1}, onMessage: func(c *stubConn, m stubMessage) {
		if s, b := ReadStamp(m.body); b != event.Intact || len(m.body) != 300_000 || s.Producer != m.channel-1 || s.Seq != m.tag-1 {
			c.stub.t.Errorf("message %d of channel %d: %v, %+v", m.tag, m.channel, b, s)
		}
		c.send(wire.AppendAck(nil, m.channel, m.tag, false))
	}})
	plan := oneQueue(ep, "q", make([]manifest.Producer, 8), nil)
	for i := range plan.Producers {
		plan.Producers[i] = manifest.Producer{Size: 300_000, Confirm: 50, Limit: 20}
	}
	plan.Connections, plan.Heartbeat = 1, time.Second
	if out, _ := runPlan(t, plan); out.Confirmed != 160 || len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
}

// A hundred producers of one given body of 100 MiB share it, and its checksum is made once.
func TestGivenBodiesAreShared(t *testing.T) {
	const producers = 100
	plan := oneQueue(Endpoint{Host: "localhost"}, "q", make([]manifest.Producer, producers), nil)
	for i := range plan.Producers {
		plan.Producers[i] = manifest.Producer{Size: largest, Stamp: manifest.StampHeader, PooledBodies: true}
	}
	plan.Bodies = [][]byte{make([]byte, largest)}
	bytes := allocated(func() {
		e, _, _ := barePlan(t, plan)
		e.conn(0).link.sock, e.conn(0).out.sock = sink{}, sink{}
		for _, p := range e.producers {
			n := p.take()
			p.stamp(n)
			if n != 1 || !p.send(n) {
				t.Fatal("not sent")
			}
		}
	})
	if perProducer := bytes / producers; perProducer > 256<<10 {
		t.Errorf("%d bytes of memory a producer", perProducer)
	}
}
