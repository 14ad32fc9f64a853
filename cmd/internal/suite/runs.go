package suite

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// NewRecord plans the runs of the rows, in the order in which they are run: all rows once, then all of them again, as often as
// they are repeated, each round in an order of its own where the suite is shuffled. Rows that ask for the same run share it. What
// is searched for is planned when it is run, after all others.
func (s *Suite) NewRecord(rows []*Row, c Changes, brokers map[string]Broker, tool string) *Record {
	r := &Record{
		Format: recordFormat, Name: s.Name, File: s.File, Text: string(s.Text), Tool: tool, Started: time.Now().UTC().Truncate(time.Millisecond),
		Changes: c, Brokers: brokers,
	}
	repeat := s.Repeat
	if c.Repeat > 0 {
		repeat = c.Repeat
	}
	for round := range repeat {
		var runs []*Run
		byKey := map[string]*Run{}
		for _, row := range rows {
			if row.Table.adaptive() {
				continue
			}
			key := row.key()
			if same := byKey[key]; same != nil {
				same.Rows = append(same.Rows, row.ID)
				continue
			}
			run := newRun(row, round)
			byKey[key], runs = run, append(runs, run)
		}
		if s.Shuffle > 0 {
			random := rand.New(rand.NewPCG(s.Shuffle, uint64(round)))
			random.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		}
		r.Runs = append(r.Runs, runs...)
	}
	return r
}

// newRun is a run of a row, in a round from 0.
func newRun(row *Row, round int) *Run {
	run := &Run{ID: row.ID, Rows: []string{row.ID}, Title: row.Title(), Target: row.Target, Repeat: round, Asserts: row.Asserts, State: Planned, row: row}
	if round > 0 {
		run.ID += fmt.Sprintf(".%d", round+1)
		run.Title += fmt.Sprintf(", run %d", round+1)
	}
	percentiles := row.Table.percentiles()
	if len(row.Phases) == 0 {
		run.Parts = []Part{newPart("", row.Options, run.ID, percentiles)}
	}
	for _, p := range row.Phases {
		run.Parts = append(run.Parts, newPart(p.Name, p.Options, run.ID+"."+p.Name, percentiles))
	}
	run.expect(row)
	return run
}

func newPart(name string, o Options, capture, percentiles string) Part {
	args := o.Args()
	if _, given := o.value("percentiles"); percentiles != "" && !given {
		args = append(args, "--percentiles="+percentiles)
	}
	return Part{Name: name, Args: args, Capture: capture}
}

// newProbe is a run of a row with a value of its own.
func newProbe(row *Row, option string, value float64, number int) *Run {
	probed := *row
	text := strconv.FormatFloat(value, 'f', -1, 64)
	probed.Options = row.Options.with(Options{{Name: option, Values: []string{text}, Line: row.Line}})
	run := newRun(&probed, 0)
	run.row = row
	run.ID += fmt.Sprintf(".%02d", number)
	run.Parts[0].Capture = run.ID
	run.Title += fmt.Sprintf(", %s %s", option, text)
	run.Probe = &value
	return run
}

// expect works out how long the run lasts, as far as its options tell.
func (r *Run) expect(row *Row) {
	r.Expected = 0
	for _, o := range row.parts() {
		text, _ := o.value("time")
		d, err := ParseSeconds(text)
		if err != nil || d == 0 {
			r.Expected = 0
			return
		}
		r.Expected += d.Seconds()
	}
}

// Attach finds the rows of the runs again, after the record was read.
func (r *Record) Attach(rows []*Row) {
	byID := map[string]*Row{}
	for _, row := range rows {
		byID[row.ID] = row
	}
	for _, run := range r.Runs {
		for _, id := range run.Rows {
			if run.row == nil {
				run.row = byID[id]
			}
		}
	}
}
