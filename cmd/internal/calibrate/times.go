package calibrate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
	"leveret/loadcore/broker"
)

// noRecord stands where a run is not measured by its record.
var noRecord loadcore.Recorder = loadcore.NoRecord{}

// Percentiles of what was measured on each message, nearest rank.
type Percentiles struct {
	Count int   `json:"count"`
	P50NS int64 `json:"p50_ns"`
	P99NS int64 `json:"p99_ns"`
	MinNS int64 `json:"min_ns"`
	MaxNS int64 `json:"max_ns"`
}

func percentiles(values []int64) (Percentiles, error) {
	n := len(values)
	if n == 0 {
		return Percentiles{}, fmt.Errorf("no message got through")
	}
	slices.Sort(values)
	rank := func(percent int) int64 { return values[(percent*n+99)/100-1] }
	return Percentiles{Count: n, P50NS: rank(50), P99NS: rank(99), MinNS: values[0], MaxNS: values[n-1]}, nil
}

// Pacing is how late messages leave at a rate: sent minus due.
type Pacing struct {
	RateMsgsPerS int64 `json:"rate_msgs_per_s"`
	Percentiles
}

func (c *calibration) measurePacing(ctx context.Context) error {
	b, err := c.startBroker(ctx, "")
	if err != nil {
		return err
	}
	defer b.end()
	for _, rate := range []int64{1, 100, 1000, 10_000} {
		p := c.plan("", []manifest.Producer{{Size: 12, Rate: manifest.Rate{Messages: rate, PerNS: 1e9}}}, nil)
		p.Time = c.long(1200 * time.Millisecond)
		if rate == 1 { // for a message after the first even when it is quick
			p.Time = 1100*time.Millisecond + c.long(2*time.Second)
		}
		rec := &lateness{}
		if _, err := offer(ctx, b, p, rec); err != nil {
			return err
		}
		v, err := percentiles(rec.late)
		if err != nil {
			return fmt.Errorf("%d messages per second: %w", rate, err)
		}
		c.Pacing = append(c.Pacing, Pacing{RateMsgsPerS: rate, Percentiles: v})
	}
	return nil
}

// lateness keeps how late each message of one producer was.
type lateness struct {
	loadcore.NoRecord
	late []int64
}

func (l *lateness) Sends(s *event.Sends) {
	if s.Sent == event.None {
		return
	}
	for _, due := range s.Due {
		l.late = append(l.late, s.Sent-due)
	}
}

// LatencyError is the difference between the latency that was measured, from sent to received, and the time for which the
// broker held each message by a known law. It has the way there and back in it, and how late the broker's own timer was.
type LatencyError struct {
	Law          string `json:"law"` // as --faults takes it; "" : no delay
	RateMsgsPerS int64  `json:"rate_msgs_per_s"`
	Percentiles
}

func (c *calibration) measureLatency(ctx context.Context) error {
	// The rates leave time for each message to be gone before the next one comes.
	for _, m := range []struct {
		law  string
		rate int64
	}{{"", 400}, {"fixed=2ms", 400}, {"uniform=1ms..5ms:seed=1", 180}} {
		v, err := c.latencyError(ctx, m.law, m.rate)
		if err != nil {
			return err
		}
		c.Latency = append(c.Latency, LatencyError{Law: m.law, RateMsgsPerS: m.rate, Percentiles: v})
	}
	return nil
}

func (c *calibration) latencyError(ctx context.Context, law string, rate int64) (Percentiles, error) {
	spec := ""
	if law != "" {
		spec = "delay@*:" + law
	}
	faults, err := broker.ParseFaults(spec)
	if err != nil {
		return Percentiles{}, err
	}
	b, err := c.startBroker(ctx, spec)
	if err != nil {
		return Percentiles{}, err
	}
	defer b.end()
	p := c.plan("calibrate-delay", []manifest.Producer{{Size: 12, Rate: manifest.Rate{Messages: rate, PerNS: 1e9}}},
		[]manifest.Consumer{{AutoAck: true, AckEvery: 1}})
	p.Time = c.long(1400 * time.Millisecond)
	rec := &transit{sent: map[uint64]int64{}, received: map[uint64]int64{}}
	if _, err := offer(ctx, b, p, rec); err != nil {
		return Percentiles{}, err
	}
	return percentiles(rec.errors(func(seq uint64) time.Duration { return faults.Delay(seq + 1) }))
}

// transit keeps when each message of one producer was sent and received.
type transit struct {
	loadcore.NoRecord
	mu             sync.Mutex // guards the following
	sent, received map[uint64]int64
}

func (t *transit) Sends(s *event.Sends) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range s.N {
		if s.Sent != event.None {
			t.sent[s.First+uint64(i)] = s.Sent
		}
	}
}

func (t *transit) Deliveries(d *event.Deliveries) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range d.Rows {
		t.received[r.Seq] = d.At
	}
}

// errors are measured minus known, of every message that arrived.
func (t *transit) errors(known func(seq uint64) time.Duration) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var values []int64
	for seq, at := range t.received {
		values = append(values, at-t.sent[seq]-int64(known(seq)))
	}
	return values
}
