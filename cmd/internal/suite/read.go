package suite

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MostBytes bounds a suite's file.
const MostBytes = 1 << 20

// name of suites, tables and targets: they become names of files and words of command lines.
var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// Read reads a suite; file is its name, for errors and, without its ending, as the suite's. Errors are *Error.
func Read(file string, text []byte) (*Suite, error) {
	if len(text) > MostBytes {
		return nil, &Error{File: file, What: fmt.Sprintf("is longer than a suite may be: %d bytes at most", MostBytes)}
	}
	var doc yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&doc); err != nil {
		if err == io.EOF {
			return nil, &Error{File: file, What: "holds no suite"}
		}
		return nil, syntaxError(file, err)
	}
	if err := decoder.Decode(&yaml.Node{}); err != io.EOF {
		return nil, &Error{File: file, What: "holds more than one document; a suite is one"}
	}
	r := &reader{file: file}
	s := &Suite{Name: strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), Repeat: 1, File: file, Text: text}
	if n := endless(&doc, map[*yaml.Node]bool{}); n != nil {
		return nil, &Error{File: file, Line: n.Line, What: "the alias *" + n.Value + " stands inside of what it stands for"}
	}
	if expanded(&doc, 1<<16) < 0 {
		return nil, &Error{File: file, What: "has too many aliases"}
	}
	r.suite(s, doc.Content[0])
	if r.err == nil {
		r.check(s)
	}
	if r.err != nil {
		return nil, r.err
	}
	for _, t := range s.Tables {
		t.Source = s.titled(t.Source)
	}
	return s, nil
}

// titled is a table's source that begins with the name of a file, with the title of that document before it: the suite's source has
// both, as "TITLE (FILE)".
func (s *Suite) titled(source string) string {
	title, files, ok := strings.Cut(s.Source, " (")
	file := source
	if end := strings.IndexAny(source, ",;: "); end >= 0 {
		file = source[:end]
	}
	if !ok || file == "" || !strings.Contains(files, file) {
		return source
	}
	return title + ": " + source
}

var syntaxAt = regexp.MustCompile(`line (\d+): `)

// syntaxError names the line as the other errors do.
func syntaxError(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: file, What: "is no YAML: " + text}
	if m := syntaxAt.FindStringSubmatch(text); m != nil {
		fmt.Sscan(m[1], &e.Line)
		e.What = "is no YAML: " + strings.Replace(text, m[0], "", 1)
	}
	return e
}

// endless is an alias inside of what it stands for, nil where there is none. An alias stands for what began before it, so that every
// circle has one whose anchor is around it. open are the nodes around n.
func endless(n *yaml.Node, open map[*yaml.Node]bool) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		if open[n.Alias] {
			return n
		}
		return nil
	}
	open[n] = true
	defer delete(open, n)
	for _, c := range n.Content {
		if alias := endless(c, open); alias != nil {
			return alias
		}
	}
	return nil
}

// expanded counts the nodes with what aliases stand for, down to a bound: a few lines of aliases can stand for millions. It
// returns what is left of the budget, below 0 where that is too little.
func expanded(n *yaml.Node, budget int) int {
	if budget--; budget < 0 {
		return budget
	}
	n = followed(n)
	for _, c := range n.Content {
		if budget = expanded(c, budget); budget < 0 {
			return budget
		}
	}
	return budget
}

func (r *reader) suite(s *Suite, n *yaml.Node) {
	seed := 0
	r.fields(n, "a suite", map[string]func(*yaml.Node){
		"name": r.text(&s.Name, "name"), "title": r.text(&s.Title, "title"), "about": r.text(&s.About, "about"), "source": r.text(&s.Source, "source"),
		"options": r.options(&s.Options), "assert": r.texts(&s.Asserts, "assert"),
		"repeat": r.integer(&s.Repeat, "repeat", 1, 1000), "shuffle": r.integer(&seed, "shuffle", 0, 1<<31-1),
		"warmup": r.seconds(&s.Warmup, "warmup"), "pause": r.seconds(&s.Pause, "pause"), "setup": r.setup(&s.Setup),
		"targets": func(n *yaml.Node) { r.list(n, "targets", func(n *yaml.Node) { r.target(s, n) }) },
		"tables":  func(n *yaml.Node) { r.list(n, "tables", func(n *yaml.Node) { r.table(s, n) }) },
	})
	s.Shuffle = uint64(seed)
	if r.err == nil && !validName.MatchString(s.Name) {
		r.fail(n, "name: %q: should be letters, digits, dots, dashes and underscores, at most 64", s.Name)
	}
	if len(s.Targets) == 0 {
		s.Targets = []Target{{Name: "main", Label: "main"}}
	}
	if len(s.Tables) == 0 {
		r.fail(n, "a suite needs tables")
	}
}

func (r *reader) target(s *Suite, n *yaml.Node) {
	t := Target{}
	r.fields(n, "a target", map[string]func(*yaml.Node){
		"name": r.text(&t.Name, "name"), "label": r.text(&t.Label, "label"), "about": r.text(&t.About, "about"), "from": r.text(&t.From, "from"),
	})
	if r.err == nil && !validName.MatchString(t.Name) {
		r.fail(n, "a target needs a name of letters, digits, dots, dashes and underscores")
	}
	if t.From != "" && s.target(t.From) == nil {
		r.fail(n, "target %s: from: %q is no target above it", t.Name, t.From)
	}
	if s.target(t.Name) != nil {
		r.fail(n, "target %s stands there twice", t.Name)
	}
	if t.Label == "" {
		t.Label = t.Name
	}
	s.Targets = append(s.Targets, t)
}

// target of the suite by its name; nil where there is none.
func (s *Suite) target(name string) *Target {
	for i := range s.Targets {
		if s.Targets[i].Name == name {
			return &s.Targets[i]
		}
	}
	return nil
}

// options reads a mapping of options. That they exist, and what their values may be, is checked with the rows.
func (r *reader) options(p *Options) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, e := range r.entries(n, "options") {
			o := Option{Name: e.key, Line: e.at.Line}
			if why := ownOptions[e.key]; why != "" {
				r.fail(e.at, "options: %s: %s", e.key, why)
			}
			r.texts(&o.Values, "option "+e.key)(e.value)
			*p = append(*p, o)
		}
	}
}

// ownOptions are options of a run that a suite sets itself, or that hold what no file should.
var ownOptions = map[string]string{
	"uri":                  "the address is given when the suite is run: --uri, or the variable LEVERET_URI",
	"uris":                 "the address is given when the suite is run: --uri, or the variable LEVERET_URI",
	"management-uri":       "the address is given when the suite is run: --management-uri, or the variable LEVERET_MANAGEMENT_URI",
	"oauth2-client-secret": "a secret has no place in a file",
	"id":                   "each run is named by the suite", "capture": "each run records into the suite's directory", "until-eof": "the suite ends its runs by itself",
	"format": "the suite reads the results of its runs", "charts": "charts are listed by the table's key charts",
	"no-analyze": "the suite reads the results of its runs", "warmup": "is a key of the suite: warmup", "assert": "is a key beside options: assert",
	"repeat": "is a key of the suite: repeat", "output": "the suite reads the results of its runs",
}

func (r *reader) table(s *Suite, n *yaml.Node) {
	t := &Table{Name: fmt.Sprint(len(s.Tables) + 1), Line: n.Line}
	s.Tables = append(s.Tables, t)
	// Rows are read last: what keys they may have depends on the axes.
	var rows, exclude, published *yaml.Node
	later := func(p **yaml.Node) func(*yaml.Node) { return func(n *yaml.Node) { *p = n } }
	r.fields(n, "a table", map[string]func(*yaml.Node){
		"name": r.text(&t.Name, "name"), "title": r.text(&t.Title, "title"), "source": r.text(&t.Source, "source"),
		"options": r.options(&t.Options), "assert": r.texts(&t.Asserts, "assert"), "setup": r.setup(&t.Setup),
		"axes": func(n *yaml.Node) { r.list(n, "axes", func(n *yaml.Node) { r.axis(s, t, n) }) },
		"rows": later(&rows), "exclude": later(&exclude), "published": later(&published),
		"scale": r.texts(&t.Scale, "scale"), "fit-descriptors": r.flag(&t.FitDescriptors, "fit-descriptors"),
		"search": r.search(t), "fractions": r.fractions(t),
		"columns": func(n *yaml.Node) { r.list(n, "columns", func(n *yaml.Node) { r.column(t, n) }) },
		"block":   r.flag(&t.Block, "block"), "verdict": r.text(&t.Verdict, "verdict"), "notes": r.texts(&t.Notes, "notes"),
		"charts": r.texts(&t.Charts, "charts"),
	})
	if r.err == nil && !validName.MatchString(t.Name) {
		r.fail(n, "table: name: %q: should be letters, digits, dots, dashes and underscores, at most 64", t.Name)
	}
	for _, other := range s.Tables[:len(s.Tables)-1] {
		if other.Name == t.Name {
			r.fail(n, "table %s: there is another one of that name", t.Name)
		}
	}
	if rows != nil {
		r.list(rows, "rows", func(n *yaml.Node) { r.row(s, t, n) })
	}
	if exclude != nil {
		r.list(exclude, "exclude", func(n *yaml.Node) { t.Exclude = append(t.Exclude, r.pick(t, n, "exclude", nil)) })
	}
	if published != nil {
		r.list(published, "published", func(n *yaml.Node) { r.published(t, n) })
	}
}

func (r *reader) axis(s *Suite, t *Table, n *yaml.Node) {
	a := Axis{Line: n.Line}
	var values *yaml.Node
	r.fields(n, "an axis", map[string]func(*yaml.Node){
		"name": r.text(&a.Name, "name"), "option": r.text(&a.Option, "option"), "hidden": r.flag(&a.Hidden, "hidden"),
		"values": func(n *yaml.Node) { values = n },
	})
	if a.Name == "" {
		a.Name = a.Option
	}
	switch {
	case r.err != nil:
		return
	case a.Name == "":
		r.fail(n, "an axis needs a name, or an option")
	case values == nil && a.Option == "":
		r.fail(n, "axis %s: needs values", a.Name)
	case t.axis(a.Name) != nil:
		r.fail(n, "axis %s stands there twice", a.Name)
	case rowKeys[a.Name]:
		r.fail(n, "axis %s: rows have a key of that name: call it otherwise", a.Name)
	}
	if why := ownOptions[a.Option]; why != "" {
		r.fail(n, "axis %s: option %s: %s", a.Name, a.Option, why)
	}
	if values != nil {
		r.list(values, "axis "+a.Name+": values", func(n *yaml.Node) { r.axisValue(s, &a, n) })
		if len(a.Values) == 0 {
			r.fail(values, "axis %s: has no values", a.Name)
		}
	}
	t.Axes = append(t.Axes, a)
}

func (r *reader) axisValue(s *Suite, a *Axis, n *yaml.Node) {
	v := AxisValue{Line: n.Line}
	is := ""
	if n.Kind == yaml.ScalarNode {
		r.text(&v.Label, "axis "+a.Name)(n)
		is = v.Label
	} else {
		r.fields(n, "a value of axis "+a.Name, map[string]func(*yaml.Node){
			"label": r.text(&v.Label, "label"), "is": r.text(&is, "is"), "options": r.options(&v.Options), "target": r.targetName(s, &v.Target),
			"setup": r.setup(&v.Setup), "needs": r.needs(&v.Needs), "assert": r.texts(&v.Asserts, "assert"),
		})
	}
	if v.Label == "" {
		v.Label = is
	}
	switch {
	case r.err != nil:
		return
	case v.Label == "":
		r.fail(n, "a value of axis %s needs a label", a.Name)
	case is != "" && a.Option == "" && n.Kind != yaml.ScalarNode:
		r.fail(n, "axis %s: is: the axis has no option that it could be of", a.Name)
	case is == "" && a.Option != "" && v.Target == "" && len(v.Options) == 0:
		r.fail(n, "axis %s, %s: says no value of %s (is)", a.Name, v.Label, a.Option)
	case n.Kind == yaml.ScalarNode && a.Option == "":
		r.fail(n, "axis %s: %s: the axis has no option, and the value says nothing else: give label and options", a.Name, v.Label)
	case a.value(v.Label) != nil:
		r.fail(n, "axis %s: %s stands there twice", a.Name, v.Label)
	}
	if is != "" {
		v.Options = append(Options{{Name: a.Option, Values: []string{is}, Line: n.Line}}, v.Options...)
	}
	a.Values = append(a.Values, v)
}

func (r *reader) targetName(s *Suite, p *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.text(p, "target")(n)
		if r.err == nil && s.target(*p) == nil {
			r.fail(n, "target: %q is none of the suite's targets, which stand above the tables", *p)
		}
	}
}

func (t *Table) axis(name string) *Axis {
	for i := range t.Axes {
		if t.Axes[i].Name == name {
			return &t.Axes[i]
		}
	}
	return nil
}

func (a *Axis) value(label string) *AxisValue {
	for i := range a.Values {
		if a.Values[i].Label == label {
			return &a.Values[i]
		}
	}
	return nil
}

func (r *reader) needs(p *Needs) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.fields(n, "needs", map[string]func(*yaml.Node){
			"before": r.text(&p.Before, "before"), "nodes": r.integer(&p.Nodes, "nodes", 1, 1000), "why": r.text(&p.Why, "why"),
		})
	}
}
