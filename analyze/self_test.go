package analyze

import (
	"math"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// near compares what was computed in binary fractions.
func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-12 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func value[T int64 | float64](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// Two producers, one of which ends 200 ms before the stop: 1,800 ms of publishing. They wait 900 ms for confirms, 200 for
// the socket, 100 for the recorder: 1/2, 1/9 and 1/18; 1/3 is left for work.
func selfRows(r *recording) {
	r.w.Self(&event.Self{At: epoch + 500*ms, SpanNS: 500 * ms, PublishingNS: 1000 * ms,
		LateMessages: 3, LateSumNS: 9 * ms, LateMaxNS: 5 * ms,
		Window: event.Wait{SumNS: 600 * ms, MaxNS: 400 * ms}, Socket: event.Wait{SumNS: 100 * ms}, Recorder: event.Wait{SumNS: 50 * ms},
		UnsentMaxBytes: 70, Writes: 5, WrittenMessages: 50, LargestWrite: 20, Reads: 7, ReadBytes: 700, DeliveryReads: 2, Deliveries: 9, LargestRead: 8,
		GCCycles: 1, GCPauseNS: 11, CPUNS: 400 * ms, SchedLatencyP99NS: 90, HeapBytes: 1000, Goroutines: 10})
	r.w.Self(&event.Self{At: epoch + 1000*ms, SpanNS: 500 * ms, PublishingNS: 800 * ms,
		LateMessages: 1, LateSumNS: 3 * ms, LateMaxNS: 3 * ms, PausedNS: 4,
		Window: event.Wait{SumNS: 300 * ms}, Socket: event.Wait{SumNS: 100 * ms}, Recorder: event.Wait{SumNS: 50 * ms},
		UnsentMaxBytes: event.None, Writes: 1, WrittenMessages: 1, LargestWrite: 1, Reads: 1, ReadBytes: 1,
		GCCycles: 2, GCPauseNS: 22, CPUNS: 600 * ms, SchedLatencyP99NS: 80, HeapBytes: 900, Goroutines: 12})
	// The drain's: not in the window.
	r.w.Self(&event.Self{At: epoch + 1100*ms, SpanNS: 100 * ms, LateMaxNS: event.None, UnsentMaxBytes: 1e6,
		Reads: 100, CPUNS: event.None, SchedLatencyP99NS: event.None, HeapBytes: 5000, Goroutines: 100})
}

func TestSelfOverTheWindow(t *testing.T) {
	r := record(t, plan(2, 0))
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	selfRows(r)
	got := analyzed(t, r.close())
	if got.Generator == nil || got.Generator.Self == nil {
		t.Fatalf("%+v", got.Generator)
	}
	s := got.Generator.Self
	near(t, "window", s.WindowShare, 1.0/2)
	near(t, "socket", s.SocketShare, 1.0/9)
	near(t, "recorder", s.RecorderShare, 1.0/18)
	near(t, "schedule", s.ScheduleShare, 0)
	near(t, "work", s.WorkShare, 1.0/3)
	near(t, "cores", s.CPUCores, 1)
	near(t, "late", s.LateMeanNS, 3e6) // 12 ms over 4 messages
	want := result.Self{ReadingPausedNS: 4, Writes: 6, WrittenMessages: 51, LargestWrite: 20,
		Reads: 8, ReadBytes: 701, DeliveryReads: 2, Deliveries: 9, LargestRead: 8, GCCycles: 3, GCPauseNS: 33, HeapBytes: 1000, Goroutines: 12}
	plain := *s
	plain.WindowShare, plain.SocketShare, plain.RecorderShare, plain.ScheduleShare, plain.WorkShare, plain.CPUCores, plain.LateMeanNS = nil, nil, nil, nil, nil, nil, nil
	plain.LateMaxNS, plain.UnsentMaxBytes, plain.SchedLatencyP99NS = nil, nil, nil
	if plain != want {
		t.Errorf("%+v\nwant %+v", plain, want)
	}
	if *s.LateMaxNS != 5*ms || *s.UnsentMaxBytes != 70 || *s.SchedLatencyP99NS != 90 {
		t.Errorf("late %v, unsent %v, latency %v", *s.LateMaxNS, *s.UnsentMaxBytes, *s.SchedLatencyP99NS)
	}
}

// A row belongs to the interval of its middle: of these of 100 ms, the third, the eighth, and the drain's.
func TestSelfOfIntervals(t *testing.T) {
	r := record(t, plan(2, 0))
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	selfRows(r)
	r.ack(0, 1, 1, 1100*ms) // so that there is a drain
	got := analyzedIn(t, 100*ms, r.close())
	if got.IntervalNS != 100*ms || len(got.Intervals) != 11 {
		t.Fatalf("%d intervals of %d ns", len(got.Intervals), got.IntervalNS)
	}
	reads := map[int]int64{2: 7, 7: 1, 10: 100}
	for i, x := range got.Intervals {
		want, ok := reads[i]
		if (x.Self != nil) != ok || ok && x.Self.Reads != want {
			t.Errorf("interval %d: %+v, want %d reads", i, x.Self, want)
		}
	}
	near(t, "window share of the third", got.Intervals[2].Self.WindowShare, 0.6)
	near(t, "cores of the third", got.Intervals[2].Self.CPUCores, 0.8)
	if s := got.Intervals[10].Self; s.WindowShare != nil || s.CPUCores != nil || s.LateMeanNS != nil || s.LateMaxNS != nil {
		t.Errorf("the drain has no producers, and its CPU is unknown: %+v", s)
	}
}

// Two processes: their producers' times and their processors add up.
func TestSelfOfTwoProcesses(t *testing.T) {
	var dirs []string
	for i := range 2 {
		m := plan(1, 0)
		m.ID, m.Tag = m.ID+string(rune('a'+i)), uint16(7+i)
		r := record(t, m)
		r.send(0, 0, 1, 0)
		r.ack(0, 0, 1, ms)
		r.w.Self(&event.Self{At: epoch + 1000*ms, SpanNS: 1000 * ms, PublishingNS: 1000 * ms, LateMaxNS: event.None, UnsentMaxBytes: event.None,
			Window: event.Wait{SumNS: int64(i) * 500 * ms}, CPUNS: 750 * ms, SchedLatencyP99NS: event.None, Goroutines: 3})
		dirs = append(dirs, r.close())
	}
	s := analyzed(t, dirs...).Generator.Self
	near(t, "window", s.WindowShare, 0.25)
	near(t, "cores", s.CPUCores, 1.5)
}

// A hundred writes: 50 of 1 message, 49 of 2, one of 100. The 50th by size has 1 message, the 99th has 2.
func TestBatchSizes(t *testing.T) {
	r := record(t, plan(1, 0))
	seq, sizes := uint64(0), append(append(repeat(2, 49), 100), repeat(1, 50)...)
	for i, n := range sizes {
		r.send(0, seq, n, int64(i)*ms)
		seq += uint64(n)
	}
	b := analyzed(t, r.close()).Generator.Batches
	if b.Writes != 100 || b.Mean != 2.48 || *b.P50 != 1 || *b.P99 != 2 || b.Max != 100 {
		t.Errorf("%+v, p50 %v, p99 %v", b, value(b.P50), value(b.P99))
	}
	var large batchSizes
	large.add([]uint32{1, 1 << 31})
	if b := large.result(); *b.P50 != 1 || b.P99 != nil || b.Max != 1<<31 {
		t.Errorf("%+v", b)
	}
	if (&batchSizes{}).result() != nil {
		t.Error("sizes of no writes")
	}
}

func repeat(n, times int) (s []int) {
	for range times {
		s = append(s, n)
	}
	return s
}

// Messages late by 1, 2, ... 98 ms and two that were never sent: the 50th of 100 is 50 ms late; the 99th is one that was not
// sent, late by 1,000 - 990 ms at least, less than many that were.
func TestLateness(t *testing.T) {
	r := record(t, plan(1, 0))
	for i := range int64(98) {
		late := (i*37)%98 + 1 // each of 1 to 98 once
		r.send(0, uint64(i), 1, i*ms+late*ms, i*ms)
	}
	r.w.Sends(&event.Sends{First: 98, N: 2, Due: []int64{epoch + 980*ms, epoch + 990*ms}, Sent: event.None, Written: event.None})
	r.m.Outcome.NotSent = 2
	d := analyzed(t, r.close()).Generator.Lateness
	if d.Count != 98 || d.Censored != 2 || value(d.P50NS) != 50*ms || d.P99NS != nil || value(d.MaxNS) != 98*ms || value(d.MinNS) != ms || value(d.AtLeastNS) != 10*ms || value(d.MaxAtLeastNS) != 20*ms {
		t.Errorf("%+v: p50 %v, p99 %v, max %v, at least %v", d, value(d.P50NS), value(d.P99NS), value(d.MaxNS), value(d.AtLeastNS))
	}
}

// Captures of before self-observation, and of consumers alone.
func TestWithoutSelfObservation(t *testing.T) {
	r := record(t, plan(1, 1))
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	r.receive(0, 0, 0, 2*ms, 0)
	r.ackAll(0, 3*ms)
	got := analyzed(t, r.close())
	if g := got.Generator; g == nil || g.Self != nil || g.Lateness != nil || g.Batches.Writes != 1 || g.Limit != result.LimitUnknown || got.LimitedBy != "" {
		t.Errorf("%+v, limited by %q", g, got.LimitedBy)
	}
	r = record(t, plan(0, 1))
	r.deliver(0, ms, event.Delivery{Tag: 5, Body: event.Intact, Due: event.None})
	r.ackAll(0, 2*ms)
	if got := analyzed(t, r.close()); got.Generator != nil {
		t.Errorf("%+v", got.Generator)
	}
}

// Ten producers of a message a second in a run of one second: each has one slot, whatever its phase, and three were not sent.
func TestTargetOfSlowProducers(t *testing.T) {
	m := plan(10, 0)
	for i := range m.Producers {
		m.Producers[i].Rate, m.Producers[i].PhaseNS = manifest.Rate{Messages: 1, PerNS: 1000 * ms}, int64(i)*100*ms
	}
	r := record(t, m)
	for i := range 10 {
		due := int64(i) * 100 * ms
		if i < 7 {
			r.send(i, 0, 1, due+ms, due)
		} else {
			r.w.Sends(&event.Sends{Producer: uint16(i), N: 1, Due: []int64{epoch + due}, Sent: event.None, Written: event.None})
			r.m.Outcome.NotSent++
		}
	}
	if f := finding(t, analyzed(t, r.close()), "generator_limit"); !strings.HasPrefix(f.Text, "target 10 msg/s, achieved 7 msg/s: ") {
		t.Error(f.Text)
	}
}

// A run whose producers have limits and take twice as long as their schedules has achieved half of the rate.
func TestTargetOfALimitedRun(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Rate, m.Producers[0].Limit = manifest.Rate{Messages: 100, PerNS: 1000 * ms}, 50
	r := record(t, m)
	for i := range int64(50) {
		r.send(0, uint64(i), 1, 20*i*ms, 10*i*ms)
	}
	got := analyzed(t, r.close())
	if f := finding(t, got, "generator_limit"); f.Severity != result.SeverityWarning || !strings.HasPrefix(f.Text, "target 100 msg/s, achieved 50 msg/s: limited by what this recording does not tell") {
		t.Errorf("%+v", f)
	}
}

// A producer that begins late, as its schedule says, has kept its rate: five a second from 750 ms on are two in a second.
func TestTargetOfALateStart(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Rate, m.Producers[0].PhaseNS = manifest.Rate{Messages: 5, PerNS: 1000 * ms}, 750*ms
	r := record(t, m)
	r.send(0, 0, 1, 751*ms, 750*ms)
	r.send(0, 1, 1, 951*ms, 950*ms)
	r.m.Outcome.PublishStopNS = epoch + 1000*ms
	got := analyzed(t, r.close())
	for _, f := range got.Findings {
		if f.Code == "generator_limit" {
			t.Errorf("%+v", f)
		}
	}
	if got.Counts.Sent != 2 || got.Generator.Limit != result.LimitSchedule {
		t.Errorf("%d sent, limited by %q", got.Counts.Sent, got.LimitedBy)
	}
}
