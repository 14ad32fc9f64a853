package loadcore

import (
	"context"
	"slices"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// RabbitMQ closes all connections of a run in the middle of it: the reason is in the record, everything goes on, and every message
// that was confirmed has been received.
func TestConnectionsClosedByRabbitMQ(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	ep := mustParse(t, node.URI(t))
	newAdmin(t, ep).ask(&wire.QueueDeclare{Queue: "q", Durable: true}, wire.QueueDeclareOkID)
	noLeaks(t)
	plan := recovering(oneQueue(ep, "q", []manifest.Producer{{Size: 24, Confirm: 50, Persistent: true, Rate: perSecond(2000)}}, []manifest.Consumer{{AckEvery: 10, Prefetch: 100}}))
	plan.Topology.Queues[0].Durable, plan.Republish, plan.Endpoint = true, true, ep
	started := make(chan struct{})
	plan.Started = func() { close(started) }
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		<-started
		node.Ctl(t, "close_all_connections", "--vhost", ep.VHost, "tested")
		time.Sleep(time.Second)
		cancel()
	}()
	rec := &memory{}
	out, err := Run(ctx, plan, rec)
	if err != nil {
		t.Fatal(err)
	}
	if !out.Drained || len(out.Failures) > 0 || len(out.Recoveries) != 2 || out.Confirmed != out.Sent {
		t.Errorf("%+v", *out)
	}
	for _, r := range out.Recoveries {
		if r.Code != 320 || r.Text == "" || r.RecoveredNS == event.None {
			t.Errorf("%+v", r)
		}
	}
	got, _ := rec.received()
	for id, kinds := range rec.fates() {
		if want := []event.SettlementKind{event.Ack}; !slices.Equal(kinds, want) && !slices.Equal(kinds, append([]event.SettlementKind{event.InDoubt}, want...)) {
			t.Errorf("%v: settled %v", id, kinds)
		}
		if got[id] == 0 {
			t.Errorf("%v was confirmed and never received", id)
		}
	}
}
