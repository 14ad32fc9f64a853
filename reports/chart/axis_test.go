package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestValueAxis(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1000, "0 200 400 600 800 1,000 1,200"}, // the highest value keeps off the frame
		{0, 121000, "0 25,000 50,000 75,000 100,000 125,000"},
		{0, 2.04, "0 0.5 1.0 1.5 2.0 2.5"},
		{0, 5, "0 1 2 3 4 5 6"},
		{-3, 4, "-4 -2 0 2 4 6"},
		{0, 0.00031, "0 0.0001 0.0002 0.0003 0.0004"},
	} {
		a := valueAxis("", c.lo, c.hi)
		if got := strings.Join(labels(a), " "); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestLogAxis(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0.4, 1001, "1 10 100 1,000"},
		{2.1, 4.9, "2 3 4 5"},
		{5, 5, "2 3 4 5 7 10"},
		{1, 100, "1 10 100"},
		{0.03, 0.09, "0.02 0.03 0.04 0.05 0.07 0.1"},
		{1e-3, 1e12, "0.001 1 1,000 1,000,000 1e9 1e12"},
	} {
		if got := strings.Join(labels(logAxis("", c.lo, c.hi)), " "); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestSpanAxis(t *testing.T) {
	for _, c := range []struct {
		ns   float64
		want string
		unit string
	}{
		{10e9, "0 2 4 6 8 10", "s"},
		{9.9996e9, "0 2 4 6 8 10", "s"},
		{9.9e9, "0 2 4 6 8", "s"},
		{45e9, "0 10 20 30 40", "s"},
		{601e9, "0 2 4 6 8 10", "min"},
		{10000e9, "0 30 60 90 120 150", "min"},
		{24 * 3600e9, "0 3 6 9 12 15 18 21 24", "h"},
		{3e6, "0 0.5 1.0 1.5 2.0 2.5 3.0", "ms"},
		{0, "0 0.2 0.4 0.6 0.8 1.0", "µs"},
	} {
		u := timeScale(c.ns)
		if got := strings.Join(labels(spanAxis("", c.ns/u.per, u)), " "); got != c.want || u.name != c.unit {
			t.Errorf("%g ns: %s %s, want %s %s", c.ns, got, u.name, c.want, c.unit)
		}
	}
}

// Whatever the data: an axis has finite ends apart from each other, its ticks lie between them, at least two have
// labels, and there are not too many.
func TestAnyAxis(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	special := []float64{0, 1, -1, 5, 1e-300, 1e300, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
		math.MaxInt64, 0.1, 0.30000000000000004, 1e9, 999999.5}
	pick := func() float64 {
		if random.IntN(2) == 0 {
			return special[random.IntN(len(special))]
		}
		return (random.Float64() - 0.3) * math.Pow(10, float64(random.IntN(40)-20))
	}
	units := []scale{{name: "s"}, {name: "min"}, {name: "h"}, {name: "ms"}, {name: "µs"}}
	for range 20000 {
		lo, hi := pick(), pick()
		for i, a := range []Axis{valueAxis("v", lo, hi), logAxis("l", lo, hi), spanAxis("s", hi, units[random.IntN(len(units))])} {
			if !finite(a.Min) || !finite(a.Max) || !(a.Min < a.Max) || a.Log && a.Min <= 0 {
				t.Fatalf("%g to %g: axis %d from %g to %g", lo, hi, i, a.Min, a.Max)
			}
			if n := len(labels(a)); n < 2 || n > 20 || len(a.Ticks) > 120 {
				t.Fatalf("%g to %g: axis %d from %g to %g has %d ticks, labels %q", lo, hi, i, a.Min, a.Max, len(a.Ticks), labels(a))
			}
			for _, tick := range a.Ticks {
				if at := a.place(tick.At); !(at > -1e-6 && at < 1+1e-6) {
					t.Fatalf("%g to %g: axis %d from %g to %g has a tick at %g", lo, hi, i, a.Min, a.Max, tick.At)
				}
			}
			sane := finite(lo) && finite(hi) && lo < hi && math.Abs(lo) < 1e299 && math.Abs(hi) < 1e299
			if covers := a.Min <= lo+1e-8*(hi-lo) && a.Max >= hi; sane && (i == 0 || i == 1 && lo > 1e-25*hi && hi > 1e-299) && !covers {
				t.Fatalf("%g to %g: axis %d from %g to %g", lo, hi, i, a.Min, a.Max)
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(labels(a)))); len(distinct) != len(labels(a)) {
				t.Fatalf("%g to %g: axis %d from %g to %g repeats a label: %q", lo, hi, i, a.Min, a.Max, labels(a))
			}
		}
	}
}
