package prometheus

import (
	"math"

	prom "github.com/prometheus/client_golang/prometheus"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Labels of our own metrics.
const (
	labelRun     = "run_id"
	labelState   = "state"
	labelLatency = "latency"
)

// bounds of the histograms, in nanoseconds.
var bounds = []int64{
	50e3, 100e3, 250e3, 500e3, 1e6, 2.5e6, 5e6, 10e6, 25e6, 50e6, 100e6, 250e6, 500e6, 1e9, 2.5e9, 5e9, 10e9, 30e9, 60e9,
}

// own gives counters and histograms since the run began.
func (r *run) own(out sink, plan *loadcore.Plan, live *loadcore.Live, total *loadcore.LiveFigures) {
	out.gauge("leveret_run_info", "the run", 1, labelRun, r.options.ID)
	for _, c := range []struct {
		name, help string
		messages   int64
	}{
		{"sent", "messages sent", total.Sent},
		{"returned", "messages returned by the broker", total.Returned},
		{"confirmed", "messages confirmed by the broker", total.Confirmed},
		{"committed", "messages of committed transactions", total.Committed},
		{"nacked", "messages refused by the broker", total.Nacked},
		{"received", "deliveries", total.Received},
	} {
		out.counter("leveret_"+c.name+"_messages_total", c.help, float64(c.messages))
	}
	if live == nil {
		return
	}
	delivery, confirm := live.Buckets(bounds)
	out.histogram("leveret_delivery_latency_seconds", "latency from sent (in a process without producers: from due) to received", delivery)
	out.histogram("leveret_confirm_latency_seconds", "latency from sent to confirmed, or to the commit of the transaction", confirm)
	for what, q := range map[string]*loadcore.LiveLatency{"delivery": &total.Delivery, "confirm": &total.Confirm} {
		out.counter("leveret_latency_missed_messages_total", "messages without latency, as their sent time was overwritten", float64(q.Missed), labelLatency, what)
		out.counter("leveret_latency_skewed_messages_total", "messages with a negative latency, as clocks differ", float64(q.Skewed), labelLatency, what)
	}
	if plan.Progress == nil {
		return
	}
	c := plan.Progress.Snapshot()
	out.counter("leveret_acknowledged_messages_total", "deliveries acknowledged by consumers", float64(c.Acked))
	out.gauge("leveret_unconfirmed_messages", "messages sent and not settled yet, where confirms are on", float64(c.Unconfirmed))
	out.gauge("leveret_connections", "connections of the run", float64(c.Connections-c.Blocked), labelState, "open")
	out.gauge("leveret_connections", "connections of the run", float64(c.Blocked), labelState, "blocked")
	out.gauge("leveret_active_producers", "producers that have not ended", float64(c.ProducersActive))
	out.gauge("leveret_active_consumers", "consumers that have not ended", float64(c.ConsumersActive))
}

// expectedRates are the messages a second that the run is to send and to take, by the rates given for it, at a time on the
// record's clock; -1 where none is given.
func expectedRates(plan *loadcore.Plan, at int64) (rates [2]float64) {
	rates = [2]float64{-1, -1}
	since := int64(0)
	if plan.Progress != nil {
		if barrier := plan.Progress.Snapshot().BarrierNS; barrier > 0 {
			since = at - barrier
		}
	}
	for i := range plan.Producers {
		if p := &plan.Producers[i]; p.Timed() {
			rates[0] = max(rates[0], 0) + rateAt(p, since)
		}
	}
	for i := range plan.Consumers {
		if c := &plan.Consumers[i]; c.Rate.Messages > 0 {
			rates[1] = max(rates[1], 0) + perSecond(c.Rate)
		}
	}
	return rates
}

// rateAt is the messages a second that a producer is to send at a time since the barrier.
func rateAt(p *manifest.Producer, ns int64) float64 {
	if len(p.Stages) == 0 {
		return perSecond(p.Rate)
	}
	cycle := int64(0)
	for _, s := range p.Stages {
		cycle += s.ForNS
	}
	if cycle <= 0 {
		return 0
	}
	ns = max(0, ns-p.PhaseNS) % cycle
	for _, s := range p.Stages {
		if ns < s.ForNS {
			from, to := perSecond(s.From), perSecond(s.To)
			return from + (to-from)*float64(ns)/float64(s.ForNS)
		}
		ns -= s.ForNS
	}
	return 0
}

// perSecond is exact where the rate is a whole number.
func perSecond(r manifest.Rate) float64 {
	if r.PerNS <= 0 {
		return 0
	}
	return float64(r.Messages) * 1e9 / float64(r.PerNS)
}

// sink makes metrics. Labels come as name, value, name, value.
type sink struct{ ch chan<- prom.Metric }

func (s sink) desc(name, help string, labels []string) (d *prom.Desc, values []string) {
	var names []string
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	return prom.NewDesc(name, help, names, nil), values
}

func (s sink) constant(kind prom.ValueType, name, help string, value float64, labels []string) {
	d, values := s.desc(name, help, labels)
	m, err := prom.NewConstMetric(d, kind, value, values...)
	if err != nil {
		m = prom.NewInvalidMetric(d, err)
	}
	s.ch <- m
}

func (s sink) gauge(name, help string, value float64, labels ...string) {
	s.constant(prom.GaugeValue, name, help, value, labels)
}

func (s sink) counter(name, help string, value float64, labels ...string) {
	s.constant(prom.CounterValue, name, help, value, labels)
}

// latency gives a summary in seconds, and its greatest value, as PerfTest's library does. Where messages are missing among
// the figures they are NaN.
func (s sink) latency(name, help string, last, total *loadcore.LiveLatency) {
	values := [5]float64{float64(last.P50NS) / 1e9, float64(last.P75NS) / 1e9, float64(last.P95NS) / 1e9, float64(last.P99NS) / 1e9, float64(last.MaxNS) / 1e9}
	if last.Biased() {
		values = [5]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	s.summary(name, help, total.Count, total.SumNS/1e9, [4]float64(values[:4]))
	s.gauge(name+longest, help+"; the greatest", values[4])
}

func (s sink) summary(name, help string, count int64, sum float64, values [4]float64) {
	d := prom.NewDesc(name, help, nil, nil)
	s.ch <- prom.MustNewConstSummary(d, uint64(count), sum, map[float64]float64{0.5: values[0], 0.75: values[1], 0.95: values[2], 0.99: values[3]})
}

func (s sink) histogram(name, help string, b loadcore.LiveBuckets) {
	buckets := make(map[float64]uint64, len(bounds))
	for i, ns := range bounds {
		buckets[float64(ns)/1e9] = b.AtMost[i]
	}
	s.ch <- prom.MustNewConstHistogram(prom.NewDesc(name, help, nil, nil), b.Count, b.SumNS/1e9, buckets)
}
