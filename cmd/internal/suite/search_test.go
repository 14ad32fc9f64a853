package suite

import (
	"slices"
	"testing"
)

// Doubling up to the first that is not kept, then halving: with a limit of 5,200 and 5 % of 5,000 as the span that is left at the end.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     Search
		limit float64 // highest value that is kept
		want  []float64
		found float64
	}{
		{"between", Search{From: 1000, To: 1e6, Precision: 5}, 5200, []float64{1000, 2000, 4000, 8000, 6000, 5000, 5500, 5250}, 5000},
		{"below the first", Search{From: 1000, To: 1e6, Precision: 20}, 300, []float64{1000, 500, 250, 375, 313, 282}, 282},
		{"above the last", Search{From: 1000, To: 3000, Precision: 5}, 1e9, []float64{1000, 2000, 3000}, 3000},
		{"none", Search{From: 4, To: 3000, Precision: 5}, 0, []float64{4, 2, 1}, 0},
	} {
		var before []tried
		var values []float64
		for {
			value, done := c.s.next(before)
			if done {
				if value != c.found || best(before) != c.found {
					t.Errorf("%s: found %g, best %g, want %g", c.name, value, best(before), c.found)
				}
				break
			}
			values = append(values, value)
			before = append(before, tried{value, value <= c.limit})
		}
		if !slices.Equal(values, c.want) {
			t.Errorf("%s: tried %v, want %v", c.name, values, c.want)
		}
	}
}
