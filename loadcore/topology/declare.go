package topology

import (
	"errors"
	"fmt"
	"math"
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/manifest"
)

// declarer makes one topology real.
type declarer struct {
	conn     *amqp.Connection
	ch       *amqp.Channel
	topology *manifest.Topology
	// fresh holds exchanges that are known not to have existed before: nobody else's bindings are on them.
	fresh map[string]bool
	// types are those learned of exchanges that existed, by name.
	types map[string]string
	ways  map[string]*ways // by exchange, as far as they were asked for
	named map[string]int   // the first queue of each name; nil before routes are worked out
	looks int              // for queues that only the default exchange's routes name

	advance Advance // may be nil
	done    int
}

// next tells that another object is begun.
func (d *declarer) next() {
	if d.advance != nil {
		d.advance(d.done, len(d.topology.Exchanges)+len(d.topology.Queues)+len(d.topology.Bindings))
	}
	d.done++
}

func newDeclarer(t *manifest.Topology) *declarer {
	return &declarer{topology: t, fresh: map[string]bool{}, types: map[string]string{}, ways: map[string]*ways{}}
}

func (d *declarer) all() error {
	for _, step := range []func() error{d.exchanges, d.queues, d.bindings, d.routes} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// channel returns an open channel: a refusal closes the one that it happened on.
func (d *declarer) channel() (*amqp.Channel, error) {
	if d.ch != nil && !d.ch.IsClosed() {
		return d.ch, nil
	}
	ch, err := d.conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("declaring the topology: opening a channel: %w", err)
	}
	d.ch = ch
	return ch, nil
}

func (d *declarer) exchanges() error {
	for i := range d.topology.Exchanges {
		d.next()
		if err := d.exchange(&d.topology.Exchanges[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *declarer) exchange(e *manifest.Exchange) error {
	if _, everywhere := builtInTypes[e.Name]; everywhere || e.Name == "" {
		return nil
	}
	if !e.Declare {
		return refused("looking for exchange", e.Name, asItIs{}, d.lookForExchange(e.Name))
	}
	// A broker notes a failed look in its log, so it is done only where the answer matters.
	if d.topology.Predeclared || d.leadsNowhere(e.Name) {
		err := d.lookForExchange(e.Name)
		if err != nil && !isNotFound(err) {
			return refused("looking for exchange", e.Name, nil, err)
		}
		if err == nil && d.topology.Predeclared {
			e.Declare = false
			return d.learnType(e)
		}
		d.fresh[e.Name] = err != nil
	}
	ch, err := d.channel()
	if err != nil {
		return err
	}
	err = ch.ExchangeDeclare(e.Name, e.Type, e.Durable, e.AutoDelete, false, false, nil)
	return refused("declaring exchange", e.Name, exchangeContext{e}, err)
}

// learnType finds out the type of an exchange that is there. AMQP 0-9-1 has no question for it, but a declaration with
// another type is refused with the type that there is, and one with the same changes nothing. Only types that every broker
// knows are tried, as an unknown one costs the connection.
func (d *declarer) learnType(e *manifest.Exchange) error {
	asked := e.Type
	e.Type = ""
	if !standard(asked) || !d.bound(e.Name) {
		return nil
	}
	ch, err := d.channel()
	if err != nil {
		return err
	}
	err = ch.ExchangeDeclare(e.Name, asked, e.Durable, e.AutoDelete, false, false, nil)
	var refusal *amqp.Error
	switch {
	case err == nil:
		e.Type = asked
	case !errors.As(err, &refusal) || !refusal.Server:
		return refused("looking for exchange", e.Name, nil, err)
	default:
		switch argument, current, ok := difference(refusal); {
		case ok && argument == "type":
			e.Type = current
		case ok: // types are compared first
			e.Type = asked
		}
	}
	d.types[e.Name] = e.Type
	return nil
}

// bound reports whether the run binds to the exchange.
func (d *declarer) bound(exchange string) bool {
	return slices.ContainsFunc(d.topology.Bindings, func(b manifest.Binding) bool { return b.Exchange == exchange })
}

// leadsNowhere reports whether a route through the exchange reaches no queue by our own bindings.
func (d *declarer) leadsNowhere(exchange string) bool {
	return slices.ContainsFunc(d.topology.Routes, func(r manifest.Route) bool {
		if r.Exchange != exchange {
			return false
		}
		queues, _ := d.reached(r.Exchange, r.RoutingKey)
		return len(queues) == 0
	})
}

// lookForExchange is a passive declare, which looks at the name only.
func (d *declarer) lookForExchange(name string) error {
	ch, err := d.channel()
	if err != nil {
		return err
	}
	return ch.ExchangeDeclarePassive(name, amqp.ExchangeDirect, true, false, false, false, nil)
}

func (d *declarer) queues() error {
	for i := range d.topology.Queues {
		d.next()
		if err := d.queue(&d.topology.Queues[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *declarer) queue(q *manifest.Queue) error {
	if q.Exclusive {
		// The connection of its consumers makes it, so it is new and empty.
		q.ReadyAtStart = new(int64)
		return nil
	}
	if !q.Declare || d.topology.Predeclared {
		ready, err := d.ready(q.Name)
		if err == nil {
			q.Declare, q.ReadyAtStart = false, &ready
			return nil
		}
		if !q.Declare {
			return refused("looking for queue", q.Name, asItIs{}, err)
		}
		if !isNotFound(err) {
			return refused("looking for queue", q.Name, nil, err)
		}
	}
	args, err := table(describeQueue(q), q.Arguments)
	if err != nil {
		return err
	}
	ch, err := d.channel()
	if err != nil {
		return err
	}
	q.ServerNamed = q.ServerNamed || q.Name == ""
	declared, err := ch.QueueDeclare(q.Name, q.Durable, q.AutoDelete, false, false, args)
	if err != nil {
		return refused("declaring queue", q.Name, queueContext{q}, err)
	}
	// declare-ok carries the count of ready messages (AMQP 0-9-1, queue.declare-ok), of a queue that existed as well.
	ready := int64(declared.Messages)
	q.Name, q.ReadyAtStart = declared.Name, &ready
	return nil
}

func describeQueue(q *manifest.Queue) string { return fmt.Sprintf("queue %q", q.Name) }

// ready counts the ready messages of an existing queue with a passive declare.
func (d *declarer) ready(name string) (int64, error) {
	ch, err := d.channel()
	if err != nil {
		return 0, err
	}
	q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
	return int64(q.Messages), err
}

func (d *declarer) bindings() error {
	if d.topology.Strict {
		return nil
	}
	for _, b := range d.topology.Bindings {
		d.next()
		q := &d.topology.Queues[b.Queue]
		if q.Exclusive { // bound where it is declared
			continue
		}
		args, err := table(fmt.Sprintf("binding of queue %q", q.Name), b.Arguments)
		if err != nil {
			return err
		}
		ch, err := d.channel()
		if err != nil {
			return err
		}
		if err = ch.QueueBind(q.Name, b.RoutingKey, b.Exchange, false, args); err != nil {
			return refused("binding queue", q.Name, bindingContext{b}, err)
		}
	}
	return nil
}

// table turns arguments into the library's form; what names their owner in errors.
func table(what string, arguments []manifest.Arg) (amqp.Table, error) {
	args := amqp.Table{}
	for _, a := range arguments {
		if _, twice := args[a.Key]; twice {
			return nil, fmt.Errorf("%s: argument %s is given twice", what, a.Key)
		}
		switch v := a.Value.(type) {
		case string, bool, int64:
			args[a.Key] = v
		case int:
			args[a.Key] = int64(v)
		case float64: // a number read back from a manifest
			if v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
				return nil, fmt.Errorf("%s: argument %s=%v: want a whole number", what, a.Key, v)
			}
			args[a.Key] = int64(v)
		default:
			return nil, fmt.Errorf("%s: argument %s: values of type %T are not supported, want text, a whole number, true or false", what, a.Key, v)
		}
	}
	return args, nil
}

func isNotFound(err error) bool {
	var refusal *amqp.Error
	return errors.As(err, &refusal) && refusal.Server && refusal.Code == amqp.NotFound
}
