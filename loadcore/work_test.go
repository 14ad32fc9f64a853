package loadcore

import (
	"math"
	"slices"
	"testing"

	"leveret/capture/manifest"
)

const milli = 1_000_000 // ns

// finishes are when the first n of messages that have all come at time from are finished.
func finishes(w *work, from int64, n int) (at []int64) {
	w.catchUp(from, 0)
	for range n {
		at = append(at, w.finish()-from)
	}
	return at
}

func TestWorkOneMessageAfterTheOther(t *testing.T) {
	for _, c := range []struct {
		name string
		spec manifest.Consumer
		want []int64 // after they have come
	}{
		{"2 ms of work", manifest.Consumer{Work: []manifest.WorkStage{{WorkNS: 2 * milli}}}, []int64{2 * milli, 4 * milli, 6 * milli, 8 * milli}},
		// The first at once, the others a third of a second apart: 333333333 1/3 ns.
		{"3 a second", manifest.Consumer{Rate: manifest.Rate{Messages: 3, PerNS: 1e9}}, []int64{0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333}},
		{"100 a second and 2 ms of work", manifest.Consumer{Rate: manifest.Rate{Messages: 100, PerNS: 1e9}, Work: []manifest.WorkStage{{WorkNS: 2 * milli}}},
			[]int64{2 * milli, 12 * milli, 22 * milli}},
		{"100 a second and 15 ms of work", manifest.Consumer{Rate: manifest.Rate{Messages: 100, PerNS: 1e9}, Work: []manifest.WorkStage{{WorkNS: 15 * milli}}},
			[]int64{15 * milli, 30 * milli, 45 * milli}},
		// From the barrier, at 1000 ms: 4 ms a message for 10 milli, then 1 ms for 3 milli, again and again. What is begun is finished.
		{"work that varies", manifest.Consumer{Work: []manifest.WorkStage{{WorkNS: 4 * milli, ForNS: 10 * milli}, {WorkNS: 1 * milli, ForNS: 3 * milli}}},
			[]int64{4 * milli, 8 * milli, 12 * milli, 13 * milli, 17 * milli, 21 * milli, 25 * milli, 26 * milli}},
	} {
		w := newWork(&c.spec)
		w.begin = 1000 * milli
		if got := finishes(w, 1000*milli, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s: finished after %v, want %v", c.name, got, c.want)
		}
	}
	if newWork(&manifest.Consumer{}) != nil {
		t.Error("a consumer without work and rate works")
	}
}

func TestWorkCountsWhatIsFinished(t *testing.T) {
	w := newWork(&manifest.Consumer{Work: []manifest.WorkStage{{WorkNS: 1 * milli}}})
	w.catchUp(100*milli, 0) // nothing has come
	for _, step := range []struct {
		now  int64
		come uint64
		done uint64
	}{
		{100 * milli, 5, 0},
		{101*milli - 1, 5, 0},
		{101 * milli, 5, 1},
		{104 * milli, 5, 4},
		{200 * milli, 5, 5},
		{200 * milli, 6, 5}, // one that comes after a pause is begun when it comes
		{201 * milli, 6, 6},
	} {
		if w.catchUp(step.now, step.come); w.done != step.done {
			t.Fatalf("at %d, %d have come: %d finished, want %d", step.now, step.come, w.done, step.done)
		}
	}
}

// Acks of short work go together; those of few messages, and of long work, do not wait for each other.
func TestWorkIsAckedTogether(t *testing.T) {
	for _, c := range []struct {
		each, come, want int64
	}{
		{100_000, 1, 100_000},          // the only one
		{100_000, 10, 200_000},         // a quarter of what there is: 2 of 10
		{100_000, 1000, 1_000_000},     // all that is finished within a millisecond
		{20 * milli, 1000, 20 * milli}, // the next one
		{100_000, 0, math.MaxInt64},
	} {
		w := newWork(&manifest.Consumer{Work: []manifest.WorkStage{{WorkNS: c.each}}})
		w.catchUp(1000*milli, 0)
		due := w.due(1000*milli, uint64(c.come))
		if due != math.MaxInt64 {
			due -= 1000 * milli
		}
		if due != c.want {
			t.Errorf("%d messages of %d ns: acked after %d ns, want %d", c.come, c.each, due, c.want)
		}
	}
}

// A consumer that ran dry for a moment keeps its rate over the whole; one that ran dry for long does not send a burst.
func TestRateOfAConsumerIsKept(t *testing.T) {
	spec := manifest.Consumer{Rate: manifest.Rate{Messages: 1000, PerNS: 1e9}}
	w := newWork(&spec)
	w.catchUp(0, 0)
	w.finish()            // at 0; the next one at 1 ms
	w.catchUp(4*milli, 1) // nothing had come until then
	var got []int64
	for range 5 {
		got = append(got, w.finish())
	}
	if want := []int64{4 * milli, 4 * milli, 4 * milli, 4 * milli, 5 * milli}; !slices.Equal(got, want) { // those of 1, 2, 3 and 4 milli, and then on time
		t.Errorf("after 4 ms: %v, want %v", got, want)
	}
	w.catchUp(1000*milli, w.done)
	n := 0
	for w.finish() == 1000*milli {
		n++
	}
	if n != 11 { // 10 ms of credit, and one that is due
		t.Errorf("%d at once after a second, want 11", n)
	}
}
