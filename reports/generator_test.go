package reports

import (
	"math"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// Each line with what it may lack; the words are compared, not where they break.
func TestGenerator(t *testing.T) {
	r := baseResult()
	lines := func(g *result.Generator) string {
		r.Generator = g
		p := &page{width: 200, ascii: true}
		p.generator(r)
		return strings.TrimSpace(string(p.text(false)))
	}
	if got := lines(nil); got != "" {
		t.Errorf("%q", got)
	}
	r.Config.OpenLoop = true
	got := lines(&result.Generator{
		Batches:  &result.BatchSizes{Writes: 1234, Mean: 2.5, Max: 70_000},
		Lateness: &result.Distribution{Count: 10, P50NS: ptr(int64(1000)), P99NS: ptr(int64(2e6)), MaxNS: ptr(int64(3e9))},
		Self: &result.Self{
			WindowShare: ptr(0.00001), SocketShare: ptr(0.005), RecorderShare: ptr(0.0), ScheduleShare: ptr(0.0), WorkShare: ptr(0.99),
			Reads: 4, ReadBytes: 12, Goroutines: 1, ReadingPausedNS: 2e9,
		},
	})
	want := `Generator
  producers     waited for confirms under 0.01 %, for the socket 0.50 %, for the schedule 0 % of the time; at work 99 %
  sent - due    50 % 1.000 us, 99 % 2.000 ms, max 3.000 s of 10 messages
  writes        1,234 of 2.5 messages on average; 50 % n/a, 99 % n/a, max 70,000
  reads         4 of 3 bytes on average
  process       0 garbage collections (paused 0 s), heap up to 0 B, 1 goroutine at most, reading paused for the recorder 2.000 s`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	r.Config.OpenLoop = false
	got = lines(&result.Generator{Self: &result.Self{WindowShare: ptr(0.0), WorkShare: ptr(1.0)}})
	if !strings.Contains(got, "producers     at work all the time, waited for nothing\n") || strings.Contains(got, "reads") {
		t.Error(got)
	}
}

// What is no number becomes null in JSON, and the result stays as it was.
func TestGeneratorJSON(t *testing.T) {
	r := baseResult()
	nan := math.NaN()
	self := &result.Self{WindowShare: &nan, CPUCores: ptr(math.Inf(1)), LateMeanNS: ptr(2.0)}
	r.Generator = &result.Generator{Batches: &result.BatchSizes{Mean: nan}, Lateness: &result.Distribution{MeanNS: &nan}, Self: self}
	r.Intervals = []result.Interval{{Self: self}}
	var b strings.Builder
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	for part, times := range map[string]int{`"window_wait_share": null`: 2, `"cpu_cores": null`: 2, `"late_mean_ns": 2,`: 2, `"batches": null`: 1} {
		if n := strings.Count(b.String(), part); n != times {
			t.Errorf("%s: %d times, want %d", part, n, times)
		}
	}
	if self.WindowShare != &nan || r.Generator.Batches == nil {
		t.Error("the result was changed")
	}
}
