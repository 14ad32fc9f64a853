package loadcore

import (
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
)

// embedded starts an embedded broker and declares the queue "q" on it.
func embedded(t *testing.T, o broker.Options) Endpoint {
	t.Helper()
	b, err := broker.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	ep := mustParse(t, b.URI())
	newAdmin(t, ep).declare("q", nil)
	return ep
}

func TestEmbedded(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		name     string
		producer manifest.Producer
		consumer manifest.Consumer
	}{
		{"confirms and single acks", manifest.Producer{Size: 12, Confirm: 1000}, manifest.Consumer{AckEvery: 1, Prefetch: 1000}},
		{"no confirms and automatic acks", manifest.Producer{Size: 64}, manifest.Consumer{AutoAck: true}},
		{"small window and multiple acks", manifest.Producer{Size: 24, Confirm: 7}, manifest.Consumer{AckEvery: 100, Prefetch: 150}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ep := embedded(t, broker.Options{})
			c.producer.Limit = n
			plan := oneQueue(ep, "q", []manifest.Producer{c.producer}, []manifest.Consumer{c.consumer})
			start := time.Now()
			out, rec := runPlan(t, plan)
			t.Logf("%v, %+v", time.Since(start), *out)
			if got := len(rec.sent(t)); got != n {
				t.Errorf("sent %d, want %d", got, n)
			}
			if got := len(rec.settled(t, event.Ack)); c.producer.Confirm > 0 && got != n {
				t.Errorf("acked %d, want %d", got, n)
			}
			times, bodies := rec.received()
			if len(times) != n || bodies[event.Intact] != n || len(bodies) != 1 {
				t.Errorf("received %d, bodies %v, want %d intact", len(times), bodies, n)
			}
			if !out.Drained || len(out.Failures) > 0 {
				t.Errorf("drained %v %s, failures %v", out.Drained, out.DrainNote, out.Failures)
			}
			t.Logf("batches %d, reads %d, cpu %d ns/msg, rate %d", len(rec.sends), len(rec.deliveries), out.CPUNS/n/2, n*1e9/(out.PublishStopNS-out.BarrierNS))
		})
	}
}
