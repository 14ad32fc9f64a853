package main

import (
	"fmt"
	"math"
	"strings"

	"leveret/capture/manifest"
	"leveret/loadcore/topology"
)

// planned is what a run would do. Numbers that nothing limits beforehand are nil.
type planned struct {
	Broker      string             `json:"broker"`
	Connections plannedConnections `json:"connections"`
	Exchange    plannedExchange    `json:"exchange"`
	Queues      []plannedQueues    `json:"queues"`
	Producers   []plannedProducers `json:"producers"`
	Consumers   []plannedConsumers `json:"consumers"`
	Expected    plannedTotals      `json:"expected"`
	Notes       []string           `json:"notes"`

	r *recording
}

type plannedConnections struct {
	Total     int `json:"total"`
	Producers int `json:"producers"`
	Consumers int `json:"consumers"`
	Channels  int `json:"channels"`
}

type plannedExchange struct {
	Name string `json:"name"` // "": the default exchange
	Type string `json:"type"`
	How  string `json:"how"`
}

// plannedQueues are queues that follow one another and have all but their names in common.
type plannedQueues struct {
	Count      int            `json:"count"`
	First      string         `json:"first"` // "" : the broker names it
	Last       string         `json:"last"`
	Type       string         `json:"type"`
	Durable    bool           `json:"durable"`
	AutoDelete bool           `json:"auto_delete"`
	Exclusive  bool           `json:"exclusive"`
	Arguments  []manifest.Arg `json:"arguments"`
	How        string         `json:"how"`
	// RoutingKey of the binding; ByName: each queue is bound with its own name; ByRandomKey: with one that is made for the run.
	// None of them: not bound.
	RoutingKey  *string `json:"routing_key"`
	ByName      bool    `json:"bound_by_name"`
	ByRandomKey bool    `json:"bound_by_random_key"`
	// Of each queue.
	Producers int      `json:"producers"`
	Consumers int      `json:"consumers"`
	Messages  *float64 `json:"messages"`
	PerSecond *float64 `json:"messages_per_s"`
}

// plannedProducers are producers that send alike, but for their keys.
type plannedProducers struct {
	Count     int      `json:"count"`
	Messages  *float64 `json:"messages"`       // of each
	PerSecond *float64 `json:"messages_per_s"` // of each; nil: closed loop
	Queues    *int     `json:"queues_reached"` // by each message; nil: not known
}

// plannedConsumers are consumers that read alike, but for which queues.
type plannedConsumers struct {
	Count    int      `json:"count"`
	Queues   int      `json:"queues"`   // of each
	Messages *float64 `json:"messages"` // of each
	// Shared: other consumers read the same queues, and Messages holds if they share evenly.
	Shared bool `json:"shared"`
}

type plannedTotals struct {
	Sent              *float64 `json:"sent"`
	SentPerSecond     *float64 `json:"sent_per_s"`
	Received          *float64 `json:"received"`
	ReceivedPerSecond *float64 `json:"received_per_s"`
	FanOut            *float64 `json:"deliveries_per_message"`
}

// known is a number for JSON; nil for one that is not known.
func known(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// planOfRun works out what a run that was prepared would do.
func planOfRun(r *recording) *planned {
	t := r.plan.Topology
	topology.Resolve(t)
	f := newFlows(r)
	p := &planned{r: r, Broker: "the embedded broker, in this process", Notes: append(append([]string{}, r.notes...), r.layout.Notes...)}
	if d := r.options.RandomDelay; d > 0 && !r.options.Idle && r.plan.Time > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("each producer begins at random within %v (--producer-random-start-delay), and sends what is due from then on: less than is shown", d))
	}
	if !embedded(r.options) {
		var brokers []string
		for i := range r.endpoints {
			brokers = append(brokers, r.endpoints[i].String())
		}
		p.Broker = strings.Join(brokers, ", ")
		if len(brokers) > 1 {
			p.Broker += ": " + string(r.plan.Allocation)
		}
	}
	p.Connections = plannedConnections{
		Total: r.plan.Connections, Producers: r.options.Producers, Consumers: r.plan.Connections - r.options.Producers,
		Channels: len(r.plan.Producers) + len(r.plan.Consumers),
	}
	e := t.Exchanges[0]
	p.Exchange = plannedExchange{Name: e.Name, Type: e.Type, How: howExchange(t, e)}
	p.Queues, p.Producers, p.Consumers = f.queues(), f.producers(), f.consumers()
	p.Expected = f.totals()
	return p
}

func howExchange(t *manifest.Topology, e manifest.Exchange) string {
	if e.Declare {
		return how(t, true)
	}
	if e.Name == "" {
		return "there on every broker, takes no bindings"
	}
	return "used as it is"
}

func how(t *manifest.Topology, declare bool) string {
	switch {
	case !declare:
		return "used as it is"
	case t.Predeclared:
		return "declared if it is not there"
	}
	return "declared"
}
