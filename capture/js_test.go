package capture

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"leveret/capture/event"
)

// jsRecording records messages whose confirm latencies are known: message i of n waits (i*7919 mod n)+1 microseconds, so
// that, n being no multiple of 7919, every whole number of microseconds from 1 to n occurs once, in no order.
func jsRecording(t *testing.T, compression string) string {
	const n, batch, base = 10_000, 50, 1_795_000_000_123_456_789
	dir := t.TempDir()
	w := create(t, dir, startManifest(2, 1000), Options{Compression: compression, Memory: MinMemory, Shards: 2})
	got := event.Deliveries{Consumer: 1}
	for first := 0; first < n; first += batch {
		p := uint16(first / batch % 2)
		if err := w.Reserve(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		sent := int64(base + first*1000)
		w.Sends(&event.Sends{Producer: p, First: uint64(first), N: batch, Sent: sent, Written: sent + 10, Bytes: 3000, Size: 12})
		got.At, got.Rows = sent+77, got.Rows[:0]
		for i := first; i < first+batch; i++ {
			wait := int64(i*7919%n+1) * 1000
			w.Settlements(&event.Settlements{Producer: p, At: sent + wait, Runs: []event.SettledRun{{First: uint64(i), N: 1, Kind: event.Ack, FrameMessages: 1}}})
			got.Rows = append(got.Rows, event.Delivery{Seq: uint64(i), DeliveryTag: uint64(i + 1), Due: event.None, Producer: p, Tag: 777, Size: 12, Body: event.Intact})
		}
		w.Deliveries(&got)
		w.Acks(&event.Acks{Consumer: 1, At: sent + 99, DeliveryTag: uint64(first + batch), Messages: batch, Multiple: true})
	}
	w.Sends(&event.Sends{Producer: 1, First: n, N: 3, Due: []int64{1, 2, 3}, Sent: event.None, Written: event.None})
	w.Connection(&event.Connection{At: base, State: event.Lost, Producer: 1, Consumer: event.NoLane, Code: 320, Text: "CONNECTION_FORCED – grüße"})
	w.Self(&event.Self{At: base, SpanNS: 1e9, LateMaxNS: event.None, UnsentMaxBytes: event.None})
	if err := w.Close(startManifest(2, 1000)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Somebody else's Arrow reads our files: npm's apache-arrow, in node, from testdata/js.
func TestJavaScriptReadsACapture(t *testing.T) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: this test reads a capture with npm's apache-arrow; install Node.js 18 or newer with npm "+
				"(Debian and Ubuntu: apt-get install nodejs npm), or leave this test out with -skip JavaScript", err)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "read.js"} {
		b, err := os.ReadFile(filepath.Join("testdata", "js", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci of testdata/js/package-lock.json: %v\n%s\nIt needs npm's registry or its cache.", err, out)
	}
	for _, compression := range []string{"none", "lz4", "zstd"} {
		capture := jsRecording(t, compression)
		read := exec.Command("node", "read.js", capture)
		read.Dir = dir
		out, err := read.Output()
		if err != nil {
			var stderr []byte
			if exit, ok := err.(*exec.ExitError); ok {
				stderr = exit.Stderr
			}
			t.Fatalf("%s: node read.js: %v\n%s", compression, err, stderr)
		}
		checkJavaScript(t, compression, out)
	}
}

func checkJavaScript(t *testing.T, compression string, out []byte) {
	t.Helper()
	var r struct {
		Rows     map[string]int64
		Nulls    map[string]int64
		Metadata map[string]map[string]string
		Latency  struct {
			Count int64
			P50   string `json:"p50_ns"`
			P99   string `json:"p99_ns"`
			Max   string `json:"max_ns"`
		} `json:"confirm_service_latency"`
		Texts []string
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%s: %v\n%s", compression, err, out)
	}
	// Counted by hand from jsRecording: 200 batches of 50, and 3 messages not sent.
	want := map[string]int64{"sends": 10_003, "writes": 200, "settlements": 10_000, "deliveries": 10_000, "acks": 200, "connections": 1, "self": 1}
	// due_ns of the 10,000 that have none and sent_ns of 3; due_ns of all deliveries; the consumer of the connection event; two figures
	// of the self-observation that were not to be had.
	wantNulls := map[string]int64{"sends": 10_003, "writes": 0, "settlements": 0, "deliveries": 10_000, "acks": 0, "connections": 1, "self": 2}
	if fmt.Sprint(r.Rows) != fmt.Sprint(want) || fmt.Sprint(r.Nulls) != fmt.Sprint(wantNulls) {
		t.Errorf("%s: rows %v, want %v; nulls %v, want %v", compression, r.Rows, want, r.Nulls, wantNulls)
	}
	// The latencies are 1, 2, ... 10,000 us: nearest rank ceil(p*N/100) is 5,000 for the median, 9,900 for the 99th.
	if l := r.Latency; l.Count != 10_000 || l.P50 != "5000000" || l.P99 != "9900000" || l.Max != "10000000" {
		t.Errorf("%s: confirm latency %+v", compression, l)
	}
	if m := r.Metadata["acks"]; m["leveret_format"] != "1" || m["leveret_kind"] != "acks" || m["leveret_capture"] != "test-1" || m["leveret_tag"] != "777" {
		t.Errorf("%s: metadata %v", compression, m)
	}
	if !slices.Equal(r.Texts, []string{"CONNECTION_FORCED – grüße"}) {
		t.Errorf("%s: texts %q", compression, r.Texts)
	}
}
