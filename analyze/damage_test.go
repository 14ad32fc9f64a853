package analyze

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"leveret/analyze/result"
	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// smallCapture is a run of 300 messages in several batches a file, nothing wrong with it but, where lost is set, one
// message that the broker lost.
func smallCapture(t testing.TB, compression string, lost bool) (string, *result.Result) {
	t.Helper()
	r := recordWith(t, plan(1, 1), capture.Options{Shards: 1, Compression: compression, FlushInterval: 4 * time.Millisecond})
	for i := range uint64(6) {
		first, at := i*50, int64(i)*10*ms
		r.send(0, first, 50, at)
		r.ack(0, first, 50, at+ms)
		for seq := first; seq < first+50; seq++ {
			if !lost || seq != 120 {
				r.receive(0, 0, 0, at+2*ms, seq)
			}
		}
		r.ackAll(0, at+3*ms)
		r.m.Outcome.Acked -= int64(r.deliveryTag[0]) - 50 // each ack is of 50 only
		time.Sleep(8 * time.Millisecond)                  // so that the flusher makes batches
	}
	r.w.Connection(&event.Connection{At: epoch, State: event.Open, Producer: event.NoLane, Consumer: event.NoLane, Text: "open"})
	r.m.Outcome.Acked = 0
	for i := range uint64(6) {
		r.m.Outcome.Acked += int64((i + 1) * 50)
	}
	if lost {
		r.m.Outcome.Acked -= 4 // not received before the last four acks
	}
	dir := r.close()
	whole := analyzed(t, dir)
	if !whole.Complete {
		t.Fatalf("%+v", whole.Findings)
	}
	return dir, whole
}

// damaged copies a capture into a new directory, with change applied to each file; a nil return leaves the file out.
func damaged(t testing.TB, dir string, change func(name string, b []byte) []byte) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if b = change(e.Name(), b); b != nil {
			if err := os.WriteFile(filepath.Join(to, e.Name()), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}

// without leaves files out.
func without(names ...string) func(string, []byte) []byte {
	return func(name string, b []byte) []byte {
		for _, n := range names {
			if name == n {
				return nil
			}
		}
		return b
	}
}

// checkDamaged: the same rows, or a finding; never more of anything than there was, never a failure that is the damage's.
func checkDamaged(t *testing.T, what string, got, whole *result.Result) {
	t.Helper()
	if got.Complete {
		a, b := *got, *whole
		a.Captures, b.Captures = nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: said to be complete, but not the same: %+v", what, got.Counts)
		}
		return
	}
	if got.Verdict == result.Pass || got.Verdict == result.Fail && whole.Verdict == result.Pass {
		t.Errorf("%s: %s: %+v", what, got.Verdict, got.Findings)
	}
	finding(t, got, "capture_incomplete")
	g, w := got.Counts, whole.Counts
	if g.Lost > w.Lost || g.Missing > w.Missing || g.Duplicates+g.Corrupt+g.OutOfOrder+g.Foreign > 0 || g.Received > w.Received || g.Sent > w.Sent {
		t.Errorf("%s: %+v", what, g)
	}
}

func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Every file cut off at many places, all of its last bytes among them.
func TestCutAnywhere(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	for _, name := range files(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(b)/60)
		for cut := 0; cut < len(b); cut += step {
			if cut >= len(b)-20 {
				step = 1
			}
			d := damaged(t, dir, func(n string, b []byte) []byte {
				if n == name {
					return b[:cut]
				}
				return b
			})
			got := analyzed(t, d)
			checkDamaged(t, name+" cut", got, whole)
			if got.Complete && name != manifest.StartName && name != manifest.FinalName {
				t.Errorf("%s cut at %d of %d: said to be complete", name, cut, len(b))
			}
			if t.Failed() {
				t.Fatalf("%s cut at %d of %d", name, cut, len(b))
			}
		}
	}
}

// A bit flipped at random places of all files, in captures with and without a lost message.
func TestFlippedAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, compression := range []string{"none", "lz4", "zstd"} {
		dir, whole := smallCapture(t, compression, compression == "lz4")
		names := files(t, dir)
		flips := 120
		if testing.Short() {
			flips = 30
		}
		for range flips {
			victim := names[rng.IntN(len(names))]
			at, bit := rng.Uint64(), rng.IntN(8)
			d := damaged(t, dir, func(n string, b []byte) []byte {
				if n == victim {
					b[at%uint64(len(b))] ^= 1 << bit
				}
				return b
			})
			got, err := Run(context.Background(), []string{d}, Options{})
			if err != nil {
				t.Fatalf("%s %d: %v", victim, at, err)
			}
			if victim == manifest.FinalName || victim == manifest.StartName {
				continue // another number there is another number: nothing proves it
			}
			checkDamaged(t, victim+" flipped", got, whole)
			if t.Failed() {
				t.Fatalf("%s flipped at %d (%s)", victim, at, compression)
			}
		}
	}
}

// What is left of a recording that was killed, or lost files later: every whole batch is used.
func TestPartsMissing(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	tests := []struct {
		name    string
		change  func(string, []byte) []byte
		all     bool // every row is still there
		reasons []string
	}{
		{"no manifest", without(manifest.FinalName), true, []string{"manifest.json: missing"}},
		{"no journal", without(manifest.JournalName), true, []string{"journal: missing"}},
		{"no journal, no manifest", without(manifest.JournalName, manifest.FinalName), true, []string{"journal: missing", "manifest.json: missing"}},
		{"nothing but Arrow files", without(manifest.JournalName, manifest.FinalName, manifest.StartName), true, []string{"start.json: missing"}},
		{"no deliveries", without("deliveries-00.arrow"), false, []string{"deliveries-00.arrow: missing, with 300 rows"}},
		{"no sends", without("sends-00.arrow"), false, []string{"sends-00.arrow: missing, with 300 rows"}},
		{"no settlements", without("settlements-00.arrow"), false, []string{"settlements-00.arrow: missing, with 300 rows"}},
		{"an empty file", func(n string, b []byte) []byte {
			if n == "deliveries-00.arrow" {
				return []byte{}
			}
			return b
		}, false, []string{"deliveries-00.arrow: file of 0 bytes"}},
		{"a file of 8 bytes", func(n string, b []byte) []byte {
			if n == "deliveries-00.arrow" {
				return b[:8]
			}
			return b
		}, false, []string{"deliveries-00.arrow: 8 bytes, the manifest says"}},
		{"no end of the journal", func(n string, b []byte) []byte {
			if n == manifest.JournalName {
				return b[:len(b)-schema.RecordSize]
			}
			return b
		}, true, []string{"journal: without its end"}},
		{"a record of the journal damaged", func(n string, b []byte) []byte {
			if n == manifest.JournalName {
				b[schema.JournalHeaderSize+schema.RecordSize+5]++
			}
			return b
		}, true, []string{"1 of "}},
		{"a head damaged", func(n string, b []byte) []byte {
			if n == "deliveries-00.arrow" {
				b[200]++
			}
			return b
		}, true, []string{"deliveries-00.arrow: file's schema"}},
		{"no footers, killed", func(n string, b []byte) []byte {
			if n == manifest.FinalName {
				return nil
			}
			if i := bytes.LastIndex(b, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); i > 0 && strings.HasSuffix(n, ".arrow") {
				return b[:i]
			}
			return b
		}, true, []string{"manifest.json: missing"}},
	}
	for _, tt := range tests {
		got := analyzed(t, damaged(t, dir, tt.change))
		checkDamaged(t, tt.name, got, whole)
		if got.Complete {
			t.Errorf("%s: said to be complete", tt.name)
			continue
		}
		text := finding(t, got, "capture_incomplete").Text
		for _, r := range tt.reasons {
			if !strings.Contains(text, r) && !strings.Contains(text, "more") {
				t.Errorf("%s: %q does not tell %q", tt.name, text, r)
			}
		}
		if tt.all && got.Rows != whole.Rows {
			t.Errorf("%s: %d of %d rows: %s", tt.name, got.Rows, whole.Rows, text)
		}
		if tt.all && got.Counts.ReceivedUnique != 300 {
			t.Errorf("%s: %+v", tt.name, got.Counts)
		}
	}
}

// C093, C095: files that do not belong there are named, and the rest is analyzed.
func TestStrangeFilesBesideGoodOnes(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	other, _ := smallCapture(t, "none", false)
	stranger, err := os.ReadFile(filepath.Join(other, "sends-00.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	stranger = bytes.Replace(stranger, []byte("test"), []byte("tess"), 1) // the ID; the checksum is wrong then, too
	for name, x := range map[string]struct {                              // the manifest is left out: it would tell which files there are
		file   string
		b      []byte
		reason string
	}{
		"empty":       {"sends-07.arrow", nil, "sends-07.arrow: file of 0 bytes"},
		"eight bytes": {"sends-07.arrow", []byte("ARROW1\x00\x00"), "sends-07.arrow: "},
		"foreign":     {"sends-07.arrow", arrowFile(t, nil), "not a file of a leveret capture"},
		"newer":       {"sends-07.arrow", arrowFile(t, map[string]string{"leveret_format": "99"}), "format version 99, this program knows 1"},
		"of another":  {"sends-07.arrow", stranger, "sends-07.arrow: "},
		"misnamed":    {"other.arrow", mustRead(t, filepath.Join(dir, "sends-00.arrow")), "other.arrow: holds sends"},
		"no arrow":    {"sends-07.arrow", []byte("something else, which is long enough"), "not as an Arrow file"},
	} {
		d := damaged(t, dir, without(manifest.FinalName))
		if err := os.WriteFile(filepath.Join(d, x.file), x.b, 0o644); err != nil {
			t.Fatal(err)
		}
		got := analyzed(t, d)
		if got.Counts.ReceivedUnique != 300 || got.Rows != whole.Rows || got.Complete {
			t.Errorf("%s: %+v", name, got.Counts)
		}
		if text := finding(t, got, "capture_incomplete").Text; !strings.Contains(text, x.reason) {
			t.Errorf("%s: %q does not tell %q", name, text, x.reason)
		}
	}
}

// Beside a manifest, which tells which files there are, a strange one changes nothing but is named.
func TestStrangeFileBesideAManifest(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	d := damaged(t, dir, func(_ string, b []byte) []byte { return b })
	if err := os.WriteFile(filepath.Join(d, "deliveries-07.arrow"), mustRead(t, filepath.Join(d, "deliveries-00.arrow")), 0o644); err != nil {
		t.Fatal(err)
	}
	got := analyzed(t, d)
	checkVerdict(t, got, result.Pass, "strange_files")
	checkCounts(t, got.Counts, whole.Counts)
	if !got.Complete || !strings.Contains(finding(t, got, "strange_files").Text, "deliveries-07.arrow") {
		t.Errorf("%+v", got.Findings)
	}
}

// A file of another kind in the place of one of ours.
func TestForeignFileInPlace(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	for _, b := range [][]byte{arrowFile(t, nil), arrowFile(t, map[string]string{"leveret_format": "99"}), []byte("x"), mustRead(t, filepath.Join(dir, "acks-00.arrow"))} {
		got := analyzed(t, damaged(t, dir, func(n string, old []byte) []byte {
			if n == "deliveries-00.arrow" {
				return b
			}
			return old
		}))
		checkDamaged(t, "foreign", got, whole)
		if got.Complete || got.Counts.Received != 0 || got.Counts.Sent != 300 {
			t.Errorf("%+v", got.Counts)
		}
	}
}

// A manifest that another version of the format wrote is not guessed at.
func TestNewerManifest(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	got := analyzed(t, damaged(t, dir, func(n string, b []byte) []byte {
		if n == manifest.FinalName || n == manifest.StartName {
			return bytes.Replace(b, []byte(`"format_version": 1`), []byte(`"format_version": 2`), 1)
		}
		return b
	}))
	checkDamaged(t, "newer", got, whole)
	if text := finding(t, got, "capture_incomplete").Text; !strings.Contains(text, "format version 2, this program knows 1") {
		t.Error(text)
	}
	if got.Counts.Received != 300 {
		t.Errorf("%+v", got.Counts)
	}
}

func TestNoCapture(t *testing.T) {
	for _, dirs := range [][]string{nil, {filepath.Join(t.TempDir(), "missing")}, {t.TempDir()}} {
		if r, err := Run(context.Background(), dirs, Options{}); err == nil {
			t.Errorf("%v: %+v", dirs, r)
		}
	}
}

// A manifest is data: no number in it makes the analysis panic.
func TestOddManifests(t *testing.T) {
	dir, _ := smallCapture(t, "none", false)
	for i, change := range []func(*manifest.Manifest){
		func(m *manifest.Manifest) { m.Outcome = nil },
		func(m *manifest.Manifest) { m.Recording = nil },
		func(m *manifest.Manifest) { m.Recording.Rows, m.Recording.Files = nil, nil },
		func(m *manifest.Manifest) { m.Topology = manifest.Topology{} },
		func(m *manifest.Manifest) { m.Topology.Routes[0].Queues = []int{-1, 5, 1 << 40} },
		func(m *manifest.Manifest) { m.Consumers[0].Queues = []int{-1, 7} },
		func(m *manifest.Manifest) { m.Producers, m.Consumers = nil, nil },
		func(m *manifest.Manifest) { m.Outcome.Queues = []manifest.QueueEnd{{Queue: -4}, {Queue: 99}} },
		func(m *manifest.Manifest) {
			m.Outcome.BarrierNS, m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = event.None, event.None, event.None
		},
		func(m *manifest.Manifest) { m.Outcome.BarrierNS, m.Outcome.PublishStopNS = 1<<62, 5 },
		func(m *manifest.Manifest) { m.Outcome.BarrierNS = -1 << 62 },
		func(m *manifest.Manifest) { m.Producers[0].Rate = manifest.Rate{Messages: -3, PerNS: -1} },
		func(m *manifest.Manifest) { m.Tag = 0xffff },
		func(m *manifest.Manifest) { m.Topology.Queues[0].Type = "stream" },
		func(m *manifest.Manifest) {
			m.Outcome.Failures = []manifest.Failure{{Consumer: ptr(-1)}, {Producer: ptr(9)}}
		},
	} {
		d := damaged(t, dir, func(n string, b []byte) []byte {
			if n != manifest.FinalName {
				return b
			}
			var m manifest.Manifest
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			change(&m)
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		got, err := Run(context.Background(), []string{d}, Options{})
		if err == nil && got.Counts.Lost > 0 {
			t.Errorf("change %d: %+v", i, got.Counts)
		}
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// arrowFile is a good Arrow file that is none of ours.
func arrowFile(t testing.TB, metadata map[string]string) []byte {
	t.Helper()
	md := arrow.MetadataFrom(metadata)
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, &md)
	path := filepath.Join(t.TempDir(), "foreign.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(s))
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
	if err := w.Write(b.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return mustRead(t, path)
}
