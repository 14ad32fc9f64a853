package panel

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// planWith is two producers on one route to two queues, one of which has a consumer.
func planWith(change func(p *loadcore.Plan)) *plan {
	ready := func(n int64) *int64 { return &n }
	p := &loadcore.Plan{
		Clock: event.NewClock(), Progress: new(loadcore.Progress), Connections: 3,
		Topology: &manifest.Topology{
			Queues: []manifest.Queue{{Name: "a", Type: "classic", ReadyAtStart: ready(0)}, {Name: "b", Type: "classic", ReadyAtStart: ready(7)}},
			Routes: []manifest.Route{{Queues: []int{0, 1}, Known: true}, {Queues: []int{1}, Known: true}},
		},
		Producers: []manifest.Producer{{Connection: 0, Confirm: 100}, {Connection: 1, Confirm: 100}},
		Consumers: []manifest.Consumer{{Connection: 2, Queues: []int{0}}},
	}
	if change != nil {
		change(p)
	}
	return newPlan(p)
}

// Each message makes two deliveries, and 7 were there before: 2 x (1000 - 10 - 5) + 7 - 970 are still to come.
func TestBacklogCountsEveryQueueOfARoute(t *testing.T) {
	p := planWith(nil)
	c := loadcore.Counts{Sent: 1000, Nacked: 10, Returned: 5, Received: 970}
	if got := p.backlog(&c); got != 1007 {
		t.Errorf("backlog %d", got)
	}
	if p.window != 200 || p.publishing != 2 || p.timed {
		t.Errorf("%+v", p)
	}
}

func TestBacklogIsNotGuessed(t *testing.T) {
	for what, change := range map[string]func(p *loadcore.Plan){
		"unknown route":     func(p *loadcore.Plan) { p.Topology.Routes[0].Known = false },
		"random keys":       func(p *loadcore.Plan) { p.Topology.Routes[0].Random = true },
		"unequal routes":    func(p *loadcore.Plan) { p.Producers[1].Route = 1 },
		"unequal turns":     func(p *loadcore.Plan) { p.Producers[0].Routes = 2 },
		"expiring messages": func(p *loadcore.Plan) { p.Producers[0].Properties = &manifest.Properties{Expiration: "1000"} },
		"expiring queue": func(p *loadcore.Plan) {
			p.Topology.Queues[1].Arguments = []manifest.Arg{{Key: "x-max-length", Value: int64(10)}}
		},
		"requeued messages":    func(p *loadcore.Plan) { p.Consumers[0].Nack, p.Consumers[0].Requeue = true, true },
		"unknown content":      func(p *loadcore.Plan) { p.Topology.Queues[1].ReadyAtStart = nil },
		"stream with messages": func(p *loadcore.Plan) { p.Topology.Queues[1].Type = "stream" },
	} {
		if got := planWith(change).backlog(&loadcore.Counts{Sent: 10}); got != -1 {
			t.Errorf("%s: backlog %d", what, got)
		}
	}
}

// Each of the two subscriptions is given all of the stream, and the classic queue a copy.
func TestBacklogOfStreamsIsPerSubscription(t *testing.T) {
	p := planWith(func(p *loadcore.Plan) {
		p.Topology.Queues[0].Type = "stream"
		p.Topology.Queues[1].ReadyAtStart = p.Topology.Queues[0].ReadyAtStart
		p.Consumers = slices.Repeat(p.Consumers, 2)
	})
	if got := p.backlog(&loadcore.Counts{Sent: 100, Received: 100}); got != 200 {
		t.Errorf("backlog %d", got)
	}
}

func TestDueOfTheSchedule(t *testing.T) {
	rate := manifest.Rate{Messages: 10, PerNS: 1e9} // every 100 ms
	p := planWith(func(p *loadcore.Plan) {
		p.Time = 2 * time.Second
		p.Producers = []manifest.Producer{{Rate: rate}, {Rate: rate, PhaseNS: 50e6}, {Rate: rate, Limit: 3}}
	})
	for _, c := range []struct {
		after time.Duration
		due   int64
	}{
		{0, 0}, {time.Millisecond, 2}, {51 * time.Millisecond, 3}, {101 * time.Millisecond, 5},
		// 20 of the first, at 0 to 1900 ms; 20 of the second, at 50 to 1950 ms; 3 of the one with a limit.
		{2 * time.Second, 43}, {time.Hour, 43},
	} {
		if got := p.due(c.after); got != c.due {
			t.Errorf("after %v: %d due, want %d", c.after, got, c.due)
		}
	}
}

func TestRowsAreThoseThatTheRunCanHave(t *testing.T) {
	names := func(change func(p *loadcore.Plan)) (rates, latencies []string) {
		w := newWatch(Run{Plan: planWith(change).Plan, Interval: time.Second})
		for _, r := range w.rates {
			rates = append(rates, r.name)
		}
		for _, l := range w.latency {
			latencies = append(latencies, l.name)
		}
		return rates, latencies
	}
	for what, c := range map[string]struct {
		change           func(p *loadcore.Plan)
		rates, latencies []string
	}{
		"closed loop with confirms": {nil, []string{"sent", "confirmed", "received"}, []string{"confirm", "delivery"}},
		"with a rate, without confirms": {func(p *loadcore.Plan) {
			p.Producers = []manifest.Producer{{Rate: manifest.Rate{Messages: 1, PerNS: 1e9}}}
		},
			[]string{"due", "sent", "received"}, []string{"delivery"}},
		"transactions":    {func(p *loadcore.Plan) { p.Producers = []manifest.Producer{{TxSize: 10}} }, []string{"sent", "committed", "received"}, []string{"commit", "delivery"}},
		"producers alone": {func(p *loadcore.Plan) { p.Consumers = nil }, []string{"sent", "confirmed"}, []string{"confirm"}},
		"consumers alone": {func(p *loadcore.Plan) { p.Producers = nil }, []string{"received"}, []string{"since due"}},
	} {
		if rates, latencies := names(c.change); !slices.Equal(rates, c.rates) || !slices.Equal(latencies, c.latencies) {
			t.Errorf("%s: %v, %v", what, rates, latencies)
		}
	}
}

// As many streams as consumers, and producers that take the same keys in turn: the work grows with their number, not with its square.
func BenchmarkNewPlan(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			zero := int64(0)
			p := &loadcore.Plan{Connections: 1, Topology: &manifest.Topology{}}
			for i := range n {
				p.Topology.Queues = append(p.Topology.Queues, manifest.Queue{Type: "stream", ReadyAtStart: &zero})
				p.Topology.Routes = append(p.Topology.Routes, manifest.Route{Queues: []int{i}, Known: true})
				p.Producers = append(p.Producers, manifest.Producer{Routes: n})
				p.Consumers = append(p.Consumers, manifest.Consumer{Queues: []int{i}})
			}
			for b.Loop() {
				if s := newPlan(p); s.perMessage != 1 {
					b.Fatal(s.perMessage)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/queue")
		})
	}
}
