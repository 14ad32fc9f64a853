package chart

import (
	"fmt"
	"math"

	"leveret/analyze/result"
)

// everything is a run of 12 s with all that charts show, its figures given by rules that can be followed by hand: in second i (0 to
// 9, then two of drain) 1,000+100*i messages were sent, and latencies are 1+i ms and multiples of that.
func everything() *result.Result {
	r := latencyRun()
	r.ID, r.Broker = "everything", result.Broker{Product: "RabbitMQ", Version: "3.10.8"}
	r.Host.CPUs = 4
	r.Config.Producers, r.Config.Consumers, r.Config.Queues, r.Config.Confirm, r.Config.FanOut = 2, 1, 3, 1000, 1
	r.Config.SizesBytes, r.Config.RateTotal = []int64{12}, ptr(1450.0)
	d := func(unit int64) *result.Distribution {
		return &result.Distribution{Count: 1000, MinNS: ptr(unit / 2), P50NS: ptr(unit), P75NS: ptr(2 * unit), P95NS: ptr(3 * unit), P99NS: ptr(4 * unit), P999NS: ptr(5 * unit), P9999NS: ptr(5 * unit), MaxNS: ptr(6 * unit)}
	}
	backlog := int64(0)
	for i := range int64(12) {
		in := result.Interval{StartNS: start + i*1e9, EndNS: start + (i+1)*1e9, Phase: "run"}
		if i < 10 {
			in.Sent, in.Confirmed = 1000+100*i, 1000+100*i
			in.Due, in.Received = in.Sent, 1000
			for _, l := range []*result.Latency{&in.Latency.Confirm, &in.Latency.Delivery} {
				l.Service, l.Response = d((1+i)*1e6), d((2+i)*1e6)
			}
			in.Self = &result.Self{
				WorkShare: ptr(0.2), RecorderShare: ptr(0.05), SocketShare: ptr(0.1), WindowShare: ptr(float64(i) / 20), ScheduleShare: ptr(0.65 - float64(i)/20),
				LateMeanNS: ptr(float64(1+i) * 1e4), LateMaxNS: ptr((1 + i) * 1e5), CPUCores: ptr(0.5 + float64(i)/10),
			}
		} else {
			in.Phase, in.Received = "drain", 2250
		}
		backlog += in.Sent - in.Received
		in.BacklogEnd, in.InFlightEnd = ptr(backlog), ptr(int64(0))
		if i < 10 {
			in.InFlightEnd = ptr(100 * i)
		}
		r.Intervals = append(r.Intervals, in)
	}
	r.Latency.Confirm, r.Latency.Delivery = result.Latency{Service: d(5e6), Response: d(6e6)}, result.Latency{Service: d(5e6), Response: d(6e6)}
	for _, what := range []string{"confirm", "delivery"} {
		r.Histograms = append(r.Histograms,
			result.Histogram{What: what, From: "service", Count: 200, Buckets: []result.Bucket{{FromNS: 1 << 20, ToNS: 1 << 21, Messages: 150}, {FromNS: 1 << 22, ToNS: 1 << 23, Messages: 50}}},
			result.Histogram{What: what, From: "response", Count: 200, Buckets: []result.Bucket{{FromNS: 0, ToNS: 1, Messages: 20}, {FromNS: 1 << 21, ToNS: 1 << 22, Messages: 80}, {FromNS: 1 << 22, ToNS: 1 << 23, Messages: 100}}})
		m := result.HeatMap{What: what, From: "response", EdgesNS: []int64{0, 1, 1 << 20, 1 << 21, 1 << 22}}
		for i := range int64(10) {
			m.Columns = append(m.Columns, result.HeatColumn{StartNS: start + i*1e9, EndNS: start + (i+1)*1e9, FirstRow: 1, Messages: []int64{0, 100 * i, 3}})
		}
		r.HeatMaps = append(r.HeatMaps, m)
		for _, from := range []string{"service", "response"} {
			c := result.Curve{What: what, From: from, Count: 1000}
			for _, p := range []struct {
				percent float64
				above   int64
			}{{0.1, 999}, {50, 500}, {90, 100}, {99, 10}, {99.9, 1}, {100, 0}} {
				c.Points = append(c.Points, result.CurvePoint{Percent: p.percent, ValueNS: 6e6 - p.above*5e3, Above: p.above})
			}
			r.Curves = append(r.Curves, c)
		}
	}
	r.ConfirmFrames = &result.FrameSizes{Frames: 8, Mean: 3.5, P50: 1, P99: 20, Max: 20, Buckets: []result.FrameBucket{
		{FromMessages: 1, ToMessages: 2, Frames: 6, Messages: 6}, {FromMessages: 2, ToMessages: 3, Frames: 1, Messages: 2}, {FromMessages: 20, ToMessages: 22, Frames: 1, Messages: 20}}}
	r.Counts = result.Counts{Sent: 14500, Confirmed: 14500, Received: 14500}
	r.Rates = result.Rates{Sent: ptr(1450.0), Confirmed: ptr(1450.0), Received: ptr(1000.0)}
	r.Groupings = []result.Grouping{grouping("queue", 3), grouping("producer", 2), grouping("consumer", 200)}
	return r
}

// grouping has n members, whose delivery latencies are 1, 2, 3 ... ms at the median.
func grouping(by string, n int) result.Grouping {
	g := result.Grouping{By: by, Total: n}
	for i := range int64(n) {
		m := (1 + i) * 1e6
		g.Members = append(g.Members, result.Member{Name: fmt.Sprintf("%s %d", by, i), Messages: 100, Latency: result.Latencies{Delivery: result.Latency{
			Service: &result.Distribution{Count: 100, MinNS: ptr(m / 2), P50NS: ptr(m), P75NS: ptr(m), P95NS: ptr(2 * m), P99NS: ptr(3 * m), P999NS: ptr(4 * m), P9999NS: ptr(4 * m), MaxNS: ptr(4 * m)}}}})
	}
	return g
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }
