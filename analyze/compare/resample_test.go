package compare

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

// course is a run of 200 intervals of 0.1 s; of gives the messages received in each.
func course(of func(i int) int64) *result.Result {
	r := rates("", 0).Runs[0]
	sum := int64(0)
	for i := range int64(200) {
		n := of(int(i))
		sum += n
		r.Intervals = append(r.Intervals, result.Interval{StartNS: i * 1e8, EndNS: (i + 1) * 1e8, Received: n, Phase: "run"})
	}
	perS := float64(sum) / 20
	r.Rates.Received = &perS
	return r
}

// autoregressive is a rate that remembers: each interval's deviation from 1,000 is 0.7 of the one before, plus noise.
func autoregressive(random *rand.Rand) *result.Result {
	x := 0.0
	return course(func(int) int64 {
		x = 0.7*x + 30*random.NormFloat64()
		return int64(math.Round(1000 + x))
	})
}

// The interval of the change of two runs of the same rate holds none in about 95 of 100 cases, although neighbours depend on
// each other: intervals as of independent ones would hold it in 60 (the standard error is sqrt(1.7/0.3) = 2.4 times as large).
func TestBlocksAllowForAutocorrelation(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	o := Options{Metrics: []*assert.Figure{figure(t, "rate(received)")}}
	held := 0
	const repetitions = 100
	for range repetitions {
		c := compared(t, o, Group{"a", []*result.Result{autoregressive(random)}}, Group{"b", []*result.Result{autoregressive(random)}})
		x := c.Metrics[0].Changes[0]
		if c.Method != result.ByBlocks || x.DeltaLow == nil || x.DeltaHigh == nil {
			t.Fatalf("%s: %+v", c.Method, x)
		}
		if *x.DeltaLow <= 0 && *x.DeltaHigh >= 0 {
			held++
		}
	}
	if held < 89 || held > 99 {
		t.Errorf("%d of %d intervals hold no change", held, repetitions)
	}
	t.Logf("%d of %d", held, repetitions)
}

// The median of n exponential values of mean m has the standard error m/sqrt(n).
func TestPercentilesAreResampled(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	run := func() *result.Result {
		r := course(func(int) int64 { return 100 })
		s := result.Series{What: "delivery", From: "service"}
		const width, buckets = 20_000, 400 // ns
		for b := range int64(buckets) {
			s.LowNS, s.WidthNS = append(s.LowNS, b*width), append(s.WidthNS, width)
		}
		for range 200 {
			counts := make([]uint32, buckets)
			for range 100 {
				counts[min(buckets-1, int(1e6*random.ExpFloat64()/width))]++
			}
			s.Counts, s.Unanswered = append(s.Counts, counts), append(s.Unanswered, 0)
		}
		r.Series = []result.Series{s}
		r.Config.Producers = 1
		r.Latency.Delivery.Service = distribution(1e6*math.Ln2, 5e6)
		return r
	}
	c := compared(t, Options{Metrics: []*assert.Figure{figure(t, "p50(delivery.service)")}}, Group{"a", []*result.Result{run()}}, Group{"b", []*result.Result{run()}})
	x := c.Metrics[0].Changes[0]
	if x.DifferenceLow == nil || x.DifferenceHigh == nil {
		t.Fatalf("%+v", x)
	}
	half := (*x.DifferenceHigh - *x.DifferenceLow) / 2
	want := 1.96 * math.Sqrt2 * 1e6 / math.Sqrt(200*100)
	if half < 0.75*want || half > 1.35*want {
		t.Errorf("half an interval is %v ns, want about %v", half, want)
	}
}

func TestOneRunEachSaysWhatItCannotKnow(t *testing.T) {
	c := compared(t, Options{}, rates("base", 100), rates("candidate", 150))
	x := c.Metrics[0].Changes[0]
	if x.Verdict != result.ChangeUnknown || x.Note == "" || !near(x.Delta, 0.5, 1e-12) || x.PValue != nil {
		t.Errorf("without intervals: %+v", x)
	}
	if len(c.Remarks) == 0 || !strings.Contains(c.Remarks[0], "how much runs of the same configuration differ from each other is unknown") {
		t.Errorf("%q", c.Remarks)
	}
	if text := c.Repeats[0].Text; !strings.Contains(text, "1 run against 1") || !strings.Contains(text, "4 runs each") {
		t.Errorf("%q", text)
	}
	// A large change of steady runs is one.
	c = compared(t, Options{}, Group{"a", []*result.Result{course(func(i int) int64 { return 1000 + int64(i%7) })}}, Group{"b", []*result.Result{course(func(i int) int64 { return 700 + int64(i%5) })}})
	if x := c.Metrics[0].Changes[0]; x.Verdict != result.ChangeWorse || *x.DeltaHigh > -0.29 || *x.DeltaLow < -0.31 {
		t.Errorf("%+v", x)
	}
}

// Twice the rate is told from noise also where 60 changes are judged together: of 1,999 replicates no p-value is below 0.001, and
// adjusted for 60 that would be 0.06.
func TestManyChangesOfOneRunEach(t *testing.T) {
	for n, want := range map[int]int{1: 1999, 25: 1999, 66: 5279, 250: 19_999, 1000: 19_999} { // 80 for each, less one
		if got := replicatesFor(n); got != want {
			t.Errorf("%d replicates for %d changes, want %d", got, n, want)
		}
	}
	random := rand.New(rand.NewPCG(13, 14))
	groups := []Group{{"base", []*result.Result{course(func(int) int64 { return 1000 + random.Int64N(10) })}}}
	for k := range 60 {
		groups = append(groups, Group{strconv.Itoa(k), []*result.Result{course(func(int) int64 { return 2000 + random.Int64N(10) })}})
	}
	c := compared(t, Options{Metrics: []*assert.Figure{figure(t, "rate(received)")}}, groups...)
	for k, x := range c.Metrics[0].Changes {
		if x.Verdict != result.ChangeBetter {
			t.Errorf("candidate %d: %s, p %v", k, x.Verdict, *x.Adjusted)
		}
	}
}
