package suite

import (
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

// Figures of a table beside those of assertions.
const (
	figureVerdict  = "verdict"
	figureBacklog  = "backlog"  // largest at the end of an interval of the window, messages
	figureOffered  = "offered"  // messages per second, of all producers
	figureKept     = "kept"     // of a search: whether the bounds were
	figureFraction = "fraction" // of the rate that was found
)

var ownFigures = []string{figureVerdict, figureBacklog, figureOffered, figureKept, figureFraction}

// latencyUnits are the units that latencies may be shown in, in nanoseconds.
var latencyUnits = map[string]float64{"us": 1e3, "ms": 1e6, "s": 1e9}

func checkFigure(text, unit string) error {
	latency := false
	if !slices.Contains(ownFigures, text) {
		f, err := assert.ParseFigure(text)
		if err != nil {
			what, _, _ := strings.Cut(err.Error(), "\n")
			return fmt.Errorf("%s (or one of %s)", what, strings.Join(ownFigures, ", "))
		}
		latency = f.IsLatency()
	}
	switch {
	case latency && latencyUnits[unit] == 0:
		return fmt.Errorf("a latency needs a unit: us, ms or s")
	case !latency && unit != "":
		return fmt.Errorf("unit %s: only latencies have one", unit)
	}
	return nil
}

// figureOf is a figure of one result.
func figureOf(text string, r *result.Result) assert.Value {
	switch text {
	case figureOffered:
		if r.Config.RateTotal == nil {
			return assert.Value{Why: "no rate was set"}
		}
		return assert.Value{Is: r.Config.RateTotal}
	case figureBacklog:
		n := backlog(r)
		if n == nil {
			return assert.Value{Why: "the expected queues are not known"}
		}
		v := float64(*n)
		return assert.Value{Is: &v}
	}
	f, err := assert.ParseFigure(text)
	if err != nil { // checked when the suite was read
		return assert.Value{Why: err.Error()}
	}
	return f.Of(r)
}

// percentiles are those that figures and bounds need, and that results don't have anyhow.
func (t *Table) percentiles() string {
	var all []string
	add := func(text string, ok bool) {
		if ok && !slices.Contains([]string{"50", "75", "95", "99", "99.9", "99.99"}, text) && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	figures := []string{}
	for _, c := range t.Columns {
		figures = append(figures, c.Figure)
	}
	for _, text := range figures {
		if f, err := assert.ParseFigure(text); err == nil {
			p, ok := f.Percent()
			add(p.String(), ok)
		}
	}
	if t.Search != nil {
		for _, b := range t.Search.Bound {
			if a, err := assert.Parse(b); err == nil {
				p, ok := a.Percent()
				add(p.String(), ok)
			}
		}
	}
	return strings.Join(all, ",")
}
