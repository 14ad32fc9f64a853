package analyze

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

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
	return captureOf(t, 50, compression, lost)
}

// captureOf is the same of 6 times so many messages.
func captureOf(t testing.TB, messages int, compression string, lost bool) (string, *result.Result) {
	t.Helper()
	r := recordWith(t, managed(1, 1), capture.Options{Shards: 1, Compression: compression, FlushInterval: 4 * time.Millisecond})
	const lostOne = 120
	n := uint64(messages)
	for i := range uint64(6) {
		first, at := i*n, int64(i)*10*ms
		r.send(0, first, messages, at)
		r.ack(0, first, messages, at+ms)
		for seq := first; seq < first+n; seq++ {
			if !lost || seq != lostOne {
				r.receive(0, 0, 0, at+2*ms, seq)
			}
		}
		r.ackAll(0, at+3*ms)
		r.w.BrokerQueue(said(at, event.None, 0, int64(i*n), 0, 0, 0, 0))
		r.w.BrokerQueue(said(at, 0, 0, int64(i*n), 0, 0, 0, 0))
		r.w.BrokerNode(&event.BrokerNode{At: epoch + at, Running: 1})
		r.w.BrokerConnections(&event.BrokerConnections{At: epoch + at, Total: 2, Looked: 2, Running: 2})
		time.Sleep(8 * time.Millisecond) // so that the flusher makes batches
	}
	r.w.Connection(&event.Connection{At: epoch, State: event.Open, Producer: event.NoLane, Consumer: event.NoLane, Text: "open"})
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
func checkDamaged(t testing.TB, what string, got, whole *result.Result) {
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

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
