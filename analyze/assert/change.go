package assert

import (
	"math/big"

	"leveret/analyze/result"
)

// String is the figure as it is written without blanks; equal figures have equal ones.
func (f *Figure) String() string {
	latency := f.a.of
	if f.a.from != "" {
		latency += "." + f.a.from
	}
	switch f.a.measure {
	case count:
		return f.a.of
	case rate:
		return "rate(" + f.a.of + ")"
	case percentile:
		return "p" + f.a.percent.String() + "(" + latency + ")"
	}
	for name, m := range measures {
		if m == f.a.measure {
			return name + "(" + latency + ")"
		}
	}
	return ""
}

// Unit is that of the value, as comparisons have it.
func (f *Figure) Unit() result.Unit {
	switch f.a.measure {
	case count:
		return result.UnitMessages
	case rate:
		return result.UnitRate
	}
	return result.UnitTime
}

// Counted names the count that the figure is, or whose rate it is: sent, lost, ...; "" for a latency.
func (f *Figure) Counted() (name string, perSecond bool) {
	switch f.a.measure {
	case count:
		return f.a.of, false
	case rate:
		return f.a.of, true
	}
	return "", false
}

// Latency tells which latency the figure is of, as result.Latencies.Pick names it ("ack" has no from), and whether it is the
// mean; ok is false where it is of none.
func (f *Figure) Latency() (what, from string, isMean, ok bool) {
	if f.a.measure == count || f.a.measure == rate {
		return "", "", false, false
	}
	return f.a.of, f.a.from, f.a.measure == mean, true
}

// Change is a condition about how a figure changed from one run, or group of runs, to another, such as
// "p99(confirm.service) > +10%". Make it with ParseChange.
//
//	change   = figure ( ">" | ">=" ) "+" number amount     it grew by more than
//	         | figure ( "<" | "<=" ) "-" number amount     it fell by more than
//	amount   = "%" | unit | nothing                        unit of latencies only, nothing of counts and rates only
type Change struct {
	Text   string
	Figure Figure
	// Bound is the change that it speaks of, with its sign: a ratio less 1 where Relative, else in the figure's unit.
	Bound    float64
	Relative bool
	// Falls: less than in the base is meant, else more.
	Falls bool
	// Reached: a change that is exactly Bound is meant, too.
	Reached bool
}

// ParseChange reads a change. The error is an *Error.
func ParseChange(text string) (*Change, error) {
	if err := readable(text, "a condition"); err != nil {
		return nil, err
	}
	p, c := &parser{text: text}, &Change{Text: text}
	if err := p.figure(&c.Figure.a); err != nil {
		return nil, err
	}
	rise, err := p.direction(c)
	if err != nil {
		return nil, err
	}
	if err := p.amount(c, rise); err != nil {
		return nil, err
	}
	if p.blank(); p.at < len(text) {
		return nil, p.fail(p.at, "the condition should end here; write each one in a --fail-if of its own")
	}
	return c, nil
}

// direction reads operator and sign.
func (p *parser) direction(c *Change) (rise bool, err error) {
	p.blank()
	at, found := p.at, operator("")
	for _, o := range operators {
		if p.take(string(o)) {
			found = o
			break
		}
	}
	switch found {
	case ">", ">=":
		rise = true
	case "<", "<=":
	case "":
		return false, p.fail(at, "> or < should stand here, and then the change: p99(confirm.service) > +10%%")
	default:
		return false, p.fail(at, "a change is more than (>) or less than (<) something")
	}
	c.Reached = len(found) == 2
	p.blank()
	at = p.at
	sign := ""
	for _, s := range []string{"+", "-"} {
		if sign == "" && p.take(s) {
			sign = s
		}
	}
	switch {
	case sign == "":
		return false, p.fail(at, "a sign should stand here: %s changes, + for more than in the base, - for less", c.Figure.String())
	case rise != (sign == "+"):
		return false, p.fail(at, "a condition is that a figure rose by more than so much (> +10%%) or fell by more than so much (< -10%%)")
	}
	return rise, nil
}

// amount reads how much.
func (p *parser) amount(c *Change, rise bool) error {
	p.blank()
	at := p.at
	if at < len(p.text) && p.text[at] == '-' {
		return p.fail(at, "one sign is enough")
	}
	number, at := p.number()
	value, ok := new(big.Rat).SetString(number)
	if number == "" || !ok {
		return p.fail(at, "a number should stand here, such as 10")
	}
	if p.take("%") {
		c.Relative = true
		value.Quo(value, big.NewRat(100, 1))
	} else if err := p.absolute(c, value); err != nil {
		return err
	}
	if c.Bound, _ = value.Float64(); !rise {
		c.Bound, c.Falls = -c.Bound, true
	}
	if c.Relative && c.Bound < -1 {
		return p.fail(at, "nothing falls by more than 100%%")
	}
	return nil
}

func (p *parser) absolute(c *Change, value *big.Rat) error {
	unit, at := p.unit()
	if !c.Figure.IsLatency() {
		if unit != "" {
			return p.fail(at, "%% should stand here, or nothing: counts are of messages, rates of messages per second")
		}
		return nil
	}
	ns, ok := units[unit]
	if !ok {
		return p.fail(at, "%% should stand here, or a unit: ns, us, ms or s")
	}
	value.Mul(value, new(big.Rat).SetInt64(ns))
	return nil
}
