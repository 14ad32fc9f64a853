package analyze

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// A capture can be analyzed while it is being written, and says so; once it is closed it is whole.
func TestCaptureThatGrows(t *testing.T) {
	boot := event.NewClock().Snapshot().BootID
	if boot == "" {
		t.Log("this system has no boot id: nothing is known to grow")
	}
	m := plan(1, 1)
	m.PID, m.ClockStart.BootID, m.Outcome = os.Getpid(), boot, nil
	closing := plan(1, 1)
	r := recordWith(t, m, capture.Options{Shards: 1, Compression: "none", FlushInterval: 10 * time.Millisecond})
	r.m = closing
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	r.receive(0, 0, 0, 2*ms, seqs(0, 9)...)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got := analyzed(t, r.dir)
		if got.Growing != (boot != "") || got.Complete {
			t.Fatalf("growing %v, complete %v: %+v", got.Growing, got.Complete, got.Findings)
		}
		if f := finding(t, got, "capture_incomplete"); got.Growing && (f.Count != 1 || !strings.Contains(f.Text, "the recording goes on")) {
			t.Fatalf("%+v", f)
		}
		if got.Counts.Lost != 0 || got.Counts.Missing != 0 {
			t.Fatalf("%+v", got.Counts)
		}
		if got.Counts.Sent == 10 && got.Counts.Received == 10 && got.Counts.Confirmed == 10 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("rows are not seen: %+v", got.Counts)
		}
	}
	r.ackAll(0, 3*ms)
	if got := analyzed(t, r.close()); got.Growing || !got.Complete {
		t.Errorf("closed: growing %v, complete %v", got.Growing, got.Complete)
	}
}

// A recording whose process is gone was killed; so was one on another boot, or that has been silent for long.
func TestKilledCaptureDoesNotGrow(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	boot := event.NewClock().Snapshot().BootID
	for _, c := range []struct {
		name  string
		pid   int
		boot  string
		quiet time.Duration
	}{
		{"gone", gone.Process.Pid, boot, 0}, {"another boot", os.Getpid(), boot + "x", 0}, {"silent", os.Getpid(), boot, time.Hour}, {"unknown", 0, boot, 0},
	} {
		m := plan(1, 0)
		m.PID, m.ClockStart.BootID, m.Outcome = c.pid, c.boot, nil
		r := record(t, m)
		then := time.Now().Add(-c.quiet)
		if err := os.Chtimes(filepath.Join(r.dir, manifest.JournalName), then, then); err != nil {
			t.Fatal(err)
		}
		if got := analyzed(t, r.dir); got.Growing || got.Complete {
			t.Errorf("%s: growing %v, complete %v", c.name, got.Growing, got.Complete)
		}
		r.m = plan(1, 0)
		r.close()
	}
}
