package analyze

import (
	"reflect"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// 1 ms is 244.1 * 2^12 ns. Of 128ths of its octave, bins of an eighth begin at 235 = round(128 * 2^(7/8)), bins of a quarter at
// 215 = round(128 * 2^(3/4)). 3 ms is 183.1 * 2^14: from 181 to below 197, and from 181 to below 215.
const (
	eighthOf1ms, eighthOf3ms    = 235 << 12, 181 << 14
	quarterOf1ms, quarterOf3ms  = 215 << 12, 181 << 14
	octaveAfter1ms              = 1 << 20
	eighthAfter3ms, after3ms    = 197 << 14, 215 << 14
	secondQuarter, thirdQuarter = 152 << 13, 181 << 13
)

// Five messages in the first half second: three confirmed after 1 ms, one after 3, one never; two in the second, after 1 ms.
func TestHistogramAndHeatMap(t *testing.T) {
	r := record(t, plan(1, 0))
	r.send(0, 0, 5, 0)
	r.ack(0, 0, 3, ms)
	r.ack(0, 3, 1, 3*ms)
	r.send(0, 5, 2, 600*ms)
	r.ack(0, 5, 2, 601*ms)
	got := analyzedIn(t, 500*ms, r.close())
	want := []result.Histogram{{What: "confirm", From: "service", Count: 6, Buckets: []result.Bucket{
		{FromNS: eighthOf1ms, ToNS: octaveAfter1ms, Messages: 5}, {FromNS: eighthOf3ms, ToNS: eighthAfter3ms, Messages: 1}}}}
	if !reflect.DeepEqual(got.Histograms, want) {
		t.Errorf("%+v", got.Histograms)
	}
	heat := []result.HeatMap{{What: "confirm", From: "service",
		EdgesNS: []int64{quarterOf1ms, octaveAfter1ms, secondQuarter, thirdQuarter, 215 << 13, 1 << 21, 152 << 14, quarterOf3ms, after3ms},
		Columns: []result.HeatColumn{
			{StartNS: epoch, EndNS: epoch + 500*ms, Censored: 1, Messages: []int64{3, 0, 0, 0, 0, 0, 0, 1}},
			{StartNS: epoch + 500*ms, EndNS: epoch + 1000*ms, Messages: []int64{2}},
		}}}
	if !reflect.DeepEqual(got.HeatMaps, heat) {
		t.Errorf("%+v", got.HeatMaps)
	}
	// Five sent and four confirmed, then two of each.
	for i, open := range []int64{1, 1} {
		if n := got.Intervals[i].InFlightEnd; n == nil || *n != open {
			t.Errorf("interval %d: %v in flight, want %d", i, value(n), open)
		}
	}
}

// Response latency, where there is any, is what the heat map shows; columns are bounded, and none loses a message.
func TestHeatMapOfManyIntervals(t *testing.T) {
	r := record(t, plan(1, 0))
	for i := range int64(500) { // one each 2 ms, sent 1 ms late, confirmed 3 ms after it was due
		r.send(0, uint64(i), 1, 2*i*ms+ms, 2*i*ms)
		r.ack(0, uint64(i), 1, 2*i*ms+3*ms)
	}
	got := analyzedIn(t, ms, r.close()) // 1,000 intervals: five to a column, of which two or three hold a message
	if len(got.HeatMaps) != 1 || len(got.Histograms) != 2 {
		t.Fatalf("%d heat maps, %d histograms", len(got.HeatMaps), len(got.Histograms))
	}
	m := got.HeatMaps[0]
	if m.From != "response" || len(m.Columns) != 200 || !reflect.DeepEqual(m.EdgesNS, []int64{quarterOf3ms, after3ms}) {
		t.Errorf("%s, %d columns, %v", m.From, len(m.Columns), m.EdgesNS)
	}
	for i, c := range m.Columns {
		if want := []int64{3, 2}[i%2]; len(c.Messages) != 1 || c.Messages[0] != want || c.StartNS != epoch+int64(5*i)*ms || c.EndNS != c.StartNS+5*ms {
			t.Errorf("column %d: %+v, want %d", i, c, want)
		}
	}
}

// In flight is nil where producers await nothing, and what a transaction holds until it is committed.
func TestInFlight(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Confirm = 0
	r := record(t, m)
	r.send(0, 0, 3, 0)
	for i, x := range analyzed(t, r.close()).Intervals {
		if x.InFlightEnd != nil {
			t.Errorf("no confirms: interval %d has %d in flight", i, *x.InFlightEnd)
		}
	}
	m = plan(1, 0)
	m.Producers[0].Confirm, m.Producers[0].TxSize = 0, 4
	r = record(t, m)
	r.send(0, 0, 4, 0)
	r.send(0, 4, 3, 600*ms)
	r.settle(event.Commit, 0, 0, 4, 601*ms)
	got := analyzedIn(t, 500*ms, r.close()).Intervals
	if a, b := got[0].InFlightEnd, got[1].InFlightEnd; a == nil || *a != 4 || b == nil || *b != 3 {
		t.Errorf("in a transaction: %v, then %v; want 4, 3", value(a), value(b))
	}
}

// Frames of 1, 1, 4 and 2 messages, and one of 100 in the bucket of an eighth of an octave: 100 is 200/128 of 64, and 197 and 215
// are where the sixth and the seventh eighth begin, in whole messages from 99 to 107.
func TestFrameBuckets(t *testing.T) {
	var f frameSizes
	for _, n := range []uint32{1, 1, 4, 2, 100} {
		for range n {
			f.add([]uint8{uint8(event.Ack)}, []uint32{n})
		}
	}
	want := []result.FrameBucket{
		{FromMessages: 1, ToMessages: 2, Frames: 2, Messages: 2}, {FromMessages: 2, ToMessages: 3, Frames: 1, Messages: 2},
		{FromMessages: 4, ToMessages: 5, Frames: 1, Messages: 4}, {FromMessages: 99, ToMessages: 108, Frames: 1, Messages: 100},
	}
	if got := f.result().Buckets; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
