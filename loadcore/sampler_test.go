package loadcore

import (
	"context"
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
)

// total merges all intervals of a run.
func (m *memory) total() event.Self {
	all := event.Self{LateMaxNS: event.None, UnsentMaxBytes: event.None, SchedLatencyP99NS: event.None}
	for i := range m.self {
		all.Merge(&m.self[i])
	}
	return all
}

// checkSelf holds the intervals of a run against its outcome and its batches: they lie side by side from the barrier to the
// end of the drain, none is of both load and drain, and their counts are the run's.
func checkSelf(t *testing.T, out *manifest.Outcome, m *memory) {
	t.Helper()
	if len(m.self) < 2 {
		t.Fatalf("%d intervals, at least one of the load and one of the drain expected", len(m.self))
	}
	at, stops := out.BarrierNS, 0
	for _, s := range m.self {
		if s.At-s.SpanNS != at || s.SpanNS <= 0 {
			t.Fatalf("an interval from %d to %d follows one that ends at %d", s.At-s.SpanNS, s.At, at)
		}
		if at < out.PublishStopNS && s.At >= out.PublishStopNS {
			stops++
			if len(m.sends) > 0 && s.At < m.sends[len(m.sends)-1].Written {
				t.Error("the interval in which publishing stopped ends before its last write")
			}
		}
		at = s.At
	}
	if at < out.DrainEndNS || stops != 1 {
		t.Errorf("the last interval ends %d ns after the drain; %d of them hold the stop of publishing", at-out.DrainEndNS, stops)
	}
	writes, largest, late, lateSum := int64(0), 0, int64(0), int64(0)
	for i := range m.sends {
		s := &m.sends[i]
		if s.Sent == event.None {
			continue
		}
		writes++
		largest = max(largest, s.N)
		for _, due := range s.Due {
			late++
			lateSum += s.Sent - due
		}
	}
	all := m.total()
	if all.Writes != writes || all.WrittenMessages != out.Sent || all.LargestWrite != int64(largest) {
		t.Errorf("%d writes of %d messages, largest %d; want %d, %d, %d", all.Writes, all.WrittenMessages, all.LargestWrite, writes, out.Sent, largest)
	}
	if all.LateMessages != late || all.LateSumNS != lateSum || (all.LateMaxNS == event.None) != (late == 0) {
		t.Errorf("late %d, sum %d, max %d; want %d, sum %d", all.LateMessages, all.LateSumNS, all.LateMaxNS, late, lateSum)
	}
	if all.Deliveries != out.Received || all.DeliveryReads != int64(len(m.deliveries)) {
		t.Errorf("%d deliveries in %d reads, want %d in %d", all.Deliveries, all.DeliveryReads, out.Received, len(m.deliveries))
	}
	if all.Reads < all.DeliveryReads || all.ReadBytes < 12*all.Deliveries || all.HeapBytes <= 0 || all.Goroutines <= 0 {
		t.Errorf("%+v", all)
	}
	if all.CPUNS <= 0 && runtime.GOOS == "linux" {
		t.Errorf("CPU %d ns", all.CPUNS)
	}
}

func TestSelfObservationOfWhatIsWaitedFor(t *testing.T) {
	for _, drive := range []Drive{DriveDedicated, DriveShared} {
		if drive == DriveShared && runtime.GOOS != "linux" {
			continue // only there it exists
		}
		t.Run(string(drive), func(t *testing.T) { testWhatIsWaitedFor(t, drive) })
	}
}

func testWhatIsWaitedFor(t *testing.T, drive Drive) {
	slow := func(ctx context.Context, _ int) error {
		time.Sleep(time.Millisecond)
		return ctx.Err()
	}
	rate := manifest.Rate{Messages: 100, PerNS: 1e9}
	for _, c := range []struct {
		name     string
		faults   string
		producer manifest.Producer
		reserve  func(context.Context, int) error
		largest  waitFor
	}{
		{"a window of one", "", manifest.Producer{Size: 12, Confirm: 1, Limit: 3000}, nil, waitWindow},
		{"a broker that stops reading", "stall@1000:500ms", manifest.Producer{Size: 4096, Limit: 10_000}, nil, waitSocket},
		{"a broker that stops reading, with a window", "stall@100:300ms", manifest.Producer{Size: 12, Confirm: 100, Limit: 1000}, nil, waitWindow},
		{"a slow recorder", "", manifest.Producer{Size: 12, Batch: 10, Limit: 1000}, slow, waitRecorder},
		{"a rate", "", manifest.Producer{Size: 24, Confirm: 100, Rate: rate, Limit: 30}, nil, waitSchedule},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults, err := broker.ParseFaults(c.faults)
			if err != nil {
				t.Fatal(err)
			}
			plan := oneQueue(embedded(t, broker.Options{Faults: faults}), "q", []manifest.Producer{c.producer}, []manifest.Consumer{{AutoAck: true}})
			plan.Drive = drive
			rec := &memory{reserve: c.reserve}
			out, err := Run(t.Context(), plan, rec)
			if err != nil {
				t.Fatal(err)
			}
			checkSelf(t, out, rec)
			all := rec.total()
			waited := map[waitFor]event.Wait{waitWindow: all.Window, waitSocket: all.Socket, waitRecorder: all.Recorder, waitSchedule: all.Schedule}
			for what, w := range waited {
				if what != c.largest && w.SumNS >= waited[c.largest].SumNS {
					t.Errorf("kind %d is the largest wait: %+v", what, all)
				}
				if w.MaxNS > w.SumNS || w.MaxNS < 0 {
					t.Errorf("kind %d: %+v", what, w)
				}
			}
			if c.largest == waitSocket && runtime.GOOS == "linux" && all.UnsentMaxBytes <= 0 {
				t.Errorf("the socket is full and holds %d bytes", all.UnsentMaxBytes)
			}
			sum := all.Window.SumNS + all.Socket.SumNS + all.Recorder.SumNS + all.Schedule.SumNS
			if sum > all.PublishingNS || all.PublishingNS > all.SpanNS {
				t.Errorf("waited %d of %d ns that the producer published, in %d", sum, all.PublishingNS, all.SpanNS)
			}
		})
	}
}

// Two producers on one connection: one of them has to wait while the other's write stands still.
func TestSelfObservationOfSharedConnections(t *testing.T) {
	faults, err := broker.ParseFaults("stall@1000:300ms")
	if err != nil {
		t.Fatal(err)
	}
	p := manifest.Producer{Size: 4096, Limit: 5000}
	plan := oneQueue(embedded(t, broker.Options{Faults: faults}), "q", []manifest.Producer{p, p}, []manifest.Consumer{{AutoAck: true}})
	plan.Producers[1].Connection, plan.Consumers[0].Connection, plan.Connections = 0, 1, 2
	out, rec := runPlan(t, plan)
	checkSelf(t, out, rec)
	all := rec.total()
	if w := all.Socket; w.SumNS <= w.MaxNS || all.Window.SumNS != 0 || all.Recorder.SumNS != 0 || all.Schedule.SumNS != 0 {
		t.Errorf("only one of two producers waited for the socket: %+v", all)
	}
}

// Reading that is paused for the recorder is counted.
func TestSelfObservationOfPausedReading(t *testing.T) {
	plan := oneQueue(embedded(t, broker.Options{}), "q", []manifest.Producer{{Size: 12, Confirm: 100, Limit: 1000}}, []manifest.Consumer{{AutoAck: true}})
	rec := &memory{}
	rec.congested.Store(true)
	plan.Started = func() { time.AfterFunc(100*time.Millisecond, func() { rec.congested.Store(false) }) }
	out, err := Run(t.Context(), plan, rec)
	if err != nil {
		t.Fatal(err)
	}
	checkSelf(t, out, rec)
	if all := rec.total(); all.PausedNS <= 0 {
		t.Errorf("%+v", all)
	}
}

func TestWaits(t *testing.T) {
	var w waits
	check := func(now int64, window, socket int64) {
		t.Helper()
		ns := w.read(now)
		if ns[waitWindow] != window || ns[waitSocket] != socket {
			t.Errorf("at %d: window %d, socket %d; want %d, %d", now, ns[waitWindow], ns[waitSocket], window, socket)
		}
	}
	w.end(5) // nothing to end
	check(10, 0, 0)
	w.begin(waitWindow, 10)
	check(9, 0, 0) // the reader's clock was read before
	check(30, 20, 0)
	w.begin(waitSocket, 40) // takes over
	check(50, 30, 10)
	w.end(60)
	w.end(70)
	check(80, 30, 20)
	w.begin(waitWindow, 100)
	w.end(101)
	check(200, 31, 20)
}

// An interval for which the recorder has no room is not lost: it becomes a part of the next one.
func TestSamplerKeepsWhatHasNoRoom(t *testing.T) {
	e, _ := bare([]manifest.Producer{{Size: 12}}, nil)
	rec := &memory{refuseSelf: true}
	e.rec = rec
	begun := e.clock.Now()
	s := e.newSampler(begun)
	close(s.done)
	s.gone.Wait()
	p := e.producers[0]
	p.seen.wrote(&event.Sends{N: 3, Sent: 100, Due: []int64{70, 80, 90}}, false)
	s.sample()
	p.seen.wrote(&event.Sends{N: 2, Sent: 200, Due: []int64{195, 196}}, false)
	s.sample()
	if len(rec.self) != 0 {
		t.Fatalf("%+v", rec.self)
	}
	rec.refuseSelf = false
	s.sample()
	if len(rec.self) != 1 {
		t.Fatalf("%d intervals", len(rec.self))
	}
	// Late by 30, 20, 10, 5 and 4 ns.
	v := rec.self[0]
	if v.At-v.SpanNS != begun || v.Writes != 2 || v.LargestWrite != 3 || v.LateMessages != 5 || v.LateSumNS != 69 || v.LateMaxNS != 30 {
		t.Errorf("%+v, begun at %d", v, begun)
	}
	s.sample()
	if v := rec.self[1]; v.Writes != 0 || v.LateMaxNS != event.None || v.At-v.SpanNS != rec.self[0].At {
		t.Errorf("%+v", v)
	}
}

func TestSampleAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	e, _ := bare([]manifest.Producer{{Size: 12}}, nil)
	s := e.newSampler(e.clock.Now())
	close(s.done)
	s.gone.Wait()
	if allocs := testing.AllocsPerRun(100, s.sample); allocs != 0 {
		t.Errorf("%v allocations an interval", allocs)
	}
}

// Worked by hand: the 99th percentile is the value at rank ceil(0.99 N) of what was added, its bucket's upper bound.
func TestSchedLatency(t *testing.T) {
	m := &processMeter{}
	h := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: []float64{math.Inf(-1), 1e-6, 1e-3, math.Inf(1)}}
	}
	for _, c := range []struct {
		counts []uint64
		want   int64
	}{
		{[]uint64{0, 0, 0}, event.None},
		{[]uint64{99, 1, 0}, 1000},               // rank 99 of 100 is in the first bucket
		{[]uint64{99 + 98, 1 + 2, 0}, 1_000_000}, // rank 99 of 98 + 2
		{[]uint64{197, 3, 0}, event.None},        // nothing was added
		{[]uint64{197, 3, 1}, 1_000_000},         // above all bounds: the last there is
	} {
		if got := m.schedLatency(h(c.counts...)); got != c.want {
			t.Errorf("%v: %d, want %d", c.counts, got, c.want)
		}
	}
}
