package reports

import (
	"strings"
	"testing"

	"leveret/analyze/result"
)

// Looks at 0, 1.5 and 2 s beside intervals of 1 s with 100 and 200 sent: 100 + 100 in 1.5 s are 133.3 a second.
func TestBrokerSideText(t *testing.T) {
	i64 := func(v int64) *int64 { return &v }
	f64 := func(v float64) *float64 { return &v }
	r := &result.Result{Verdict: result.Pass, Complete: true, IntervalNS: 1e9, Intervals: []result.Interval{
		{StartNS: 0, EndNS: 1e9, Sent: 100, Received: 50, Phase: "run"}, {StartNS: 1e9, EndNS: 2e9, Sent: 200, Received: 60, Phase: "run"}},
		BrokerSide: &result.BrokerSide{URI: "http://h:15672", IntervalNS: 15e8, Samples: 3, Failed: 1, FirstFailure: "no answer", Erlang: "25", FlowSamples: 2, Plugins: []string{"p"},
			Policies:    []string{"short: max-length=10"},
			Counters:    []result.BrokerCounter{{Name: "published", Broker: i64(290), Client: i64(300)}, {Name: "returned", Broker: i64(0), Client: i64(0)}, {Name: "acked", Client: i64(7)}},
			Total:       result.BrokerQueue{Samples: []result.BrokerQueueSample{{AtNS: 0}, {AtNS: 15e8, Ready: i64(1234), Published: f64(120)}, {AtNS: 2e9}}},
			Queues:      []result.BrokerQueue{{Name: "little", MaxReady: i64(1)}, {Name: "much", Type: "quorum", Policy: "short", MaxReady: i64(1234)}},
			Nodes:       []result.BrokerNode{{Name: "n", Processors: 4, CPUCores: f64(1.5), MaxMemoryBytes: i64(2e9), MemoryLimitBytes: i64(4e9), MemoryAlarm: true}},
			Connections: []result.BrokerConnectionState{{Total: i64(3)}, {Total: i64(5), Flow: 1, Blocked: 1}},
		}}
	text := strings.Join(strings.Fields(textOf(t, r, TextOptions{})), " ")
	for _, want := range []string{
		"Broker's side: 3 looks of its management API, every 1.500 s", "1 look in vain or in part, the first: no answer", "Erlang 25; plugins p; API at http://h:15672",
		"short: max-length=10", "published 290 (client 300), acked n/a (client 7); the broker's", "queue much: at most ready 1,234; quorum; policy short queue little: at most ready 1",
		"at most 5; throttled by credit flow in 2 of 3 looks; blocked by an alarm in 1 of 3 looks",
		"n: memory at most 2.000 GB (alarm above 4.000 GB); 1.50 cores busy of 4; MEMORY ALARM", "1.5 1,234 - 120.0 - - 133.3 53.33",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, textOf(t, r, TextOptions{}))
		}
	}
}
