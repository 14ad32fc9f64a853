package calibrate

import (
	"context"
	"path/filepath"
	"time"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Recording is what the recorder costs, files and their writing included: rows of messages sent, confirmed and received in
// batches, as a run in closed loop brings them.
type Recording struct {
	Compression string  `json:"compression"`
	Rows        int64   `json:"rows"`
	CPUNSPerRow float64 `json:"cpu_ns_per_row"` // user and system time of the process; 0 where the system does not tell
	NSPerRow    float64 `json:"ns_per_row"`     // elapsed, until the record is closed
	BytesPerRow float64 `json:"bytes_per_row"`
}

func (c *calibration) measureRecording(ctx context.Context) error {
	for _, compression := range []string{"none", "lz4", "zstd"} {
		r, err := c.record(ctx, compression)
		if err != nil {
			return err
		}
		c.Recording = append(c.Recording, r)
	}
	return nil
}

// newRecorder begins a capture named name; the function that it returns closes it.
func (c *calibration) newRecorder(name, compression string, plan *loadcore.Plan) (*capture.Writer, func() (*manifest.Recording, error), error) {
	start := &manifest.Manifest{
		FormatVersion: manifest.FormatVersion, ID: name, Tool: c.Options.Tool, Tag: plan.Tag, Host: c.Options.Host, Topology: *plan.Topology,
		Connections: plan.Connections, Producers: plan.Producers, Consumers: plan.Consumers, ClockStart: c.clock.Snapshot(),
	}
	w, err := capture.Create(filepath.Join(c.tmp, name), start, c.clock, capture.Options{Compression: compression})
	if err != nil {
		return nil, nil, err
	}
	return w, func() (*manifest.Recording, error) {
		final := *start
		err := w.Close(&final)
		return final.Recording, err
	}, nil
}

func (c *calibration) record(ctx context.Context, compression string) (Recording, error) {
	plan := c.plan("", []manifest.Producer{{Size: 12, Confirm: 1000}}, []manifest.Consumer{{AckEvery: 1}})
	w, end, err := c.newRecorder("recording-"+compression, compression, plan)
	if err != nil {
		return Recording{}, err
	}
	begun, cpu := time.Now(), loadcore.CPUTime()
	err = playRows(ctx, w, c.clock, begun.Add(c.long(600*time.Millisecond)))
	kept, closeErr := end()
	took, used := time.Since(begun), loadcore.CPUTime()-cpu
	if err == nil {
		err = closeErr
	}
	if err != nil {
		return Recording{}, err
	}
	r := Recording{Compression: compression}
	bytes := int64(0)
	for _, n := range kept.Rows {
		r.Rows += n
	}
	for _, n := range kept.Files {
		bytes += n
	}
	n := float64(r.Rows)
	r.CPUNSPerRow, r.NSPerRow, r.BytesPerRow = float64(used)/n, float64(took)/n, float64(bytes)/n
	return r, nil
}

// playRows records batches of 200 messages, their confirms and their deliveries until a time.
func playRows(ctx context.Context, w *capture.Writer, clock *event.Clock, until time.Time) error {
	const batch = 200
	sends := event.Sends{N: batch, Size: 12, Bytes: 60 * batch}
	settled := event.Settlements{Runs: []event.SettledRun{{N: batch, Kind: event.Ack, FrameMessages: batch}}}
	got := event.Deliveries{Rows: make([]event.Delivery, batch)}
	for seq := uint64(0); time.Now().Before(until); seq += batch {
		if err := w.Reserve(ctx, batch); err != nil {
			return err
		}
		now := clock.Now()
		sends.First, sends.Sent, sends.Written = seq, now, now+20_000
		settled.At, settled.Runs[0].First = now+900_000, seq
		got.At = now + 950_000
		for i := range got.Rows {
			s := seq + uint64(i)
			got.Rows[i] = event.Delivery{Seq: s, DeliveryTag: s + 1, Due: event.None, Size: 12, Tag: 1, Body: event.Intact}
		}
		w.Sends(&sends)
		w.Settlements(&settled)
		w.Deliveries(&got)
	}
	return w.Err()
}
