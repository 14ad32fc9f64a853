package manifest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// What a churn makes and undoes; part of the format.
const (
	ChurnConnection = "connection" // TCP, TLS and AMQP handshakes, channels where there are some; closed in order
	ChurnChannel    = "channel"    // on shared connections
	ChurnQueue      = "queue"      // declared, bound where there is an exchange, and deleted
	ChurnConsumer   = "consumer"   // of one queue: consume and cancel
	ChurnBinding    = "binding"    // of one queue to an exchange, each by a routing key of its own
)

// ChurnKinds are all of them, in the order of the help.
var ChurnKinds = []string{ChurnConnection, ChurnChannel, ChurnQueue, ChurnConsumer, ChurnBinding}

// Churn is a load of operations, each of which makes something at the broker, holds it for a time and undoes it.
type Churn struct {
	What string `json:"what"`
	// Rate of operations; Messages counts them. Messages 0 and no Stages: closed loop, the next begins when one has ended.
	Rate     Rate    `json:"rate"`
	Stages   []Stage `json:"stages,omitempty"`
	Arrivals string  `json:"arrivals,omitempty"`
	Seed     uint64  `json:"seed,omitempty"`
	Limit    int64   `json:"limit,omitempty"` // operations; 0: none
	// LifetimeNS is how long what was made is held before it is undone.
	LifetimeNS int64 `json:"lifetime_ns"`
	// Concurrency bounds the operations that are being made or undone at the same time, Alive those plus the ones that are held.
	Concurrency int `json:"concurrency"`
	Alive       int `json:"alive"`
	// Connections that the operations share; 0: each has its own. Channels are opened on each of those.
	Connections int `json:"connections"`
	Channels    int `json:"channels,omitempty"`
	// TimeoutNS is how long a request may wait for its answer.
	TimeoutNS int64 `json:"timeout_ns"`
	// Queue is what each operation declares, its name being what their names begin with, or the one queue that consumers are of
	// and that is bound; nil where there is none.
	Queue    *Queue `json:"queue,omitempty"`
	Exchange string `json:"exchange,omitempty"` // that queues are bound to; "" none
}

// Schedule is the schedule as that of a producer whose messages are the operations.
func (c *Churn) Schedule() *Producer {
	return &Producer{Rate: c.Rate, Stages: c.Stages, Arrivals: c.Arrivals, Seed: c.Seed}
}

// Timed tells whether a schedule says when operations are due; if not, it is a closed loop.
func (c *Churn) Timed() bool { return c.Schedule().Timed() }

// Describe says in one line what is done: "connections, 100 a second due, each with 1 channel, held 2s, at most 100 in work".
func (c *Churn) Describe() string {
	parts := []string{c.What + "s"}
	switch {
	case len(c.Stages) > 0:
		parts = append(parts, fmt.Sprintf("%s a second due on average, in %d stages over and over", written(c.Schedule().MeanRate()), len(c.Stages)))
	case c.Timed():
		parts = append(parts, written(c.Rate.PerSecond())+" a second due")
	default:
		parts = append(parts, "closed loop")
	}
	if c.Arrivals == ArrivalsPoisson {
		parts = append(parts, fmt.Sprintf("Poisson arrivals (seed %d)", c.Seed))
	}
	if c.Limit > 0 {
		parts = append(parts, fmt.Sprintf("%d in all", c.Limit))
	}
	parts = append(parts, c.describeMade()...)
	if c.LifetimeNS > 0 {
		parts = append(parts, fmt.Sprintf("held %v", time.Duration(c.LifetimeNS)))
	} else {
		parts = append(parts, "undone at once")
	}
	return strings.Join(append(parts, fmt.Sprintf("at most %d in work", c.Concurrency)), ", ")
}

// written is a rate written out, to a millionth, which is the least one.
func written(rate float64) string { return strconv.FormatFloat(math.Round(rate*1e6)/1e6, 'f', -1, 64) }

// describeMade says of what kind the made things are.
func (c *Churn) describeMade() (parts []string) {
	switch {
	case c.Channels == 1:
		parts = append(parts, "each with 1 channel")
	case c.Channels > 1:
		parts = append(parts, fmt.Sprintf("each with %d channels", c.Channels))
	}
	if q := c.Queue; q != nil {
		kind := q.Type
		if q.Durable && kind == "classic" {
			kind = "durable " + kind
		}
		if q.Exclusive {
			kind = "exclusive " + kind
		}
		switch c.What {
		case ChurnConsumer:
			parts = append(parts, "of a "+kind+" queue")
		case ChurnBinding:
			parts = append(parts, "of a "+kind+" queue to "+c.Exchange)
		default:
			parts = append(parts, kind)
			if c.Exchange != "" {
				parts = append(parts, "bound to "+c.Exchange)
			}
		}
	}
	switch {
	case c.Connections == 1:
		parts = append(parts, "on 1 connection")
	case c.Connections > 1:
		parts = append(parts, fmt.Sprintf("on %d connections", c.Connections))
	}
	return parts
}

// ChurnOutcome is how it went: counters of the engine, with which the rows must agree. Operations that were due, or begun, are
// Made, Failed or NotBegun; those that were made are Undone, or UndoFailed.
type ChurnOutcome struct {
	Made       int64 `json:"made"`
	Failed     int64 `json:"failed"`    // they could not be made
	NotBegun   int64 `json:"not_begun"` // due before the end, and none of the bounded places was free until then
	Undone     int64 `json:"undone"`
	UndoFailed int64 `json:"undo_failed"`
	Steps      int64 `json:"steps"` // rows
	// MostAlive is how many operations were made, held or undone at the same time.
	MostAlive int64 `json:"most_alive"`
	// Left names what is still at the broker, or may be: it could neither be undone nor cleaned up; the first 100 of LeftCount.
	Left      []string `json:"left,omitempty"`
	LeftCount int64    `json:"left_count"`
	// CleanedUp counts what could not be undone at first, and was when the run ended.
	CleanedUp int64 `json:"cleaned_up"`
}
