package manifest

import "testing"

// Rates are written out; a third of one has six decimals.
func TestDescribeChurn(t *testing.T) {
	for _, c := range []struct {
		churn Churn
		want  string
	}{
		{Churn{What: ChurnConnection, Rate: Rate{Messages: 2_000_000, PerNS: 1e9}, Channels: 1, LifetimeNS: 2e9, Concurrency: 100}, "connections, 2000000 a second due, each with 1 channel, held 2s, at most 100 in work"},
		{Churn{What: ChurnChannel, Rate: Rate{Messages: 1, PerNS: 3e9}, Connections: 2, Limit: 5, Concurrency: 1}, "channels, 0.333333 a second due, 5 in all, on 2 connections, undone at once, at most 1 in work"},
		{Churn{What: ChurnConsumer, Connections: 1, Concurrency: 1, Queue: &Queue{Type: "classic", Durable: true}}, "consumers, closed loop, of a durable classic queue, on 1 connection, undone at once, at most 1 in work"},
	} {
		if got := c.churn.Describe(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
