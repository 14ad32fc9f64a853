package capture

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// startManifest describes a run of some producers with a confirm window each.
func startManifest(producers, window int) *manifest.Manifest {
	m := &manifest.Manifest{ID: "test-1", Tag: 777, ClockStart: event.Snapshot{ClockNS: 1}}
	for range producers {
		m.Producers = append(m.Producers, manifest.Producer{Confirm: window})
	}
	return m
}

func create(t testing.TB, dir string, start *manifest.Manifest, o Options) *Writer {
	t.Helper()
	w, err := Create(dir, start, event.NewClock(), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// readAll reads a file with the reader of Arrow's Go module, and calls each for its records.
func readAll(t testing.TB, path string, each func(arrow.Record)) int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer r.Close()
	rows := int64(0)
	for i := range r.NumRecords() {
		rec, err := r.Record(i)
		if err != nil {
			t.Fatalf("%s: record %d: %v", path, i, err)
		}
		rows += rec.NumRows()
		if each != nil {
			each(rec)
		}
	}
	return rows
}

func readManifest(t testing.TB, dir string) *manifest.Manifest {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, manifest.FinalName))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

// rowsOf counts the rows of a kind in all its files.
func rowsOf(t testing.TB, dir string, k schema.Kind, each func(arrow.Record)) int64 {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, k.String()+"-*.arrow"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("files of %s: %v, %v", k, paths, err)
	}
	rows := int64(0)
	for _, p := range paths {
		rows += readAll(t, p, each)
	}
	return rows
}

func TestBasic(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	w := create(t, dir, startManifest(1, 100), Options{})
	if err := w.Reserve(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	w.Sends(&event.Sends{Producer: 0, First: 0, N: 3, Sent: 100, Written: 200, Bytes: 99, Size: 12})
	if err := w.Close(startManifest(1, 100)); err != nil {
		t.Fatal(err)
	}
	m := readManifest(t, dir)
	t.Logf("%+v", m.Recording)
	if n := rowsOf(t, dir, schema.Sends, nil); n != 3 {
		t.Fatal(n)
	}
}
