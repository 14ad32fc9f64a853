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
		if err := d.exchange(&d.topology.Exchanges[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *declarer) exchange(e *manifest.Exchange) error {
	if builtIn(e.Name) {
		return nil
	}
	if !e.Declare || d.topology.Predeclared {
		err := d.lookForExchange(e.Name)
		return refused("looking for exchange", e.Name, asItIs{}, err)
	}
	// A broker notes a failed look in its log, so it is done only where the answer matters.
	if d.leadsNowhere(e.Name) {
		err := d.lookForExchange(e.Name)
		if err != nil && !isNotFound(err) {
			return refused("looking for exchange", e.Name, nil, err)
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
		if err := d.queue(&d.topology.Queues[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *declarer) queue(q *manifest.Queue) error {
	if !q.Declare || d.topology.Predeclared {
		ready, err := d.ready(q.Name)
		if err == nil {
			q.ReadyAtStart = &ready
		}
		return refused("looking for queue", q.Name, asItIs{}, err)
	}
	args, err := table(q)
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
	if d.topology.Predeclared {
		return nil
	}
	for _, b := range d.topology.Bindings {
		ch, err := d.channel()
		if err != nil {
			return err
		}
		queue := d.topology.Queues[b.Queue].Name
		err = ch.QueueBind(queue, b.RoutingKey, b.Exchange, false, nil)
		if err != nil {
			return refused("binding queue", queue, bindingContext{b}, err)
		}
	}
	return nil
}

// table turns a queue's arguments into the library's form.
func table(q *manifest.Queue) (amqp.Table, error) {
	args := amqp.Table{}
	for _, a := range q.Arguments {
		if _, twice := args[a.Key]; twice {
			return nil, fmt.Errorf("queue %q: argument %s is given twice", q.Name, a.Key)
		}
		switch v := a.Value.(type) {
		case string, bool, int64:
			args[a.Key] = v
		case int:
			args[a.Key] = int64(v)
		case float64: // a number read back from a manifest
			if v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
				return nil, fmt.Errorf("queue %q: argument %s=%v: want a whole number", q.Name, a.Key, v)
			}
			args[a.Key] = int64(v)
		default:
			return nil, fmt.Errorf("queue %q: argument %s: values of type %T are not supported, want text, a whole number, true or false", q.Name, a.Key, v)
		}
	}
	return args, nil
}

func isNotFound(err error) bool {
	var refusal *amqp.Error
	return errors.As(err, &refusal) && refusal.Server && refusal.Code == amqp.NotFound
}
