package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A recording into a full disk ends with an error that says what to do, and what was written is analyzed.
func TestRecordingIntoFullDisk(t *testing.T) {
	if os.Geteuid() != 0 && os.Getenv("CI") != "true" {
		t.Log("not root: no small file system can be mounted; TestRecordingPastFileSizeLimit has a disk that takes no more")
		return
	}
	mount := t.TempDir()
	if err := syscall.Mount("leveret-test", mount, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatalf("mount a tmpfs of 4 MiB: %v (CI runs as root)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, 0); err != nil {
			t.Errorf("unmount %s: %v", mount, err)
		}
	})
	recordUntilDiskEnds(t, "", filepath.Join(mount, "capture"), "the disk is full", "free space or record elsewhere")
}

func TestRecordingPastFileSizeLimit(t *testing.T) {
	// In units of 512 bytes, as the shell counts them: 1 MiB.
	recordUntilDiskEnds(t, "ulimit -f 2048;", filepath.Join(t.TempDir(), "capture"), "ulimit -f", "raise the limit or record elsewhere")
}

func recordUntilDiskEnds(t *testing.T, prepare, dir string, words ...string) {
	t.Helper()
	p := launch(t, prepare, "run", "--queue", "q", "--confirm", "1000", "--time", "60", "--capture", dir)
	if code := p.await(t); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	said := p.said()
	for _, w := range append(words, dir, "leveret analyze "+dir, "\nended: recording failed, after ") {
		if !strings.Contains(said, w) {
			t.Errorf("%q is not said:\n%s", w, said)
		}
	}
	if strings.Count(said, words[0]) != 1 {
		t.Errorf("said more than once:\n%s", said)
	}
	checkCutShort(t, analyzedCapture(t, dir))
}

// A capture that is removed while it is recorded ends the run at once, which would have gone on for a minute.
func TestCaptureRemovedMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "capture")
	p := launch(t, "", "run", "--quiet", "--queue", "q", "--rate", "1000", "--confirm", "100", "--time", "600", "--capture", dir)
	awaitRecording(t, p, dir, 2)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if code := p.await(t); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	if said := p.said(); !strings.Contains(said, "the directory was removed, moved or replaced while the recording went on") {
		t.Error(said)
	}
}
