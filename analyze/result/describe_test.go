package result

import (
	"math"
	"testing"
)

func TestGroup(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0"}, {999, "999"}, {1000, "1,000"}, {-1000, "-1,000"}, {-999, "-999"}, {1234567, "1,234,567"},
		{math.MaxInt64, "9,223,372,036,854,775,807"}, {math.MinInt64, "-9,223,372,036,854,775,808"},
	} {
		if got := Group(c.n); got != c.want {
			t.Errorf("Group(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestDescriptions(t *testing.T) {
	yes, no := true, false
	full := Config{
		StartedNS: 1785409200123456789, // date -u -d @1785409200: 2026-07-30 11:00:00
		Producers: 1, Consumers: 2, Queues: 1, QueueTypes: []string{"quorum"}, Durable: true, Persistent: true,
		SizesBytes: []int64{1024, 12}, Confirm: 1000, AckMode: "manual, single", Prefetch: 100, OpenLoop: true,
	}
	consumers := Config{Consumers: 1, Queues: 1}
	for _, c := range []struct{ name, got, want string }{
		{"topology", full.DescribeTopology(), "1 producer, 2 consumers, 1 queue (quorum)"},
		{"topology without producers", consumers.DescribeTopology(), "0 producers, 1 consumer, 1 queue"},
		{"sizes", full.DescribeSizes(), "12 to 1,024-byte messages"},
		{"one size", (&Config{SizesBytes: []int64{12}}).DescribeSizes(), "12-byte messages"},
		{"no size", consumers.DescribeSizes(), ""},
		{"durability", full.DescribeDurability(), "durable queues; persistent messages"},
		{"durability without producers", consumers.DescribeDurability(), "transient queues"},
		{"durability of queues that may be there", (&Config{Producers: 1, Predeclared: "missing"}).DescribeDurability(), "queues as they were found, else transient; transient messages"},
		{"durability of queues that are there", (&Config{Consumers: 1, Predeclared: "strict", Durable: true}).DescribeDurability(), "queues as they were found"},
		{"confirms", full.DescribeConfirms(), "confirm window 1,000"},
		{"confirms off", (&Config{Producers: 1}).DescribeConfirms(), "no confirms"},
		{"confirms without producers", consumers.DescribeConfirms(), ""},
		{"acks", full.DescribeAcks(), "acks manual, single; prefetch 100"},
		{"acks unknown", consumers.DescribeAcks(), "acks unknown"},
		{"acks without consumers", (&Config{Producers: 1}).DescribeAcks(), ""},
		{"open loop", full.DescribeLoop(), "open loop"},
		{"closed loop", (&Config{Producers: 1}).DescribeLoop(), "closed loop (no rate set)"},
		{"loop without producers", consumers.DescribeLoop(), ""},
		{"start", full.DescribeStart(), "2026-07-30 11:00:00 UTC"},
		{"no start", consumers.DescribeStart(), ""},
		{"broker", (&Broker{Product: "RabbitMQ", Version: "3.10.8"}).Describe(), "RabbitMQ 3.10.8"},
		{"embedded broker", (&Broker{Embedded: true, Product: "leveret embedded broker", Version: "0.1.0"}).Describe(), "embedded broker (0.1.0)"},
		{"no broker", (&Broker{}).Describe(), "unknown broker"},
		{"same host", (&Broker{SameHost: &yes}).DescribeHosts(), "client and broker on the same host"},
		{"other host", (&Broker{SameHost: &no}).DescribeHosts(), "client and broker on different hosts"},
		{"unknown host", (&Broker{}).DescribeHosts(), "same host or not: unknown"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestDistributionMessages(t *testing.T) {
	for _, c := range []struct {
		d    *Distribution
		want int64
	}{
		{nil, 0}, {&Distribution{Count: 90, Censored: 10}, 100},
		{&Distribution{Count: math.MaxInt64, Censored: math.MaxInt64}, math.MaxInt64},
	} {
		if got := c.d.Messages(); got != c.want {
			t.Errorf("Messages of %+v = %d, want %d", c.d, got, c.want)
		}
	}
}

func TestWhyNoLatency(t *testing.T) {
	some := &Distribution{Count: 1}
	both := Config{Producers: 1, Consumers: 1, Confirm: 1}
	for _, c := range []struct {
		name       string
		r          Result
		what, from string
		want       string
	}{
		{"there is some", Result{Latency: Latencies{Confirm: Latency{Service: some}}}, "confirm", "service", ""},
		{"empty cohort", Result{Latency: Latencies{Confirm: Latency{Service: &Distribution{}}}}, "confirm", "service", "no messages in the window"},
		{"no producers", Result{Config: Config{Consumers: 1}}, "confirm", "service", "no producers in this run"},
		{"confirms off", Result{Config: Config{Producers: 1}}, "confirm", "service", "confirms were off"},
		{"no consumers", Result{Config: Config{Producers: 1}}, "delivery", "service", "no consumers in this run"},
		{"closed loop", Result{Config: both}, "delivery", "response", "closed loop, so no message has a due time"},
		{"the analysis says", Result{Config: both, LatencyNote: "clocks differ"}, "delivery", "service", "clocks differ"},
		{"foreign sender", Result{Config: Config{Consumers: 1}}, "delivery", "service", "no usable send time: the messages were sent by another tool or run"},
		{"no confirm came", Result{Config: both}, "confirm", "service", "no message was confirmed"},
		{"no delivery came", Result{Config: both}, "delivery", "service", "no message was delivered"},
	} {
		if got := c.r.WhyNoLatency(c.what, c.from); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCensoredMessages(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		d    *Distribution
		text string
		most int64
	}{
		{&Distribution{Count: 1, MaxNS: n(5)}, "", 5},
		{&Distribution{Censored: 3, AtLeastNS: n(2), MaxAtLeastNS: n(9), MaxNS: n(5)}, "3 never answered", 9},
		{&Distribution{Censored: 2900, NeverSent: 2900, AtLeastNS: n(2), MaxAtLeastNS: n(2)}, "2,900 due but never sent", 2},
		{&Distribution{Censored: 10, NeverSent: 7, AtLeastNS: n(2), MaxAtLeastNS: n(4), MaxNS: n(5)}, "3 never answered, 7 due but never sent", 5},
		{&Distribution{Censored: 10}, "10 never answered", 0},
	} {
		if got := c.d.DescribeCensored(); got != c.text {
			t.Errorf("%+v: %q, want %q", c.d, got, c.text)
		}
		if got := c.d.MaxBound(); got != c.most {
			t.Errorf("%+v: at least %d, want %d", c.d, got, c.most)
		}
	}
	if (*Distribution)(nil).DescribeCensored() != "" {
		t.Error("nothing has a censored message")
	}
}

func TestRouting(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want string
	}{
		{Config{}, ""},
		{Config{Exchanges: []Exchange{{}}, RoutingKeys: []string{"q"}, RoutingKeysTotal: 1, FanOut: 1}, "default exchange, routing key q"},
		{Config{Exchanges: []Exchange{{"direct", "direct"}}, RoutingKeys: []string{""}, RoutingKeysTotal: 1, FanOut: 4}, "exchange direct (direct), empty routing key, each message to 4 queues"},
		{Config{Exchanges: []Exchange{{"given", ""}}, RoutingKeys: []string{"a", "b", "c", "d", "e"}, RoutingKeysTotal: 100}, "exchange given, routing keys a, b, c and 97 more"},
		{Config{Exchanges: []Exchange{{"a", "topic"}, {"b", "fanout"}}, RoutingKeys: []string{"x", "y"}, RoutingKeysTotal: 2}, "exchange a (topic), exchange b (fanout), routing keys x, y"},
		{Config{Exchanges: []Exchange{{"a", "topic"}}, RoutingKeysTotal: 1}, "exchange a (topic)"},
	} {
		if got := c.c.DescribeRouting(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The note tells of both latencies; each is given its own reason only.
func TestReasonsAreNotDoubled(t *testing.T) {
	r := Result{Config: Config{Producers: 1, Consumers: 1, Confirm: 1, OpenLoop: true},
		LatencyNote: "no confirm latency: nothing was sent; no delivery latency: nothing was received; clocks differ"}
	for what, want := range map[string]string{"confirm": "nothing was sent", "delivery": "nothing was received"} {
		if got := r.WhyNoLatency(what, "service"); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	if got := r.Remarks(); got != "clocks differ" {
		t.Errorf("%q", got)
	}
	r.LatencyNote = "no confirm latency: nothing was sent"
	if got := r.WhyNoLatency("delivery", "service"); got != "no message was delivered" {
		t.Errorf("%q", got)
	}
	r.LatencyNote = "no response latency: no message had a due time"
	if got := r.WhyNoLatency("confirm", "response"); got != "no message had a due time" {
		t.Errorf("%q", got)
	}
}
