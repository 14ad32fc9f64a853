package analyze

import (
	"math"
	"strings"
	"testing"

	"leveret/capture/event"
)

const sec = int64(1e9)

func TestIntervals(t *testing.T) {
	tests := []struct {
		name             string
		stop, end, step  int64 // start is 0
		messages         int64
		wantStep         int64
		run, drain       int
		lastRun, lastEnd int64 // lengths
	}{
		{"a minute", 60 * sec, 60 * sec, 0, 0, sec, 60, 0, sec, 0},
		{"ten seconds and a little", 10*sec + 1000, 11 * sec, 0, 0, sec, 10, 1, sec + 1000, sec - 1000},
		{"half a second over (C029)", 1500 * ms, 1500 * ms, sec, 0, sec, 2, 0, 500 * ms, 0},
		{"short", 1500 * ms, 1600 * ms, 0, 0, 100 * ms, 15, 1, 100 * ms, 100 * ms},
		{"very short", 30 * ms, 30 * ms, 0, 0, ms, 30, 0, ms, 0},
		{"no time at all", 0, 0, 0, 0, ms, 1, 0, 0, 0},
		{"only a drain", 0, 5 * ms, 0, 0, ms, 1, 5, 0, ms},
		{"a day", 86_400 * sec, 86_400 * sec, 0, 0, 60 * sec, 1440, 0, 60 * sec, 0},
		{"asked for", 10 * sec, 12 * sec, 3 * sec, 0, 3 * sec, 4, 1, sec, 2 * sec},
		{"publishing ended late", 10*sec + 140*ms, 10*sec + 140*ms, 0, 10_000, sec, 11, 0, 140 * ms, 0},
		{"by less than a twentieth", 10*sec + 49*ms, 10*sec + 49*ms, 0, 10_000, sec, 10, 0, sec + 49*ms, 0},
		{"10 a second for 2 s", 2 * sec, 2 * sec, 0, 20, 500 * ms, 4, 0, 500 * ms, 0},
		{"10 a second for 10 s", 10 * sec, 10 * sec, 0, 100, sec, 10, 0, sec, 0},
		{"1 in 2 s for 4 s", 4 * sec, 4 * sec, 0, 2, 5 * sec, 1, 0, 4 * sec, 0},
		{"1 in 2 s for a minute", 60 * sec, 60 * sec, 0, 30, 20 * sec, 3, 0, 20 * sec, 0},
		{"1 in 2 s for an hour", 3600 * sec, 3600 * sec, 0, 1800, 20 * sec, 180, 0, 20 * sec, 0},
	}
	for _, tt := range tests {
		tl, err := newTimeline(epoch, epoch+tt.stop, epoch+tt.end, tt.step, tt.messages)
		if err != nil {
			t.Fatal(err)
		}
		if tl.step != tt.wantStep || tl.run != tt.run || tl.drain != tt.drain {
			t.Errorf("%s: step %d, %d and %d intervals", tt.name, tl.step, tl.run, tl.drain)
			continue
		}
		if from, to := tl.bounds(tl.run - 1); to-from != tt.lastRun || to != tl.stop {
			t.Errorf("%s: last of the run from %d to %d", tt.name, from, to)
		}
		if from, to := tl.bounds(tl.run + tl.drain - 1); tt.drain > 0 && (to-from != tt.lastEnd || to != tl.end) {
			t.Errorf("%s: last of the drain from %d to %d", tt.name, from, to)
		}
		checkIntervals(t, tt.name, tl)
	}
}

// checkIntervals: every time has the interval whose bounds it lies in, and find tells the truth about its neighbours.
func checkIntervals(t *testing.T, name string, tl *timeline) {
	t.Helper()
	if i, _, _ := tl.find(tl.start - 1); i != -1 {
		t.Errorf("%s: before the start is in interval %d", name, i)
	}
	for i := range tl.counts {
		from, to := tl.bounds(i)
		first, last := from, to-1 // half-open,
		if i >= tl.run {
			first, last = from+1, to // the drain's begin behind the window's end, which is the window's,
		} else if i == tl.run-1 {
			last = to // and so the window's last takes its end in
		}
		for _, at := range []int64{first, (first + last) / 2, last} {
			n, a, b := tl.find(at)
			if n != i || at < a || at > b {
				t.Errorf("%s: %d is in interval %d (%d to %d), want %d", name, at-tl.start, n, a-tl.start, b-tl.start, i)
			}
			for _, same := range []int64{a, b} {
				if n, _, _ := tl.find(same); n != i {
					t.Errorf("%s: %d and %d are said to be in one interval", name, at-tl.start, same-tl.start)
				}
			}
		}
	}
}

func TestIntervalLimits(t *testing.T) {
	if _, err := newTimeline(0, 3600*sec, 3600*sec, ms, 0); err == nil || !strings.Contains(err.Error(), "3600000") {
		t.Errorf("3.6 million intervals: %v", err)
	}
	if _, err := newTimeline(math.MinInt64+1, 0, math.MaxInt64, 0, 0); err == nil {
		t.Error("all of time is accepted")
	}
	tl, err := newTimeline(0, math.MaxInt64-1, math.MaxInt64-1, 0, 1<<32)
	if err != nil || tl.run > mostIntervals {
		t.Errorf("%v", err)
	}
	if i, _, _ := tl.find(event.None); i != -1 {
		t.Error("a missing time has an interval")
	}
}
