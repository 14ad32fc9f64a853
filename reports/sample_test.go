package reports

import (
	"math"
	"math/rand/v2"
	"slices"

	"leveret/analyze/result"
)

// The samples are small simulated runs with everything that reports must show. They are deterministic, and their
// figures are counted from simulated messages here, not by the code under test. The golden JSON files made from them
// are also what the chart tests read.

const (
	start  = int64(1785409200e9) // 2026-07-30 11:00:00 UTC
	second = int64(1e9)
	micro  = int64(1e3)
)

func ptr[T any](v T) *T { return &v }

// sim is one simulated message. 0 stands for a time that there is not.
type sim struct{ due, sent, confirmed, received int64 }

// simulation describes a run to summarize. Each simulated message stands for weight real ones.
type simulation struct {
	messages      []sim
	weight        int64
	interval      int64
	stop, drained int64 // end of publishing and of the drain, ns after start
}

// summarize fills counts, rates, latencies, intervals and curves.
func (s *simulation) summarize(r *result.Result) {
	r.SchemaVersion = result.SchemaVersion
	r.Config.StartedNS = start
	r.Window = result.Window{StartNS: start, EndNS: start + s.stop, Text: "barrier to publish stop"}
	r.IntervalNS = s.interval
	c := &r.Counts
	received := int64(0)
	for _, m := range s.messages {
		c.Sent += s.weight
		if m.confirmed != 0 {
			c.Confirmed += s.weight
		}
		if m.received != 0 {
			c.Received += s.weight
			c.ReceivedUnique += s.weight
			if m.received < s.stop {
				received += s.weight
			}
		}
	}
	seconds := float64(s.stop) / 1e9
	r.Rates.Sent = ptr(float64(c.Sent) / seconds)
	r.Rates.SentBytes = ptr(float64(c.Sent*r.Config.SizesBytes[0]) / seconds)
	if r.Config.Confirm > 0 {
		r.Rates.Confirmed = ptr(float64(c.Confirmed) / seconds)
		c.Unconfirmed = c.Sent - c.Confirmed
	}
	if r.Config.Consumers > 0 {
		r.Rates.Received = ptr(float64(received) / seconds)
		r.Window.DrainEndNS = ptr(start + s.drained)
		if n := c.Received - received; n >= 100 && s.drained-s.stop >= 10e6 {
			r.Rates.Drain, r.Rates.DrainNS = ptr(float64(n)/(float64(s.drained-s.stop)/1e9)), ptr(s.drained-s.stop)
		}
	}
	r.Latency = s.latencies(s.messages, r)
	r.Rows = 3 * c.Sent
	r.ClientCPUNS = ptr(s.stop / 4)
	s.intervals(r)
	s.curves(r)
}

func (s *simulation) latencies(messages []sim, r *result.Result) result.Latencies {
	var l result.Latencies
	pick := func(to func(sim) int64, from func(sim) int64) *result.Distribution {
		var measured, open []int64
		for _, m := range messages {
			if to(m) == 0 {
				open = append(open, s.drained-from(m))
			} else {
				measured = append(measured, to(m)-from(m))
			}
		}
		return distribution(measured, open, s.weight)
	}
	confirmed, received := func(m sim) int64 { return m.confirmed }, func(m sim) int64 { return m.received }
	sent, due := func(m sim) int64 { return m.sent }, func(m sim) int64 { return m.due }
	if len(messages) == 0 {
		return l
	}
	if r.Config.Confirm > 0 {
		l.Confirm.Service = pick(confirmed, sent)
		if r.Config.OpenLoop {
			l.Confirm.Response = pick(confirmed, due)
		}
	}
	if r.Config.Consumers > 0 {
		l.Delivery.Service = pick(received, sent)
		if r.Config.OpenLoop {
			l.Delivery.Response = pick(received, due)
		}
	}
	return l
}

// distribution by the definitions of package result: nearest rank over the measured and the censored ones.
func distribution(measured, open []int64, weight int64) *result.Distribution {
	slices.Sort(measured)
	n := int64(len(measured) + len(open))
	d := &result.Distribution{Count: int64(len(measured)) * weight, Censored: int64(len(open)) * weight}
	if len(open) > 0 {
		d.AtLeastNS, d.MaxAtLeastNS = ptr(slices.Min(open)), ptr(slices.Max(open))
	}
	if len(measured) == 0 {
		return d
	}
	sum := 0.0
	for _, v := range measured {
		sum += float64(v)
	}
	mean, squares := sum/float64(len(measured)), 0.0
	for _, v := range measured {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	d.MeanNS, d.StdDevNS = ptr(mean), ptr(math.Sqrt(squares/float64(len(measured))))
	d.MinNS, d.MaxNS = ptr(measured[0]), ptr(measured[len(measured)-1])
	for _, q := range []struct {
		p  **int64
		at int64 // hundredths of a percent
	}{{&d.P50NS, 5000}, {&d.P75NS, 7500}, {&d.P95NS, 9500}, {&d.P99NS, 9900}, {&d.P999NS, 9990}, {&d.P9999NS, 9999}} {
		if rank := (q.at*n + 9999) / 10000; rank <= int64(len(measured)) {
			*q.p = ptr(measured[rank-1])
		}
	}
	return d
}

func (s *simulation) intervals(r *result.Result) {
	sent, received := int64(0), int64(0)
	for at := int64(0); at < s.drained; at = r.Intervals[len(r.Intervals)-1].EndNS - start {
		in := result.Interval{StartNS: start + at, EndNS: start + min(at+s.interval, s.drained), Phase: "run"}
		if at < s.stop {
			in.EndNS = min(in.EndNS, start+s.stop)
		} else {
			in.Phase = "drain"
		}
		inside := func(t int64) int64 {
			if t >= at && t < in.EndNS-start {
				return s.weight
			}
			return 0
		}
		var cohort []sim
		for _, m := range s.messages {
			if r.Config.OpenLoop {
				in.Due += inside(m.due)
			}
			in.Sent += inside(m.sent)
			if m.confirmed != 0 {
				in.Confirmed += inside(m.confirmed)
			}
			if m.received != 0 {
				in.Received += inside(m.received)
			}
			if from := m.due; r.Config.OpenLoop && inside(from) > 0 || !r.Config.OpenLoop && inside(m.sent) > 0 {
				cohort = append(cohort, m)
			}
		}
		sent, received = sent+in.Sent, received+in.Received
		if r.Config.Consumers > 0 {
			in.BacklogEnd = ptr(sent - received)
		}
		in.Latency = s.latencies(cohort, r)
		r.Intervals = append(r.Intervals, in)
	}
}

// curves samples each whole-run latency at percentiles ever closer to 100.
func (s *simulation) curves(r *result.Result) {
	for _, what := range []string{"confirm", "delivery"} {
		for _, from := range []string{"service", "response"} {
			if r.Latency.Pick(what, from) == nil {
				continue
			}
			var values []int64
			for _, m := range s.messages {
				to, since := m.confirmed, m.sent
				if what == "delivery" {
					to = m.received
				}
				if from == "response" {
					since = m.due
				}
				if to != 0 {
					values = append(values, to-since)
				}
			}
			slices.Sort(values)
			n := int64(len(s.messages))
			c := result.Curve{What: what, From: from, Count: n * s.weight}
			for _, above := range curveRanks(n) {
				if rank := n - above; rank <= int64(len(values)) {
					c.Points = append(c.Points, result.CurvePoint{
						Percent: 100 * float64(rank) / float64(n), ValueNS: values[rank-1], Above: above * s.weight,
					})
				}
			}
			r.Curves = append(r.Curves, c)
		}
	}
}

// curveRanks lists how many messages lie above each point of a curve: 20 points per decade, ending with none.
func curveRanks(n int64) []int64 {
	ranks := []int64{n - 1}
	for above := float64(n); above >= 1; above /= 1.122 { // 20th root of 10
		if a := int64(above); a < ranks[len(ranks)-1] {
			ranks = append(ranks, a)
		}
	}
	return append(ranks, 0)
}

// tail draws a latency: mostly about typical, now and then a good deal more.
func tail(random *rand.Rand, typical int64) int64 {
	v := float64(typical) * (0.8 + 0.4*random.Float64() + 0.15*random.ExpFloat64())
	if random.IntN(200) == 0 {
		v *= 2 + 4*random.ExpFloat64()
	}
	return int64(v)
}

// samples by name, in a fixed order; longSample is apart, it takes longer to make.
func samples() []sample {
	return []sample{
		{"stall", stallSample()}, {"closed", closedSample()}, {"consumers", consumersSample()},
		{"tiny", tinySample()}, {"failing", failingSample()}, {"overload", overloadSample()},
	}
}

type sample struct {
	name string
	r    *result.Result
}

func baseResult() *result.Result {
	return &result.Result{
		Verdict: result.Pass, Complete: true, StopReason: "time limit reached", ID: "2026-07-30T11-00-00Z-a1b2",
		Captures: []string{"captures/2026-07-30T11-00-00Z-a1b2"},
		Broker:   result.Broker{Product: "RabbitMQ", Version: "3.10.8", URI: "amqp://guest@localhost:5672/%2f", SameHost: ptr(true)},
		Host:     result.Host{Name: "bench1", OS: "linux", Arch: "amd64", CPUs: 2},
		Config: result.Config{
			Tool: "leveret 0.1.0", Connections: 2, Producers: 1, Consumers: 1, Queues: 1, QueueTypes: []string{"classic"},
			Exchanges: []result.Exchange{{Name: "direct", Type: "direct"}}, RoutingKeys: []string{"bench"}, RoutingKeysTotal: 1, FanOut: 1,
			Durable: true, SizesBytes: []int64{1024}, Confirm: 100, AckMode: "manual, single", Prefetch: 200, ReadyStart: ptr(int64(0)),
		},
	}
}

// stallSample: 1,000 messages a second for ten seconds, and a broker that stops reading from 4.0 to 5.0 s.
func stallSample() *result.Result {
	r := baseResult()
	r.Config.OpenLoop, r.Config.RateTotal = true, ptr(1000.0)
	r.Spans = []result.Span{{FromNS: start + 4*second, ToNS: start + 5*second, Kind: "blocked", Text: "connection 0 was blocked by the broker"}}
	r.Findings = []result.Finding{{Code: "blocked", Severity: result.SeverityWarning, Count: 1, Text: "1 connection was blocked by the broker for 1.000 s"}}
	s := simulation{weight: 1, interval: second, stop: 10 * second, drained: 10*second + 3e6}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range int64(10000) {
		m := sim{due: i * 1e6}
		m.sent = m.due + 20*micro + int64(random.IntN(60000))
		if m.sent >= 4*second && m.sent < 5*second {
			m.sent = 5*second + (m.due-4*second)/100
		}
		m.confirmed = m.sent + tail(random, 450*micro)
		m.received = m.sent + tail(random, 600*micro)
		s.messages = append(s.messages, m)
	}
	s.summarize(r)
	return r
}

// closedSample: as fast as it goes, warming up to 120,000 messages a second, embedded broker, 12 bytes.
func closedSample() *result.Result {
	r := baseResult()
	r.Broker = result.Broker{Embedded: true, Product: "leveret embedded broker", Version: "0.1.0", SameHost: ptr(true)}
	r.Config.SizesBytes, r.Config.Confirm, r.Config.AckMode, r.Config.Prefetch = []int64{12}, 1000, "automatic", 0
	r.LimitedBy = "the client's CPU: the process kept 1.93 processors busy, 96 % of all"
	r.Generator = &result.Generator{
		Limit:   result.LimitClientCPU,
		Batches: &result.BatchSizes{Writes: 21_482, Mean: 104.2, P50: ptr(int64(96)), P99: ptr(int64(488)), Max: 1000},
		Self: &result.Self{
			WindowShare: ptr(0.734), SocketShare: ptr(0.0123), RecorderShare: ptr(0.0004), ScheduleShare: ptr(0.0), WorkShare: ptr(0.2533),
			Writes: 21_482, WrittenMessages: 2_238_000, LargestWrite: 1000, UnsentMaxBytes: ptr(int64(56_320)),
			Reads: 40_112, ReadBytes: 171_300_000, DeliveryReads: 30_417, Deliveries: 2_230_000, LargestRead: 2702,
			CPUCores: ptr(1.93), GCCycles: 41, GCPauseNS: 21_500_000, SchedLatencyP99NS: ptr(int64(2_621_440)), HeapBytes: 29_810_000, Goroutines: 29,
		},
	}
	r.Config.CoalesceNS = 200_000
	r.Findings = []result.Finding{{Code: "closed_loop", Severity: result.SeverityNote, Count: 0, Text: "no rate was set: latency is of a closed loop, response latency does not exist"}}
	s := simulation{weight: 1000, interval: second, stop: 20 * second, drained: 20*second + 40e6}
	random := rand.New(rand.NewPCG(2, 2))
	for t := float64(0); t < 20e9; {
		rate := 120e3 * min(1, 0.35+t/6e9) * (0.97 + 0.06*random.Float64())
		if t > 12e9 && t < 12.4e9 {
			rate /= 3
		}
		t += 1e9 * 1000 / rate
		m := sim{sent: int64(t)}
		m.confirmed = m.sent + tail(random, int64(1000/rate*1e9))
		m.received = m.confirmed + tail(random, 900*micro)
		if m.sent < s.stop {
			s.messages = append(s.messages, m)
		}
	}
	s.summarize(r)
	return r
}

// consumersSample: consumers alone, on a queue that another tool has filled; the fourth second is idle.
func consumersSample() *result.Result {
	r := baseResult()
	r.SchemaVersion = result.SchemaVersion
	r.Verdict = result.Inconclusive
	r.Findings = []result.Finding{{Code: "nothing_to_judge", Severity: result.SeverityInconclusive, Count: 1, Text: "this run had no producers: loss cannot be judged"}}
	r.Config = result.Config{
		StartedNS: start, Tool: "leveret 0.1.0", Connections: 1, Consumers: 1, Queues: 1, QueueTypes: []string{"quorum"}, Durable: true,
		AckMode: "manual, multiple every 10", Prefetch: 50, ReadyStart: ptr(int64(25000)),
	}
	r.Window = result.Window{StartNS: start, EndNS: start + 6*second, Text: "barrier to the end of consuming"}
	r.IntervalNS = second
	for i, n := range []int64{4000, 8000, 8000, 0, 4000, 1000} {
		r.Intervals = append(r.Intervals, result.Interval{StartNS: start + int64(i)*second, EndNS: start + int64(i+1)*second, Received: n, Phase: "run"})
	}
	r.Counts = result.Counts{Received: 25000, ReceivedUnique: 25000, Foreign: 25000}
	r.Rates.Received = ptr(25000.0 / 6)
	r.LatencyNote = "the messages carry no send time of this run"
	r.Rows = 25000
	return r
}

// tinySample: one message, no confirms.
func tinySample() *result.Result {
	r := baseResult()
	r.StopReason = "all messages sent"
	r.Config.Confirm = 0
	s := simulation{weight: 1, interval: 10e6, stop: 1e6, drained: 3e6, messages: []sim{{sent: 100 * micro, received: 734 * micro}}}
	s.summarize(r)
	return r
}

// failingSample: losses, duplicates, unanswered messages, a blocked connection, a stalled recorder, an early end.
func failingSample() *result.Result {
	r := baseResult()
	r.Verdict, r.Complete, r.StopReason = result.Fail, false, "connection lost: read tcp 127.0.0.1:40000: connection reset by peer"
	r.Config.OpenLoop, r.Config.RateTotal = true, ptr(200.0)
	r.Config.Producers, r.Config.Consumers, r.Config.Queues, r.Config.QueueTypes = 2, 2, 2, []string{"classic", "quorum"}
	r.Config.SizesBytes, r.Config.Persistent = []int64{64, 4096}, true
	s := simulation{weight: 1, interval: second, stop: 30 * second, drained: 40 * second}
	random := rand.New(rand.NewPCG(3, 3))
	for i := range int64(6000) {
		m := sim{due: i * 5e6}
		m.sent = m.due + tail(random, 50*micro)
		m.confirmed = m.sent + tail(random, 2000*micro)
		m.received = m.sent + tail(random, 3000*micro)
		switch {
		case i%857 == 600: // lost: 7 of them
			m.received = 0
		case m.due >= 8*second && m.due < 11*second: // blocked
			m.sent = 11*second + (m.due-8*second)/10
			m.confirmed, m.received = m.sent+2e6, m.sent+3e6
		case i >= 5900: // the connection is gone
			m.confirmed, m.received = 0, 0
		}
		s.messages = append(s.messages, m)
	}
	s.summarize(r)
	r.Counts.Lost, r.Counts.Missing, r.Counts.MissingUnconfirmed, r.Counts.Duplicates = 7, 107, 100, 2
	r.Counts.Received += 2
	r.Queues = []result.QueueCounts{
		{Queue: "orders", Type: "classic", Counts: result.Counts{Received: 2950, Lost: 7, Missing: 57, Duplicates: 2}},
		{Queue: "a-very-long-queue-name-that-someone-generated-from-a-template.eu-central-1", Type: "quorum", Counts: result.Counts{Received: 2945, Missing: 50}},
	}
	r.Findings = []result.Finding{
		{Code: "lost", Severity: result.SeverityFail, Count: 7, Text: "7 messages were confirmed by the broker and never delivered", First: []result.Message{
			{Producer: 0, Sequence: 300, Queue: "orders", DueNS: ptr(start + 3*second), SentNS: ptr(start + 3*second + 61*micro)},
			{Producer: 1, Sequence: 728, Queue: "orders", DueNS: ptr(start + 7285e6), SentNS: ptr(start + 7285e6 + 40*micro)},
		}},
		{Code: "duplicate", Severity: result.SeverityFail, Count: 2, Text: "2 deliveries repeated a message without the redelivered flag", First: []result.Message{
			{Producer: 0, Sequence: 500, Queue: "orders", Consumer: ptr(1), SentNS: ptr(start + 5*second), ReceivedNS: ptr(start + 5*second + 4e6)},
		}},
		{Code: "incomplete", Severity: result.SeverityInconclusive, Count: 1, Text: "the recording has no manifest: it was recovered from its journal"},
		{Code: "recorder_stall", Severity: result.SeverityWarning, Count: 1, Text: "publishing waited 0.8 s for the disk"},
	}
	r.Spans = []result.Span{
		{FromNS: start + 8*second, ToNS: start + 11*second, Kind: "blocked", Text: "connection 0 blocked: low on memory"},
		{FromNS: start + 20*second, ToNS: start + 20*second + 800e6, Kind: "recorder_stall", Text: "publishing waited for the disk"},
		{FromNS: start + 3*second, ToNS: start + 3*second + 5e6, Kind: "lost", Text: "first lost message"},
		{FromNS: start + 29*second + 500e6, ToNS: start + 40*second, Kind: "lost_connection", Text: "connection 0 lost"},
	}
	r.Notes = []string{"the broker's certificate was not verified (--insecure)"}
	r.Config.TLS = true
	r.LimitedBy = "the broker: producers waited 62 % of the time until it took more from the socket"
	r.Generator = &result.Generator{
		Limit:    result.LimitBroker,
		Batches:  &result.BatchSizes{Writes: 5894, Mean: 1, P50: ptr(int64(1)), P99: ptr(int64(1)), Max: 3},
		Lateness: &result.Distribution{Count: 5900, Censored: 100, P50NS: ptr(int64(52_000)), MaxNS: ptr(3 * second), AtLeastNS: ptr(10 * second)},
	}
	return r
}

// longSample: ten minutes at 50 a second; one idle second (301) and one slow message (at 444 s).
func longSample() *result.Result {
	r := baseResult()
	r.Config.OpenLoop, r.Config.RateTotal = true, ptr(50.0)
	s := simulation{weight: 1, interval: second, stop: 600 * second, drained: 601 * second}
	random := rand.New(rand.NewPCG(4, 4))
	for i := range int64(30000) {
		m := sim{due: i * 20e6}
		m.sent = m.due + 30*micro
		if m.due/second == 301 {
			m.sent += second
		}
		m.confirmed = m.sent + tail(random, 400*micro)
		m.received = m.sent + tail(random, 500*micro)
		if i == 444*50 {
			m.received = m.sent + 250e6
		}
		s.messages = append(s.messages, m)
	}
	s.summarize(r)
	return r
}

// overloadSample: 180,000 a second sent, 85,000 received, no confirms (the figures of a well-known documentation page).
func overloadSample() *result.Result {
	r := baseResult()
	r.Config.Producers, r.Config.Connections, r.Config.Confirm, r.Config.SizesBytes = 2, 3, 0, []int64{12}
	r.Findings = []result.Finding{{Code: "backlog", Severity: result.SeverityWarning, Count: 950000, Text: "the queues held 950,000 messages when publishing stopped"}}
	s := simulation{weight: 1000, interval: second, stop: 10 * second, drained: 10*second + 950000*second/85000}
	for i := range int64(1800) {
		sent := i * 10 * second / 1800
		s.messages = append(s.messages, sim{sent: sent, received: max(sent+second/1000, (i+1)*1000*second/85000)})
	}
	s.drained = max(s.drained, s.messages[1799].received+1)
	s.summarize(r)
	arrived, after := 150_000.0, 12*second // 1,800,000 messages
	r.Rates.Arrived, r.Rates.ArrivedNS = &arrived, &after
	return r
}
