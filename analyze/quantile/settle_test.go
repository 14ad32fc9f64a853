package quantile

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSettled(t *testing.T) {
	flat := patterned(20, 7)
	for _, c := range []struct {
		name   string
		values []float64
		from   int
		ok     bool
	}{
		{"too few", patterned(9, 1), 0, false},
		{"flat", flat, 0, true},
		// Cutting 3 leaves no difference at all, cutting fewer leaves some.
		{"a slow start", slices.Concat([]float64{1, 3, 5}, flat), 3, true},
		{"in the middle", slices.Concat(patterned(10, 1), patterned(10, 2)), 10, true},
		{"behind the middle", slices.Concat(patterned(11, 1), patterned(10, 2)), 11, false},
		{"up and down", patterned(10, 1, 2), 0, true},
	} {
		if from, ok := Settled(c.values); from != c.from || ok != c.ok {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, from, ok, c.from, c.ok)
		}
	}
	var ramp []float64
	for i := range 40 {
		ramp = append(ramp, float64(i*i))
	}
	if from, ok := Settled(ramp); ok {
		t.Errorf("what rises to the end settles at %d", from)
	}
}

// White noise is steady from the beginning, and a step of five deviations in it is found; the rule may cut
// off some of the noise behind it, too.
func TestSettledInNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	steady, found := 0, 0
	for range 500 {
		values := make([]float64, 60)
		for i := range values {
			values[i] = r.NormFloat64()
		}
		if from, ok := Settled(values); ok && from == 0 {
			steady++
		}
		for i := range 8 {
			values[i] += 5
		}
		if from, ok := Settled(values); ok && from >= 7 {
			found++
		}
	}
	if steady < 450 || found < 450 {
		t.Errorf("of 500: %d steady, %d steps found", steady, found)
	}
}
