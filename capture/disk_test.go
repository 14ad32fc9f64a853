package capture

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

func TestCreateRefuses(t *testing.T) {
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "notes.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	aFile := filepath.Join(used, "notes.txt")
	for _, c := range []struct {
		dir   string
		id    string
		o     Options
		names []string
	}{
		{used, "a", Options{}, []string{used, "holds notes.txt already", "choose another"}},
		{aFile, "a", Options{}, []string{aFile}},
		{t.TempDir(), "", Options{}, []string{"capture ID"}},
		{t.TempDir(), strings.Repeat("x", 97), Options{}, []string{"97 bytes, at most 96"}},
		{t.TempDir(), "a", Options{Compression: "gzip"}, []string{`"gzip"`, "none, lz4 and zstd"}},
		{t.TempDir(), "a", Options{Memory: 1 << 16}, []string{"memory 65536 bytes", "need"}},
		{t.TempDir(), "a", Options{Shards: 100}, []string{"shards 100", "1 to 99"}},
		{t.TempDir(), "a", Options{FlushInterval: -1}, []string{"flush interval"}},
	} {
		start := startManifest(1, 1)
		start.ID = c.id
		w, err := Create(c.dir, start, event.NewClock(), c.o)
		if err == nil {
			w.Close(start)
			t.Errorf("%+v: no error", c)
			continue
		}
		for _, n := range c.names {
			if !strings.Contains(err.Error(), n) {
				t.Errorf("%q does not name %q", err, n)
			}
		}
	}
	if entries, _ := os.ReadDir(used); len(entries) != 1 {
		t.Errorf("a refused recording left %v", entries)
	}
	w := create(t, t.TempDir(), startManifest(1, 1), Options{Memory: MinMemory, Shards: 1, Compression: "zstd"})
	if w.MemoryBytes() > MinMemory {
		t.Errorf("%d bytes of blocks in %d", w.MemoryBytes(), MinMemory)
	}
	if err := w.Close(startManifest(1, 1)); err != nil {
		t.Error(err)
	}
}

// The blocks of the default options with as many shards as there are take no more than 64 MiB.
func TestMemoryIsBounded(t *testing.T) {
	for _, c := range []schema.Compression{schema.None, schema.LZ4, schema.Zstd} {
		for shards := range 9 {
			var p pools
			if err := p.plan(DefaultMemory, shards+1, schema.Kinds[:], c); err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for _, k := range schema.Kinds {
				sum += int64(p.limit[k]) * blockBytes(k, p.rows[k])
			}
			if sum > p.bound || p.bound > DefaultMemory || p.bound < DefaultMemory*3/4 {
				t.Errorf("%s, %d shards: blocks of %d bytes, bound %d of %d", c, shards+1, sum, p.bound, DefaultMemory)
			}
		}
	}
}

// A creation that fails in the middle leaves nothing behind, so that it can be tried again.
func TestCreateLeavesNothing(t *testing.T) {
	for _, call := range []string{"create start.json.tmp", "write start.json.tmp", "rename start.json", "create journal", "write journal", "create acks-00.arrow", "write connections-00.arrow"} {
		d := newFaultyDisk()
		d.fail[call] = syscall.EIO
		dir := filepath.Join(t.TempDir(), "c")
		if _, err := Create(dir, startManifest(1, 1), event.NewClock(), Options{disk: d, Shards: 1}); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", call, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			entries, _ := os.ReadDir(dir)
			t.Errorf("%s: left %v", call, entries)
		}
	}
}

// A capture whose end could not be written is not complete, and says so.
func TestCloseErrorsCount(t *testing.T) {
	for _, call := range []string{"close sends-00.arrow", "close journal", "write acks-00.arrow", "create manifest.json.tmp", "sync manifest.json.tmp", "close manifest.json.tmp", "rename manifest.json"} {
		d := newFaultyDisk()
		dir := t.TempDir()
		w := create(t, dir, startManifest(1, 1), Options{disk: d, Shards: 1})
		w.Sends(&event.Sends{N: 1, Sent: 1, Written: 2})
		d.mu.Lock()
		d.fail[call] = syscall.EIO
		d.mu.Unlock()
		err := w.Close(startManifest(1, 1))
		name := strings.Fields(call)[1]
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", call, err)
		}
		if _, err := os.Stat(filepath.Join(dir, manifest.FinalName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there is a manifest: %v", call, err)
		}
		if _, err := os.Stat(filepath.Join(dir, manifest.FinalName+".tmp")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a temporary file is left", call)
		}
		if again := w.Close(startManifest(1, 1)); again != err {
			t.Errorf("%s: closed again: %v", call, again)
		}
	}
}

// With Fsync the journal vouches only for what is durable, and the manifest comes last of all.
func TestOrderOnDisk(t *testing.T) {
	d := newFaultyDisk()
	dir := t.TempDir()
	w := create(t, dir, startManifest(1, 1), Options{disk: d, Shards: 1, Fsync: true, Compression: "lz4"})
	d.mu.Lock()
	created := d.calls
	d.calls = nil
	d.mu.Unlock()
	if i := slices.Index(created, "rename start.json"); i < 0 || slices.Index(created, "create journal") < i {
		t.Errorf("start.json is not first: %q", created)
	}
	w.Acks(&event.Acks{At: 1})
	if err := w.Close(startManifest(1, 1)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"write acks-00.arrow", "write acks-00.arrow", "sync acks-00.arrow", "write journal", "sync journal",
		"write sends-00.arrow", "write writes-00.arrow", "write settlements-00.arrow", "write deliveries-00.arrow", "write acks-00.arrow", "write connections-00.arrow", "write self-00.arrow",
		"write journal", "sync journal", "sync sends-00.arrow", "sync writes-00.arrow", "sync settlements-00.arrow", "sync deliveries-00.arrow", "sync acks-00.arrow", "sync connections-00.arrow", "sync self-00.arrow",
		"sync " + filepath.Base(dir),
		"close sends-00.arrow", "close writes-00.arrow", "close settlements-00.arrow", "close deliveries-00.arrow", "close acks-00.arrow", "close connections-00.arrow", "close self-00.arrow", "close journal",
		"create manifest.json.tmp", "write manifest.json.tmp", "sync manifest.json.tmp", "close manifest.json.tmp", "rename manifest.json", "sync " + filepath.Base(dir),
	}
	if !slices.Equal(d.calls, want) {
		t.Errorf("%q\nwant %q", d.calls, want)
	}
}

// record makes batches of sends, settlements and deliveries until the recording fails; it returns the rows of each.
func recordUntilFailure(t *testing.T, w *Writer) (rows int64) {
	t.Helper()
	const n = 100
	got := event.Deliveries{Rows: make([]event.Delivery, n)}
	for i := 0; i < 1_000_000/n; i++ {
		if err := w.Reserve(t.Context(), n); err != nil {
			return rows
		}
		at := int64(i) * 1_000_003 // times that compress badly
		w.Sends(&event.Sends{First: uint64(i * n), N: n, Sent: at, Written: at + 1})
		w.Settlements(&event.Settlements{At: at + 2, Runs: []event.SettledRun{{First: uint64(i * n), N: n, Kind: event.Ack}}})
		got.At = at + 3
		w.Deliveries(&got)
		rows += n
	}
	t.Fatal("the recording never failed")
	return 0
}

func checkFull(t *testing.T, w *Writer, dir string) {
	t.Helper()
	recorded := recordUntilFailure(t, w)
	err := w.Err()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "-00.arrow") && !strings.Contains(err.Error(), "journal") ||
		!strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("error: %v", err)
	}
	// Lanes that have not noticed yet neither wait nor crash.
	for range 100 {
		w.Deliveries(&event.Deliveries{Rows: make([]event.Delivery, 10_000)})
	}
	if got := w.Close(startManifest(1, 1)); !errors.Is(got, syscall.ENOSPC) {
		t.Errorf("close: %v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, manifest.FinalName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a manifest: %v", err)
	}
	rows := recovered(t, dir)
	if rows[schema.Sends] == 0 || rows[schema.Sends] > recorded || rows[schema.Deliveries] == 0 || rows[schema.Settlements] == 0 {
		t.Errorf("recovered %v of %d each", rows, recorded)
	}
	if lost := w.lost[schema.Sends].Load(); rows[schema.Sends]+lost != recorded {
		t.Errorf("%d sends recovered, %d counted lost, %d recorded", rows[schema.Sends], lost, recorded)
	}
}

func TestFullDisk(t *testing.T) {
	for _, room := range []int64{400_000, 400_001, 444_444} { // wherever it ends: in a batch, between two
		d := newFaultyDisk()
		dir := t.TempDir()
		w := create(t, dir, startManifest(1, 1000), Options{disk: d, Memory: 4 << 20, Shards: 1, FlushInterval: 10 * time.Millisecond})
		d.mu.Lock()
		d.room = room
		d.mu.Unlock()
		checkFull(t, w, dir)
	}
}
