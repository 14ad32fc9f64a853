// Package assert reads assertions about a result, such as "p99(delivery.response) < 20ms", and judges them.
//
//	assertion  = figure operator number [unit]
//	figure     = count | "rate(" rate ")" | measure "(" latency ")"
//	count      = a count by its name in JSON: sent, lost, duplicates, ...
//	rate       = sent | arrived | confirmed | committed | received | drain              messages per second
//	measure    = "p" percent | "min" | "mean" | "max" | "stddev"              percent above 0, at most 100: p50, p99.9
//	latency    = ( confirm | delivery | commit ) "." ( service | response ) | ack
//	operator   = < | <= | > | >= | == | !=
//	unit       = ns | us | ms | s                                             of latencies, which need one; nothing else has one
//
// Blanks may stand between all of these.
package assert

import (
	"fmt"
	"math/big"
	"strings"

	"leveret/analyze/quantile"
)

// MostBytes is the length of an assertion that is still read.
const MostBytes = 200

// operator compares.
type operator string

// operators, the longer ones first.
var operators = []operator{"<=", ">=", "==", "!=", "<", ">"}

// Assertion is one that was read; make it with Parse.
type Assertion struct {
	Text string

	measure  measure
	of       string           // count or rate; of a latency: confirm, delivery, commit, ack
	from     string           // service, response; "" for ack
	percent  quantile.Percent // of measure percentile
	operator operator
	bound    float64 // messages, messages per second, nanoseconds
}

type measure int

const (
	count measure = iota
	rate
	percentile
	minimum
	mean
	maximum
	deviation
)

// Percent is the percentile that the assertion needs, if it needs one.
func (a *Assertion) Percent() (p quantile.Percent, ok bool) {
	return a.percent, a.measure == percentile
}

// Error says what is wrong with an assertion, and where. Its text has three lines: what, the assertion, and a caret below
// the place.
type Error struct {
	Assertion string
	At        int // offset of the place, in bytes
	What      string
}

func (e *Error) Error() string {
	column := len([]rune(e.Assertion[:e.At]))
	return e.What + "\n  " + e.Assertion + "\n  " + strings.Repeat(" ", column) + "^"
}

// Parse reads an assertion. The error is an *Error.
func Parse(text string) (*Assertion, error) {
	if err := readable(text, "an assertion"); err != nil {
		return nil, err
	}
	p := &parser{text: text}
	a := &Assertion{Text: text}
	if err := p.figure(a); err != nil {
		return nil, err
	}
	if err := p.comparison(a); err != nil {
		return nil, err
	}
	if p.blank(); p.at < len(text) {
		return nil, p.fail(p.at, "the assertion should end here; write each one in an --assert of its own")
	}
	return a, nil
}

// readable refuses texts that are too long, or that a message could not repeat; kind is what they should be.
func readable(text, kind string) error {
	if len(text) > MostBytes {
		return &Error{Assertion: text[:0], What: fmt.Sprintf("%s has at most %d bytes, this one %d", kind, MostBytes, len(text))}
	}
	for i, c := range text {
		if c < ' ' || c == 0x7f || c == '\ufffd' {
			return &Error{Assertion: strings.ToValidUTF8(text[:i], "?"), At: i, What: "a character that no assertion has"}
		}
	}
	return nil
}

// parser goes through the text; at is where it stands.
type parser struct {
	text string
	at   int
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &Error{Assertion: p.text, At: at, What: fmt.Sprintf(format, args...)}
}

func (p *parser) blank() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// take goes past a text that stands next, blanks before it included.
func (p *parser) take(s string) bool {
	p.blank()
	if !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

// word is the next run of letters, digits and the like, and where it begins.
func (p *parser) word(more string) (w string, at int) {
	p.blank()
	at = p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && !strings.ContainsRune(more, rune(c)) {
			break
		}
		p.at++
	}
	return p.text[at:p.at], at
}

// figure reads what stands before the operator.
func (p *parser) figure(a *Assertion) error {
	name, at := p.word(".")
	switch {
	case name == "":
		return p.fail(at, "a figure should stand here, such as lost, rate(received) or p99(delivery.response)")
	case !p.take("("):
		if _, ok := countNames[name]; !ok {
			return p.fail(at, "%s", p.noCount(name))
		}
		a.measure, a.of = count, name
		return nil
	}
	if err := p.function(a, name, at); err != nil {
		return err
	}
	if !p.take(")") {
		return p.fail(p.at, "a closing parenthesis should stand here")
	}
	return nil
}

// noCount says what may be meant by a name that is no count.
func (p *parser) noCount(name string) string {
	if _, ok := measures[name]; ok || isPercentile(name) {
		return fmt.Sprintf("%s needs a latency: %s(delivery.response)", name, name)
	}
	if name == "rate" {
		return "rate needs what is counted: rate(received)"
	}
	return fmt.Sprintf("no count is called %q; there are %s", name, strings.Join(sortedCounts, ", "))
}

var measures = map[string]measure{"min": minimum, "mean": mean, "max": maximum, "stddev": deviation}

func isPercentile(name string) bool {
	_, err := quantile.ParsePercent(strings.TrimPrefix(name, "p"))
	return err == nil && strings.HasPrefix(name, "p")
}

// function reads the argument of rate or of a measure of latency; name begins at at.
func (p *parser) function(a *Assertion, name string, at int) error {
	if name == "rate" {
		of, begin := p.word("")
		if _, ok := rates[of]; !ok {
			return p.fail(begin, "there is a rate of sent, arrived, confirmed, committed, received and drain")
		}
		a.measure, a.of = rate, of
		return nil
	}
	m, ok := measures[name]
	if number, isP := strings.CutPrefix(name, "p"); !ok && isP {
		percent, err := quantile.ParsePercent(number)
		if err != nil {
			return p.fail(at+1, "a percentile %v", err)
		}
		m, ok, a.percent = percentile, true, percent
	}
	if !ok {
		return p.fail(at, "there is rate(...), and min, mean, max, stddev and percentiles such as p99 of a latency")
	}
	a.measure = m
	return p.latency(a)
}

func (p *parser) latency(a *Assertion) error {
	of, at := p.word("")
	switch of {
	case "ack":
		a.of = of
		if p.take(".") {
			return p.fail(p.at, "an ack has one latency, from received to the consumer's ack: write ack alone")
		}
		return nil
	case "confirm", "delivery", "commit":
	default:
		return p.fail(at, "there is latency of confirm, delivery, commit and ack")
	}
	if !p.take(".") {
		return p.fail(p.at, "since when should stand here: %s.service (from sent) or %s.response (from due)", of, of)
	}
	from, at := p.word("")
	if from != "service" && from != "response" {
		return p.fail(at, "latency counts since sent (service) or due (response)")
	}
	a.of, a.from = of, from
	return nil
}

// comparison reads operator, number and unit.
func (p *parser) comparison(a *Assertion) error {
	p.blank()
	for _, o := range operators {
		if p.take(string(o)) {
			a.operator = o
			break
		}
	}
	if a.operator == "" {
		return p.fail(p.at, "one of < <= > >= == != should stand here")
	}
	number, at := p.number()
	value, ok := new(big.Rat).SetString(number)
	if number == "" || !ok {
		return p.fail(at, "a number should stand here, such as 20 or 0.5")
	}
	unit, at := p.unit()
	if a.measure == count || a.measure == rate {
		if unit != "" {
			return p.fail(at, "%s has no unit: counts are of messages, rates of messages per second", a.of)
		}
	} else {
		ns, ok := units[unit]
		if !ok {
			return p.fail(at, "a latency needs a unit: ns, us, ms or s")
		}
		value.Mul(value, new(big.Rat).SetInt64(ns))
	}
	a.bound, _ = value.Float64()
	return nil
}

var units = map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

// unit is the next word; a microsecond may be written with the micro sign or the Greek letter.
func (p *parser) unit() (unit string, at int) {
	p.blank()
	at = p.at
	if p.take("\u00b5s") || p.take("\u03bcs") {
		return "us", at
	}
	return p.word("")
}

// number is the next decimal number as it stands there.
func (p *parser) number() (text string, at int) {
	p.blank()
	at = p.at
	if p.at < len(p.text) && p.text[p.at] == '-' {
		p.at++
	}
	digits, points := 0, 0
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && points == 0:
			points++
		default:
			if digits == 0 {
				return "", at
			}
			return p.text[at:p.at], at
		}
	}
	if digits == 0 {
		return "", at
	}
	return p.text[at:p.at], at
}
