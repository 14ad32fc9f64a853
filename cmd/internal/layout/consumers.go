package layout

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"leveret/capture/manifest"
)

// makeConsumers lays the consumers over their connections, connection by connection, and gives each of them its queues: one
// of a sequence in turn, all that have been named, or one of its own.
func (b *builder) makeConsumers() error {
	o := b.o
	if len(b.Topology.Queues) == 0 && o.Consumers > 0 {
		b.note("no consumer is started: with --predeclared consumers read only queues that are named; give --queue to have them consume")
		b.Connections = o.Producers
		return nil
	}
	arguments, err := b.consumerArguments()
	if err != nil {
		return err
	}
	all := make([]int, len(b.Topology.Queues))
	for q := range all {
		all[q] = q
	}
	b.Consumers = make([]manifest.Consumer, o.Consumers*o.ConsumerChannelCount)
	for i := range b.Consumers {
		c := b.consumer()
		c.Connection, c.Arguments = o.Producers+i/o.ConsumerChannelCount, arguments
		c.StartDelayNS = int64(o.ConsumerStartDelay)
		if o.SlowStart {
			c.StartDelayNS += int64(i) * int64(time.Second)
		}
		switch {
		case b.Sequence || len(b.names) == 0:
			c.Queues = []int{i % len(all)}
		default:
			c.Queues = all
		}
		b.Consumers[i] = c
	}
	if o.Exclusive {
		b.shareConnections()
		b.dropUnused()
	}
	b.countConnections()
	return nil
}

// consumer is what all consumers of the run have in common.
func (b *builder) consumer() manifest.Consumer {
	o := b.o
	c := manifest.Consumer{
		AutoAck: o.AutoAck, AckEvery: max(o.MultiAckEvery, 1), Prefetch: o.QoS, Limit: o.CMessages,
		GlobalPrefetch: o.GlobalQoS, TxSize: o.CTxSize, Polling: o.Polling, Rate: o.ConsumerRate, ExitWhen: o.ExitWhen,
	}
	if o.StreamQueue && c.Prefetch == 0 {
		c.Prefetch = streamPrefetch
	}
	if o.Nack && !o.AutoAck {
		c.Nack, c.Requeue = true, o.Requeue
	}
	if o.Polling {
		c.PollIntervalNS = int64(o.PollingInterval)
	}
	switch {
	case len(o.VariableLatency) > 0:
		c.Work = o.VariableLatency
	case o.ConsumerLatency > 0:
		c.Work = []manifest.WorkStage{{WorkNS: int64(o.ConsumerLatency)}}
	}
	return c
}

// shareConnections brings all consumers of an exclusive queue to the connection of the first of them: only the connection
// that declared it may use it.
func (b *builder) shareConnections() {
	owner := map[int]int{}
	for i := range b.Consumers {
		c := &b.Consumers[i]
		first, known := owner[c.Queues[0]]
		if known {
			c.Connection = first
			continue
		}
		for _, q := range c.Queues {
			owner[q] = c.Connection
		}
	}
}

// dropUnused forgets exclusive queues that have no consumer: nobody is there to declare them.
func (b *builder) dropUnused() {
	place := make([]int, len(b.Topology.Queues))
	for i := range b.Consumers {
		for _, q := range b.Consumers[i].Queues {
			place[q] = 1
		}
	}
	var kept []manifest.Queue
	for q, used := range place {
		if used == 1 {
			place[q] = len(kept)
			kept = append(kept, b.Topology.Queues[q])
		}
	}
	if n := len(place) - len(kept); n > 0 {
		b.note("%d of %d exclusive queues have no consumer and are not declared: an exclusive queue belongs to the connection of its consumer", n, len(place))
	}
	for i := range b.Consumers {
		c := &b.Consumers[i]
		c.Queues = slices.Clone(c.Queues)
		for k, q := range c.Queues {
			c.Queues[k] = place[q]
		}
	}
	b.Topology.Queues = kept
}

// countConnections closes the gaps that sharing has left.
func (b *builder) countConnections() {
	number := map[int]int{}
	for i := range b.Consumers {
		c := &b.Consumers[i]
		n, known := number[c.Connection]
		if !known {
			n = b.o.Producers + len(number)
			number[c.Connection] = n
		}
		c.Connection = n
	}
	b.Connections = b.o.Producers + len(number)
}

// consumerArguments are those given, and the offset at which streams are read.
func (b *builder) consumerArguments() ([]manifest.Arg, error) {
	args := b.lastOfEach("--consumer-args", b.o.ConsumerArgs)
	if b.o.StreamConsumerOffset == "" {
		return args, nil
	}
	offset, err := streamOffset(b.o.StreamConsumerOffset)
	if err != nil {
		return nil, fmt.Errorf("--stream-consumer-offset=%s: %w", b.o.StreamConsumerOffset, err)
	}
	return setArgument(args, "x-stream-offset", offset), nil
}

// ageOffset is an offset by age, as RabbitMQ reads it.
var ageOffset = regexp.MustCompile(`^[0-9]+[YMDhms]$`)

// streamOffset is the value of x-stream-offset: a word, an age, an offset as a long, or a timestamp.
func streamOffset(text string) (any, error) {
	switch word := strings.ToLower(text); word {
	case "first", "last", "next":
		return word, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	if ageOffset.MatchString(text) {
		return text, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(form, text); err == nil {
			return manifest.Timestamp(t.Unix()), nil
		}
	}
	return nil, fmt.Errorf("want first, last, next, an offset such as 5000, a time such as 2026-01-31T12:00:00+01:00, or an age such as 2h")
}

// polled are the queues, by index, that are only asked with basic.get.
func (l *Layout) Polled() []int {
	subscribed, asked := map[int]bool{}, map[int]bool{}
	for i := range l.Consumers {
		for _, q := range l.Consumers[i].Queues {
			if l.Consumers[i].Polling {
				asked[q] = true
			} else {
				subscribed[q] = true
			}
		}
	}
	maps.DeleteFunc(asked, func(q int, _ bool) bool { return subscribed[q] })
	return slices.Sorted(maps.Keys(asked))
}
