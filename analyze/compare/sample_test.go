package compare

import (
	"math/rand/v2"
	"testing"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

// figuresOf is a run with the figures of a closed loop with confirms.
type figuresOf struct {
	sent, received         float64
	confirm50, confirm99   float64 // ns
	delivery50, delivery99 float64
	counts                 result.Counts
}

func (f figuresOf) run() *result.Result {
	return &result.Result{
		Verdict: result.Pass, Complete: true,
		Config: result.Config{Producers: 1, Consumers: 1, Confirm: 10, Queues: 1, AckMode: "automatic"},
		Broker: result.Broker{Product: "RabbitMQ", Version: "3.10.8"},
		Rates:  result.Rates{Sent: &f.sent, Received: &f.received},
		Counts: f.counts,
		Latency: result.Latencies{
			Confirm:  result.Latency{Service: distribution(f.confirm50, f.confirm99)},
			Delivery: result.Latency{Service: distribution(f.delivery50, f.delivery99)},
		},
	}
}

func distribution(p50, p99 float64) *result.Distribution {
	a, b, zero := int64(p50), int64(p99), int64(0)
	return &result.Distribution{Count: 1000, MinNS: &zero, P50NS: &a, P99NS: &b, MaxNS: &b}
}

// rates makes a group of runs with these rates of receiving and nothing else.
func rates(label string, values ...float64) Group {
	g := Group{Label: label}
	for _, v := range values {
		g.Runs = append(g.Runs, &result.Result{Verdict: result.Pass, Complete: true, Config: result.Config{Consumers: 1}, Rates: result.Rates{Received: &v}})
	}
	return g
}

// noisy makes a group of n runs whose figures are those, times the shift, with a standard deviation of 2 % each by itself.
func noisy(label string, n int, shift float64, random *rand.Rand) Group {
	g := Group{Label: label}
	x := func(mean float64) float64 { return mean * shift * (1 + 0.02*random.NormFloat64()) }
	for range n {
		g.Runs = append(g.Runs, figuresOf{sent: x(50_000), received: x(50_000), confirm50: x(1e6), confirm99: x(5e6), delivery50: x(2e6), delivery99: x(9e6)}.run())
	}
	return g
}

func compared(t *testing.T, o Options, groups ...Group) *result.Comparison {
	t.Helper()
	c, err := Run(groups, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func figure(t *testing.T, text string) *assert.Figure {
	t.Helper()
	f, err := assert.ParseFigure(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func change(t *testing.T, text string) *assert.Change {
	t.Helper()
	c, err := assert.ParseChange(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// metric finds one by name.
func metric(t *testing.T, c *result.Comparison, name string) *result.ComparedMetric {
	t.Helper()
	for i := range c.Metrics {
		if c.Metrics[i].Name == name {
			return &c.Metrics[i]
		}
	}
	t.Fatalf("no metric %s", name)
	return nil
}
