package options

import (
	"math"
)

func (r *Run) topologyOptions() []*Option {
	return []*Option{
		{Name: "type", PerfTest: []string{"t"}, Arg: "TYPE", Group: groupTopology, value: text(&r.Type, "direct"), Help: "type of the exchange: direct, fanout, topic, headers, or one that a plugin brings, whose routes are not followed"},
		{Name: "exchange", PerfTest: []string{"e"}, Arg: "NAME", Optional: true, Group: groupTopology, value: exchange(&r.Exchange), Help: "exchange to publish to; amq.default or an empty name is the default exchange; without it the name of the type"},
		{Name: "queue", PerfTest: []string{"u"}, Arg: "NAME,...", Group: groupTopology, value: list(&r.Queues), Help: "queues to declare and bind, all with the routing key; without it each consumer has a server-named queue of its own"},
		{Name: "queue-file", PerfTest: []string{"qf"}, Arg: "FILE", Group: groupTopology, value: text(&r.QueueFile, ""), Help: "names of queues, one a line, given to consumers and producers in turn as with --queue-pattern"},
		{Name: "queue-pattern", PerfTest: []string{"qp"}, Arg: "PATTERN", Group: groupTopology, value: text(&r.QueuePattern, ""), Help: "queues named by printf with a number, such as q-%d or q-%05d: consumers, and then producers, are given one each, in turn; the routing key is the queue's name"},
		{Name: "queue-pattern-from", PerfTest: []string{"qpf"}, Arg: "N", Group: groupTopology, value: ifGiven(integer(&r.QueuePatternFrom, -1, -1, math.MaxInt32)), Help: "first number of --queue-pattern"},
		{Name: "queue-pattern-to", PerfTest: []string{"qpt"}, Arg: "N", Group: groupTopology, value: ifGiven(integer(&r.QueuePatternTo, -1, -1, math.MaxInt32)), Help: "last number of --queue-pattern, which is used, too"},
		{Name: "routing-key", PerfTest: []string{"k"}, Arg: "KEY", Group: groupTopology, value: text(&r.RoutingKey, ""), Help: "routing key for binding and publishing; without it one made for the run, or the queue's name where queues come from a pattern or a file, or on the default exchange"},
		{Name: "random-routing-key", PerfTest: []string{"K"}, Group: groupTopology, value: toggle(&r.RandomRoutingKey, false), Help: "a fresh routing key for each message"},
		{Name: "routing-key-cache-size", PerfTest: []string{"rkcs"}, Arg: "N", Group: groupTopology, value: integer(&r.RoutingKeyCacheSize, 0, 0, math.MaxUint16), Help: "take N random routing keys, made at the start, in turn; 0: none"},
		{Name: "skip-binding-queues", PerfTest: []string{"sb"}, Group: groupTopology, value: toggle(&r.SkipBindingQueues, false), Help: "declare queues and bind none"},
		{Name: "predeclared", PerfTest: []string{"p"}, Bare: PredeclaredMissing, Group: groupTopology, value: predeclared(&r.Predeclared), Help: "missing, as without a value: declare only what is not there yet; bindings are made all the same; strict: declare and bind nothing at all"},
	}
}

func (r *Run) queueOptions() []*Option {
	return []*Option{
		{Name: "auto-delete", PerfTest: []string{"ad"}, Arg: "true|false", Group: groupTopology, value: toggle(&r.AutoDelete, true), Help: "queues vanish with their last consumer"},
		{Name: "exclusive", PerfTest: []string{"E"}, Group: groupTopology, value: toggle(&r.Exclusive, false), Help: "exclusive queues, which belong to the connection of their consumers"},
		{Name: "queue-args", PerfTest: []string{"qa"}, Arg: "KEY=VALUE,...", Many: true, Group: groupTopology, value: queueArgs(&r.QueueArgs), Help: "arguments of the queues, such as x-max-length=1000,x-queue-type=quorum"},
		{Name: "quorum-queue", PerfTest: []string{"qq"}, Group: groupTopology, value: toggle(&r.QuorumQueue, false), Help: "quorum queues: persistent messages, not auto-delete, named"},
		{Name: "stream-queue", PerfTest: []string{"sq"}, Group: groupTopology, value: toggle(&r.StreamQueue, false), Help: "streams: persistent messages, not auto-delete, named; a prefetch of 200, at most 20 GB in segments of 500 MB, unless given"},
		{Name: "max-length-bytes", PerfTest: []string{"mlb"}, Arg: "BYTES", Group: groupTopology, value: ifGiven(size(&r.MaxLengthBytes, -1, 0)), Help: "most bytes that a queue keeps, such as 100gb; 0: no limit, also with --stream-queue"},
		{Name: "stream-max-segment-size-bytes", PerfTest: []string{"smssb"}, Arg: "BYTES", Group: groupTopology, value: ifGiven(size(&r.StreamMaxSegmentSizeBytes, 0, 1)), Help: "size of the segments of a stream, at most 3gb"},
		{Name: "max-age", PerfTest: []string{"ma"}, Arg: "DURATION", Group: groupTopology, value: isoDuration(&r.MaxAge), Help: "how long a stream keeps messages, such as P5DT8H or PT10M30S"},
		{Name: "leader-locator", PerfTest: []string{"ll"}, Arg: "WHERE", Group: groupTopology, value: choice(&r.LeaderLocator, "", "client-local", "balanced"), Help: "where the leader of a quorum queue or stream is put: client-local or balanced; without it the broker decides"},
	}
}

// exchange is a name. An empty one that is given is the default exchange, which has no name on the wire, as in PerfTest.
func exchange(p *string) value {
	v := text(p, "")
	v.set = func(s string) error {
		if *p = s; s == "" {
			*p = "amq.default"
		}
		return nil
	}
	return v
}

// predeclared takes strict, and what stands for a switch.
func predeclared(p *string) value {
	return value{func() string { return *p }, func(s string) error {
		switch s {
		case PredeclaredMissing, PredeclaredStrict:
			*p = s
			return nil
		}
		var on bool
		if err := toggle(&on, false).set(s); err != nil {
			return errStrict
		}
		*p = ""
		if on {
			*p = PredeclaredMissing
		}
		return nil
	}, "predeclared"}
}
