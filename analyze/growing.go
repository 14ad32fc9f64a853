package analyze

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// quietAfter is how long a recording that goes on is silent at most, by far: it writes what it has every second.
const quietAfter = time.Minute

// findGrowing tells a capture that is still being written from one whose recording was killed: the process that records is
// alive, on this host and since the same boot, and has written of late. What such a capture lacks for being whole is then said
// in one line.
func (c *source) findGrowing() {
	if c.manifest == nil || c.final || c.journal == nil || c.journal.ended || c.manifest.PID <= 0 {
		return
	}
	boot := event.NewClock().Snapshot().BootID
	if boot == "" || boot != c.manifest.ClockStart.BootID || !alive(c.manifest.PID) {
		return
	}
	info, err := os.Stat(filepath.Join(c.dir, manifest.JournalName))
	if err != nil || time.Since(info.ModTime()) > quietAfter {
		return
	}
	c.growing = true
	c.reasons = []string{"the recording goes on: what it had written when it was opened is analyzed"}
}

// alive tells whether a process exists. Where the system can't be asked so, it says no.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
