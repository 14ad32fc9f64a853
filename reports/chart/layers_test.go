package chart

import (
	"testing"
)

// checkLayers: whatever a layer draws lies within the axes, and is a number.
func checkLayers(t *testing.T, s *Spec) {
	t.Helper()
	inside := func(a *Axis, what string, values ...float64) {
		for _, v := range values {
			if at := a.place(v); !(at > -1e-6 && at < 1+1e-6) {
				t.Fatalf("%s: %s at %g outside the axis from %g to %g", s.Name, what, v, a.Min, a.Max)
			}
		}
	}
	known := func(values ...*float64) (all []float64) {
		for _, v := range values {
			if v != nil {
				all = append(all, *v)
			}
		}
		return all
	}
	if s.Cells != nil {
		for _, c := range s.Cells.Cells {
			inside(&s.X, "cell", c.X0, c.X1)
			inside(&s.Y, "cell", c.Y0, c.Y1)
			if c.Level < 0 || c.Level >= len(s.Cells.From) {
				t.Fatalf("%s: level %d of %d", s.Name, c.Level, len(s.Cells.From))
			}
		}
	}
	for _, b := range s.Bands {
		for _, segment := range b.Segments {
			for _, p := range segment {
				inside(&s.X, "band", p.X)
				inside(&s.Y, "band", p.Low, p.High)
			}
		}
	}
	for _, b := range s.Bars {
		across, along := &s.X, &s.Y
		if b.Sideways {
			across, along = along, across
		}
		for _, x := range b.Bars {
			inside(across, "bar", x.From, x.To)
			inside(along, "bar", x.Value)
			inside(along, "interval", known(x.Low, x.High)...)
		}
	}
	if s.Rows != nil {
		for _, r := range s.Rows.Rows {
			inside(&s.Y, "row", r.At-r.Half, r.At+r.Half)
			inside(&s.X, "row", known(r.From, r.Low, r.High, r.To, r.Dot, r.Bound)...)
		}
	}
	for _, l := range s.Dots {
		for _, p := range l.Dots {
			inside(&s.X, "dot", p.X)
			inside(&s.Y, "dot", p.Y)
			if l.Sideways {
				inside(&s.X, "interval", known(p.Low, p.High)...)
			} else {
				inside(&s.Y, "interval", known(p.Low, p.High)...)
			}
		}
	}
}
