package options

import (
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/assert"
)

// Compare holds the options of `leveret compare`.
type Compare struct {
	Report  Report
	Metrics []*assert.Figure // none: chosen
	FailIf  []*assert.Change
	FailBy  string // FailBySignificance, FailByEstimate
	Quiet   bool
	Memory  int64  // bytes of working memory for each analysis
	Tmp     string // directory of what outgrows it; "": the system's
}

// Values of Compare.FailBy.
const (
	FailBySignificance = "significance"
	FailByEstimate     = "estimate"
)

// notCompared are the options of reports that mean nothing for a comparison.
var notCompared = []string{"interval", "by", "percentiles", "assert", "findings"}

// NewCompare returns the set of `leveret compare` and the struct that it fills.
func NewCompare() (*Set, *Compare) {
	c := &Compare{}
	rows := slices.DeleteFunc(c.Report.options(), func(o *Option) bool { return slices.Contains(notCompared, o.Name) })
	rows = append([]*Option{
		{Name: "metrics", Arg: "FIGURE,...", Group: groupReport, value: figures(&c.Metrics), Help: "figures to compare, such as rate(received),p99.9(delivery.response); without it rates, medians and 99th percentiles, and counts of what went wrong"},
		{Name: "fail-if", Arg: "EXPR", Group: groupReport, value: changes(&c.FailIf), Help: "exit with 3 if a figure of a candidate changed so, such as 'p99(confirm.service) > +10%', 'rate(received) < -5%' or 'lost > +0'; may be repeated"},
		{Name: "fail-by", Arg: "WHAT", Group: groupReport, value: choice(&c.FailBy, FailBySignificance, FailBySignificance, FailByEstimate), Help: "what --fail-if looks at: significance (the estimate is beyond the bound, and the change is told from noise) or estimate (the estimate alone, be it noise)"},
	}, rows...)
	for _, o := range rows {
		switch o.Name {
		case "strict":
			o.Help = "exit with 3 also when a run is INCONCLUSIVE or its recording incomplete"
		case "chart":
			o.Help = "this chart, in the place of those that make sense, such as runs-rates, also without runs-; may be repeated; a wrong name lists all"
		}
	}
	rows = append(rows, &Option{Name: "quiet", Group: groupReport, value: toggle(&c.Quiet, false), Help: "no progress bar"},
		&Option{Name: "memory", Arg: "BYTES", Group: groupReport, value: size(&c.Memory, 128<<20, 16<<20), Help: "working memory of each analysis; what outgrows it goes to a temporary file"},
		&Option{Name: "tmp", Arg: "DIR", Group: groupReport, value: text(&c.Tmp, ""), Help: "directory for that temporary file; without it the system's"})
	letters(rows)
	return newSet("compare", rows), c
}

// mostCompared figures can be asked for: each one makes changes of all others harder to prove.
const mostCompared = 40

// figures is a list of figures.
func figures(p *[]*assert.Figure) value {
	return value{func() string {
		var texts []string
		for _, f := range *p {
			texts = append(texts, f.String())
		}
		return strings.Join(texts, ",")
	}, func(s string) error {
		for item := range strings.SplitSeq(s, ",") {
			f, err := assert.ParseFigure(strings.TrimSpace(item))
			if err != nil {
				return err
			}
			*p = append(*p, f)
		}
		if len(*p) > mostCompared {
			return fmt.Errorf("%d figures, at most %d can be compared", len(*p), mostCompared)
		}
		return nil
	}, "figures"}
}

// changes appends one condition.
func changes(p *[]*assert.Change) value {
	return value{func() string {
		var texts []string
		for _, c := range *p {
			texts = append(texts, c.Text)
		}
		return strings.Join(texts, "; ")
	}, func(s string) error {
		c, err := assert.ParseChange(s)
		if err != nil {
			return err
		}
		if *p = append(*p, c); len(*p) > mostCompared {
			return fmt.Errorf("at most %d conditions can be made", mostCompared)
		}
		return nil
	}, "condition"}
}
