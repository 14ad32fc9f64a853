package loadcore

import (
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// At a rate that leaves time between messages each goes out by itself, however large a batch may be: a batch never waits
// for what is not due. A machine that was busy elsewhere may make some go together; then all of them were due.
func TestBatchesHoldOnlyWhatIsDue(t *testing.T) {
	for _, rate := range []int64{1, 10, 1000, 200_000} {
		noLeaks(t)
		ep := embedded(t, broker.Options{})
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, Rate: perSecond(rate), Limit: min(2*rate, 20_000), Batch: 1000}}, []manifest.Consumer{{AutoAck: true}})
		out, rec := runPlan(t, plan)
		if out.Sent != min(2*rate, 20_000) {
			t.Errorf("%+v", *out)
		}
		for _, s := range rec.sends {
			if last := s.Due[s.N-1]; last > s.Sent || s.Sent == event.None {
				t.Fatalf("%d a second: a batch of %d sent at %d, its last message due at %d", rate, s.N, s.Sent, last)
			}
		}
	}
}

// A full window flushes a part batch: with a window of 10 and batches of up to 256 nothing is kept until there are more.
// The broker acks only what it has: 10, when it has got 10.
func TestFullWindowFlushesAPartBatch(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		if m.tag%10 == 0 {
			c.send(wire.AppendAck(nil, m.channel, m.tag, true))
		}
	}})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 10, Batch: 256, Limit: 1000}}, nil)
	out, rec := runPlan(t, plan)
	if out.Confirmed != 1000 || len(rec.sends) != 100 {
		t.Errorf("%d confirmed, in %d writes; want 1000 in 100", out.Confirmed, len(rec.sends))
	}
}

// The last messages, which do not fill a batch, go out at once.
func TestLimitFlushesAPartBatch(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Batch: 256, Limit: 1000}}, []manifest.Consumer{{AutoAck: true}})
	plan.Time = time.Minute
	out, rec := runPlan(t, plan)
	if out.Received != 1000 || len(rec.sends) != 4 || rec.sends[3].N != 1000-3*256 || !out.Drained {
		t.Errorf("%d received, %d writes, %+v", out.Received, len(rec.sends), *out)
	}
}
