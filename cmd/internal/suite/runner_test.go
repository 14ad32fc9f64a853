package suite

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// quietly is a Progress that calls line for each.
type quietly struct{ line func() }

func (q quietly) Line(string)   { q.line() }
func (q quietly) Status(string) {}

// The record, which is as large as the suite, is not written for each of the runs that can't be run.
func TestRunsLeftOutAreRecordedTogether(t *testing.T) {
	s, rows := planned(t, matrix, Changes{})
	dir := t.TempDir()
	said := 0
	r := &Runner{Dir: dir, Suite: s, Record: s.NewRecord(rows, Changes{}, nil, ""), Rows: rows, Judge: func(*Row) string { return "no address" }}
	r.Progress = quietly{func() {
		said++
		if IsSuite(dir) {
			t.Errorf("recorded before run %d", said)
		}
	}}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	record, _, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range record.Runs {
		if run.State != LeftOut || run.Reason != "no address" {
			t.Errorf("%+v", run)
		}
	}
	if said != 3 {
		t.Errorf("%d runs", said)
	}
}

// A record that somebody has damaged is refused, whatever is wrong with it.
func TestDamagedRecords(t *testing.T) {
	for _, runs := range []string{`[null]`, `[{"id": "a"}]`, `[{"id": "../a", "parts": [{"capture": "a"}]}]`, `[{"id": "a", "parts": [{"capture": "../a"}]}]`} {
		dir := t.TempDir()
		text := `{"format": 1, "file": "a.yaml", "suite": "tables: [{rows: [{}], columns: [{figure: sent}]}]", "runs": ` + runs + `}`
		if err := os.WriteFile(filepath.Join(dir, RecordName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), RecordName) {
			t.Errorf("%s: %v", runs, err)
		}
	}
}

// A process that neither ends in time nor when it is told to is killed, and that is said; its exit code would say nothing.
func TestChildThatDoesNotEnd(t *testing.T) {
	c := child{args: []string{os.Args[0], "-test.run=^TestSleepsForMinutes$"}, env: append(os.Environ(), sleeps+"=1"), log: io.Discard, limit: 20 * time.Millisecond, grace: 20 * time.Millisecond}
	if _, code, _, err := c.run(t.Context()); !errors.Is(err, errTooLong) {
		t.Errorf("exit code %d, %v", code, err)
	}
}

const sleeps = "LEVERET_TEST_SLEEPS"

// It is the process of the test above, and nothing by itself.
func TestSleepsForMinutes(*testing.T) {
	if os.Getenv(sleeps) != "" {
		time.Sleep(5 * time.Minute)
	}
}

// What is there already is found before the record says that something of the run's own may be there: a suite that is killed in between
// removes nothing of somebody else's when it goes on.
func TestForeignThingsAreLookedForBeforeTheirOwnAreRecorded(t *testing.T) {
	s, rows := planned(t, "tables: [{rows: [{}], columns: [{figure: sent}], setup: {queues: [{name: q}]}}]", Changes{})
	dir := t.TempDir()
	record := s.NewRecord(rows, Changes{}, map[string]Broker{"main": {}}, "")
	looked := false
	r := &Runner{
		Dir: dir, Suite: s, Record: record, Rows: rows, Progress: quietly{func() {}}, Judge: func(*Row) string { return "" },
		Look: func(context.Context, string, *Setup) error {
			looked = true
			kept, _, err := Load(dir)
			if err != nil || kept.Runs[0].SetUp {
				t.Errorf("%v: recorded as made: %+v", err, kept.Runs[0])
			}
			return errors.New("queue q is somebody's")
		},
		Prepare: func(context.Context, string, *Setup) error { t.Error("made"); return nil },
		Remove:  func(string, *Setup) error { t.Error("removed"); return nil },
	}
	if err := r.Run(t.Context()); err != nil || !looked {
		t.Fatal(err)
	}
	if run := record.Runs[0]; run.State != Failed || run.Reason != "set-up: queue q is somebody's" || run.SetUp {
		t.Errorf("%+v", run)
	}
}

// What an interrupted row has recorded stays, also where the row is interrupted once more.
func TestCapturesOfInterruptedRowsStay(t *testing.T) {
	s, rows := planned(t, "tables: [{rows: [{}], columns: [{figure: sent}]}]", Changes{})
	r := &Runner{Dir: t.TempDir(), Suite: s, Record: s.NewRecord(rows, Changes{}, nil, ""), Rows: rows}
	run := r.Record.Runs[0]
	dir := run.Captures(r.Dir)[0]
	for _, made := range []string{"first", "second", "third"} {
		if err := os.MkdirAll(filepath.Join(dir, made), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := r.clear(run); err != nil {
			t.Fatal(err)
		}
	}
	for made, where := range map[string]string{"first": ".interrupted", "second": ".interrupted-2", "third": ".interrupted-3"} {
		if _, err := os.Stat(filepath.Join(dir+where, made)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the capture is still in the way")
	}
}
