//go:build !linux

package loadcore

import "time"

// alarm is a timer of the Go runtime, with the resolution that it has on this system.
type alarm struct {
	timer *time.Timer
	gone  chan struct{}
}

func newAlarm() (alarm, error) {
	a := alarm{timer: time.NewTimer(time.Hour), gone: make(chan struct{})}
	a.timer.Stop()
	return a, nil
}

// set lets wait return in ns nanoseconds (at least 1), and forgets what was set before.
func (a *alarm) set(ns int64) { a.timer.Reset(time.Duration(ns)) }

// wait returns when the alarm goes off; false once it is closed.
func (a *alarm) wait() bool {
	select {
	case <-a.timer.C:
		return true
	case <-a.gone:
		return false
	}
}

func (a *alarm) close() { close(a.gone) }
