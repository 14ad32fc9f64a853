package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Changes are what a user changes of a suite for one time. They are kept with it, so that it goes on as it began.
type Changes struct {
	Time   time.Duration `json:"time_ns,omitempty"` // of every run that has one; 0: as the suite says
	Scale  float64       `json:"scale,omitempty"`   // 0: 1
	Repeat int           `json:"repeat,omitempty"`  // 0: as the suite says
	Only   []string      `json:"only,omitempty"`    // rows that match one of them; none: all
	// Descriptors is what the system allows this process, for tables that fit themselves to it; 0: unknown.
	Descriptors int `json:"descriptors,omitempty"`
	// Accepts is how many more connections a target's broker takes, for the same tables, as far as its management API tells.
	Accepts map[string]int `json:"accepts,omitempty"`
}

// Row is one line of a table, with everything that the suite, the table, its axes and the row itself say.
type Row struct {
	Table     *Table
	ID        string   // of a file's name, unique in the suite
	Name      string   // "" where the axes say it
	Labels    []string // by axis of the table
	Options   Options  // each once
	Asserts   []string
	Target    string
	Setup     Setup
	Needs     Needs
	Published map[string]float64
	Phases    []Phase // with all options of the row; none: the row is one run
	Notes     []string
	Line      int
	Of        int // rows of its table, with those that --only leaves out
}

// Title names the row for people.
func (r *Row) Title() string {
	if r.Name != "" {
		return r.Name
	}
	var parts []string
	for i, a := range r.Table.Axes {
		if !a.Hidden || len(r.Table.Axes) == 1 {
			parts = append(parts, a.Name+" "+r.Labels[i])
		}
	}
	if len(parts) == 0 {
		return "table " + r.Table.Name
	}
	return strings.Join(parts, ", ")
}

// Plan makes the rows of all tables, in their order. Errors are *Error.
func (s *Suite) Plan(c Changes) ([]*Row, error) {
	var all []*Row
	var ids []string
	taken := map[string]bool{}
	for _, t := range s.Tables {
		rows, err := s.rowsOf(t, c)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			row.ID = fmt.Sprintf("%s-%02d", t.Name, i+1)
			if words := slug(row); words != "" {
				row.ID += "-" + words
			}
			if taken[row.ID] {
				return nil, &Error{File: s.File, Line: t.Line, What: fmt.Sprintf("table %s: its rows have the names of another table's", t.Name)}
			}
			taken[row.ID], ids = true, append(ids, row.ID)
			if row.Of = len(rows); c.wanted(row) {
				all = append(all, row)
			}
		}
		if len(all)*max(cmp.Or(c.Repeat, s.Repeat), 1) > mostRuns {
			return nil, &Error{File: s.File, Line: t.Line, What: fmt.Sprintf("table %s: with it there are over %d runs, repeats counted: leave rows out, or make several suites", t.Name, mostRuns)}
		}
	}
	if len(all) == 0 {
		return nil, &Error{File: s.File, What: fmt.Sprintf("no row of suite %s matches --only %s; its rows are %s", s.Name, strings.Join(c.Only, " "), someOf(ids))}
	}
	return all, nil
}

// mostNamed bounds the rows that an error names.
const mostNamed = 12

// someOf names the first rows of a suite, and says what names the others.
func someOf(ids []string) string {
	if len(ids) <= mostNamed {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more, which --list names", strings.Join(ids[:mostNamed], ", "), len(ids)-mostNamed)
}

// slug is what a row is called in the name of a file.
func slug(r *Row) string {
	text := r.Name
	if text == "" {
		text = strings.Join(r.Labels, "-")
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	words := b.String()
	return strings.Trim(words[:min(len(words), 40)], "-.")
}

// wanted: the row matches what was asked for.
func (c *Changes) wanted(r *Row) bool {
	if len(c.Only) == 0 {
		return true
	}
	names := []string{r.Table.Name, r.ID, r.Name, r.Target}
	for i, a := range r.Table.Axes {
		names = append(names, a.Name+"="+r.Labels[i])
	}
	for _, only := range c.Only {
		for _, name := range names {
			if ok, err := path.Match(strings.ToLower(only), strings.ToLower(name)); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// rowsOf makes the rows of one table: those that it lists, else all combinations of its axes.
func (s *Suite) rowsOf(t *Table, c Changes) ([]*Row, error) {
	specs := t.Rows
	if len(specs) == 0 {
		if n := combined(t); n > mostRows {
			return nil, &Error{File: s.File, Line: t.Line, What: fmt.Sprintf("table %s: its axes have more than %d combinations: leave values out, or make several tables", t.Name, mostRows)}
		}
		for _, p := range combinations(t) {
			specs = append(specs, RowSpec{Pick: p})
		}
	}
	if len(specs) == 0 {
		return nil, &Error{File: s.File, Line: t.Line, What: fmt.Sprintf("table %s: every combination of its axes is excluded", t.Name)}
	}
	var rows []*Row
	for i := range specs {
		row := s.row(t, &specs[i])
		if err := s.change(row, c); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// mostRows bounds the rows that a few lines of axes can stand for; each row is a run.
const mostRows = 10_000

// mostRuns bounds those of a whole suite.
const mostRuns = 100_000

// combined counts the combinations of the axes, as far as one more than mostRows.
func combined(t *Table) int {
	n := 1
	for _, a := range t.Axes {
		n = min(n*len(a.Values), mostRows+1)
	}
	return n
}

// combinations of the values of the axes, the last axis changing fastest, without those that are excluded.
func combinations(t *Table) []Pick {
	picks := []Pick{{Labels: map[string]string{}, Line: t.Line}}
	for _, a := range t.Axes {
		var more []Pick
		for _, p := range picks {
			for _, v := range a.Values {
				labels := maps.Clone(p.Labels)
				labels[a.Name] = v.Label
				more = append(more, Pick{Labels: labels, Line: v.Line})
			}
		}
		picks = more
	}
	return slices.DeleteFunc(picks, func(p Pick) bool {
		return slices.ContainsFunc(t.Exclude, func(e Pick) bool { return e.fits(p.Labels) })
	})
}

// fits: the labels have everything that is picked.
func (p *Pick) fits(labels map[string]string) bool {
	for axis, label := range p.Labels {
		if labels[axis] != label {
			return false
		}
	}
	return true
}

// row puts together what suite, table, axes and the row itself say, the later over the earlier.
func (s *Suite) row(t *Table, spec *RowSpec) *Row {
	r := &Row{Table: t, Name: spec.Name, Target: s.Targets[0].Name, Line: spec.Line, Published: map[string]float64{}}
	r.Options = s.Options.with(t.Options)
	r.Asserts = slices.Concat(s.Asserts, t.Asserts)
	r.Setup = s.Setup.and(t.Setup)
	labels := map[string]string{}
	for i := range t.Axes {
		a := &t.Axes[i]
		label, given := spec.Labels[a.Name]
		if !given {
			label = a.Values[0].Label
		}
		labels[a.Name] = label
		r.Labels = append(r.Labels, label)
		v := a.value(label)
		if v == nil { // an axis without values takes any
			v = &AxisValue{Options: Options{{Name: a.Option, Values: []string{label}, Line: spec.Line}}}
		}
		r.Options = r.Options.with(v.Options)
		r.Asserts = append(r.Asserts, v.Asserts...)
		r.Setup = r.Setup.and(v.Setup)
		r.Needs = r.Needs.and(v.Needs)
		if v.Target != "" {
			r.Target = v.Target
		}
	}
	r.Options = r.Options.with(spec.Options)
	r.Asserts = append(r.Asserts, spec.Asserts...)
	r.Setup = r.Setup.and(spec.Setup)
	r.Needs = r.Needs.and(spec.Needs)
	if spec.Target != "" {
		r.Target = spec.Target
	}
	for _, p := range t.Published {
		if p.Where.fits(labels) {
			maps.Copy(r.Published, p.Values)
		}
	}
	maps.Copy(r.Published, spec.Published)
	for _, p := range spec.Phases {
		r.Phases = append(r.Phases, Phase{p.Name, r.Options.with(p.Options)})
	}
	return r
}

// with lays more options over o: the later of one name is what holds.
func (o Options) with(more Options) Options {
	all := slices.Clone(o)
	for _, m := range more {
		if i := slices.IndexFunc(all, func(x Option) bool { return x.Name == m.Name }); i >= 0 {
			all[i] = m
			continue
		}
		all = append(all, m)
	}
	return all
}

// value of an option that was given once.
func (o Options) value(name string) (string, bool) {
	for _, x := range o {
		if x.Name == name && len(x.Values) == 1 {
			return x.Values[0], true
		}
	}
	return "", false
}

func (s Setup) and(o Setup) Setup {
	return Setup{
		slices.Concat(s.Exchanges, o.Exchanges), slices.Concat(s.Queues, o.Queues), slices.Concat(s.Bindings, o.Bindings), slices.Concat(s.Policies, o.Policies),
		slices.Concat(s.RemoveQueues, o.RemoveQueues), slices.Concat(s.RemoveExchanges, o.RemoveExchanges),
	}
}

func (n Needs) and(o Needs) Needs {
	if o.Before != "" {
		n.Before = o.Before
	}
	n.Nodes = max(n.Nodes, o.Nodes)
	if o.Why != "" {
		n.Why = o.Why
	}
	return n
}

// key is the same for rows that ask for the same run.
func (r *Row) key() string {
	type part struct {
		Target  string
		Options [][]string
		Asserts []string
		Setup   Setup
		Needs   Needs
		Phases  []Phase
	}
	p := part{Target: r.Target, Asserts: r.Asserts, Setup: r.Setup, Needs: r.Needs}
	for _, o := range r.Options {
		p.Options = append(p.Options, append([]string{o.Name}, o.Values...))
	}
	slices.SortFunc(p.Options, slices.Compare)
	for _, phase := range r.Phases {
		phase.Options = slices.Clone(phase.Options)
		for i := range phase.Options {
			phase.Options[i].Line = 0
		}
		p.Phases = append(p.Phases, phase)
	}
	text, err := json.Marshal(p)
	if err != nil { // nothing in it can't be written
		return r.ID
	}
	return string(text)
}

// Args are the options as words of a command line.
func (o Options) Args() []string {
	var args []string
	for _, x := range o {
		for _, v := range x.Values {
			args = append(args, "--"+x.Name+"="+v)
		}
	}
	return args
}

// Commands are the parts of the row that run by themselves: its phases, else the row.
func (r *Row) Commands() []Phase {
	if len(r.Phases) > 0 {
		return r.Phases
	}
	if s := r.Table.Search; s != nil { // with the first value that is tried
		return []Phase{{Options: r.Options.with(Options{{Name: s.Option, Values: []string{strconv.FormatFloat(s.From, 'f', -1, 64)}, Line: r.Line}})}}
	}
	return []Phase{{Options: r.Options}}
}

// Mistake is what leveret run finds wrong with the row, at the line of the option that it names, else at the row's.
func (r *Row) Mistake(s *Suite, o Options, err error) error {
	text := err.Error()
	if pointed := strings.TrimRight(text, " ^"); pointed != text { // at a place in the line above it: an assertion, which stands in the text
		text, _, _ = strings.Cut(text, "\n")
	}
	e := &Error{File: s.File, Line: r.Line, What: fmt.Sprintf("table %s, %s: %s", r.Table.Name, r.Title(), oneLine(text))}
	at := len(err.Error())
	for _, x := range o {
		i := strings.Index(err.Error(), "--"+x.Name)
		if rest := strings.TrimPrefix(err.Error()[max(i, 0):], "--"+x.Name); i >= 0 && i < at && (rest == "" || !strings.ContainsAny(rest[:1], "-abcdefghijklmnopqrstuvwxyz")) {
			at, e.Line = i, x.Line
		}
	}
	return e
}

// Adaptive: what is run of the row depends on what came before.
func (r *Row) Adaptive() bool { return r.Table.adaptive() }

// Adapts says how.
func (r *Row) Adapts() string {
	text := "as fast as it goes"
	if s := r.Table.Search; s != nil {
		text = fmt.Sprintf("--%s from %s up to %s, doubled and halved until it is known to %s %%", s.Option, plain(s.From), plain(s.To), plain(s.Precision))
	}
	if n := len(r.Table.Fractions); n > 0 {
		text += fmt.Sprintf(", then %d fractions of that", n)
	}
	return text
}
