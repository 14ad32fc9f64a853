package calibrate

import (
	"context"
	"errors"
	"time"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Ceiling is the most that one producer or one consumer reaches with messages of 12 bytes, recorded with default settings,
// against the embedded broker in a process of its own. A broker that does more work for a message leaves it lower.
type Ceiling struct {
	Name        string  `json:"name"` // one of the Ceiling names below
	SizeBytes   int     `json:"size_bytes"`
	Messages    int64   `json:"messages"`
	MsgsPerS    float64 `json:"msgs_per_s"`
	CPUNSPerMsg float64 `json:"cpu_ns_per_msg"` // of this process; 0 where the system does not tell
}

// The ceilings that are measured.
const (
	PublishConfirmed = "publish, window 1000"
	PublishBare      = "publish, no confirms"
	ConsumeAutoAck   = "consume, automatic acks"
	EndToEnd         = "publish and consume, window 1000, acks every 100"
)

func (c *calibration) measureCeilings(ctx context.Context) error {
	b, err := c.startBroker(ctx, "")
	if err != nil {
		return err
	}
	defer b.end()
	for _, m := range []struct {
		name    string
		measure func(context.Context, *child) (Ceiling, error)
	}{
		{PublishConfirmed, func(ctx context.Context, b *child) (Ceiling, error) { return c.publishCeiling(ctx, b, 1000) }},
		{PublishBare, func(ctx context.Context, b *child) (Ceiling, error) { return c.publishCeiling(ctx, b, 0) }},
		{ConsumeAutoAck, c.consumeCeiling},
		{EndToEnd, c.endToEnd},
	} {
		v, err := m.measure(ctx, b)
		if err != nil {
			return err
		}
		v.Name, v.SizeBytes = m.name, 12
		c.Ceilings = append(c.Ceilings, v)
	}
	return nil
}

// publishCeiling publishes to where nothing is bound: the broker parses and confirms, and keeps nothing.
func (c *calibration) publishCeiling(ctx context.Context, b *child, window int) (Ceiling, error) {
	name := "publish"
	if window > 0 {
		name = "publish-confirms"
	}
	p := c.plan("", []manifest.Producer{{Size: 12, Confirm: window}}, nil)
	p.Time = c.long(1200 * time.Millisecond)
	out, _, err := c.offerRecorded(ctx, b, name, p)
	if err != nil {
		return Ceiling{}, err
	}
	return ceiling(out.Sent, out.DrainEndNS-out.BarrierNS, out.CPUNS)
}

// offerRecorded offers the load of p, recorded with default settings into a capture of that name.
func (c *calibration) offerRecorded(ctx context.Context, b *child, name string, p *loadcore.Plan) (*manifest.Outcome, *receiptTimes, error) {
	w, end, err := c.newRecorder(name, "", p)
	if err != nil {
		return nil, nil, err
	}
	r := &receiptTimes{Writer: w}
	out, err := offer(ctx, b, p, r)
	if _, closeErr := end(); err == nil {
		err = closeErr
	}
	return out, r, err
}

func ceiling(messages, elapsedNS, cpuNS int64) (Ceiling, error) {
	if messages == 0 || elapsedNS <= 0 {
		return Ceiling{}, errors.New("no message got through")
	}
	return Ceiling{Messages: messages, MsgsPerS: float64(messages) / float64(elapsedNS) * 1e9, CPUNSPerMsg: float64(cpuNS) / float64(messages)}, nil
}

// consumeCeiling fills a queue and empties it.
func (c *calibration) consumeCeiling(ctx context.Context, b *child) (Ceiling, error) {
	messages := int64(1_000_000)
	if c.Options.Quick {
		messages /= 5
	}
	fill := c.plan("calibrate-consume", []manifest.Producer{{Size: 12, Confirm: 1000, Limit: messages}}, nil)
	if _, err := offer(ctx, b, fill, noRecord); err != nil {
		return Ceiling{}, err
	}
	p := c.plan("calibrate-consume", nil, []manifest.Consumer{{AutoAck: true, AckEvery: 1, Limit: messages}})
	out, r, err := c.offerRecorded(ctx, b, "consume", p)
	if err != nil {
		return Ceiling{}, err
	}
	return ceiling(out.Received, r.last-r.first, out.CPUNS)
}

// receiptTimes records, and notes when one consumer received its first and its last messages.
type receiptTimes struct {
	*capture.Writer
	first, last int64
}

func (r *receiptTimes) Deliveries(d *event.Deliveries) {
	if r.first == 0 {
		r.first = d.At
	}
	r.last = d.At
	r.Writer.Deliveries(d)
}

// endToEnd does both at once.
func (c *calibration) endToEnd(ctx context.Context, b *child) (Ceiling, error) {
	p := c.plan("calibrate-both", []manifest.Producer{{Size: 12, Confirm: 1000}}, []manifest.Consumer{{AckEvery: 100, Prefetch: 2000}})
	p.Time = c.long(1200 * time.Millisecond)
	out, _, err := c.offerRecorded(ctx, b, "both", p)
	if err != nil {
		return Ceiling{}, err
	}
	return ceiling(out.Received, out.DrainEndNS-out.BarrierNS, out.CPUNS)
}
