package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/capture/manifest"
)

// Many connections from the command line: the drive is chosen by their number and stands in the manifest (C039: rows equal
// counters, whatever the number of writers).
func TestRunWithManyConnections(t *testing.T) {
	r, code, dir := record(t, "--producers", "300", "--consumers", "4", "--queue", "q", "--rate", "2", "--confirm", "1", "--time", "2")
	if code != 0 || r.Verdict != "PASS" || r.Counts.Sent != 1200 || r.Counts.Received != 1200 {
		t.Fatalf("exit %d, %s, %+v", code, r.Verdict, r.Counts)
	}
	text, err := os.ReadFile(filepath.Join(dir, manifest.FinalName))
	if err != nil {
		t.Fatal(err)
	}
	var m manifest.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.Drive != "shared" || m.Pin != "" || m.Connections != 304 {
		t.Errorf("drive %q, pin %q, %d connections", m.Drive, m.Pin, m.Connections)
	}
	if m.Recording.Rows["sends"] != m.Outcome.Sent || m.Recording.Rows["deliveries"] != m.Outcome.Received || m.Outcome.Sent != 1200 {
		t.Errorf("rows %v, %+v", m.Recording.Rows, *m.Outcome)
	}
}

func TestManyConnectionsRefusedBeforehand(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--producer-channel-count 2048", "allows 2047 on one connection"}, // C097
		{"--pin cpu --drive shared", "--drive dedicated"},
		{"--source-address here", "--source-address=here"},
		{"--drive both", "must be one of auto, dedicated, shared"},
	} {
		code, _, stderr := invoke(t, append([]string{"run", "--quiet", "--time", "1", "--capture", filepath.Join(t.TempDir(), "c")}, strings.Fields(c.args)...)...)
		if code == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d\n%s", c.args, code, stderr)
		}
	}
}
