// Package layout says what the options of a run come to: exchanges, queues, bindings and routes, and which producers and
// consumers use them on which connections. It follows PerfTest. Options flow in, plain values of capture/manifest flow out;
// nothing is connected.
package layout

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/loadcore/topology"
)

// Layout is what the options ask for: who talks to which queues, by which routes, on which connections.
type Layout struct {
	Topology    *manifest.Topology
	Producers   []manifest.Producer
	Consumers   []manifest.Consumer
	Connections int
	Bodies      []manifest.Body // given ones, of all producers
	// Sequence: each producer and each consumer has one of the queues, in turn, whose names are keys.
	Sequence bool
	// RandomKey: the key of the bindings was made up.
	RandomKey bool
	// Notes say what was asked for and is not done, or not as it may have been meant. They become notes of the record.
	Notes []string
}

// Of lays out a run, and refuses what a broker would refuse or what could not do what it says. given tells whether
// an option was given. Nothing is connected.
func Of(o *options.Run, given func(name string) bool) (*Layout, error) {
	if err := checkLanes(o); err != nil {
		return nil, err
	}
	b := &builder{o: o, given: given, Layout: Layout{Topology: &manifest.Topology{
		Predeclared: o.Predeclared != "", Strict: o.Predeclared == options.PredeclaredStrict,
	}}}
	for _, step := range []func() error{
		b.checkProducers, b.nameQueues, b.makeQueues, b.makeConsumers, b.checkConsumers, b.makeExchange, b.makeRoutes,
		b.makeBindings, b.makeProducers,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if len(b.Producers)+len(b.Consumers) == 0 {
		return nil, errors.New("there is nothing to do: no producer, and no consumer that has a queue; give --producers, or --consumers with --queue")
	}
	if err := topology.Validate(b.Topology); err != nil {
		return nil, err
	}
	b.remarks()
	return &b.Layout, nil
}

// builder is a Layout on its way.
type builder struct {
	Layout
	o     *options.Run
	given func(name string) bool
	// names of the queues as given; none: each consumer has a queue of its own.
	names    []string
	key      string // of the bindings; in a sequence "": each queue's name
	exchange string
}

func (b *builder) note(format string, args ...any) {
	b.Notes = append(b.Notes, fmt.Sprintf(format, args...))
}

// makeExchange follows PerfTest: without a name the exchange is called as its type. amq.default, and the empty name, is the
// default one, and so is no name where nothing may be bound: then only it leads to a queue for certain.
func (b *builder) makeExchange() error {
	b.exchange = b.o.Exchange
	switch {
	case b.exchange == "amq.default":
		b.exchange = ""
	case b.exchange == "" && !b.given("exchange") && !b.Topology.Strict:
		b.exchange = b.o.Type
	}
	b.Topology.Exchanges = []manifest.Exchange{{Name: b.exchange, Type: b.o.Type, Durable: true, Declare: true}}
	if b.exchange == "" {
		b.Topology.Exchanges[0].Type = "direct" // the default exchange's, AMQP 0-9-1 section 3.1.3.1
	}
	return nil
}

// makeBindings binds every queue with the key of all of them, or with its own name.
func (b *builder) makeBindings() error {
	if b.exchange == "" || b.o.SkipBindingQueues || b.Topology.Strict {
		return nil
	}
	for i, q := range b.Topology.Queues {
		key := b.key
		if b.Sequence && !b.keyGiven() {
			key = q.Name
		}
		b.Topology.Bindings = append(b.Topology.Bindings, manifest.Binding{Exchange: b.exchange, Queue: i, RoutingKey: key})
	}
	return nil
}

func (b *builder) keyGiven() bool { return b.o.RoutingKey != "" || b.given("routing-key") }

// mostRoutes is how many routes a row of the record can name.
const mostRoutes = 1<<16 - 1

// makeRoutes says where producers publish to. Producer n takes route n mod the number of routes, or, with cached keys, all
// of them in turn.
func (b *builder) makeRoutes() error {
	route := func(key string, random bool) {
		b.Topology.Routes = append(b.Topology.Routes, manifest.Route{Exchange: b.exchange, RoutingKey: key, Random: random})
	}
	if b.key = b.o.RoutingKey; !b.keyGiven() && !b.Sequence {
		b.key, b.RandomKey = newUUID(), true
	}
	switch n := b.o.RoutingKeyCacheSize; {
	case n > mostRoutes:
		return fmt.Errorf("--routing-key-cache-size=%d: at most %d keys can be told apart in the record", n, mostRoutes)
	case n > 0:
		for range n {
			route(newUUID(), false)
		}
	case b.o.RandomRoutingKey:
		route(newUUID(), true)
	case b.keyGiven():
		route(b.key, false)
	case b.Sequence:
		for i := range min(len(b.names), b.o.Producers*b.o.ProducerChannelCount) {
			route(b.names[i], false)
		}
	case b.exchange != "":
		route(b.key, false)
	case len(b.names) == 1:
		route(b.names[0], false)
	case b.o.Producers > 0:
		return fmt.Errorf("%s reaches the queue that the routing key names, and --queue names %d: give one --queue, or --queue-pattern, or a --routing-key", b.defaultExchange(), len(b.names))
	}
	return nil
}

func (b *builder) defaultExchange() string {
	if b.Topology.Strict && !b.given("exchange") {
		return "--predeclared=strict without --exchange publishes to the default exchange, which"
	}
	return "--exchange=amq.default"
}

// NewTag draws the run tag, never 0, so that a zeroed body is not taken for one of ours.
func NewTag() uint16 {
	var b [2]byte
	for {
		rand.Read(b[:])
		if tag := binary.BigEndian.Uint16(b[:]) & event.MaxTag; tag != 0 {
			return tag
		}
	}
}

// newUUID is a random UUID (RFC 9562, version 4) in its usual form, as PerfTest makes its keys.
func newUUID() string {
	var u [16]byte
	rand.Read(u[:])
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
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

func persistent(o *options.Run) bool {
	return slices.Contains(o.Flags, "persistent") || o.QuorumQueue || o.StreamQueue
}
