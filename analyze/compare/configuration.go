package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"leveret/analyze/result"
)

// aspects are what of a run is compared beside its figures, in the order in which differences are listed.
var aspects = []struct {
	what string
	of   func(r *result.Result) string
}{
	{"broker", func(r *result.Result) string { return r.Broker.Describe() }},
	{"broker's address", address},
	{"hosts", func(r *result.Result) string { return r.Broker.DescribeHosts() }},
	{"host", func(r *result.Result) string { return r.Host.Name }},
	{"system", func(r *result.Result) string { return strings.Trim(r.Host.OS+"/"+r.Host.Arch, "/") }},
	{"processors", processors},
	{"tool", func(r *result.Result) string { return r.Config.Tool }},
	{"connections", func(r *result.Result) string { return strconv.Itoa(r.Config.Connections) }},
	{"producers", func(r *result.Result) string { return strconv.Itoa(r.Config.Producers) }},
	{"consumers", func(r *result.Result) string { return strconv.Itoa(r.Config.Consumers) }},
	{"queues", queues},
	{"declared", func(r *result.Result) string { return r.Config.DescribeDeclared() }},
	{"routing", routing},
	{"endpoints", func(r *result.Result) string {
		return strings.TrimSpace(r.Config.Allocation + " " + strings.Join(r.Config.Endpoints, ", "))
	}},
	{"message size", func(r *result.Result) string { return r.Config.DescribeSizes() }},
	{"messages", func(r *result.Result) string { return r.Config.Publishing }},
	{"durability", func(r *result.Result) string { return r.Config.DescribeDurability() }},
	{"confirms", func(r *result.Result) string { return r.Config.DescribeConfirms() }},
	{"consuming", func(r *result.Result) string { return r.Config.DescribeAcks() }},
	{"load", func(r *result.Result) string { return r.Config.DescribeLoop() }},
	{"rate", rate},
	{"schedule", func(r *result.Result) string { return r.Config.Schedule }},
	{"reads held back", func(r *result.Result) string { return time.Duration(r.Config.CoalesceNS).String() }},
	{"queue depth at start", depth},
	{"TLS", tls},
	{"environment", func(r *result.Result) string { return strings.Join(r.Config.Environment, ", ") }},
	{"measured part", part},
}

func address(r *result.Result) string {
	if r.Broker.Embedded { // a port that means nothing
		return ""
	}
	return r.Broker.URI
}

func processors(r *result.Result) string {
	if r.Host.CPUs == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Host.CPUs, r.Host.CPUModel))
}

func queues(r *result.Result) string {
	s := result.Plural(int64(r.Config.Queues), "queue")
	if len(r.Config.QueueTypes) > 0 {
		s += " (" + strings.Join(r.Config.QueueTypes, ", ") + ")"
	}
	return s
}

// made is a routing key that leveret makes for a run that is given none.
var made = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// routing without keys that were made for one run.
func routing(r *result.Result) string {
	c := r.Config
	c.RoutingKeys = slices.Clone(c.RoutingKeys)
	for i, k := range c.RoutingKeys {
		if made.MatchString(k) {
			c.RoutingKeys[i] = "made for the run"
		}
	}
	return c.DescribeRouting()
}

func rate(r *result.Result) string {
	if r.Config.RateTotal == nil {
		return ""
	}
	return rateText(*r.Config.RateTotal) + " msg/s"
}

// rateText has six significant digits, all of a whole number's: a rate stands in the plan as the time of one message, and is rarely
// whole again.
func rateText(perS float64) string {
	if !(perS > 0 && perS < 1<<53) {
		return strconv.FormatFloat(perS, 'g', 6, 64)
	}
	whole, rest, _ := strings.Cut(strconv.FormatFloat(perS, 'f', max(0, 5-int(math.Floor(math.Log10(perS)))), 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if rest = strings.TrimRight(rest, "0"); err == nil {
		whole = result.Group(n)
	}
	return strings.TrimSuffix(whole+"."+rest, ".")
}

func depth(r *result.Result) string {
	if r.Config.ReadyStart == nil {
		return ""
	}
	return result.Plural(*r.Config.ReadyStart, "message")
}

func tls(r *result.Result) string {
	switch {
	case !r.Config.TLS:
		return "none"
	case r.Config.TLSVerified:
		return "verified"
	}
	return "not verified"
}

func part(r *result.Result) string {
	p := r.Window.Part
	if p == nil {
		return ""
	}
	return fmt.Sprintf("from %g s to %g s", float64(p.FromNS)/1e9, float64(p.ToNS)/1e9)
}

// differences lists what was not the same in all runs.
func differences(groups []Group) (all []result.ConfigDifference) {
	for _, a := range aspects {
		d, values := result.ConfigDifference{What: a.what}, map[string]bool{}
		for i := range groups {
			text, within := countValues(groups[i].Runs, a.of, values)
			d.Values, d.Within = append(d.Values, text), d.Within || within
		}
		if len(values) > 1 {
			all = append(all, d)
		}
	}
	return all
}

// countValues are the values of one group, with the number of runs of each where they differ.
func countValues(runs []*result.Result, of func(*result.Result) string, seen map[string]bool) (text string, differ bool) {
	var order []string
	n := map[string]int{}
	for _, r := range runs {
		v := of(r)
		if v == "" {
			v = "none"
		}
		if n[v] == 0 {
			order = append(order, v)
		}
		n[v]++
		seen[v] = true
	}
	if len(order) == 1 {
		return order[0], false
	}
	for i, v := range order {
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("%s (%s)", v, result.Plural(int64(n[v]), "run"))
	}
	return text, true
}

// describe says what the reader has to know of a group.
func describe(g *Group) result.ComparedGroup {
	d := result.ComparedGroup{Label: g.Label}
	n := map[string]int{}
	count := func(what string, is bool) {
		if is {
			n[what]++
		}
	}
	for _, r := range g.Runs {
		run := result.ComparedRun{
			ID: r.ID, Captures: r.Captures, Verdict: r.Verdict, Complete: r.Complete, Broker: r.Broker.Describe(), Embedded: r.Broker.Embedded,
			StartedNS: r.Config.StartedNS,
		}
		if r.Generator != nil {
			run.LimitedBy = r.Generator.Limit
		}
		for _, f := range r.Findings {
			if f.Severity == result.SeverityFail || f.Severity == result.SeverityInconclusive {
				run.Findings = append(run.Findings, f.Code)
			}
		}
		d.Runs = append(d.Runs, run)
		count(markEmbedded, r.Broker.Embedded)
		count(markFail, r.Verdict == result.Fail)
		count(markInconclusive, r.Verdict == result.Inconclusive)
		count(markIncomplete, !r.Complete && !r.Growing)
		count(markGrowing, r.Growing)
		count(markSeveral, r.SeveralRuns())
	}
	for _, mark := range []string{markFail, markInconclusive, markIncomplete, markGrowing, markSeveral, markEmbedded} {
		switch {
		case n[mark] == len(g.Runs):
			d.Marks = append(d.Marks, mark)
		case n[mark] > 0:
			d.Marks = append(d.Marks, fmt.Sprintf("%s: %d of %s", mark, n[mark], result.Plural(int64(len(g.Runs)), "run")))
		}
	}
	return d
}

// Marks.
const (
	markFail         = "FAIL"
	markInconclusive = "INCONCLUSIVE"
	markIncomplete   = "incomplete recording"
	markGrowing      = "recording goes on"
	markSeveral      = "captures of several runs"
	markEmbedded     = "embedded broker"
)
