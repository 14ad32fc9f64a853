//go:build long && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// C032: 2000 producers and 2000 consumers, recorded with compression for half an hour. The memory of the process, embedded
// broker included, stays below 1 GiB and does not grow.
func TestMemoryStaysFlat(t *testing.T) {
	const length, warm = 30 * time.Minute, 6 * time.Minute
	cmd := exec.Command(os.Args[0], "run", "--quiet", "--no-analyze", "--producers", "2000", "--consumers", "2000", "--queue", "q", "--rate", "1",
		"--compression", "zstd", "--time", fmt.Sprint(length.Seconds()), "--capture", filepath.Join(t.TempDir(), "c"))
	cmd.Env = append(os.Environ(), asMain+"=1")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	start, early, late := time.Now(), 0, 0 // KiB, the most while it warms up, and in all
	for {
		select {
		case err := <-ended:
			t.Logf("resident at most %d KiB in the first minutes, %d KiB in all", early, late)
			if err != nil || early == 0 || late > 1<<20 || late > early+early/8 {
				t.Errorf("resident %d KiB, then %d KiB: %v", early, late, err)
			}
			return
		case <-time.After(5 * time.Second):
		}
		now := residentKiB(cmd.Process.Pid)
		if time.Since(start) < warm {
			early = max(early, now)
		}
		late = max(late, now)
	}
}

func residentKiB(pid int) (size int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			fmt.Sscan(text, &size)
		}
	}
	return size
}
