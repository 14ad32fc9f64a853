// Package plan says beforehand what a run would do: figures of what it would open, declare, send and receive, and text of them.
// Options, layout and the engine's plan flow in; nothing is connected.
package plan

import (
	"fmt"
	"math"
	"strings"

	"leveret/capture/manifest"
	"leveret/cmd/internal/layout"
	"leveret/cmd/internal/options"
	"leveret/loadcore"
	"leveret/loadcore/topology"
)

// Run is a run that was checked, and has not begun. Its topology has an exchange.
type Run struct {
	Options   *options.Run
	Layout    *layout.Layout
	Plan      *loadcore.Plan
	Endpoints []loadcore.Endpoint // none: the embedded broker
	Notes     []string            // what it would begin with, besides those of the layout
}

// Plan is what a run would do. Numbers that nothing limits beforehand are nil.
type Plan struct {
	Broker      string      `json:"broker"`
	Connections Connections `json:"connections"`
	Exchange    Exchange    `json:"exchange"`
	Queues      []Queues    `json:"queues"`
	Producers   []Producers `json:"producers"`
	Consumers   []Consumers `json:"consumers"`
	Expected    Expected    `json:"expected"`
	Notes       []string    `json:"notes"`

	r Run
}

// Connections are how many of whom, with the channels of all of them.
type Connections struct {
	Total     int `json:"total"`
	Producers int `json:"producers"`
	Consumers int `json:"consumers"`
	Channels  int `json:"channels"`
}

// Exchange is what producers publish to.
type Exchange struct {
	Name string `json:"name"` // "": the default exchange
	Type string `json:"type"`
	How  string `json:"how"`
}

// Queues are queues that follow one another and have all but their names in common.
type Queues struct {
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

// Producers are producers that send alike, but for their keys.
type Producers struct {
	Count     int      `json:"count"`
	Messages  *float64 `json:"messages"`       // of each
	PerSecond *float64 `json:"messages_per_s"` // of each; nil: closed loop
	Queues    *int     `json:"queues_reached"` // by each message; nil: not known
}

// Consumers are consumers that read alike, but for which queues.
type Consumers struct {
	Count    int      `json:"count"`
	Queues   int      `json:"queues"`   // of each
	Messages *float64 `json:"messages"` // of each
	// Shared: other consumers read the same queues, and Messages holds if they share evenly.
	Shared bool `json:"shared"`
}

// Expected is what all producers send and all consumers receive together.
type Expected struct {
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

// Of works out what a run would do. It resolves the routes of its topology.
func Of(r Run) *Plan {
	t := r.Plan.Topology
	topology.Resolve(t)
	f := newFlows(r)
	p := &Plan{r: r, Broker: "the embedded broker, in this process", Notes: append(append([]string{}, r.Notes...), r.Layout.Notes...)}
	if d := r.Options.RandomDelay; d > 0 && !r.Options.Idle && r.Plan.Time > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("each producer begins at random within %v (--producer-random-start-delay), and sends what is due from then on: less than is shown", d))
	}
	if len(r.Endpoints) > 0 {
		var brokers []string
		for i := range r.Endpoints {
			brokers = append(brokers, r.Endpoints[i].String())
		}
		p.Broker = strings.Join(brokers, ", ")
		if len(brokers) > 1 {
			p.Broker += ": " + string(r.Plan.Allocation)
		}
	}
	p.Connections = Connections{
		Total: r.Plan.Connections, Producers: r.Options.Producers, Consumers: r.Plan.Connections - r.Options.Producers,
		Channels: len(r.Plan.Producers) + len(r.Plan.Consumers),
	}
	e := t.Exchanges[0]
	p.Exchange = Exchange{Name: e.Name, Type: e.Type, How: howExchange(t, e)}
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
