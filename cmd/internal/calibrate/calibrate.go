// Package calibrate measures what this machine lets leveret do, now: so that a figure of a run can be told from a limit of
// the tool.
//
//	c, err := calibrate.Run(ctx, calibrate.Options{Program: exe, Progress: show})
//	err = calibrate.Store(path, c)        // one file, the latest calibration of this user on this host
//	...
//	c, err := calibrate.Load(path)        // later, for the report of a run
//
// Every figure comes from the program's own parts: the engine, the recorder, and the embedded broker in a process of its
// own. All times are nanoseconds, all rates per second.
package calibrate

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// SchemaVersion of the JSON form.
const SchemaVersion = 1

// Calibration is what one machine could do at one moment.
type Calibration struct {
	SchemaVersion int           `json:"schema_version"`
	AtNS          int64         `json:"at_ns"` // nanoseconds since the Unix epoch, at the start
	TookNS        int64         `json:"took_ns"`
	Quick         bool          `json:"quick"` // shorter measurements, so coarser
	Tool          manifest.Tool `json:"tool"`
	Host          manifest.Host `json:"host"`
	BootID        string        `json:"boot_id,omitempty"`
	Processors    int           `json:"processors"` // that the Go runtime used

	Clock     Clock          `json:"clock"`
	Codec     []Codec        `json:"codec"`
	Loopback  Loopback       `json:"loopback"`
	Recording []Recording    `json:"recording"`
	Ceilings  []Ceiling      `json:"ceilings"`
	Pacing    []Pacing       `json:"pacing"`
	Latency   []LatencyError `json:"latency_error"`
	Pinning   []Pinning      `json:"pinning"`
}

// Options of a calibration.
type Options struct {
	// Program is this program's own file; it is started as `PROGRAM broker`.
	Program string
	Tool    manifest.Tool
	Host    manifest.Host
	Quick   bool
	// Dir is where recordings are made, and removed again; "": the system's folder for temporary files.
	Dir string
	// Progress, where set, is told before each measurement: its number from 1, how many there are, what it is.
	Progress func(step, of int, what string)
}

// calibration is one on its way.
type calibration struct {
	Options
	*Calibration
	clock *event.Clock
	tmp   string
}

// long gives the time of a measurement: a quarter of it with Quick.
func (c *calibration) long(full time.Duration) time.Duration {
	if c.Options.Quick {
		return full / 4
	}
	return full
}

// Run measures everything, in some 20 s, or 5 s with Quick. It ends early with ctx's error when ctx ends.
func Run(ctx context.Context, o Options) (*Calibration, error) {
	tmp, err := os.MkdirTemp(o.Dir, "leveret-calibrate-")
	if err != nil {
		return nil, fmt.Errorf("folder for recordings: %w", err)
	}
	defer os.RemoveAll(tmp)
	c := &calibration{Options: o, clock: event.NewClock(), tmp: tmp}
	start := c.clock.Snapshot()
	c.Calibration = &Calibration{
		SchemaVersion: SchemaVersion, AtNS: start.WallNS, Quick: o.Quick, Tool: o.Tool, Host: o.Host, BootID: start.BootID,
		Processors: runtime.GOMAXPROCS(0),
	}
	steps := []struct {
		what string
		run  func(context.Context) error
	}{
		{"clock", c.measureClock},
		{"codec and checksum", c.measureCodec},
		{"loopback", c.measureLoopback},
		{"recording", c.measureRecording},
		{"ceilings through the embedded broker", c.measureCeilings},
		{"pacing", c.measurePacing},
		{"latency against known delays", c.measureLatency},
		{"pinning", c.measurePinning},
	}
	for i, s := range steps {
		if o.Progress != nil {
			o.Progress(i+1, len(steps), s.what)
		}
		err := s.run(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.what, err)
		}
	}
	c.TookNS = c.clock.Now() - start.ClockNS
	return c.Calibration, nil
}
