package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func planned(t *testing.T, text string, c Changes) (*Suite, []*Row) {
	t.Helper()
	s, err := Read("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	return s, rows
}

func argsOf(rows []*Row) (all []string) {
	for _, r := range rows {
		for _, p := range r.Commands() {
			all = append(all, strings.Join(p.Options.Args(), " "))
		}
	}
	return all
}

const matrix = `
options: {time: 30, size: 100}
warmup: 6
tables:
  - name: a
    options: {size: 12}
    axes:
      - {name: Producers, option: producers, values: [1, 3]}
      - {name: Window, option: confirm, values: [{is: -1, label: none}, 10]}
    exclude: [{Producers: 3, Window: none}]
    published: [{where: {Window: none}, figures: {rate: 5}}]
    columns: [{figure: rate(sent), published: rate}]
`

// All combinations but the excluded one; the table's options over the suite's, the axes' over those; a warm-up beside the time.
func TestRowsOfAxes(t *testing.T) {
	_, rows := planned(t, matrix, Changes{})
	want := []string{
		"--time=36 --size=12 --producers=1 --confirm=-1 --warmup=6",
		"--time=36 --size=12 --producers=1 --confirm=10 --warmup=6",
		"--time=36 --size=12 --producers=3 --confirm=10 --warmup=6",
	}
	if got := argsOf(rows); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if rows[0].Published["rate"] != 5 || len(rows[1].Published) != 0 || rows[0].ID != "a-01-1-none" || rows[2].Title() != "Producers 3, Window 10" {
		t.Errorf("%+v, %+v, %s, %s", rows[0].Published, rows[1].Published, rows[0].ID, rows[2].Title())
	}
}

// A few lines of axes stand for any number of rows: 10 000 of them are planned, 100 000 are refused before they take memory.
func TestRowsAreBounded(t *testing.T) {
	text := "tables:\n  - name: a\n    columns: [{figure: rate(sent)}]\n    axes:\n"
	for _, option := range []string{"producers", "consumers", "qos", "confirm"} {
		text += "      - {name: " + option + ", option: " + option + ", values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n"
	}
	if _, rows := planned(t, text, Changes{}); len(rows) != 10_000 {
		t.Errorf("%d rows", len(rows))
	}
	s, err := Read("a.yaml", []byte(text+"      - {name: size, option: size, values: [12, 13, 14, 15, 16, 17, 18, 19, 20, 21]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plan(Changes{}); err == nil || err.Error() != "a.yaml:2: table a: its axes have more than 10000 combinations: leave values out, or make several tables" {
		t.Errorf("%v", err)
	}
}

// A shorter time shortens the warm-up in proportion: 10 of 30 seconds leave 2 of 6.
func TestTimeAndOnly(t *testing.T) {
	_, rows := planned(t, matrix, Changes{Time: 10 * time.Second, Only: []string{"producers=3"}})
	if got := argsOf(rows); !slices.Equal(got, []string{"--time=12 --size=12 --producers=3 --confirm=10 --warmup=2"}) {
		t.Errorf("%q", got)
	}
	s, _ := planned(t, matrix, Changes{})
	if _, err := s.Plan(Changes{Only: []string{"b-*"}}); err == nil || !strings.Contains(err.Error(), "no row of suite a matches --only b-*; its rows are a-01-1-none, a-02-1-10, a-03-3-10") {
		t.Errorf("%v", err)
	}
}

// A wrong --only names a dozen rows at most.
func TestNoRowNamesFew(t *testing.T) {
	s, _ := planned(t, "tables: [{axes: [{option: size, values: [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]}], columns: [{figure: sent}]}]", Changes{})
	_, err := s.Plan(Changes{Only: []string{"nosuch"}})
	if err == nil || !strings.Contains(err.Error(), "its rows are 1-01-12, 1-02-13, ") || !strings.HasSuffix(err.Error(), ", 1-12-23 and 2 more, which --list names") {
		t.Errorf("%v", err)
	}
}

// Ten thousand rows are a suite, eleven times are too many runs of them.
func TestMostRuns(t *testing.T) {
	values := make([]string, 100)
	for i := range values {
		values[i] = fmt.Sprint(i + 1)
	}
	list := strings.Join(values, ", ")
	s, _ := planned(t, "tables: [{axes: [{option: size, values: ["+list+"]}, {option: rate, values: ["+list+"]}], columns: [{figure: sent}]}]", Changes{Repeat: 10})
	if _, err := s.Plan(Changes{Repeat: 11}); err == nil || !strings.Contains(err.Error(), "with it there are over 100000 runs, repeats counted") {
		t.Errorf("%v", err)
	}
}

// What is made before a run, and what is removed after it, are told apart.
func TestNotesOfSetUp(t *testing.T) {
	const table = "tables: [{rows: [{}], columns: [{figure: sent}], setup: {%s}}]"
	for _, c := range []struct{ setup, want string }{
		{"queues: [{pattern: q-%d, from: 1, to: 3}], exchanges: [{name: x}]", "set-up: 1 exchange, 3 queues; removed after the run"},
		{"remove-queues: [{name: q}]", "after the run: queues and exchanges that it declares itself and leaves behind are removed"},
	} {
		s, rows := planned(t, strings.Replace(table, "%s", c.setup, 1), Changes{})
		if got := s.NewRecord(rows, Changes{}, nil, "").Runs[0].Notes(); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

const scaledText = `
tables:
  - scale: [producers]
    fit-descriptors: true
    options: {consumers: 0}
    setup: {queues: [{pattern: q%d, from: 1, to: 50, scaled: true}]}
    axes: [{name: Publishers, option: producers, values: [10, 2000]}]
    columns: [{figure: rate(sent)}]
`

// Of 228 descriptors 128 are kept for other things: 100 connections.
func TestScale(t *testing.T) {
	_, rows := planned(t, scaledText, Changes{Scale: 0.5, Descriptors: 228})
	if got := argsOf(rows); !slices.Equal(got, []string{"--consumers=0 --producers=5", "--consumers=0 --producers=100"}) {
		t.Errorf("%q", got)
	}
	if q := rows[0].Setup.Queues[0]; len(q.Names()) != 25 || q.Names()[24] != "q25" {
		t.Errorf("%+v", q)
	}
	if !strings.Contains(strings.Join(rows[1].Notes, " "), "scaled down to 100 connections: this system allows a process 228 file descriptors") {
		t.Errorf("%q", rows[1].Notes)
	}
	_, fewer := planned(t, scaledText, Changes{Descriptors: 228, Accepts: map[string]int{"main": 66}})
	if got := argsOf(fewer); !slices.Equal(got, []string{"--consumers=0 --producers=10", "--consumers=0 --producers=50"}) {
		t.Errorf("%q", got)
	}
	if !strings.Contains(strings.Join(fewer[1].Notes, " "), "scaled down to 50 connections: a node of the broker takes 66 more") {
		t.Errorf("%q", fewer[1].Notes)
	}
	if rows[1].Labels[0] != "100 (of 2000)" {
		t.Errorf("%q", rows[1].Labels)
	}
}

// Rounds follow each other, each with every row once, in the order of the seed.
func TestRepeatsAreInterleavedAndShuffled(t *testing.T) {
	s, rows := planned(t, "repeat: 3\nshuffle: 7\n"+matrix, Changes{})
	ids := func() (all []string) {
		for _, run := range s.NewRecord(rows, Changes{}, nil, "").Runs {
			all = append(all, run.ID)
		}
		return all
	}
	got := ids()
	if !slices.Equal(got, ids()) {
		t.Error("the same seed gave another order")
	}
	for round, suffix := range []string{"", ".2", ".3"} {
		part := slices.Sorted(slices.Values(got[3*round : 3*round+3]))
		if !slices.Equal(part, []string{"a-01-1-none" + suffix, "a-02-1-10" + suffix, "a-03-3-10" + suffix}) {
			t.Errorf("round %d: %q", round, part)
		}
	}
	unshuffled := []string{"a-01-1-none", "a-02-1-10", "a-03-3-10", "a-01-1-none.2", "a-02-1-10.2", "a-03-3-10.2", "a-01-1-none.3", "a-02-1-10.3", "a-03-3-10.3"}
	if slices.Equal(got, unshuffled) {
		t.Error("seed 7 shuffled nothing")
	}
}

// Tables 4 to 9 of the document have 4, 20, 7, 6, 16 and 5 rows. Of Table 6 all 7, of Table 7 all but 6 x 6 x 10, and of Table 8 three of
// the four Classic ones ask for what Table 5 has without SSL; that last one is Table 7's; and Table 4's first is 3 x 3 x 3 of Table 5.
// 58 rows less 7, 5, 4 and 1 are 41 runs.
func TestHuaweiHasAllRows(t *testing.T) {
	s, err := Scenario("huawei-dms")
	if err != nil || s == nil {
		t.Fatal(err)
	}
	rows, err := s.Plan(Changes{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range rows {
		count[r.Table.Name]++
	}
	for name, n := range map[string]int{"t4": 4, "t5": 20, "t6": 7, "t7": 6, "t8": 16, "t9": 5} {
		if count[name] != n {
			t.Errorf("table %s has %d rows, want %d", name, count[name], n)
		}
	}
	if runs := len(s.NewRecord(rows, Changes{}, nil, "").Runs); runs != 41 {
		t.Errorf("%d runs, want 41", runs)
	}
	for id, want := range map[string][2]float64{ // first and last rows, and some between, as the document prints them
		"t4-01-rabbitmq.2u4g.cluster-Ultra-high-I-O-3": {32052, 25219}, "t5-01-Yes-1-1-1": {7631, 6291}, "t5-20-No-3-3-10": {39809, 37912},
		"t6-07-6-1": {26663, 26662}, "t7-06-6-6-10": {54768, 45847}, "t8-04-3-3-1-Quorum": {6771, 15568}, "t8-15-6-6-10-Mirrored": {54625, 45853}, "t9-05-1-6": {31518, 31518},
	} {
		i := slices.IndexFunc(rows, func(r *Row) bool { return r.ID == id })
		if i < 0 {
			t.Errorf("no row %s", id)
		} else if p := rows[i].Published; p["sent"] != want[0] || p["received"] != want[1] {
			t.Errorf("%s: %v, want %v", id, p, want)
		}
	}
}

// Every suite inside the program says where its figures come from, and can be planned.
func TestScenarios(t *testing.T) {
	if len(Scenarios()) != 7 {
		t.Errorf("%q", Scenarios())
	}
	for _, name := range Scenarios() {
		s, err := Scenario(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := s.Plan(Changes{Time: time.Second, Scale: 0.01}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, table := range s.Tables {
			published := slices.ContainsFunc(table.Columns, func(c Column) bool { return c.Published != "" })
			if published && (s.Source == "" || !strings.Contains(table.Source, ".txt")) {
				t.Errorf("%s, table %s: figures without a source", name, table.Name)
			}
		}
	}
}

// What a row says it needs holds over what its axes say.
func TestNeedsOfARow(t *testing.T) {
	_, rows := planned(t, `
tables:
  - axes: [{name: Size, option: size, values: [{is: 12, needs: {before: "4", nodes: 3, why: the axis}}]}]
    rows: [{Size: 12, needs: {before: "3.9", why: the row}}]
    columns: [{figure: sent}]
`, Changes{})
	if got := rows[0].Needs; got != (Needs{Before: "3.9", Nodes: 3, Why: "the row"}) {
		t.Errorf("%+v", got)
	}
}

// 10 of 60 seconds of warm-up are 1 of 6, in each phase.
func TestWarmUpOfPhases(t *testing.T) {
	_, rows := planned(t, "warmup: 10\noptions: {time: 60}\ntables: [{rows: [{phases: [{name: a}, {name: b}]}], columns: [{figure: sent}]}]", Changes{Time: 6 * time.Second})
	if got := argsOf(rows); !slices.Equal(got, []string{"--time=7 --warmup=1", "--time=7 --warmup=1"}) {
		t.Errorf("%q", got)
	}
}
