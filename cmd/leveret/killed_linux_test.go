package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// C010: a recording at full speed, against a broker in another process, is killed. All that is missing is of the last
// second; the rest is analyzed, and said to be not whole.
func TestKilledAtFullSpeed(t *testing.T) { killAtFullSpeed(t, 2) }

func killAtFullSpeed(t *testing.T, times int) {
	uri := launchBroker(t)
	for i := range times {
		dir := filepath.Join(t.TempDir(), "capture")
		p := launch(t, "", "run", "--quiet", "--uri", uri, "--queue", "q", "--confirm", "1000", "--time", "60", "--capture", dir)
		awaitRecording(t, p, dir, 20)
		time.Sleep(1500*time.Millisecond + time.Duration(i)*77*time.Millisecond) // for rows at full speed, and to hit other moments
		before := lastTimes(t, dir)
		killed := time.Now().UnixNano()
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		r := analyzedCapture(t, dir)
		checkCutShort(t, r)
		var missing []time.Duration
		for _, k := range []schema.Kind{schema.Sends, schema.Settlements, schema.Deliveries} {
			last := lastTimes(t, dir)[k]
			missing = append(missing, time.Duration(killed-last).Round(time.Millisecond))
			if last < before[k] {
				t.Errorf("%s were on disk before the kill and are not after it", k)
			}
		}
		t.Logf("kill %d: %d messages, %d rows analyzed; of sends, settlements and deliveries the last %v are missing", i+1, r.Counts.Sent, r.Rows, missing)
		// A flush interval; where other tests take the processors, the process got to nothing in that time either.
		if worst := slices.Max(missing); worst > mostMissing {
			t.Errorf("the last %v are missing", worst)
		}
	}
}

// lastTimes are the latest times that the journal vouches for.
func lastTimes(t *testing.T, dir string) map[schema.Kind]int64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, manifest.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	last := map[schema.Kind]int64{}
	for at := schema.JournalHeaderSize; at+schema.RecordSize <= len(b); at += schema.RecordSize {
		r, err := schema.ParseRecord(b[at:])
		if err != nil {
			t.Fatal(err)
		}
		last[r.Kind] = max(last[r.Kind], r.MaxTime)
	}
	return last
}
