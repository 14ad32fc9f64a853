package calibrate

import (
	"context"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Pinning is what --pin costs or gains one producer of 12-byte messages, not recorded, against the embedded broker.
type Pinning struct {
	Pin string `json:"pin"` // off, thread, cpu
	// NotPossible says why it cannot be had here; the figures are 0 then.
	NotPossible string  `json:"not_possible,omitempty"`
	MsgsPerS    float64 `json:"msgs_per_s"`     // with a confirm window of 1000
	CPUNSPerMsg float64 `json:"cpu_ns_per_msg"` // of this process; 0 where the system does not tell
	RoundTripNS float64 `json:"round_trip_ns"`  // mean from a message to its confirm and the next message, window 1
}

func (c *calibration) measurePinning(ctx context.Context) error {
	b, err := c.startBroker(ctx, "")
	if err != nil {
		return err
	}
	defer b.end()
	for _, pin := range []loadcore.Pin{loadcore.PinNone, loadcore.PinThread, loadcore.PinCPU} {
		v := Pinning{Pin: string(pin)}
		if pin == loadcore.PinNone {
			v.Pin = "off"
		}
		p := c.pinned(pin, 1000)
		p.Endpoint = b.endpoint
		if err := p.Validate(); err != nil {
			v.NotPossible = err.Error()
			c.Pinning = append(c.Pinning, v)
			continue
		}
		out, err := offer(ctx, b, p, noRecord)
		if err != nil {
			return err
		}
		fast, err := ceiling(out.Sent, out.DrainEndNS-out.BarrierNS, out.CPUNS)
		if err != nil {
			return err
		}
		v.MsgsPerS, v.CPUNSPerMsg = fast.MsgsPerS, fast.CPUNSPerMsg
		if out, err = offer(ctx, b, c.pinned(pin, 1), noRecord); err != nil {
			return err
		}
		slow, err := ceiling(out.Sent, out.DrainEndNS-out.BarrierNS, out.CPUNS)
		if err != nil {
			return err
		}
		v.RoundTripNS = 1e9 / slow.MsgsPerS
		c.Pinning = append(c.Pinning, v)
	}
	return nil
}

func (c *calibration) pinned(pin loadcore.Pin, window int) *loadcore.Plan {
	p := c.plan("", []manifest.Producer{{Size: 12, Confirm: window}}, nil)
	p.Time, p.Pin = c.long(500*time.Millisecond), pin
	return p
}
