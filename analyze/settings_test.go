package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// What is special about publishing and consuming, in words.
func TestSettings(t *testing.T) {
	priority := uint8(5)
	for _, tt := range []struct {
		change             func(*manifest.Manifest)
		confirms, messages string
		acks               string
	}{
		{func(*manifest.Manifest) {}, "confirm window 100", "", "acks manual, single"},
		{func(m *manifest.Manifest) {
			m.Producers[0].Stamp, m.Producers[0].Confirm, m.Producers[0].TxSize = manifest.StampHeader, 0, 1000
			m.Producers[0].Properties = &manifest.Properties{ContentType: "text/plain", Priority: &priority, Expiration: "1000",
				Headers: []manifest.Arg{{Key: "a", Value: int64(1)}, {Key: "b", Value: true}, {Key: "c", Value: strings.Repeat("x", 100)}, {Key: "d", Value: ""}}}
			m.Consumers[0].TxSize, m.Consumers[0].Prefetch, m.Consumers[0].GlobalPrefetch = 10, 20, 30
		}, "published in transactions of 1,000 messages",
			"identity in a header; properties content type text/plain, priority 5, expiration 1000 ms, header a=1, header b=true, header c=" + strings.Repeat("x", 38) + "..., and 1 more",
			"acks manual, single; prefetch 20; prefetch 30 of a channel; in transactions of 10 acks"},
		{func(m *manifest.Manifest) {
			m.Producers[0].Stamp, m.Producers[0].Confirm = manifest.StampPerfTest, 0
			m.Producers[0].Sizes = []manifest.SizeStage{{Bytes: 1000, ForNS: 30_000 * ms}, {Bytes: 100_000, ForNS: 1000 * ms}}
			m.Consumers[0] = manifest.Consumer{Queues: []int{0}, AutoAck: true, Polling: true, PollIntervalNS: 100 * ms, Rate: manifest.Rate{Messages: 15, PerNS: 10e9},
				Work: []manifest.WorkStage{{WorkNS: ms, ForNS: 60_000 * ms}, {WorkNS: 0, ForNS: 1000 * ms}}, ExitWhen: manifest.ExitEmpty}
		}, "no confirms", "identity in a header, bodies begin as PerfTest's do; size in stages, over and over: 1,000 bytes for 30s, 100,000 bytes for 1s",
			"acks automatic; polling with basic.get every 100ms; at most 1.5 msg/s each; work 1ms for 1m0s, 0s for 1s a message; stops when the queue is empty"},
		{func(m *manifest.Manifest) {
			m.Producers[0].PooledBodies, m.Bodies = true, make([]manifest.Body, 1000)
			m.Consumers[0].Nack, m.Consumers[0].Requeue, m.Consumers[0].AckEvery = true, true, 10
			m.Consumers[0].StartDelayNS, m.Consumers[0].Limit = 2500*ms, 7
			m.Consumers[0].Arguments = []manifest.Arg{{Key: "x-priority", Value: int64(10)}}
		}, "confirm window 100", "1,000 bodies in turn",
			"acks nack, multiple every 10, requeue; begins 2.5s after the start; stops after 7 messages; arguments x-priority=10"},
	} {
		m := plan(1, 1)
		tt.change(m)
		r := record(t, m)
		c := analyzed(t, r.close()).Config
		if got := c.DescribeConfirms(); got != tt.confirms {
			t.Errorf("%q, want %q", got, tt.confirms)
		}
		if c.Publishing != tt.messages {
			t.Errorf("%q, want %q", c.Publishing, tt.messages)
		}
		if got := c.DescribeAcks(); got != tt.acks {
			t.Errorf("%q, want %q", got, tt.acks)
		}
	}
}

// Where it ran: several brokers, variables, what it declared.
func TestPlaces(t *testing.T) {
	m := plan(1, 1)
	m.Topology.Predeclared = true
	m.Endpoints, m.Allocation = []string{"amqp://a:5672/", "amqp://b:5672/"}, "round-robin"
	m.Environment = []string{"RATE"}
	m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: "r"})
	c := analyzed(t, record(t, m).close()).Config
	if len(c.Endpoints) != 2 || c.Allocation != "round-robin" || len(c.Environment) != 1 || c.Predeclared != "missing" {
		t.Errorf("%+v", c)
	}
	if got, want := c.DescribeTopology(), "1 producer, 1 consumer, 2 queues (classic): q, r"; got != want || c.DescribeDeclared() != "declared only what was not there" {
		t.Errorf("%q, want %q", got, want)
	}
	many := result.Config{Queues: 500, QueueNames: []string{"q-001", "q-002", "q-003", "q-004", "q-005"}}
	if got, want := many.DescribeTopology(), "0 producers, 0 consumers, 500 queues: q-001, q-002, q-003 and 497 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
