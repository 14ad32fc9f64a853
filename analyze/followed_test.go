package analyze

import (
	"math"
	"math/rand/v2"
	"testing"

	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/capture/event"
)

// followedThrough makes the distribution of values that come at equal distances, followed and not divided.
func followedThrough(t *testing.T, values []int64, percents []quantile.Percent) *result.Distribution {
	t.Helper()
	const apart = 1000
	at := func(i int) int64 { return epoch + int64(i)*apart }
	c := &cell{followed: newFollowed(at(0), at(len(values))-1)}
	for i, v := range values {
		c.count(at(i), v)
	}
	c.ask(percents, nil, 0)
	c.followed.begin(c)
	c.prepare(nil)
	first := true
	for c.selection.Open(quantile.NewMemory(1 << 20)) {
		c.open = true
		for i, v := range values {
			c.look(at(i), v, first)
		}
		if first {
			c.bracketFollowed()
		}
		first = false
		if err := c.selection.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return c.distribution(true)
}

// A distribution that is followed has the intervals of one that is divided into as many spans, its ends rounded outwards by less
// than a hundredth.
func TestFollowedAsDivided(t *testing.T) {
	const messages = followedSpans * 300
	r := rand.New(rand.NewPCG(2, 4))
	percents := append(testPercents, 99*quantile.One+9*quantile.One/10)
	for _, burst := range []int{1, 50} {
		values := make([]int64, messages)
		for i := range values {
			if i%burst == 0 {
				values[i] = int64(1e7 * r.ExpFloat64())
			} else {
				values[i] = values[i-1]
			}
		}
		want, got := distributed(t, values, followedSpans, percents), followedThrough(t, values, percents)
		for i, a := range got.Asked {
			x, y, exact := a.Interval, want.Asked[i].Interval, want.Asked[i]
			if *a.ValueNS != *exact.ValueNS || a.Above != exact.Above || x.Note != y.Note || x.Batches != y.Batches || (x.LowNS == nil) != (y.LowNS == nil) {
				t.Errorf("%v %%: %+v %+v, want %+v %+v", a.Percent, a, x, exact, y)
				continue
			}
			if math.Abs(x.EffectiveSamples-y.EffectiveSamples) > 1e-6*y.EffectiveSamples {
				t.Errorf("%v %%: %v effective samples, want %v", a.Percent, x.EffectiveSamples, y.EffectiveSamples)
			}
			if y.LowNS != nil && (*x.LowNS > *y.LowNS || *x.LowNS < 0.99**y.LowNS) || y.HighNS != nil && (*x.HighNS < *y.HighNS || *x.HighNS > 1.01**y.HighNS) {
				t.Errorf("%v %%: %v to %v, want %v to %v", a.Percent, *x.LowNS, *x.HighNS, *y.LowNS, *y.HighNS)
			}
		}
		x, y := got.MeanInterval, want.MeanInterval
		if x == nil || math.Abs(*x.LowNS-*y.LowNS) > 1 || math.Abs(*x.HighNS-*y.HighNS) > 1 {
			t.Errorf("mean: %+v, want %+v", x, y)
		}
	}
}

// Through a capture: the one producer's intervals contain what the whole window's do, and ack latency has its own. 3,000 messages
// in a second; delivered after an exponential time with a mean of 5 ms, and acked after another with a mean of 2 ms: medians 5 and
// 2 ms * ln 2.
func TestIntervalsOfMembersAndAcks(t *testing.T) {
	const messages = 3000
	m := plan(1, 1)
	rng := rand.New(rand.NewPCG(5, 6))
	r := record(t, m)
	free := int64(0)
	for seq := range uint64(messages) {
		at := int64(seq) * 333_000
		received := max(at+int64(5e6*rng.ExpFloat64()), free+1)
		free = received // the consumer takes one after the other
		r.send(0, seq, 1, at)
		r.ack(0, seq, 1, at+int64(3e6*rng.ExpFloat64()))
		r.receive(0, 0, 0, received, seq)
		r.w.Acks(&event.Acks{At: epoch + received + int64(2e6*rng.ExpFloat64()), DeliveryTag: seq + 1, Messages: 1})
		m.Outcome.Acked++
	}
	got, err := Run(t.Context(), []string{r.close()}, Options{Tmp: t.TempDir(), By: []string{ByProducer, ByQueue, BySize, ByPriority}, Percentiles: testPercents})
	if err != nil {
		t.Fatal(err)
	}
	whole := got.Latency.Confirm.Service.Asked[0]
	for _, g := range got.Groupings {
		d := g.Members[0].Latency.Confirm.Service
		if g.By == ByQueue {
			d = g.Members[0].Latency.Delivery.Service
		}
		x := d.Asked[0].Interval
		if x.LowNS == nil || *x.LowNS > float64(*d.P50NS) || *x.HighNS < float64(*d.P50NS) || *x.HighNS > 2**x.LowNS || d.MeanInterval == nil {
			t.Errorf("by %s: %+v %+v", g.By, d.Asked[0], x)
		}
		if truth := 3e6 * math.Ln2; g.By != ByQueue && (*d.Asked[0].ValueNS != *whole.ValueNS || *x.LowNS > truth || *x.HighNS < truth) {
			t.Errorf("by %s: %+v %+v, want around %v", g.By, d.Asked[0], x, truth)
		}
	}
	if len(got.Groupings) != 4 {
		t.Errorf("%d groupings", len(got.Groupings))
	}
	x := got.AckLatency.Asked[0].Interval
	if x.LowNS == nil || *x.LowNS > float64(*got.AckLatency.P50NS) || *x.HighNS < float64(*got.AckLatency.P50NS) || x.EffectiveSamples < messages/4 {
		t.Errorf("acks: %+v %+v", got.AckLatency.Asked[0], x)
	}
}
