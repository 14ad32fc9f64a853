//go:build !linux

package loadcore

import (
	"math"
	"time"
)

// poller waits for a time and for a call; here it cannot watch sockets, and each connection of the shared drive has a
// goroutine that waits for it and borrows a buffer when something comes.
type poller struct {
	timer *time.Timer
	woken chan struct{}
}

func newPoller() (*poller, error) {
	p := &poller{timer: time.NewTimer(time.Hour), woken: make(chan struct{}, 1)}
	p.timer.Stop()
	return p, nil
}

func (*poller) suits(*conn) bool { return false }

func (*poller) add(*conn) error { return nil }

func (*poller) hold(*conn, bool) {}

// wait returns when until has come or after wake; now is the time on the clock that until is on.
func (p *poller) wait(now, until int64) (int, error) {
	if until <= now {
		return 0, nil
	}
	if until == math.MaxInt64 {
		<-p.woken
		return 0, nil
	}
	p.timer.Reset(time.Duration(until - now))
	select {
	case <-p.woken:
		p.timer.Stop()
	case <-p.timer.C:
	}
	return 0, nil
}

func (*poller) ready(int) int { return 0 }

// wake ends the wait that is under way, or the next one.
func (p *poller) wake() { wakeUp(p.woken) }

func (p *poller) close() { p.timer.Stop() }
