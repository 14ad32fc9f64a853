package loadcore

import (
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

func TestRabbitMQ(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	ep := mustParse(t, node.URI(t))
	newAdmin(t, ep).declare("q", nil)
	noLeaks(t)
	const n = 100_000
	plan := oneQueue(ep, "q",
		[]manifest.Producer{{Size: 12, Confirm: 1000, Limit: n}},
		[]manifest.Consumer{{AckEvery: 1, Prefetch: 1000}})
	out, rec := runPlan(t, plan)
	t.Logf("%+v", *out)
	if len(rec.sent(t)) != n || len(rec.settled(t, event.Ack)) != n {
		t.Errorf("sent %d, acked %d", len(rec.sent(t)), len(rec.settled(t, event.Ack)))
	}
	times, bodies := rec.received()
	if len(times) != n || bodies[event.Intact] != n || len(bodies) != 1 {
		t.Errorf("received %d, bodies %v", len(times), bodies)
	}
	if !out.Drained {
		t.Error(out.DrainNote)
	}
	t.Logf("batches %d, settlements %d, reads with deliveries %d, cpu %d ns/msg", len(rec.sends), len(rec.settlements), len(rec.deliveries), out.CPUNS/n/2)
	t.Logf("rate %d/s", n*1e9/(out.PublishStopNS-out.BarrierNS))
}
