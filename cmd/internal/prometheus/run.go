package prometheus

import (
	"fmt"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"leveret/loadcore"
)

// run is a prom.Collector of one run's figures.
type run struct {
	options  *Options
	prefix   string
	exposed  map[string]float64 // by full name
	expected [2]string          // full names of the expected rates
	done     chan struct{}
	ended    sync.WaitGroup

	mu   sync.Mutex // guards the following
	plan *loadcore.Plan
	live *loadcore.Live
	last loadcore.LiveFigures // of the last interval
}

// Names that PerfTest has, behind the prefix. Its metrics library appends the unit to the timers.
const (
	published = "published"
	returned  = "returned"
	confirmed = "confirmed"
	nacked    = "nacked"
	consumed  = "consumed"

	latency        = "latency_seconds"
	confirmLatency = "confirm_latency_seconds"
	confirmSize    = "confirm_size"
	longest        = "_max"

	expectedPublished = "expected_published"
	expectedConsumed  = "expected_consumed"
	arguments         = "args"
	labelCommandLine  = "command_line"
)

func newRun(o *Options) (*run, error) {
	r := &run{options: o, prefix: nameOf(o.Prefix), exposed: map[string]float64{}, done: make(chan struct{})}
	if o.Prefix == "" {
		r.prefix = ""
	}
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	taken := map[string]bool{}
	for _, name := range []string{published, returned, confirmed, nacked, consumed, latency, latency + longest,
		confirmLatency, confirmLatency + longest, confirmSize, confirmSize + longest, arguments} {
		taken[r.prefix+name] = true
	}
	for _, g := range o.Exposed {
		name := r.prefix + nameOf(g.Name)
		if taken[name] {
			return nil, fmt.Errorf("--exposed-metrics: %s is a metric of the run itself; take another name", g.Name)
		}
		r.exposed[name] = g.Value
	}
	r.expected = [2]string{r.prefix + expectedPublished, r.prefix + expectedConsumed}
	return r, nil
}

// Watch begins to show a run. It is called before loadcore.Run, once.
func (e *Endpoint) Watch(plan *loadcore.Plan, live *loadcore.Live) {
	r := e.run
	r.mu.Lock()
	r.plan, r.live = plan, live
	r.mu.Unlock()
	watch := live.Watch()
	r.ended.Go(func() {
		ticker := time.NewTicker(r.options.Interval)
		defer ticker.Stop()
		for {
			select {
			case <-r.done:
				return
			case <-ticker.C:
				f := watch.Interval()
				r.mu.Lock()
				r.last = f
				r.mu.Unlock()
			}
		}
	})
}

func (r *run) end() {
	close(r.done)
	r.ended.Wait()
}

// Describe names no metric beforehand: which there are depends on the run.
func (r *run) Describe(chan<- *prom.Desc) {}

// Collect gives the figures as they are now.
func (r *run) Collect(ch chan<- prom.Metric) {
	r.mu.Lock()
	plan, live, last := r.plan, r.live, r.last
	r.mu.Unlock()
	out := sink{ch}
	var total loadcore.LiveFigures
	if live != nil {
		total = live.Total()
	}
	r.perfTest(out, plan, &last, &total)
	r.own(out, plan, live, &total)
}

// perfTest gives what PerfTest does: rates and quantiles of the last interval.
func (r *run) perfTest(out sink, plan *loadcore.Plan, last, total *loadcore.LiveFigures) {
	per := func(n int64) float64 { return float64(n) / (float64(max(last.SpanNS, 1)) / 1e9) }
	for _, g := range []struct {
		name, help string
		messages   int64
	}{
		{published, "messages sent a second", last.Sent},
		{returned, "messages returned a second", last.Returned},
		{confirmed, "messages confirmed a second", last.Confirmed},
		{nacked, "messages nacked a second", last.Nacked},
		{consumed, "messages received a second", last.Received},
	} {
		out.gauge(r.prefix+g.name, g.help+", in the last interval", per(g.messages))
	}
	out.latency(r.prefix+latency, "latency from sent to received; quantiles of the last interval", &last.Delivery, &total.Delivery)
	out.latency(r.prefix+confirmLatency, "latency from sent to confirmed; quantiles of the last interval", &last.Confirm, &total.Confirm)
	f := last.ConfirmFrames
	out.summary(r.prefix+confirmSize, "messages confirmed by a frame; quantiles of the last interval",
		total.ConfirmFrames.Count, float64(total.ConfirmFrames.Messages), [4]float64{float64(f.P50), float64(f.P75), float64(f.P95), float64(f.P99)})
	out.gauge(r.prefix+confirmSize+longest, "most messages confirmed by a frame, in the last interval", float64(f.Max))

	gauges := map[string]float64{}
	if plan != nil {
		rates := expectedRates(plan, total.AtNS)
		for i, name := range r.expected {
			if rates[i] >= 0 {
				gauges[name] = rates[i]
			}
		}
	}
	for name, value := range r.exposed { // what is given wins
		gauges[name] = value
	}
	for name, value := range gauges {
		out.gauge(name, "expected, or given by --exposed-metrics", value)
	}
	if r.options.CommandLine != "" {
		out.gauge(r.prefix+arguments, "the command line", 1, labelCommandLine, r.options.CommandLine)
	}
}
