package assert

import (
	"fmt"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// Figure is what stands before the operator of an assertion, such as lost, rate(received) or p99(delivery.response); make it
// with ParseFigure.
type Figure struct{ a Assertion }

// Value of a figure: what it is, else what it is at least, else nothing, and why.
type Value struct {
	Is, AtLeast *float64
	Unit        string // "messages", "messages per second", "ns"
	Why         string // it is not known, or not exactly
}

// ParseFigure reads a figure. The error is an *Error.
func ParseFigure(text string) (*Figure, error) {
	if len(text) > MostBytes {
		return nil, &Error{Assertion: text[:0], What: fmt.Sprintf("a figure has at most %d bytes, this one %d", MostBytes, len(text))}
	}
	p := &parser{text: text}
	f := &Figure{Assertion{Text: text}}
	if err := p.figure(&f.a); err != nil {
		return nil, err
	}
	if p.blank(); p.at < len(text) {
		return nil, p.fail(p.at, "the figure should end here")
	}
	return f, nil
}

// Percent is the percentile that the figure needs, if it needs one.
func (f *Figure) Percent() (p quantile.Percent, ok bool) { return f.a.Percent() }

// IsLatency: the figure is a time, in nanoseconds.
func (f *Figure) IsLatency() bool { return f.a.unit() == "ns" }

// Of is the figure of a result.
func (f *Figure) Of(r *result.Result) Value {
	x := f.a.figure(r)
	v := Value{Unit: f.a.unit(), Why: x.why}
	switch {
	case x.low != nil && x.high != nil:
		v.Is = x.low
	case x.low != nil:
		v.AtLeast = x.low
	}
	return v
}
