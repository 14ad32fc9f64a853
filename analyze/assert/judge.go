package assert

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
)

// countNames leads from the name of a count in JSON to its field.
var countNames = func() map[string]int {
	names := map[string]int{}
	t := reflect.TypeFor[result.Counts]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names[name] = i
	}
	return names
}()

var sortedCounts = func() (names []string) {
	for name := range countNames {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

var rates = map[string]func(*result.Rates) *float64{
	"sent":      func(r *result.Rates) *float64 { return r.Sent },
	"arrived":   func(r *result.Rates) *float64 { return r.Arrived },
	"confirmed": func(r *result.Rates) *float64 { return r.Confirmed },
	"committed": func(r *result.Rates) *float64 { return r.Committed },
	"received":  func(r *result.Rates) *float64 { return r.Received },
	"drain":     func(r *result.Rates) *float64 { return r.Drain },
}

// figure is what a result knows of an asked value: it lies from low to high, both included; nil is no bound. A value that is
// known has the same two.
type figure struct {
	low, high *float64
	why       string // it is not known, or not exactly
}

func exactly(v float64) figure { return figure{low: &v, high: &v} }

// Judge tells whether the result meets the assertion. What is known from one side only meets no assertion that the unknown
// side could break: a censored percentile never satisfies an upper bound. A figure that does not exist meets nothing.
func (a *Assertion) Judge(r *result.Result) result.Assertion {
	f := a.figure(r)
	out := result.Assertion{Text: a.Text, Met: f.satisfies(a.operator, a.bound), Unit: a.unit()}
	switch {
	case f.low != nil && f.high != nil:
		out.Value = f.low
	case f.low != nil:
		out.AtLeast = f.low
	}
	if !out.Met || out.Value == nil {
		out.Why = f.why
	}
	return out
}

func (f figure) satisfies(o operator, bound float64) bool {
	below := f.high != nil && *f.high < bound
	above := f.low != nil && *f.low > bound
	switch o {
	case "<":
		return below
	case "<=":
		return f.high != nil && *f.high <= bound
	case ">":
		return above
	case ">=":
		return f.low != nil && *f.low >= bound
	case "==":
		return f.low != nil && f.high != nil && *f.low == bound && *f.high == bound
	}
	return below || above // !=
}

func (a *Assertion) unit() string {
	switch a.measure {
	case count:
		return "messages"
	case rate:
		return "messages per second"
	}
	return "ns"
}

func (a *Assertion) figure(r *result.Result) figure {
	switch a.measure {
	case count:
		return a.count(r)
	case rate:
		if v := rates[a.of](&r.Rates); v != nil {
			return exactly(*v)
		}
		return figure{why: whyNoRate(r, a.of)}
	}
	d := r.AckLatency
	why := "no ack was recorded"
	if a.of != "ack" {
		d, why = r.Latency.Pick(a.of, a.from), r.WhyNoLatency(a.of, a.from)
	}
	if d.Messages() == 0 {
		return figure{why: fmt.Sprintf("there is no such latency: %s", why)}
	}
	return a.ofDistribution(d)
}

func whyNoRate(r *result.Result, of string) string {
	why := "it was not measured"
	switch {
	case r.SeveralRuns():
		why = "the captures are not of one run"
	case of == "received" && r.Config.Consumers == 0:
		why = "no consumers in this run"
	case of == "drain":
		why = "too little was received after publishing stopped"
	case of != "received" && r.Config.Producers == 0:
		why = "no producers in this run"
	case of == "arrived" && (r.Config.Confirm > 0 || r.Config.PublishTxSize > 0):
		why = "messages had confirms, which tell the same"
	case of == "arrived":
		why = "it was not proved that the broker had taken all that was sent"
	case of == "confirmed" && r.Config.Confirm == 0:
		why = "confirms were off"
	case of == "committed" && r.Config.PublishTxSize == 0:
		why = "nothing was published in transactions"
	}
	return "there is no such rate: " + why
}

// count is known from below only where the record, or what was judged of it, does not tell all.
func (a *Assertion) count(r *result.Result) figure {
	n := float64(reflect.ValueOf(r.Counts).Field(countNames[a.of]).Int())
	switch a.of {
	case "confirmed", "nacked", "unconfirmed", "missing_unconfirmed":
		if r.Config.Producers > 0 && r.Config.Confirm == 0 && r.Config.PublishTxSize == 0 && r.Counts.Confirmed == 0 {
			return figure{why: "there is no such count: confirms were off"}
		}
	}
	doubt := ""
	for _, f := range r.Findings {
		if f.Severity == result.SeverityInconclusive && doubt == "" && (f.Code == "capture_incomplete" || a.ofLoss() && !strings.HasPrefix(f.Code, "missing")) {
			doubt = f.Code
		}
	}
	if !r.Complete && doubt == "" {
		doubt = "capture_incomplete"
	}
	if a.of == "lost" && r.Counts.Missing > 0 && r.Config.Producers > 0 && r.Config.Confirm == 0 && doubt == "" {
		doubt = "without confirms, what is missing is not known to be lost"
	}
	if doubt != "" {
		return figure{low: &n, why: "the count is known from below only (" + doubt + ")"}
	}
	return exactly(n)
}

// ofLoss: the count is of messages that did not arrive, which only a drained run can tell.
func (a *Assertion) ofLoss() bool {
	return a.of == "lost" || a.of == "missing" || a.of == "missing_unconfirmed" || a.of == "removed_by_rule"
}

func (a *Assertion) ofDistribution(d *result.Distribution) figure {
	unanswered := d.DescribeCensored()
	switch a.measure {
	case percentile:
		v, ok := d.Percentile(a.percent.Float())
		switch {
		case !ok:
			return figure{why: "this percentile was not looked for"}
		case v.ValueNS == nil:
			return figure{why: "it falls among messages without an answer (" + unanswered + ")"}
		case v.AtLeast:
			low := float64(*v.ValueNS)
			return figure{low: &low, why: "it falls among messages without an answer (" + unanswered + "), and is known from below only"}
		}
		return exactly(float64(*v.ValueNS))
	case minimum:
		return ofMinimum(d, unanswered)
	case maximum:
		if d.Censored > 0 {
			low := float64(d.MaxBound())
			return figure{low: &low, why: "messages without an answer (" + unanswered + ") took longer than is known"}
		}
		return exactly(float64(*d.MaxNS))
	}
	if d.Censored > 0 {
		return figure{why: "there is none of all messages: " + unanswered}
	}
	if a.measure == deviation {
		return exactly(*d.StdDevNS)
	}
	return exactly(*d.MeanNS)
}

// ofMinimum: a message without an answer can be the quickest one only where its bound is below the measured minimum.
func ofMinimum(d *result.Distribution, unanswered string) figure {
	if d.MinNS == nil {
		return figure{why: "no message was answered (" + unanswered + ")"}
	}
	v := float64(*d.MinNS)
	if d.Censored > 0 && (d.AtLeastNS == nil || *d.AtLeastNS < *d.MinNS) {
		return figure{high: &v, why: "messages without an answer (" + unanswered + ") may have been quicker"}
	}
	return exactly(v)
}

// Code is that of the finding of an assertion that is not met.
const Code = "assertion_not_met"

// Apply judges assertions, adds them to the result in their order, and makes each one that is not met a finding that fails
// the run.
func Apply(r *result.Result, all []*Assertion) {
	var failed []result.Finding
	for _, a := range all {
		x := a.Judge(r)
		r.Assertions = append(r.Assertions, x)
		if !x.Met {
			failed = append(failed, result.Finding{Code: Code, Severity: result.SeverityFail, Count: 1, Text: x.Text + ": " + x.Describe()})
		}
	}
	if len(failed) == 0 {
		return
	}
	r.Verdict = result.Fail
	at := slices.IndexFunc(r.Findings, func(f result.Finding) bool { return f.Severity != result.SeverityFail })
	if at < 0 {
		at = len(r.Findings)
	}
	r.Findings = slices.Insert(r.Findings, at, failed...)
}

// Percents are the percentiles that assertions need.
func Percents(all []*Assertion) (ps []quantile.Percent) {
	for _, a := range all {
		if p, ok := a.Percent(); ok {
			ps = append(ps, p)
		}
	}
	return ps
}
