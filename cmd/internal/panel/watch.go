package panel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

// watch follows a run for the panel. One goroutine uses it.
type watch struct {
	Run
	plan    *plan
	outcome *manifest.Outcome // nil until the end

	previous measured  // at the end of the last interval; at the barrier before the first one
	stopped  *measured // when publishing stopped; nil before
	at       time.Time // phases are known from here
	phase    loadcore.Phase
	left     int64 // backlog when draining began

	rates    []rateRow
	latency  []latencyRow
	marks    limitMarks
	blocked  float64 // sum of the shares of publishing connections that were blocked
	looked   int     // how often, since the last mark
	blockSum float64 // sum of the means over the intervals

	said outages // of lost connections

	failures int64
	known    int // failures that were taken over
	errors   []failureGroup
}

func newWatch(r Run) *watch {
	p := &watch{Run: r, plan: newPlan(r.Plan), at: time.Now()}
	row := func(name string) {
		p.rates = append(p.rates, rateRow{name: name, now: math.NaN(), average: math.NaN(), past: &history{}})
	}
	if p.plan.timed {
		row("due")
	}
	for _, r := range p.plan.rates(&measured{}, &measured{}) {
		row(r.name)
	}
	settled, delivery := p.plan.latencies()
	for _, name := range []string{settled, delivery} {
		if name != "" {
			p.latency = append(p.latency, latencyRow{name: name, past: &history{}})
		}
	}
	return p
}

// frame looks at what cannot wait for the end of an interval.
func (p *watch) frame() {
	c := p.plan.Progress.Snapshot()
	if stop, ok := p.plan.Progress.AtStop(); ok && p.stopped == nil {
		p.stopped = &measured{due: p.due(&stop), counts: stop, committed: p.previous.committed}
	}
	if p.plan.publishing > 0 {
		p.blocked += min(1, float64(c.Blocked)/float64(p.plan.publishing))
	}
	p.looked++
	failures := p.plan.Progress.Failures(p.known)
	p.known += len(failures)
	for i := range failures {
		p.fail(&failures[i])
	}
}

// finish looks for the last time. An interval that has hardly begun is left out: the rates of a moment say nothing.
func (p *watch) finish(o *manifest.Outcome, now time.Time) {
	p.frame()
	if p.previous.at.IsZero() || now.Sub(p.previous.at) >= p.Interval/2 {
		p.measure(now)
	}
	p.outcome = o
}

// measure ends an interval.
func (p *watch) measure(now time.Time) {
	c := p.plan.Progress.Snapshot()
	if c.BarrierNS == 0 {
		return
	}
	if p.previous.at.IsZero() {
		p.previous.at = now.Add(-time.Duration(p.plan.Clock.Now() - c.BarrierNS))
	}
	figures := p.Live()
	m := measured{at: now, due: p.due(&c), counts: c, committed: p.previous.committed + figures.Committed}
	seconds := now.Sub(p.previous.at).Seconds()
	if seconds <= 0 {
		return
	}
	values := p.events(&m)
	before := p.events(&p.previous)
	for i := range p.rates {
		p.rates[i].now = float64(values[i]-before[i]) / seconds
		p.rates[i].past.add(p.rates[i].now)
	}
	p.previous = m
	p.measureLatency(&figures)
	p.measureLimit(&m)
}

// due is what the schedule has asked for: nothing more once publishing has stopped.
func (p *watch) due(c *loadcore.Counts) int64 {
	return p.plan.due(p.load(c))
}

// load is how long load has been offered.
func (p *watch) load(c *loadcore.Counts) time.Duration {
	if c.PublishStopNS != 0 {
		return time.Duration(c.PublishStopNS - c.BarrierNS)
	}
	return time.Duration(p.plan.Clock.Now() - c.BarrierNS)
}

// events are the figures of the rows, in their order.
func (p *watch) events(m *measured) []int64 {
	var values []int64
	if p.plan.timed {
		values = append(values, m.due)
	}
	for _, r := range p.plan.rates(m, &measured{}) {
		values = append(values, r.events)
	}
	return values
}

func (p *watch) measureLatency(figures *loadcore.LiveFigures) {
	_, delivery := p.plan.latencies()
	for i := range p.latency {
		row := &p.latency[i]
		row.LiveLatency = figures.Confirm
		if row.name == delivery {
			row.LiveLatency = figures.Delivery
		}
		p99 := math.NaN()
		if row.Count > 0 && !row.Biased() {
			p99 = float64(row.P99NS)
		}
		row.past.add(p99)
	}
}

func (p *watch) measureLimit(m *measured) {
	if p.looked > 0 {
		p.blockSum += p.blocked / float64(p.looked)
		p.blocked, p.looked = 0, 0
	}
	p.marks.add(limitMark{at: m.at, backlog: p.plan.backlog(&m.counts), self: p.plan.Progress.Self(), sent: m.counts.Sent, due: m.due, active: m.counts.ProducersActive, blocked: p.blockSum})
}

// failureGroup are failures that differ in their numbers only.
type failureGroup struct {
	key  string
	last string
	n    int64
}

// mostGroups bounds how many kinds of failures are told apart; those that were seen the longest ago are forgotten first.
const mostGroups = 20

func (p *watch) fail(f *manifest.Failure) {
	p.failures++
	text := f.Text
	switch {
	case f.Producer != nil:
		text = fmt.Sprintf("producer %d: %s", *f.Producer, text)
	case f.Consumer != nil:
		text = fmt.Sprintf("consumer %d: %s", *f.Consumer, text)
	default:
		text = fmt.Sprintf("connection %d: %s", f.Connection, text)
	}
	g := failureGroup{last: text, n: 1, key: strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)}
	if i := slices.IndexFunc(p.errors, func(e failureGroup) bool { return e.key == g.key }); i >= 0 {
		g.n += p.errors[i].n
		p.errors = slices.Delete(p.errors, i, i+1)
	}
	p.errors = slices.Insert(p.errors, 0, g)
	p.errors = p.errors[:min(len(p.errors), mostGroups)]
}
