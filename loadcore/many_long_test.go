//go:build long

package loadcore

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// punctual is a Recorder that keeps how late each message was sent.
type punctual struct {
	discard
	mu   sync.Mutex
	late []int64 // ns
}

func (r *punctual) Sends(s *event.Sends) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, due := range s.Due {
		late := int64(math.MaxInt64) // not sent
		if s.Sent != event.None {
			late = s.Sent - due
		}
		r.late = append(r.late, late)
	}
}

func (*punctual) Settlements(*event.Settlements) {}
func (*punctual) Deliveries(*event.Deliveries)   {}

// offer runs a message every so many seconds on each connection for a minute, and reports the achieved share of what was due,
// and how late the sends were.
func offer(t *testing.T, ep Endpoint, connections, every int, latest time.Duration) {
	t.Helper()
	plan := fleet(ep, connections-1, 1, manifest.Producer{Size: 24, Confirm: 10, Rate: manifest.Rate{Messages: 1, PerNS: int64(every) * 1e9}})
	plan.Time, plan.ConnectRate, plan.CloseTimeout, plan.DrainTimeout = time.Minute, 1000, time.Minute, time.Minute
	before, during := inUse(), int64(0)
	plan.Started = func() { during = inUse() }
	rec := &punctual{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	out, err := Run(ctx, plan, rec)
	if err != nil {
		t.Fatal(err)
	}
	due := int64(60/every) * int64(len(plan.Producers))
	slices.Sort(rec.late)
	at := func(percent int) time.Duration { return time.Duration(rec.late[(len(rec.late)*percent+99)/100-1]) }
	rate := float64(out.Sent) / float64(out.PublishStopNS-out.BarrierNS) * 1e9
	t.Logf("%d connections: %d of %d messages sent, %.0f/s; sent after due: p50 %v, p99 %v, max %v; %d bytes of heap and stack in use a connection, resident %s; %.2f cores",
		connections, out.Sent, due, rate, at(50), at(99), at(100), (during-before)/int64(connections), resident(),
		float64(out.CPUNS)/float64(out.DrainEndNS-out.BarrierNS))
	if out.Sent+out.NotSent != due || float64(out.Sent) < 0.99*float64(due) || math.Abs(rate*60/float64(due)-1) > 0.01 {
		t.Errorf("%d of %d messages were sent, %.0f a second", out.Sent, due, rate)
	}
	if at(99) > latest {
		t.Errorf("99%% of the messages were sent within %v of their due time, want %v", at(99), latest)
	}
	if out.Received != out.Sent || out.Confirmed != out.Sent || !out.Drained || len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
}

// resident is the memory of this process as Linux counts it.
func resident() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(size)
		}
	}
	return "unknown"
}

// As many connections as the descriptors of two processes allow, to an embedded broker in a process of its own.
func TestAsManyConnectionsAsDescriptorsAllow(t *testing.T) {
	limit, known := raiseDescriptors(20_000)
	if !known {
		limit = 20_000
	}
	connections := int(min(limit, 20_000)) - otherDescriptors
	offer(t, brokerProcess(t), connections, 1, 20*time.Millisecond)
}

// RabbitMQ shares the processors with the client: the load leaves it room, as this is about the connections.
func TestFiveThousandConnectionsToRabbitMQ(t *testing.T) {
	ep := mustParse(t, rabbitmqtest.Shared(t).URI(t))
	newAdmin(t, ep).declare("q", nil)
	offer(t, ep, 5000, 5, 100*time.Millisecond)
}

// C030: 350 connections of 40 channels each, one message a second on every channel.
func TestFourteenThousandSlowProducers(t *testing.T) {
	ep := brokerProcess(t)
	plan := fleet(ep, 350, 40, manifest.Producer{Size: 1024, Confirm: 1, Rate: everySecond})
	plan.Time = 30 * time.Second
	out, err := Run(t.Context(), plan, &discard{})
	if err != nil {
		t.Fatal(err)
	}
	rate := float64(out.Sent) / float64(out.PublishStopNS-out.BarrierNS) * 1e9
	t.Logf("%.0f messages a second of 14000, %.2f cores", rate, float64(out.CPUNS)/float64(out.DrainEndNS-out.BarrierNS))
	if rate < 0.99*14_000 || out.Received != out.Sent || !out.Drained {
		t.Errorf("%.0f messages a second: %+v", rate, *out)
	}
}
