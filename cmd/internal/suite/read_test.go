package suite

import (
	"errors"
	"strings"
	"testing"
)

// A mistake is named with file, line and key.
func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	const good = "title: x\ntables:\n  - axes:\n      - {name: Window, option: confirm, values: [1, 10]}\n    columns: [{figure: rate(sent)}]\n"
	if _, err := Read("a.yaml", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"title: x", "titel: x", `a.yaml:1: a suite has no key "titel"`},
		{"title: x", "title: x\ntitle: y", `a.yaml:2: a suite: "title" stands there twice`},
		{"title: x", "title: x\n bad: [", "a.yaml:2: is no YAML"},
		{"title: x", "repeat: 0", "a.yaml:1: repeat: 0: should be a whole number from 1 to 1000"},
		{"title: x", "pause: long", "a.yaml:1: pause: long: should be seconds"},
		{"title: x", "targets: [small]", "a.yaml:1: a target: should be keys with values; the keys are about, "},
		{"title: x", "options: {uri: amqp://h}", "a.yaml:1: options: uri: the address is given when the suite is run"},
		{"option: confirm", "option: capture", "a.yaml:4: axis Window: option capture"},
		{"name: Window", "name: options", "a.yaml:4: axis options: rows have a key of that name"},
		{"values: [1, 10]", "values: [1, 1]", "a.yaml:4: axis Window: 1 stands there twice"},
		{"option: confirm, ", "", "a.yaml:4: axis Window: 1: the axis has no option"},
		{"values: [1, 10]", "valeus: [1]", `a.yaml:4: an axis has no key "valeus"`},
		{"rate(sent)", "rate(send)", "a.yaml:5: column rate(send): there is a rate of sent"},
		{"rate(sent)", "p99(confirm.service)", "a.yaml:5: column p99(confirm.service): a latency needs a unit"},
		{"    columns", "    exclude: [{Window: 3}]\n    columns", `a.yaml:5: exclude: axis Window has no value "3"; it has 1, 10`},
		{"    columns", "    rows: [{Widow: 1}]\n    columns", `a.yaml:5: a row has no key "Widow"`},
		{"    columns", "    rows: [{name: a}]\n    columns", "a.yaml:5: a row gives no value of axis Window"},
		{"    columns", "    setup: {queues: [{pattern: q, from: 1, to: 3}]}\n    columns", `a.yaml:5: queues: pattern "q" from 1 to 3`},
		{"columns: [{figure: rate(sent)}]", "notes: [x]", "a.yaml:3: table 1: needs columns, such as columns: [{head: "},
		{"    columns", "    rows: [{Window: 1, target: tls}]\n    columns", `a.yaml:5: target: "tls" is none`},
		{"    columns", "    rows: [{Window: 1, phases: [{name: a}, {name: a}]}]\n    columns", "a.yaml:5: phase a stands there twice"},
		{"    columns", "    rows: [{Window: 1, phases: [{name: json}]}]\n    columns", "a.yaml:5: phase json: a run has files of that ending"},
		{"    columns", "    rows: [{Window: 1, phases: [{name: a.interrupted}]}]\n    columns", "a.yaml:5: phase a.interrupted: a run has files of that ending"},
		{"    columns", "    setup: {queues: [{pattern: q-%d}]}\n    columns", `a.yaml:5: queues: pattern "q-%d" from 0 to 0`},
		{"    columns", "    search: {option: uri}\n    columns", "a.yaml:5: search: option uri: the address is given"},
		{"    columns", "    search: {bound: [garbage]}\n    columns", "a.yaml:5: search: bound: "},
		{"    columns", "    rows: [{Window: 1, published: {x: \"1,5\"}}]\n    columns", "a.yaml:5: published: x: 1,5: should be a number"},
	} {
		_, err := Read("a.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q: %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

// A few lines of aliases that stand for a million values are refused before anything is made of them.
func TestAliasesAreBounded(t *testing.T) {
	text := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for _, next := range []string{"b", "c", "d", "e", "f"} {
		last := string(next[0] - 1)
		text += next + ": &" + next + " [" + strings.TrimSuffix(strings.Repeat("*"+last+",", 10), ",") + "]\n"
	}
	if _, err := Read("a.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "too many aliases") {
		t.Errorf("%v", err)
	}
}

// What contains itself has no end; the line of the alias is named.
func TestAliasOfItself(t *testing.T) {
	for text, line := range map[string]int{"a: &a [*a]\n": 1, "name: x\na: &a\n  - b: &b\n      c: *a\n  - *b\n": 4} {
		_, err := Read("a.yaml", []byte(text))
		var e *Error
		if !errors.As(err, &e) || e.Line != line || !strings.Contains(err.Error(), "the alias *a stands inside of what it stands for") {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range Scenarios() {
		text, err := scenarios.ReadFile("scenarios/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read("f.yaml", text)
		if (s == nil) == (err == nil) {
			t.Fatal(s, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f.yaml") {
			t.Errorf("%v", err)
		}
	})
}

// Commas stand between thousands.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]float64{"1,234": 1234, "-12,345,678.5": -12345678.5, "1_000": 1000, "1e3": 1000} {
		s, err := Read("a.yaml", []byte("tables: [{rows: [{published: {x: \""+text+"\"}}], columns: [{figure: sent}]}]"))
		if err != nil || s.Tables[0].Rows[0].Published["x"] != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
