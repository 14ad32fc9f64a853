package loadcore

import (
	"fmt"
	"runtime"
)

// Pin fixes the goroutines of a connection - the one that reads, and those of its producers - to threads of their own, and
// those to a processor. Off by default: handing over between a locked goroutine and the runtime's poller makes a round trip
// through a socket several times slower.
type Pin string

const (
	PinNone   Pin = ""
	PinThread Pin = "thread" // each goroutine has a thread of its own
	PinCPU    Pin = "cpu"    // besides, the threads of a connection stay on one processor; connections go round
)

// checkPin refuses what cannot be had here.
func (p *Plan) checkPin() error {
	switch {
	case p.Pin == PinNone:
		return nil
	case p.Pin != PinThread && p.Pin != PinCPU:
		return fmt.Errorf("--pin=%s: want thread or cpu", p.Pin)
	case p.ChosenDrive() == DriveShared:
		return fmt.Errorf("--pin=%s: connections of the shared drive (%d connections here) have no goroutines of their own; ask for --drive dedicated, or leave --pin out", p.Pin, p.Connections)
	case p.Pin == PinCPU:
		if err := tryAffinity(); err != nil {
			return fmt.Errorf("--pin=cpu: %w; --pin thread works everywhere", err)
		}
	}
	return nil
}

// tryAffinity goes through all processors that the process may use, on a thread that ends with it.
func tryAffinity() error {
	cpus, err := allowedCPUs()
	if err != nil {
		return err
	}
	tried := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: a thread with another affinity must not be used for anything else
		for _, cpu := range cpus {
			if err := setAffinity(cpu); err != nil {
				tried <- err
				return
			}
		}
		tried <- nil
	}()
	return <-tried
}

// pin fixes the calling goroutine as the plan wants it. The thread ends with the goroutine, which therefore is never unlocked.
func (c *conn) pin() {
	e := c.eng
	if e.plan.Pin == PinNone {
		return
	}
	runtime.LockOSThread()
	if len(e.cpus) > 0 {
		if err := setAffinity(e.cpus[int(c.number)%len(e.cpus)]); err != nil {
			c.fail(loss{text: "--pin=cpu: " + err.Error()}) // it worked before the run began
		}
	}
}
