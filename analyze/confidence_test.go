package analyze

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

var testPercents = []quantile.Percent{50 * quantile.One, 99 * quantile.One}

// distributed makes the distribution of values that come in spans of time of equal number.
func distributed(t *testing.T, values []int64, spans int, percents []quantile.Percent) *result.Distribution {
	t.Helper()
	w, cells := &cell{}, make([]*cell, spans)
	for i := range cells {
		c := &cell{}
		for _, v := range values[i*len(values)/spans : (i+1)*len(values)/spans] {
			c.hist.Add(v)
			c.moments.Add(v)
		}
		w.hist.Merge(&c.hist)
		w.moments.Merge(&c.moments)
		cells[i] = c
	}
	w.ask(percents, cells, 100*ms)
	w.prepare(nil)
	for w.selection.Open(quantile.NewMemory(1 << 20)) {
		for _, v := range values {
			w.selection.Add(v)
		}
		if err := w.selection.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return w.distribution(true)
}

// Independent exponential values with a mean of 10 ms: the median is 10 ms * ln 2, the 99th percentile 10 ms * ln 100. Of 400
// intervals at 95 %, 380 cover them, give or take 3 * sqrt(400*0.95*0.05) = 13.
func TestIntervalsCoverTheTruthOfWhiteNoise(t *testing.T) {
	const runs, messages, spans = 400, 4000, 25
	r := rand.New(rand.NewPCG(3, 5))
	truth := []float64{1e7 * math.Ln2, 1e7 * math.Log(100)}
	covered, mean, effective, none := []int{0, 0}, 0, 0.0, 0
	values := make([]int64, messages)
	for range runs {
		for i := range values {
			values[i] = int64(1e7 * r.ExpFloat64())
		}
		d := distributed(t, values, spans, testPercents)
		for i, a := range d.Asked {
			switch x := a.Interval; {
			case x.LowNS == nil: // taken for dependent, which happens by chance
				covered[i]++
				none++
			case *x.LowNS <= truth[i] && truth[i] <= *x.HighNS:
				covered[i]++
			}
		}
		if x := d.MeanInterval; x.LowNS == nil || *x.LowNS <= 1e7 && 1e7 <= *x.HighNS {
			mean++
		}
		effective += d.Asked[0].Interval.EffectiveSamples / runs
	}
	for i, n := range append(covered, mean) {
		if n < 367 || n > 393 {
			t.Errorf("figure %d: %d of %d intervals cover the truth", i, n, runs)
		}
	}
	if none > 12 {
		t.Errorf("%d of %d without an interval", none, 2*runs)
	}
	if effective < 0.7*messages || effective > messages {
		t.Errorf("%v of %d independent messages count", effective, messages)
	}
}

// Bursts of a hundred messages that share one delay: a hundredth of them counts, and the interval is about ten times as wide as
// for independent ones, whose 95 % for the median of an exponential distribution is +-1.96 * sqrt(0.25/N) / density(0.5/10 ms).
func TestMessagesThatShareTheirDelay(t *testing.T) {
	const messages, burst = 100_000, 100
	r := rand.New(rand.NewPCG(7, 9))
	values := make([]int64, messages)
	for i := range values {
		if i%burst == 0 {
			values[i] = int64(1e7 * r.ExpFloat64())
		} else {
			values[i] = values[i-1]
		}
	}
	d := distributed(t, values, 50, testPercents)
	x := d.Asked[0].Interval
	independent := 2 * 1.96 * math.Sqrt(0.25/messages) / (0.5 / 1e7)
	if width := (*x.HighNS - *x.LowNS) / independent; width < 6 || width > 15 {
		t.Errorf("%v times as wide: %+v", width, x)
	}
	if n := x.EffectiveSamples; n < 400 || n > 2500 { // 1,000 bursts; a variance of 50 batches is known to 20 %
		t.Errorf("%v of 1,000 bursts count", n)
	}
	if n := d.MeanInterval.EffectiveSamples; n < 400 || n > 2500 {
		t.Errorf("mean: %v of 1,000 bursts count", n)
	}
}

// Where nothing can be said, that is said: too short, a drift, too few above.
func TestNoInterval(t *testing.T) {
	values := make([]int64, 1000)
	for i := range values {
		values[i] = int64(i) * ms
	}
	d := distributed(t, values, 20, testPercents)
	if x := d.Asked[0].Interval; x.LowNS != nil || x.HighNS != nil || !strings.Contains(x.Note, "drifts") {
		t.Errorf("%+v", x)
	}
	if x := d.MeanInterval; x.LowNS != nil || !strings.Contains(x.Note, "drifts") {
		t.Errorf("%+v", x)
	}
	d = distributed(t, values, 9, testPercents)
	if x := d.Asked[1].Interval; x.LowNS != nil || x.Note != "too few intervals with messages for one: 9, of at least 10" {
		t.Errorf("%+v", x)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range values {
		values[i] = r.Int64N(1e9)
	}
	d = distributed(t, values, 20, []quantile.Percent{99*quantile.One + 99*quantile.One/100, quantile.Hundred})
	for _, a := range d.Asked {
		if x := a.Interval; x.HighNS != nil || x.LowNS == nil || a.Above != 0 || *a.ValueNS != *d.MaxNS || !strings.Contains(x.Note, "too few") {
			t.Errorf("%+v, %+v", a, x)
		}
	}
}

// Every percentile asked for is exact, W22 and W02 among them, with the number of messages above its rank; a censored one is
// known from below. 1, 2, ..., 10 ms, and the last two of twelve never answered.
func TestPercentilesAskedFor(t *testing.T) {
	r := record(t, plan(1, 1))
	r.send(0, 0, 12, 0)
	r.ack(0, 0, 12, ms)
	for i := range uint64(10) {
		r.receive(0, 0, 0, int64(i+1)*ms, i)
	}
	r.ackAll(0, 20*ms)
	dir := r.close()
	var ask []quantile.Percent
	for _, s := range []string{"0.1", "8.34", "14.2857", "50", "83.333333333", "83.4", "100"} {
		p, err := quantile.ParsePercent(s)
		if err != nil {
			t.Fatal(err)
		}
		ask = append(ask, p)
	}
	got, err := Run(t.Context(), []string{dir}, Options{Tmp: t.TempDir(), Percentiles: append(ask, ask[3])})
	if err != nil {
		t.Fatal(err)
	}
	d := got.Latency.Delivery.Service
	if len(d.Asked) != len(ask) {
		t.Fatalf("%+v", d.Asked)
	}
	// Ranks of 12: 1, 2 (1.0008), 2 (1.71), 6, 10 (9.99999999996), 11 (10.008), 12.
	for i, want := range []struct{ value, above int64 }{{1, 11}, {2, 10}, {2, 10}, {6, 6}, {10, 2}, {0, 1}, {0, 0}} {
		a := d.Asked[i]
		if a.Above != want.above || a.Censored != (want.value == 0) {
			t.Errorf("%v %%: %+v", a.Percent, a)
		}
		if want.value > 0 && (a.ValueNS == nil || *a.ValueNS != want.value*ms) || want.value == 0 && (a.ValueNS != nil || a.AtLeastNS == nil || *a.AtLeastNS != 1100*ms) {
			t.Errorf("%v %%: %v, at least %v, want %d ms", a.Percent, a.ValueNS, a.AtLeastNS, want.value)
		}
		if a.Interval == nil || a.Interval.Note == "" {
			t.Errorf("%v %%: %+v", a.Percent, a.Interval)
		}
	}
	for _, x := range got.Intervals {
		if d := x.Latency.Delivery.Service; d != nil && d.Asked != nil {
			t.Error("an interval has percentiles that were asked for")
		}
	}
	if _, err := Run(t.Context(), []string{dir}, Options{Percentiles: make100()}); err == nil || !strings.Contains(err.Error(), "at most 50") {
		t.Error(err)
	}
}

func make100() (ps []quantile.Percent) {
	for p := range quantile.Percent(100) {
		ps = append(ps, (p+1)*quantile.One)
	}
	return ps
}
