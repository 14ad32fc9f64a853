package loadcore

import (
	"net"
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// RabbitMQ gives its reason with connection.close and resets the socket without waiting for the answer, as it does when a vhost
// is deleted. The answer and what is being published then meet a reset; the reason counts all the same.
func TestBrokersReasonBeforeTheSockets(t *testing.T) {
	const text = "CONNECTION_FORCED - vhost 'v1' is deleted"
	for name, producer := range map[string]manifest.Producer{"waits for its confirm": confirmed(12, 1), "goes on publishing": {Size: 12}} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
				if m.tag == 1 {
					c.method(0, &wire.ConnectionClose{ReplyCode: wire.ReplyConnectionForced, ReplyText: text})
					c.Conn.(*net.TCPConn).SetLinger(0)
					c.Close()
				}
			}})
			plan := oneQueue(ep, "q", []manifest.Producer{producer}, nil)
			plan.Time, plan.DrainTimeout = 10*time.Second, 5*time.Second
			out, _ := runPlan(t, plan)
			if len(out.Failures) != 1 || out.Failures[0].Code != 320 || !strings.Contains(out.Failures[0].Text, text) {
				t.Errorf("failures %+v, want one with the code 320", out.Failures)
			}
		})
	}
}

// A queue that was deleted while the run went on is missed by the drain's question on the producer's channel, which it costs.
// The producer has published all that it was to publish: it has not failed.
func TestDrainsQuestionIsNoFailureOfTheProducer(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		declare, ok := m.(*wire.QueueDeclare)
		if !ok || c.messages == 0 {
			return false
		}
		c.method(channel, &wire.ChannelClose{ReplyCode: wire.ReplyNotFound, ReplyText: "NOT_FOUND - no queue '" + declare.Queue + "' in vhost '/'",
			Class: wire.QueueDeclareID.Class(), Method: 10})
		return true
	}})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Limit: 3}, {Size: 12, Limit: 3}}, nil)
	plan.DrainTimeout = 5 * time.Second
	out, _ := runPlan(t, plan)
	if len(out.Failures) != 0 {
		t.Errorf("failures %+v, want none", out.Failures)
	}
	if out.Drained || !strings.Contains(out.DrainNote, "producer 0 and 1 more: ") || strings.Count(out.DrainNote, "no queue 'q'") != 1 || strings.Contains(out.DrainNote, "\n") {
		t.Errorf("drained %v: %q; want it to say of both producers, once and on one line, that there is no queue", out.Drained, out.DrainNote)
	}
}
