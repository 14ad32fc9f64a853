package loadcore

import (
	"context"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// confirmTimes records when each message of producer 0 was sent and confirmed, and how large the batches were.
type confirmTimes struct {
	discard
	sent, confirmed []int64
	largest         int
}

func (c *confirmTimes) Sends(s *event.Sends) {
	for i := range s.N {
		c.sent[s.First+uint64(i)] = s.Sent
	}
	c.largest = max(c.largest, s.N)
}

func (c *confirmTimes) Settlements(s *event.Settlements) {
	for _, r := range s.Runs {
		for i := range uint64(r.N) {
			c.confirmed[r.First+i] = s.At
		}
	}
}

// C020: the broker acks each message the instant its last byte is read. All are confirmed, with a window of 1 and of 1000,
// and none before it was sent.
func TestC020ConfirmsAtOnce(t *testing.T) {
	for _, c := range []struct {
		window int
		n      int64
	}{{1, instantConfirms}, {1000, 100_000}} {
		ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
			c.send(wire.AppendAck(nil, m.channel, m.tag, false))
		}})
		noLeaks(t)
		rec := &confirmTimes{sent: make([]int64, c.n), confirmed: make([]int64, c.n)}
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: c.window, Limit: c.n}}, nil)
		plan.Coalesce = UsualCoalesce
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		out, err := Run(ctx, plan, rec)
		if err != nil || out.Sent != c.n || out.Confirmed != c.n || len(out.Failures) > 0 || out.ContradictoryConfirms != 0 {
			t.Fatalf("window %d: %+v, %v", c.window, *out, err)
		}
		for i := range rec.sent {
			if rec.sent[i] <= 0 || rec.confirmed[i] < rec.sent[i] {
				t.Fatalf("window %d: message %d sent at %d, confirmed at %d", c.window, i, rec.sent[i], rec.confirmed[i])
			}
		}
	}
}
