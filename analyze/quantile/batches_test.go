package quantile

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s: %v, want %v to within %v", what, got, want, within)
	}
}

// spansOf makes spans of two values each.
func spansOf(sums ...float64) (spans []Span) {
	for _, s := range sums {
		spans = append(spans, Span{Count: 2, Sum: s})
	}
	return spans
}

func patterned(times int, pattern ...float64) (all []float64) {
	for range times {
		all = append(all, pattern...)
	}
	return all
}

// By hand: R = 20/20, residuals -1 and 1 in turn, 10/9 * 10 / 20^2.
func TestSpreadOfAlternatingSpans(t *testing.T) {
	s, ok := SpreadOf(spansOf(patterned(5, 1, 3)...))
	if !ok || s.Batches != 10 || s.Merged != 1 {
		t.Fatalf("%+v, %v", s, ok)
	}
	near(t, "variance", s.Variance, 1.0/36, 1e-15)
}

// By hand: 40 spans with residuals of four times -1, four times 1, ...: lag 1 is (30-9)/40 = 0.525, above 1.645/sqrt(40) = 0.26.
// Pairs of them: -2 -2 2 2 ..., lag 1 is (40-36)/80 = 0.05, below 1.645/sqrt(20); 20/19 * 80 / 80^2.
func TestSpreadOfSpansThatDependOnEachOther(t *testing.T) {
	s, ok := SpreadOf(spansOf(patterned(5, 1, 1, 1, 1, 3, 3, 3, 3)...))
	if !ok || s.Batches != 20 || s.Merged != 2 {
		t.Fatalf("%+v, %v", s, ok)
	}
	near(t, "variance", s.Variance, 1.0/76, 1e-15)
}

// Spans without values are none, and spans of different size weigh what they hold: counts 1 and 3 in turn with sums 0 and 4,
// R = 20/20, residuals -1 and 1.
func TestSpreadOfUnequalSpans(t *testing.T) {
	var spans []Span
	for range 5 {
		spans = append(spans, Span{1, 0}, Span{}, Span{3, 4})
	}
	s, ok := SpreadOf(spans)
	if !ok || s.Batches != 10 {
		t.Fatalf("%+v, %v", s, ok)
	}
	near(t, "variance", s.Variance, 1.0/36, 1e-15)
}

func TestNoSpread(t *testing.T) {
	var ramp []float64
	for i := range 64 {
		ramp = append(ramp, float64(i))
	}
	for name, spans := range map[string][]Span{"none": nil, "nine": spansOf(patterned(3, 1, 2, 1)...), "a drift": spansOf(ramp...), "only empty ones": make([]Span, 20)} {
		if s, ok := SpreadOf(spans); ok {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s, ok := SpreadOf(spansOf(patterned(10, 2)...)); !ok || s.Variance != 0 {
		t.Errorf("all the same: %+v, %v", s, ok)
	}
}

// Tables of Student's distribution, 97.5 %: 2.571 (5), 2.262 (9), 2.093 (19), 2.045 (29), 1.984 (99).
func TestStudent(t *testing.T) {
	for degrees, want := range map[int]float64{5: 2.5706, 9: 2.2622, 19: 2.0930, 29: 2.0452, 99: 1.9842} {
		near(t, "Student", Student(degrees), want, 0.001)
	}
}

// By hand, for 0 of n: 0 to t^2/(n+t^2); and 0.5 of 100 with t = 2: (0.52 +- 2*sqrt(0.0025+0.0001))/1.04.
func TestWilson(t *testing.T) {
	low, high := Wilson(0, 12, 2)
	near(t, "low", low, 0, 1e-15)
	near(t, "high", high, 0.25, 1e-15)
	low, high = Wilson(0.5, 100, 2)
	near(t, "low", low, (0.52-2*math.Sqrt(0.0026))/1.04, 1e-15)
	near(t, "high", high, (0.52+2*math.Sqrt(0.0026))/1.04, 1e-15)
}

// An AR(1) series x(i) = phi*x(i-1) + e(i) of variance 1 has a mean of variance (1+phi)/(1-phi)/n, but for a part in n (G. E. P.
// Box, G. M. Jenkins, Time Series Analysis, 3.2.3): with phi 0.8 a ninth of the values count. phi 0 is white noise.
func TestSpreadOfAutocorrelatedSeries(t *testing.T) {
	const series, spans, each = 1000, 500, 10
	for _, phi := range []float64{0, 0.8} {
		r := rand.New(rand.NewPCG(11, uint64(phi*10)))
		theory := (1 + phi) / (1 - phi) / (spans * each)
		sum, covered, naive, none := 0.0, 0, 0, 0
		for range series {
			x := r.NormFloat64()
			var all []Span
			total := 0.0
			for range spans {
				s := Span{Count: each}
				for range each {
					x = phi*x + math.Sqrt(1-phi*phi)*r.NormFloat64()
					s.Sum += x
				}
				total += s.Sum
				all = append(all, s)
			}
			s, ok := SpreadOf(all)
			if !ok { // the test for dependence is at 5 % a level, and may be wrong at all of them
				none++
				continue
			}
			sum += s.Variance
			mean := total / (spans * each)
			if math.Abs(mean) <= Student(s.Batches-1)*math.Sqrt(s.Variance) {
				covered++
			}
			if math.Abs(mean) <= 1.96*math.Sqrt(1.0/(spans*each)) {
				naive++
			}
		}
		// Of 1,000 intervals at 95 %, 950 cover the mean, give or take 3 * sqrt(1000*0.95*0.05) = 21. The batches that are taken
		// first may still depend on each other a little, which takes some off.
		near(t, "mean variance over theory", sum/float64(series-none)/theory, 1, 0.1)
		if none > 10 {
			t.Errorf("phi %v: no spread of %d series", phi, none)
		}
		if covered < 920 || covered > 971 {
			t.Errorf("phi %v: %d of %d intervals cover the mean", phi, covered, series)
		}
		if phi > 0 && naive > 600 { // 1.96/3 standard deviations: 48.6 %
			t.Errorf("phi %v: %d intervals as for independent values cover the mean: the series is not what it should be", phi, naive)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for s, want := range map[string]Percent{"50": 50 * One, "99.9": 99*One + 9*One/10, "100": Hundred, "0.000000001": 1, "99.990": 99*One + 99*One/100} {
		if got, err := ParsePercent(s); err != nil || got != want {
			t.Errorf("%s: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "0", "0.0", "100.1", "101", "1000", "-1", "+1", "99.9999999999", "1e1", ".5", "5.", "p99", "99,9"} {
		if got, err := ParsePercent(s); err == nil {
			t.Errorf("%q: %d", s, got)
		}
	}
	for p, want := range map[Percent]string{50 * One: "50", 99*One + 9*One/10: "99.9", 1: "0.000000001", Hundred: "100"} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// By hand: 1 to 10 stand in buckets of their own, 300 and 301 in one (each value from 256 on shares its bucket with the next).
func TestSplitAndAround(t *testing.T) {
	var h, other Histogram
	for v := int64(1); v <= 10; v++ {
		h.Add(v)
	}
	h.Add(300)
	h.Add(301)
	limit, below, inside := h.Split(11)
	if below != 10 || inside != 2 {
		t.Errorf("%d below, %d in it", below, inside)
	}
	for _, v := range []int64{-5, 299, 301, 302} {
		other.Add(v)
	}
	if below, inside := other.Around(limit); below != 2 || inside != 1 {
		t.Errorf("other: %d below, %d in it", below, inside)
	}
}
