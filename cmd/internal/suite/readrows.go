package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"leveret/analyze/assert"
)

// rowKeys are the keys of a row that are no axis.
var rowKeys = map[string]bool{"name": true, "options": true, "assert": true, "target": true, "setup": true, "needs": true, "published": true, "phases": true}

func (r *reader) row(s *Suite, t *Table, n *yaml.Node) {
	row := RowSpec{}
	row.Pick = r.pick(t, n, "a row", map[string]func(*yaml.Node){
		"name": r.text(&row.Name, "name"), "options": r.options(&row.Options), "assert": r.texts(&row.Asserts, "assert"),
		"target": r.targetName(s, &row.Target), "setup": r.setup(&row.Setup), "needs": r.needs(&row.Needs),
		"published": r.figures(&row.Published), "phases": r.phases(&row.Phases),
	})
	for _, a := range t.Axes {
		if _, given := row.Labels[a.Name]; !given && len(a.Values) != 1 {
			r.fail(n, "a row gives no value of axis %s", a.Name)
		}
	}
	t.Rows = append(t.Rows, row)
}

// pick reads labels by axis, and other keys where there are any.
func (r *reader) pick(t *Table, n *yaml.Node, what string, other map[string]func(*yaml.Node)) Pick {
	p := Pick{Labels: map[string]string{}, Line: n.Line}
	known := map[string]func(*yaml.Node){}
	for key, read := range other {
		known[key] = read
	}
	for i := range t.Axes {
		a := &t.Axes[i]
		known[a.Name] = func(n *yaml.Node) {
			label := ""
			r.text(&label, what+": "+a.Name)(n)
			if r.err == nil && len(a.Values) > 0 && a.value(label) == nil {
				r.fail(n, "%s: axis %s has no value %q; it has %s", what, a.Name, label, a.labels())
			}
			p.Labels[a.Name] = label
		}
	}
	r.fields(n, what, known)
	return p
}

func (a *Axis) labels() string {
	var labels []string
	for _, v := range a.Values {
		labels = append(labels, v.Label)
	}
	return strings.Join(labels, ", ")
}

func (r *reader) figures(p *map[string]float64) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*p = map[string]float64{}
		for _, e := range r.entries(n, "published") {
			v := 0.0
			r.number(&v, "published: "+e.key, -1e15, 1e15)(e.value)
			(*p)[e.key] = v
		}
	}
}

func (r *reader) published(t *Table, n *yaml.Node) {
	var p Published
	r.fields(n, "published", map[string]func(*yaml.Node){
		"where":   func(n *yaml.Node) { p.Where = r.pick(t, n, "where", nil) },
		"figures": r.figures(&p.Values),
	})
	t.Published = append(t.Published, p)
}

// fileOfRun is the ending of what a suite keeps of a run beside its captures.
var fileOfRun = regexp.MustCompile(`^(log|json|json\.part)$|\.interrupted(-\d+)?$`)

func (r *reader) phases(p *[]Phase) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.list(n, "phases", func(n *yaml.Node) {
			var phase Phase
			r.fields(n, "a phase", map[string]func(*yaml.Node){"name": r.text(&phase.Name, "name"), "options": r.options(&phase.Options)})
			switch {
			case r.err != nil:
			case !validName.MatchString(phase.Name):
				r.fail(n, "a phase needs a name of letters, digits, dots, dashes and underscores")
			case fileOfRun.MatchString(phase.Name):
				r.fail(n, "phase %s: a run has files of that ending beside the directories of its phases: call it otherwise", phase.Name)
			case slices.ContainsFunc(*p, func(other Phase) bool { return other.Name == phase.Name }):
				r.fail(n, "phase %s stands there twice: each records into a directory of its own name", phase.Name)
			}
			*p = append(*p, phase)
		})
	}
}

func (r *reader) search(t *Table) func(*yaml.Node) {
	return func(n *yaml.Node) {
		s := &Search{Option: "rate", From: 1000, To: 10_000_000, Precision: 5, Keep: 99}
		r.fields(n, "search", map[string]func(*yaml.Node){
			"option": r.text(&s.Option, "option"), "from": r.number(&s.From, "from", 1, 1e12), "to": r.number(&s.To, "to", 1, 1e12),
			"precision": r.number(&s.Precision, "precision", 0.1, 100), "keep": r.number(&s.Keep, "keep", 0, 100),
			"bound": r.texts(&s.Bound, "bound"), "backlog": r.number(&s.Backlog, "backlog", 1, 1e12),
		})
		if s.To < s.From {
			r.fail(n, "search: it would go from %g to %g: give a larger end", s.From, s.To)
		}
		if why := ownOptions[s.Option]; why != "" {
			r.fail(n, "search: option %s: %s", s.Option, why)
		}
		for _, b := range s.Bound {
			if _, err := assert.Parse(b); err != nil {
				what, _, _ := strings.Cut(err.Error(), "\n")
				r.fail(n, "search: bound: %s", what)
			}
		}
		t.Search = s
	}
}

func (r *reader) fractions(t *Table) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.list(n, "fractions", func(n *yaml.Node) {
			v := 0.0
			r.number(&v, "fractions", 0.001, 10)(n)
			t.Fractions = append(t.Fractions, v)
		})
	}
}

func (r *reader) column(t *Table, n *yaml.Node) {
	c := Column{Line: n.Line}
	r.fields(n, "a column", map[string]func(*yaml.Node){
		"group": r.text(&c.Group, "group"), "head": r.text(&c.Head, "head"), "figure": r.text(&c.Figure, "figure"), "change": r.flag(&c.Change, "change"), "unit": r.text(&c.Unit, "unit"),
		"published": r.text(&c.Published, "published"), "ratio": r.flag(&c.Ratio, "ratio"), "per": r.number(&c.Per, "per", 1e-9, 1e12),
		"phase": r.integer(&c.Phase, "phase", 1, 100),
	})
	switch {
	case r.err != nil:
		return
	case c.Figure == "":
		r.fail(n, "a column needs a figure, such as rate(received)")
	case c.Group != "" && c.Published != "":
		r.fail(n, "column %s: group: what was measured and what was published stand under the column's own head", c.Figure)
	case c.Ratio && c.Published == "":
		r.fail(n, "column %s: ratio: to what is published, and the column has no key published", c.Figure)
	}
	if err := checkFigure(c.Figure, c.Unit); err != nil {
		r.fail(n, "column %s: %v", c.Figure, err)
	}
	if c.Head == "" {
		c.Head = c.Figure
	}
	t.Columns = append(t.Columns, c)
}

// check holds against each other what no key can tell by itself.
func (r *reader) check(s *Suite) {
	for _, t := range s.Tables {
		at := &yaml.Node{Line: t.Line}
		if len(t.Columns) == 0 {
			r.fail(at, "table %s: needs columns, such as columns: [{head: Received (msg/s), figure: rate(received)}, {head: p99, figure: p99(delivery.service), unit: ms}]", t.Name)
		}
		if len(t.Rows) == 0 {
			for _, a := range t.Axes {
				if len(a.Values) == 0 {
					r.fail(&yaml.Node{Line: a.Line}, "table %s: axis %s has no values, and there are no rows to give some", t.Name, a.Name)
				}
			}
		} else if len(t.Exclude) > 0 {
			r.fail(&yaml.Node{Line: t.Exclude[0].Line}, "table %s: exclude is of combinations of axes, and the table lists its rows: leave the row out there", t.Name)
		}
		if len(t.Axes) == 0 && len(t.Rows) == 0 && t.Search == nil && len(t.Fractions) == 0 {
			r.fail(at, "table %s: needs axes or rows", t.Name)
		}
		for _, c := range t.Columns {
			if c.Phase > 0 && len(t.Rows) == 0 {
				r.fail(&yaml.Node{Line: c.Line}, "table %s, column %s: no row has phases", t.Name, c.Head)
			}
		}
		for i := range t.Rows {
			if t.adaptive() && len(t.Rows[i].Phases) > 0 {
				r.fail(&yaml.Node{Line: t.Rows[i].Line}, "table %s: phases have no place where a value is searched for", t.Name)
			}
			if t.Rows[i].Name == "" && len(t.Axes) == 0 {
				t.Rows[i].Name = fmt.Sprintf("row %d", i+1)
			}
		}
	}
}

// adaptive: what is run depends on what came before.
func (t *Table) adaptive() bool { return t.Search != nil || len(t.Fractions) > 0 }
