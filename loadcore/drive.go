package loadcore

import (
	"fmt"
	"runtime"
)

// Drive is how a run's connections are kept going.
//
//   - Dedicated: each connection has a goroutine that reads, each producer one that writes. Best for few busy connections.
//   - Shared: a few schedulers own all connections, each connection one of them for life. A connection that waits has neither
//     a goroutine nor a buffer (scheduler.go). Made for tens of thousands of slow connections.
type Drive string

const (
	DriveAuto      Drive = "" // by the number of connections and lanes
	DriveDedicated Drive = "dedicated"
	DriveShared    Drive = "shared"
)

// Up to so many connections, and so many producers and consumers, have goroutines of their own unless asked otherwise.
const (
	dedicatedConnections = 256
	dedicatedLanes       = 4096
)

// ChosenDrive is the drive that the plan asks for, or the one that suits its size.
func (p *Plan) ChosenDrive() Drive {
	switch {
	case p.Drive != DriveAuto:
		return p.Drive
	case p.Connections > dedicatedConnections || len(p.Producers)+len(p.Consumers) > dedicatedLanes:
		return DriveShared
	}
	return DriveDedicated
}

func (p *Plan) checkDrive() error {
	switch p.Drive {
	case DriveAuto, DriveDedicated, DriveShared:
		return nil
	}
	return fmt.Errorf("--drive=%s: want auto, dedicated or shared", p.Drive)
}

// startSchedulers gives each connection its scheduler. With the dedicated drive there are none.
func (e *engine) startSchedulers() error {
	if e.plan.ChosenDrive() != DriveShared {
		return nil
	}
	for range min(runtime.GOMAXPROCS(0), len(e.conns)) {
		s, err := newScheduler(e)
		if err != nil {
			return err
		}
		e.schedulers = append(e.schedulers, s)
		go s.run()
	}
	for i, c := range e.connections() {
		c.shared = e.schedulers[i%len(e.schedulers)]
	}
	for _, p := range e.producers {
		p.shared = e.conn(p.spec.Connection).shared
	}
	return nil
}

// stopSchedulers ends them. All connections are closed by then, and all producers have ended.
func (e *engine) stopSchedulers() {
	for _, s := range e.schedulers {
		s.stop()
	}
}
