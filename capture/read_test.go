package capture

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

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

// recordedRows are the rows of a kind as Arrow's reader prints them.
func recordedRows(t testing.TB, dir string, k schema.Kind) []string {
	var rows []string
	rowsOf(t, dir, k, func(rec arrow.Record) {
		for i := range int(rec.NumRows()) {
			var cells []string
			for j := range int(rec.NumCols()) {
				cells = append(cells, rec.Column(j).ValueStr(i))
			}
			rows = append(rows, strings.Join(cells, " "))
		}
	})
	return rows
}

// checkCapture holds journal, files and manifest against each other, as a reader does that trusts none of them.
func checkCapture(t testing.TB, dir string, final *manifest.Manifest) {
	t.Helper()
	rows := map[string]int64{}
	journal, err := os.ReadFile(filepath.Join(dir, manifest.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	if h, err := schema.ParseJournalHeader(journal); err != nil || h.ID != final.ID || h.Tag != final.Tag {
		t.Fatalf("journal header %+v, %v", h, err)
	}
	files := map[string][]byte{}
	decoders := map[string]*schema.Decoder{}
	for at, sequence := schema.JournalHeaderSize, uint64(0); at < len(journal); at += schema.RecordSize {
		r, err := schema.ParseRecord(journal[at:])
		if err != nil || r.Sequence != sequence || r.End != (at+schema.RecordSize == len(journal)) {
			t.Fatalf("record at %d of %d: %+v, %v", at, len(journal), r, err)
		}
		sequence++
		if r.End {
			break
		}
		name := schema.FileName(r.Kind, r.Shard)
		if files[name] == nil {
			if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			head, _, err := schema.ParseHead(files[name])
			if err != nil || head.Kind != r.Kind || head.Capture != final.ID {
				t.Fatalf("%s: %+v, %v", name, head, err)
			}
			decoders[name] = schema.NewDecoder(head, memory.DefaultAllocator)
		}
		msg := files[name][r.Offset : r.Offset+int64(r.Length)]
		if _, carried, err := schema.Checksum(msg); err != nil || carried != r.Checksum {
			t.Fatalf("%s: batch %d: checksum %08x, journal %08x, %v", name, r.Batch, carried, r.Checksum, err)
		}
		rec, err := decoders[name].Decode(msg)
		if err != nil || rec.NumRows() != int64(r.Rows) {
			t.Fatalf("%s: batch %d: %v, %v", name, r.Batch, rec, err)
		}
		checkTimes(t, rec, r)
		rows[r.Kind.String()] += rec.NumRows()
		rec.Release()
	}
	m := readManifest(t, dir)
	for _, k := range schema.Kinds {
		if rows[k.String()] != m.Recording.Rows[k.String()] {
			t.Errorf("%s: %d rows by the journal, %d by the manifest", k, rows[k.String()], m.Recording.Rows[k.String()])
		}
		if _, ok := m.Recording.Rows[k.String()]; !ok && k >= schema.Self {
			continue // recorded before there was this kind, or nobody asked the broker
		}
		if n := rowsOf(t, dir, k, nil); n != rows[k.String()] {
			t.Errorf("%s: %d rows by the footers, %d by the journal", k, n, rows[k.String()])
		}
	}
	for name, size := range m.Recording.Files {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() != size {
			t.Errorf("%s: %d bytes by the manifest, %v, %v", name, size, info, err)
		}
	}
}

func checkTimes(t testing.TB, rec arrow.Record, r schema.Record) {
	t.Helper()
	column, otherwise := r.Kind.TimeColumn()
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i, v := range rec.Column(column).(*array.Int64).Int64Values() {
		if v == event.None {
			v = rec.Column(otherwise).(*array.Int64).Value(i)
		}
		least, most = min(least, v), max(most, v)
	}
	if least != r.MinTime || most != r.MaxTime {
		t.Errorf("%s batch %d: times %d to %d, journal says %d to %d", r.Kind, r.Batch, least, most, r.MinTime, r.MaxTime)
	}
}
