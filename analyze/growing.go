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

// Standing is what becomes of a recording that was not closed yet.
type Standing int

const (
	StandingUnknown Standing = iota // it was made on another host, or before this one was started
	GoesOn
	CutShort // its process is gone, or has not written for a minute
)

// StandingOf tells what becomes of a recording of which only start.json is there, and when it wrote last (zero: unknown).
func StandingOf(dir string, start *manifest.Manifest) (Standing, time.Time) {
	var last time.Time
	if info, err := os.Stat(filepath.Join(dir, manifest.JournalName)); err == nil {
		last = info.ModTime()
	}
	boot := event.NewClock().Snapshot().BootID
	if boot == "" || boot != start.ClockStart.BootID || start.PID <= 0 {
		return StandingUnknown, last
	}
	if !alive(start.PID) || time.Since(last) > quietAfter {
		return CutShort, last
	}
	return GoesOn, last
}

// findGrowing tells a capture that is still being written from one whose recording was killed: the process that records is
// alive, on this host and since the same boot, and has written of late. What such a capture lacks for being whole is then said
// in one line.
func (c *source) findGrowing() {
	if c.manifest == nil || c.final || c.journal == nil || c.journal.ended {
		return
	}
	if standing, _ := StandingOf(c.dir, c.manifest); standing != GoesOn {
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
