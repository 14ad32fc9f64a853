package capture

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// Every figure of a step stands in the column that FORMAT.md names for it; what is unknown is null, and a text is cut to what the
// format allows.
func TestChurnRows(t *testing.T) {
	dir := t.TempDir()
	start, final := startManifest(0, 0), startManifest(0, 0)
	start.Churn, final.Churn = &manifest.Churn{What: manifest.ChurnQueue}, &manifest.Churn{What: manifest.ChurnQueue}
	w := create(t, dir, start, Options{Shards: 2})
	w.Churn(&event.Churn{Op: 1, Step: event.StepQueueDeclare, Outcome: event.StepDone, Last: true, Due: 4, Started: 5, Begun: 6, Ended: 7})
	w.Churn(&event.Churn{Op: 2, Step: event.StepQueueDelete, Outcome: event.StepRefused, Due: event.None, Started: 8, Begun: 9, Ended: 10, Code: 404, Text: "NOT_FOUND"})
	w.Churn(&event.Churn{Op: 3, Step: event.StepQueueDeclare, Outcome: event.StepNotBegun, Due: 11, Started: event.None, Begun: event.None, Ended: 12, Text: strings.Repeat("x", 5000)})
	if err := w.Close(final); err != nil {
		t.Fatal(err)
	}
	want := []string{"1 5 1 1 4 5 6 7 0 ", "2 10 2 0 (null) 8 9 10 404 NOT_FOUND", "3 5 5 0 11 (null) (null) 12 0 " + strings.Repeat("x", 4096)}
	if got := recordedRows(t, dir, schema.Churn); !slices.Equal(got, want) {
		t.Errorf("%q, want\n%q", got, want)
	}
	checkCapture(t, dir, final)
}

// More rows than the blocks hold, and more text than one block has room for.
func TestManyChurnRows(t *testing.T) {
	dir := t.TempDir()
	start, final := startManifest(0, 0), startManifest(0, 0)
	start.Churn, final.Churn = &manifest.Churn{}, &manifest.Churn{}
	w := create(t, dir, start, Options{})
	const rows = 3*churnRows + 5
	text := strings.Repeat("t", connectionText/100)
	for i := range uint64(rows) {
		w.Churn(&event.Churn{Op: i, Step: event.StepTCP, Outcome: event.StepLost, Due: 1, Started: 1, Begun: 1, Ended: int64(i), Text: text[:i%200*3]})
	}
	if err := w.Close(final); err != nil {
		t.Fatal(err)
	}
	if n := rowsOf(t, dir, schema.Churn, nil); n != rows {
		t.Errorf("%d rows, want %d", n, rows)
	}
	checkCapture(t, dir, final)
}

// A run of messages has no such file.
func TestNoChurnFileUnasked(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, startManifest(1, 1), Options{})
	if err := w.Close(startManifest(1, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, schema.FileName(schema.Churn, 0))); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
