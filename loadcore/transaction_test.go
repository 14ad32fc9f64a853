package loadcore

import (
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// commits checks that the commits of one producer are of transactions of size messages, the last one with the rest.
func commits(t *testing.T, rec *memory, total, size uint64) {
	t.Helper()
	next := uint64(0)
	for _, s := range rec.settlements {
		for _, r := range s.Runs {
			if r.Kind != event.Commit {
				continue
			}
			if want := min(size, total-next); r.First != next || uint64(r.N) != want || uint64(r.FrameMessages) != want {
				t.Fatalf("a commit of messages %d to %d (%d in its frame), want %d from %d on", r.First, r.First+uint64(r.N)-1, r.FrameMessages, want, next)
			}
			next += uint64(r.N)
		}
	}
	if next != total {
		t.Errorf("%d messages committed, want %d", next, total)
	}
}

// Both drives, both brokers: every transaction whole, the tail included.
func TestPublisherTransactions(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, c := range []struct {
		name  string
		ep    func(t *testing.T) Endpoint
		drive Drive
	}{
		{"embedded", func(t *testing.T) Endpoint { return embedded(t, broker.Options{}) }, DriveDedicated},
		{"embedded, shared", func(t *testing.T) Endpoint { return embedded(t, broker.Options{}) }, DriveShared},
		{"RabbitMQ", func(t *testing.T) Endpoint {
			ep := mustParse(t, node.URI(t))
			newAdmin(t, ep).declare("q", nil)
			return ep
		}, DriveDedicated},
	} {
		t.Run(c.name, func(t *testing.T) {
			ep := c.ep(t)
			noLeaks(t)
			plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, TxSize: 100, Limit: 1030}}, []manifest.Consumer{{AckEvery: 1, Prefetch: 100}})
			plan.Drive = c.drive
			out, rec := runPlan(t, plan)
			complete(t, out, rec, 1030)
			commits(t, rec, 1030, 100)
			if out.Committed != 1030 || out.Confirmed != 0 || out.DrainNote != "" {
				t.Errorf("%+v", *out)
			}
		})
	}
}

// A rate stays on its schedule, and what a run that ends by time has left open is committed.
func TestTransactionsAtARate(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, TxSize: 7, Rate: perSecond(1000)}}, []manifest.Consumer{{AckEvery: 1}})
	plan.Time = 500 * time.Millisecond
	out, rec := runPlan(t, plan)
	if out.Sent != 500 || out.Committed != 500 || !out.Drained {
		t.Errorf("%+v", *out)
	}
	commits(t, rec, 500, 7)
	n := int64(0)
	for _, s := range rec.sends {
		for _, due := range s.Due {
			if want := out.BarrierNS + n*1e6; due != want {
				t.Fatalf("message %d due at %d, want %d", n, due, want)
			}
			n++
		}
	}
}

// Returns of a transaction come in front of its commit-ok, each with the identity of its message.
func TestReturnsOfATransaction(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, TxSize: 50, Limit: 200, Mandatory: true, Routes: 2}}, []manifest.Consumer{{AckEvery: 1}})
	plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{RoutingKey: "nowhere", Known: true})
	out, rec := runPlan(t, plan)
	returned := rec.settled(t, event.Return)
	if out.Returned != 100 || len(returned) != 100 || out.Received != 100 || out.Committed != 200 || !out.Drained || out.UnattributedReturns != 0 {
		t.Errorf("%d recorded as returned, %+v", len(returned), *out)
	}
	for id := range returned {
		if id.seq%2 != 1 {
			t.Errorf("%v was returned", id)
		}
	}
}

// A broker that does not answer the commit: the producer sends one transaction, and ends with the confirm timeout.
func TestCommitThatIsNeverAnswered(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
		return m.ID() == wire.TxCommitID
	}})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, TxSize: 10}}, nil)
	plan.ConfirmTimeout, plan.Time = 300*time.Millisecond, 20*time.Second
	out, _ := runPlan(t, plan)
	if out.Sent != 10 || out.Committed != 0 || out.Drained || !strings.Contains(out.DrainNote, "producer 0: 10 messages uncommitted") {
		t.Errorf("%+v", *out)
	}
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "10 messages were not committed within 300ms") {
		t.Errorf("%+v", out.Failures)
	}
}

// The connection is lost with a transaction open.
func TestConnectionLostInATransaction(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{
		onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
			if m.ID() == wire.TxSelectID {
				c.method(channel, &wire.TxSelectOk{})
			}
			return m.ID() == wire.TxSelectID
		},
		onMessage: func(c *stubConn, m stubMessage) {
			if m.tag == 10 {
				c.Close()
			}
		},
	})
	out, _ := runPlan(t, oneQueue(ep, "q", []manifest.Producer{{Size: 12, TxSize: 10}}, nil))
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "; 10 messages were not committed") {
		t.Errorf("%+v", out.Failures)
	}
}

func TestCommitOkUnasked(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{
		onMethod: func(c *stubConn, channel uint16, m wire.Method) bool {
			if m.ID() == wire.TxSelectID {
				c.method(channel, &wire.TxSelectOk{})
			}
			return m.ID() == wire.TxSelectID
		},
		onMessage: func(c *stubConn, m stubMessage) { c.method(m.channel, &wire.TxCommitOk{}) },
	})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, TxSize: maxWindow, Rate: perSecond(1000)}}, nil)
	plan.Time = 20 * time.Second
	out, _ := runPlan(t, plan)
	if len(out.Failures) != 1 || !strings.Contains(out.Failures[0].Text, "the broker sent tx.commit-ok on channel 1, where nothing was to be committed") || out.Committed != 0 {
		t.Errorf("%+v", *out)
	}
}
