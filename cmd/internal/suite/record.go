package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leveret/analyze/result"
)

// RecordName is the file in a suite's directory that says what was planned, and what came of it.
const RecordName = "suite.json"

// recordFormat is the version of that file.
const recordFormat = 1

// State of a run.
type State string

const (
	Planned State = "planned"
	Running State = "running" // or its suite ended meanwhile
	Done    State = "done"    // it was recorded and analyzed, whatever the verdict
	Failed  State = "failed"  // it could not run, or did not finish
	LeftOut State = "left_out"
)

// Record is suite.json: all that is needed to go on, and to make the tables again. It holds no secrets.
type Record struct {
	Format  int       `json:"format"`
	Name    string    `json:"name"`
	File    string    `json:"file"`
	Text    string    `json:"suite"` // the file itself
	Tool    string    `json:"tool"`
	Started time.Time `json:"started"`
	Changes Changes   `json:"changes"`
	// Brokers are those of the targets, by name.
	Brokers map[string]Broker `json:"brokers"`
	Runs    []*Run            `json:"runs"`
}

// Broker is what a target was when the suite began.
type Broker struct {
	URI      string `json:"uri"` // without password; "": the embedded broker
	Describe string `json:"describe"`
	Version  string `json:"version"`
	Nodes    int    `json:"nodes,omitempty"` // of the cluster; 0: unknown
	// Accepts is how many more connections each node takes, the least of them; nil: unknown.
	Accepts *int `json:"accepts,omitempty"`
	// Down is why it could not be reached.
	Down string `json:"down,omitempty"`
}

// Run is one run of the suite: one process, or one for each phase.
type Run struct {
	ID     string   `json:"id"`   // of files: its captures are directories that begin so
	Rows   []string `json:"rows"` // by ID; rows that ask for the same share it
	Title  string   `json:"title"`
	Target string   `json:"target"`
	Repeat int      `json:"repeat,omitempty"` // 1 for the second run of a row, and so on
	// Probe is the value that was tried, where one is searched for; Fraction what it is of what was found.
	Probe    *float64 `json:"probe,omitempty"`
	Fraction float64  `json:"fraction,omitempty"`
	Parts    []Part   `json:"parts"`
	// Asserts are judged over all parts.
	Asserts  []string   `json:"asserts,omitempty"`
	Expected float64    `json:"expected_s"` // 0: it lasts as long as it takes
	State    State      `json:"state"`
	Reason   string     `json:"reason,omitempty"`
	ExitCode *int       `json:"exit_code,omitempty"`
	Began    *time.Time `json:"began,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	// SetUp: what the run needs was made, and not removed yet.
	SetUp bool `json:"set_up,omitempty"`

	row *Row
}

// Part is one process of a run.
type Part struct {
	Name    string   `json:"name,omitempty"`
	Args    []string `json:"args"`    // of `leveret run`
	Capture string   `json:"capture"` // directory, within the suite's
}

// Captures are the directories of the run's captures.
func (r *Run) Captures(dir string) []string {
	var all []string
	for _, p := range r.Parts {
		all = append(all, filepath.Join(dir, p.Capture))
	}
	return all
}

// IsSuite tells whether a directory is a suite's.
func IsSuite(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, RecordName))
	return err == nil && info.Mode().IsRegular()
}

// Load reads the record of a suite's directory, and its suite.
func Load(dir string) (*Record, *Suite, error) {
	path := filepath.Join(dir, RecordName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s holds no %s: give the directory that a suite recorded into, which it names when it begins and ends", dir, RecordName)
	}
	if err != nil {
		return nil, nil, err
	}
	r := &Record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, nil, fmt.Errorf("%s: is no record of a suite, or a damaged one (%w): its captures can be analyzed one by one, and a suite can be run into another directory", path, err)
	}
	if r.Format != recordFormat {
		return nil, nil, fmt.Errorf("%s: has format %d, this program knows %d", path, r.Format, recordFormat)
	}
	s, err := Read(r.File, []byte(r.Text))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	s.Name = r.Name
	for _, run := range r.Runs {
		if run == nil || len(run.Parts) == 0 {
			return nil, nil, fmt.Errorf("%s: holds a run without parts: the record is damaged; its captures can be analyzed one by one", path)
		}
		if err := run.check(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return r, s, nil
}

// check refuses names that would lead out of the directory.
func (r *Run) check() error {
	for _, p := range r.Parts {
		if !filepath.IsLocal(p.Capture) {
			return fmt.Errorf("run %q records into %q, which is not in the suite's directory", r.ID, p.Capture)
		}
	}
	if !filepath.IsLocal(r.ID) || filepath.Base(r.ID) != r.ID {
		return fmt.Errorf("%q is no name of a run", r.ID)
	}
	return nil
}

// Save replaces the record in the directory, as a whole.
func (r *Record) Save(dir string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, RecordName), append(text, '\n'))
}

// replace writes a file so that nobody ever reads half of it.
func replace(path string, text []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, text, 0o644); err != nil {
		return err
	}
	return errors.Join(os.Rename(part, path))
}

// resultPath is where the result of a run is kept.
func resultPath(dir string, run *Run) string { return filepath.Join(dir, run.ID+".json") }

// resultOf reads what the analysis of a run found when it had ended: of all its parts, and then of each, where there are several.
// No result is no error.
func resultOf(dir string, run *Run) ([]*result.Result, error) {
	text, err := os.ReadFile(resultPath(dir, run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*result.Result
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); the captures are what counts: leveret analyze %s makes the tables from them", resultPath(dir, run), err, dir)
	}
	return slices.DeleteFunc(all, func(r *result.Result) bool { return r == nil }), nil
}

// run by its ID; nil where there is none.
func (r *Record) run(id string) *Run {
	for _, x := range r.Runs {
		if x.ID == id {
			return x
		}
	}
	return nil
}

// Failures say, a line each, which runs failed, and why, and what is left of them on a broker.
func (r *Record) Failures() (lines []string) {
	for _, run := range r.Runs {
		if run.State == Failed {
			lines = append(lines, fmt.Sprintf("failed: %s [%s]: %s", run.Title, run.ID, run.Reason))
		}
		if run.SetUp {
			lines = append(lines, fmt.Sprintf("left behind: what %s [%s] needed could not be removed from the broker: --resume tries again", run.Title, run.ID))
		}
	}
	return lines
}

// Verdicts say, a line each, which runs have this verdict, and the reasons. Those that tried a value are judged by their bounds.
func (r *Record) Verdicts(dir string, v result.Verdict) (lines []string) {
	for _, run := range r.Runs {
		results, err := resultOf(dir, run)
		if err != nil || run.State != Done || len(results) == 0 || results[0].Verdict != v {
			continue
		}
		var why []string
		for _, f := range results[0].Findings {
			if f.Severity == result.SeverityFail {
				why = append(why, f.Code+": "+f.Text)
			}
		}
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s: %s [%s]: %s", v, run.Title, run.ID, strings.Join(why, "; ")), ": "))
	}
	return lines
}

// Notes say what else there is about a run before it is run.
func (r *Run) Notes() (notes []string) {
	if len(r.Rows) > 1 {
		notes = append(notes, "for rows "+strings.Join(r.Rows, ", "))
	}
	if r.row == nil {
		return notes
	}
	s := &r.row.Setup
	if !s.Empty() {
		notes = append(notes, s.describe()...)
	}
	return append(notes, r.row.Notes...)
}

// describe says what is made before the run, and what is removed after it.
func (s *Setup) describe() (notes []string) {
	queues := 0
	for _, q := range s.Queues {
		queues += q.count()
	}
	var parts []string
	for _, x := range []struct {
		n    int
		noun string
	}{{len(s.Exchanges), "exchange"}, {queues, "queue"}, {len(s.Bindings), "binding"}} {
		if x.n > 0 {
			parts = append(parts, result.Plural(int64(x.n), x.noun))
		}
	}
	for _, p := range s.Policies {
		parts = append(parts, "policy "+p.Name)
	}
	if len(parts) > 0 {
		notes = append(notes, "set-up: "+strings.Join(parts, ", ")+"; removed after the run")
	}
	if len(s.RemoveQueues)+len(s.RemoveExchanges) > 0 {
		notes = append(notes, "after the run: queues and exchanges that it declares itself and leaves behind are removed")
	}
	return notes
}

// Finished: everything was run that can be, and nothing of it is left on a broker.
func (r *Record) Finished(rows []*Row) bool {
	for _, run := range r.Runs {
		if run.State != Done || run.SetUp {
			return false
		}
	}
	for _, row := range rows {
		if row.Table.adaptive() {
			return false // what it still leads to is known when it is run
		}
	}
	return len(r.Runs) > 0
}
