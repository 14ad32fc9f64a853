package loadcore

import (
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
)

// fleet is a plan of many connections with some producers each, all of them at one message a second, and one consumer a
// queue.
func fleet(ep Endpoint, connections, channels int, rate manifest.Rate) *Plan {
	plan := oneQueue(ep, "q", nil, nil)
	for c := range connections {
		for range channels {
			plan.Producers = append(plan.Producers, manifest.Producer{Connection: c, Size: 24, Confirm: 1, Rate: rate})
		}
	}
	plan.Consumers = []manifest.Consumer{{Connection: connections, Queues: []int{0}, AckEvery: 10, Prefetch: 1000}}
	plan.Connections = connections + 1
	SpreadPhases(plan.Producers)
	return plan
}

func TestSharedDrive(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := fleet(ep, 500, 1, manifest.Rate{Messages: 1, PerNS: 1e9})
	plan.Time = 2 * time.Second
	out, rec := runPlan(t, plan)
	times, bodies := rec.received()
	if out.Sent != 1000 || len(times) != 1000 || bodies[event.Intact] != 1000 || out.Confirmed != 1000 || !out.Drained || len(out.Failures) > 0 {
		t.Errorf("received %d, bodies %v: %+v", len(times), bodies, *out)
	}
}
