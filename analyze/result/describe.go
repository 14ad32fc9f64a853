package result

import (
	"strconv"
	"strings"
	"time"
)

// The descriptions below are the words in which every report and chart caption says what was run, kept in one place so
// that a text, a chart and a page about one run never differ. They hold no secrets: Result has none.

// Group writes n with thousands separators: 1,234,567.
func Group(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Plural writes "1 queue", "2 queues": n with its noun, which takes a plain s, or is a priority.
func Plural(n int64, noun string) string {
	if n == 1 || n == -1 {
		return Group(n) + " " + noun
	}
	if stem, is := strings.CutSuffix(noun, "ity"); is { // priority
		return Group(n) + " " + stem + "ities"
	}
	return Group(n) + " " + noun + "s"
}

// Describe names the broker: "RabbitMQ 3.10.8", "embedded broker (0.1.0)", "unknown broker".
func (b *Broker) Describe() string {
	if b.Embedded {
		if b.Version == "" {
			return "embedded broker"
		}
		return "embedded broker (" + b.Version + ")"
	}
	name := strings.TrimSpace(b.Product + " " + b.Version)
	if name == "" {
		return "unknown broker"
	}
	return name
}

// DescribeHosts says whether client and broker shared a machine.
func (b *Broker) DescribeHosts() string {
	switch {
	case b.SameHost == nil:
		return "same host or not: unknown"
	case *b.SameHost:
		return "client and broker on the same host"
	}
	return "client and broker on different hosts"
}

// DescribeTopology: "1 producer, 2 consumers, 1 queue (quorum)".
func (c *Config) DescribeTopology() string {
	s := Plural(int64(c.Producers), "producer") + ", " + Plural(int64(c.Consumers), "consumer") + ", " +
		Plural(int64(c.Queues), "queue")
	if len(c.QueueTypes) > 0 {
		s += " (" + strings.Join(c.QueueTypes, ", ") + ")"
	}
	if c.Queues > 1 && len(c.QueueNames) > 0 {
		s += ": " + someOf(c.QueueNames, c.Queues)
	}
	return s
}

// DescribeDeclared says where a run did not declare all of its topology; "" where it did.
func (c *Config) DescribeDeclared() string {
	switch c.Predeclared {
	case "missing":
		return "declared only what was not there"
	case "strict":
		return "nothing declared and nothing bound"
	}
	return ""
}

// exchangesNamed bounds how many exchanges and routing keys a description names.
const exchangesNamed = 3

// DescribeRouting: "exchange orders (topic), routing keys a, b and 8 more, each message to 4 queues"; "" without producers.
func (c *Config) DescribeRouting() string {
	if len(c.Exchanges) == 0 {
		return ""
	}
	var names []string
	for _, x := range c.Exchanges {
		switch {
		case x.Name == "":
			names = append(names, "default exchange")
		case x.Type == "":
			names = append(names, "exchange "+x.Name)
		default:
			names = append(names, "exchange "+x.Name+" ("+x.Type+")")
		}
	}
	s := someOf(names, len(names))
	switch n := c.RoutingKeysTotal; {
	case len(c.RoutingKeys) == 0:
	case n == 1 && c.RoutingKeys[0] == "":
		s += ", empty routing key"
	case n == 1:
		s += ", routing key " + c.RoutingKeys[0]
	case n > 1:
		s += ", routing keys " + someOf(c.RoutingKeys, n)
	}
	if c.FanOut > 1 {
		s += ", each message to " + Plural(int64(c.FanOut), "queue")
	}
	return s
}

// someOf names the first few of total.
func someOf(names []string, total int) string {
	shown := min(len(names), exchangesNamed)
	s := strings.Join(names[:shown], ", ")
	if total > shown {
		s += " and " + Group(int64(total-shown)) + " more"
	}
	return s
}

// DescribeSizes: "12-byte messages", "12 to 1,024-byte messages", "" where nothing was sent.
func (c *Config) DescribeSizes() string {
	if len(c.SizesBytes) == 0 {
		return ""
	}
	low, high := c.SizesBytes[0], c.SizesBytes[0]
	for _, n := range c.SizesBytes {
		low, high = min(low, n), max(high, n)
	}
	if low == high {
		return Group(low) + "-byte messages"
	}
	return Group(low) + " to " + Group(high) + "-byte messages"
}

// DescribeDurability: "durable queues; persistent messages". Without producers the messages are not spoken of, and queues that
// were there before the run are what they were declared as.
func (c *Config) DescribeDurability() string {
	s := "transient queues"
	if c.Durable {
		s = "durable queues"
	}
	switch c.Predeclared {
	case "missing":
		s = "queues as they were found, else " + strings.TrimSuffix(s, " queues")
	case "strict":
		s = "queues as they were found"
	}
	if c.Producers == 0 {
		return s
	}
	if c.Persistent {
		return s + "; persistent messages"
	}
	return s + "; transient messages"
}

// DescribeConfirms: "confirm window 1,000", "no confirms", "" without producers.
func (c *Config) DescribeConfirms() string {
	switch {
	case c.Producers == 0:
		return ""
	case c.PublishTxSize > 0 && c.Confirm == 0:
		return "published in transactions of " + Plural(int64(c.PublishTxSize), "message")
	case c.Confirm == 0:
		return "no confirms"
	}
	return "confirm window " + Group(int64(c.Confirm))
}

// DescribeAcks: "acks manual, single; prefetch 100", with what else is special about consuming; "" without consumers.
func (c *Config) DescribeAcks() string {
	if c.Consumers == 0 {
		return ""
	}
	s := "acks " + c.AckMode
	if c.AckMode == "" {
		s = "acks unknown"
	}
	if c.Prefetch > 0 {
		s += "; prefetch " + Group(int64(c.Prefetch))
	}
	if c.GlobalPrefetch > 0 {
		s += "; prefetch " + Group(int64(c.GlobalPrefetch)) + " of a channel"
	}
	if c.ConsumeTxSize > 0 {
		s += "; in transactions of " + Plural(int64(c.ConsumeTxSize), "ack")
	}
	if c.Polling {
		s += "; polling with basic.get"
		if c.PollIntervalNS > 0 {
			s += " every " + time.Duration(c.PollIntervalNS).String()
		}
	}
	if c.Consuming != "" {
		s += "; " + c.Consuming
	}
	return s
}

// DescribeLoop: "open loop" or "closed loop (no rate set)", "" without producers.
func (c *Config) DescribeLoop() string {
	switch {
	case c.Producers == 0:
		return ""
	case c.OpenLoop:
		return "open loop"
	}
	return "closed loop (no rate set)"
}

// DescribeStart is the wall clock of the start, in UTC: "2026-07-30 11:00:00 UTC"; "" if the run never began.
func (c *Config) DescribeStart() string {
	if c.StartedNS <= 0 {
		return ""
	}
	return time.Unix(0, c.StartedNS).UTC().Format("2006-01-02 15:04:05 UTC")
}
