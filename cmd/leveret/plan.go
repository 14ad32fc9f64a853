package main

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
)

// topologyOf says which exchange, queues and bindings the options ask for, and the one route that all producers share.
func topologyOf(o *options.Run) (*manifest.Topology, error) {
	exchange := exchangeName(o)
	t := &manifest.Topology{Exchanges: []manifest.Exchange{{
		Name: exchange, Type: o.Type, Durable: true,
		Declare: exchange != "" && !strings.HasPrefix(exchange, "amq."),
	}}}
	queues, err := queuesOf(o)
	if err != nil {
		return nil, err
	}
	t.Queues = queues
	key, err := routingKey(o, exchange)
	if err != nil {
		return nil, err
	}
	if exchange != "" {
		for i := range t.Queues {
			t.Bindings = append(t.Bindings, manifest.Binding{Exchange: exchange, Queue: i, RoutingKey: key})
		}
	}
	t.Routes = []manifest.Route{{Exchange: exchange, RoutingKey: key}}
	return t, nil
}

// exchangeName follows PerfTest: without a name the exchange is called as its type, and amq.default is the default one.
func exchangeName(o *options.Run) string {
	switch o.Exchange {
	case "":
		return o.Type
	case "amq.default":
		return ""
	}
	return o.Exchange
}

func routingKey(o *options.Run, exchange string) (string, error) {
	if o.RoutingKey != "" {
		return o.RoutingKey, nil
	}
	if exchange != "" {
		return "leveret-" + randomHex(8), nil
	}
	if len(o.Queues) != 1 {
		return "", fmt.Errorf("--exchange=amq.default reaches the queue that the routing key names, and --queue names %d: give one --queue, or a --routing-key", len(o.Queues))
	}
	return o.Queues[0], nil
}

func queuesOf(o *options.Run) ([]manifest.Queue, error) {
	args := slices.Clone(o.QueueArgs)
	kind := queueType(args)
	if o.QuorumQueue {
		if kind != "" && kind != "quorum" {
			return nil, fmt.Errorf("--quorum-queue and --queue-args x-queue-type=%s contradict each other: give one of them", kind)
		}
		if kind == "" {
			args = append(args, manifest.Arg{Key: "x-queue-type", Value: "quorum"})
		}
		kind = "quorum"
	}
	q := manifest.Queue{Type: kind, Durable: persistent(o), AutoDelete: o.AutoDelete, Declare: true, Arguments: args}
	if kind == "" {
		q.Type = "classic"
	}
	if kind == "quorum" || kind == "stream" {
		if len(o.Queues) == 0 {
			return nil, fmt.Errorf("a %s queue needs a name: give --queue", kind)
		}
		// A replicated queue is durable and outlives its consumers; a broker refuses it otherwise.
		q.Durable, q.AutoDelete = true, false
	}
	return named(o, q), nil
}

// named makes one queue a name, or one server-named queue a consumer.
func named(o *options.Run, q manifest.Queue) []manifest.Queue {
	var queues []manifest.Queue
	for _, name := range o.Queues {
		q.Name = name
		queues = append(queues, q)
	}
	if len(o.Queues) == 0 {
		q.ServerNamed = true
		for range o.Consumers * o.ConsumerChannelCount {
			queues = append(queues, q)
		}
	}
	return queues
}

func queueType(args []manifest.Arg) string {
	for _, a := range args {
		if a.Key == "x-queue-type" {
			return fmt.Sprint(a.Value)
		}
	}
	return ""
}

func persistent(o *options.Run) bool {
	return slices.Contains(o.Flags, "persistent") || o.QuorumQueue
}

// producersOf lays the producers over their connections, connection by connection.
func producersOf(o *options.Run) []manifest.Producer {
	producers := make([]manifest.Producer, o.Producers*o.ProducerChannelCount)
	for i := range producers {
		producers[i] = manifest.Producer{
			Connection: i / o.ProducerChannelCount, Size: o.Size, Persistent: persistent(o),
			Mandatory: slices.Contains(o.Flags, "mandatory"), Confirm: o.Window(), Limit: o.PMessages,
			Batch: o.Batch, Stamp: "body",
		}
		o.Schedule.Apply(&producers[i])
	}
	return producers
}

// consumersOf gives each consumer all named queues, or its own server-named one.
func consumersOf(o *options.Run, t *manifest.Topology) []manifest.Consumer {
	consumers := make([]manifest.Consumer, o.Consumers*o.ConsumerChannelCount)
	for i := range consumers {
		c := manifest.Consumer{
			Connection: o.Producers + i/o.ConsumerChannelCount, AutoAck: o.AutoAck, AckEvery: max(o.MultiAckEvery, 1),
			Prefetch: o.QoS, Limit: o.CMessages,
		}
		if len(o.Queues) == 0 {
			c.Queues = []int{i}
		} else {
			for q := range t.Queues {
				c.Queues = append(c.Queues, q)
			}
		}
		consumers[i] = c
	}
	return consumers
}

// newTag draws the run tag, never 0, so that a zeroed body is not taken for one of ours.
func newTag() uint16 {
	var b [2]byte
	for {
		rand.Read(b[:])
		if tag := binary.BigEndian.Uint16(b[:]) & event.MaxTag; tag != 0 {
			return tag
		}
	}
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// checkLanes bounds what is multiplied before anything is laid out for it.
func checkLanes(o *options.Run) error {
	if n := o.Producers * o.ProducerChannelCount; n > event.MaxProducers {
		return fmt.Errorf("--producers=%d with --producer-channel-count=%d makes %d producers: at most %d are possible", o.Producers, o.ProducerChannelCount, n, event.MaxProducers)
	}
	if n := o.Consumers * o.ConsumerChannelCount; n > event.MaxProducers {
		return fmt.Errorf("--consumers=%d with --consumer-channel-count=%d makes %d consumers: at most %d are possible", o.Consumers, o.ConsumerChannelCount, n, event.MaxProducers)
	}
	return nil
}
