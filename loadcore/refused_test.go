package loadcore

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// A channel that the broker closes for what a message is, is not opened again: its producer has failed, with the same outcome however
// soon a recovery would have come; the others go on.
func TestChannelClosedForWhatAMessageIs(t *testing.T) {
	for _, delay := range []time.Duration{time.Microsecond, time.Minute} {
		noLeaks(t)
		ep := embedded(t, broker.Options{MaxMessageSize: 100_000})
		plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 200_000, Confirm: 10, Limit: 20}, confirmed(12, 1000)}, []manifest.Consumer{{AckEvery: 1}}))
		plan.Producers[1].Connection = 0
		plan.ReconnectDelay = Backoff{Min: delay, Max: delay}
		out, rec := runPlan(t, plan)
		if len(out.Failures) != 1 || out.Failures[0].Code != 406 || out.Failures[0].Producer == nil || *out.Failures[0].Producer != 0 || len(out.Recoveries) > 0 {
			t.Errorf("%v: %+v", delay, *out)
		}
		large := 0
		for id := range rec.sent(t) {
			if id.producer == 0 {
				large++
			}
		}
		// None of its window has an answer, and it sends nothing behind that.
		if large == 0 || large > 10 || out.Confirmed != 1000 || out.Received != 1000 || out.Sent != int64(1000+large) || out.InDoubt != 0 {
			t.Errorf("%v: %d of the large ones, %+v", delay, large, *out)
		}
	}
}

// The same where it is sent again after a reconnect.
func TestSentAgainAndRefused(t *testing.T) {
	noLeaks(t)
	const text = "PRECONDITION_FAILED - message size 17 is larger than configured max size 16"
	var sent atomic.Int32
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		if sent.Add(1) == 1 {
			c.Close()
			return
		}
		c.method(m.channel, &wire.ChannelClose{ReplyCode: 406, ReplyText: text, Class: wire.BasicPublishID.Class(), Method: wire.BasicPublishID.Method()})
	}})
	plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 17, Confirm: 1, Limit: 10}}, nil))
	plan.Republish = true
	out, _ := runPlan(t, plan)
	if n := sent.Load(); n != 2 || out.Sent != 1 || out.Republished != 1 || out.Confirmed != 0 {
		t.Errorf("sent %d times, %+v", n, *out)
	}
	if len(out.Failures) != 1 || out.Failures[0].Code != 406 || !strings.HasPrefix(out.Failures[0].Text, text) {
		t.Errorf("failures %+v", out.Failures)
	}
}
