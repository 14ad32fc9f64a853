package capture

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
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

// recordSample makes calls of every kind.
func recordSample(w *Writer) {
	w.Sends(&event.Sends{Producer: 1, First: 7, N: 3, Sent: 100, Written: 130, Bytes: 180, Size: 12, Route: 2})
	w.Sends(&event.Sends{Producer: 3, First: 1<<36 - 2, N: 2, Due: []int64{90, 95}, Sent: 101, Written: 102, Bytes: 99,
		Sizes: []uint32{1, 1 << 20}, Routes: []uint16{65535, 0}})
	w.Sends(&event.Sends{Producer: 0, First: 5, N: 2, Due: []int64{50, 60}, Sent: event.None, Written: event.None, Size: 12})
	w.Sends(&event.Sends{Producer: 0, First: 7, N: 0})
	w.Settlements(&event.Settlements{Producer: 1, At: 200, Runs: []event.SettledRun{
		{First: 7, N: 2, Kind: event.Ack, FrameMessages: 2}, {First: 9, N: 1, Kind: event.Return}, {First: 9, N: 1, Kind: event.Nack, FrameMessages: 1}}})
	w.Deliveries(&event.Deliveries{Consumer: 2, At: 300, Rows: []event.Delivery{
		{Seq: 7, DeliveryTag: 1, Due: event.None, Size: 12, Tag: 777, Producer: 1, Queue: 4, Body: event.Intact},
		{Seq: 1<<36 - 1, DeliveryTag: 1 << 63, Due: 95, Size: 1 << 20, Tag: 4095, Producer: 3, Queue: 0, Body: event.Corrupt, Redelivered: true},
		{DeliveryTag: 3, Due: event.None, Size: 3, Body: event.Unstamped}}})
	w.Acks(&event.Acks{Consumer: 2, At: 310, DeliveryTag: 3, Messages: 3, Multiple: true})
	w.Acks(&event.Acks{Consumer: 2, At: 311, DeliveryTag: 4, Messages: 1})
	w.Connection(&event.Connection{At: 1, Connection: 9, State: event.Open, Producer: event.NoLane, Consumer: event.NoLane})
	w.Connection(&event.Connection{At: 2, Connection: 9, State: event.ChannelClosed, Producer: 0, Consumer: event.NoLane, Code: 406, Text: "PRECONDITION_FAILED - für"})
	w.Connection(&event.Connection{At: 3, Connection: 9, State: event.Lost, Producer: event.NoLane, Consumer: 3, Text: "\xffbad"})
}

// sampleRows are the rows of recordSample, from FORMAT.md.
var sampleRows = map[schema.Kind][]string{
	schema.Sends: {
		"1 7 (null) 100 12 2", "1 8 (null) 100 12 2", "1 9 (null) 100 12 2",
		"3 68719476734 90 101 1 65535", "3 68719476735 95 101 1048576 0", "0 5 50 (null) 12 0", "0 6 60 (null) 12 0"},
	schema.Writes:      {"1 7 3 100 130 180", "3 68719476734 2 101 102 99"},
	schema.Settlements: {"1 7 1 200 2", "1 8 1 200 2", "1 9 3 200 0", "1 9 2 200 1"},
	schema.Deliveries: {
		"2 4 777 1 7 300 1 (null) 12 1 0", "2 0 4095 3 68719476735 300 9223372036854775808 95 1048576 2 1", "2 0 0 0 0 300 3 (null) 3 3 0"},
	schema.Acks:        {"2 310 3 3 1", "2 311 4 1 0"},
	schema.Connections: {"1 9 2 (null) (null) 0 ", "2 9 7 0 (null) 406 PRECONDITION_FAILED - für", "3 9 6 (null) 3 0 \uFFFDbad"},
}

// Every call becomes the rows that FORMAT.md says, in every compression.
func TestRows(t *testing.T) {
	for _, c := range []string{"none", "lz4", "zstd"} {
		dir := filepath.Join(t.TempDir(), "deep", "er")
		w := create(t, dir, startManifest(4, 100), Options{Compression: c, Shards: 1})
		recordSample(w)
		final := startManifest(4, 100)
		if err := w.Close(final); err != nil {
			t.Fatal(err)
		}
		checkSample(t, dir, final)
	}
}

func checkSample(t *testing.T, dir string, final *manifest.Manifest) {
	t.Helper()
	for k, want := range sampleRows {
		if got := recordedRows(t, dir, k); !slices.Equal(got, want) {
			t.Errorf("%s: %s\n%q, want\n%q", dir, k, got, want)
		}
		if got := final.Recording.Rows[k.String()]; got != int64(len(want)) {
			t.Errorf("%s: manifest counts %d %s, want %d", dir, got, k, len(want))
		}
	}
	checkCapture(t, dir, final)
}

// What version 1 of the format wrote once is read for ever: testdata/v1 was recorded by recordSample in November 2026
// and is never made again.
func TestVersion1StaysReadable(t *testing.T) {
	for _, c := range []string{"none", "lz4", "zstd"} {
		dir := filepath.Join("testdata", "v1", c)
		checkSample(t, dir, readManifest(t, dir))
	}
}

// C108: rows that fill many blocks come back in order, with texts cut to the length that bounds a batch; journal, manifest and files
// agree.
func TestManyBlocks(t *testing.T) {
	const messages, batch = 20_000, 333
	dir := t.TempDir()
	w := create(t, dir, startManifest(1, 1000), Options{Memory: MinMemory, Shards: 1})
	for first := 0; first < messages; first += batch {
		n := min(batch, messages-first)
		if err := w.Reserve(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		w.Sends(&event.Sends{First: uint64(first), N: n, Sent: int64(1000 + first), Written: int64(1001 + first), Size: 12})
		w.Connection(&event.Connection{At: int64(first), Connection: uint32(first), State: event.Open, Text: strings.Repeat("x", first)})
	}
	final := startManifest(1, 1000)
	if err := w.Close(final); err != nil {
		t.Fatal(err)
	}
	next := uint64(0)
	rowsOf(t, dir, schema.Sends, func(rec arrow.Record) {
		for _, seq := range rec.Column(schema.SendsSeq).(*array.Uint64).Uint64Values() {
			if seq != next {
				t.Fatalf("sequence %d, want %d", seq, next)
			}
			next++
		}
	})
	if next != messages {
		t.Errorf("%d rows, want %d", next, messages)
	}
	first := 0
	rowsOf(t, dir, schema.Connections, func(rec arrow.Record) {
		texts := rec.Column(schema.ConnectionsText).(*array.String)
		for i := range texts.Len() {
			if want := min(first, schema.MaxTextBytes); len(texts.Value(i)) != want {
				t.Errorf("text %d has %d bytes, want %d", i, len(texts.Value(i)), want)
			}
			first += batch
		}
	})
	checkCapture(t, dir, final)
}

// A recording without rows of a kind has a readable file of it with none.
func TestEmptyKinds(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, startManifest(0, 0), Options{Shards: 2})
	final := startManifest(0, 0)
	if err := w.Close(final); err != nil {
		t.Fatal(err)
	}
	for _, k := range schema.Kinds {
		if k.OfBroker() || k == schema.Churn { // nobody asked it, and there were no operations
			continue
		}
		if n := rowsOf(t, dir, k, nil); n != 0 {
			t.Errorf("%s: %d rows", k, n)
		}
		if n, ok := final.Recording.Rows[k.String()]; n != 0 || !ok {
			t.Errorf("manifest on %s: %d, %v", k, n, ok)
		}
	}
	checkCapture(t, dir, final)
	if final.ClockEnd == nil || final.ClockEnd.ClockNS == 0 {
		t.Error("no clock at the end")
	}
}
