package topology

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

// removeTimeout bounds it: a broker that is behind with its work comes to a deletion late.
const removeTimeout = 5 * time.Minute

// Remove deletes the queues and exchanges of t that have Declare set, with what is in them; what is not there is no error. It
// connects by itself, so that it works where the session that declared has gone. Cancelling ctx ends it at any point. Advance, where
// it is not nil, is told how far it has got; it must not block.
func Remove(ctx context.Context, ep loadcore.Endpoint, connectionName string, t *manifest.Topology, advance Advance) error {
	return once(ctx, ep, connectionName, "removing the topology", t, func(d *declarer) error {
		d.advance = advance
		return d.remove()
	})
}

// once does something to the topology over a connection of its own.
func once(ctx context.Context, ep loadcore.Endpoint, connectionName, what string, t *manifest.Topology, do func(*declarer) error) error {
	conn, sock, err := connect(ctx, ep, connectionName)
	if err != nil {
		return err
	}
	limit := removeTimeout + time.Duration(len(t.Exchanges)+len(t.Queues))*declareEach
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the broker did not answer within %v", limit))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { sock.Close() })
	defer stop()
	d := newDeclarer(t)
	d.conn = conn
	if err := do(d); err != nil {
		_ = conn.CloseDeadline(time.Now().Add(closeTimeout))
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := conn.CloseDeadline(time.Now().Add(closeTimeout)); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("%s: closing the connection: %w", what, err)
	}
	return nil
}

// Look finds out which of the queues and exchanges of t are there, and clears their Declare; nothing is declared. Those without
// Declare, and built-in exchanges, are not looked for. The broker notes each look that finds nothing in its log.
func Look(ctx context.Context, ep loadcore.Endpoint, connectionName string, t *manifest.Topology) error {
	return once(ctx, ep, connectionName, "looking for queues and exchanges", t, (*declarer).look)
}

func (d *declarer) look() error {
	for i := range d.topology.Queues {
		q := &d.topology.Queues[i]
		if !q.Declare {
			continue
		}
		if _, err := d.ready(q.Name); err == nil {
			q.Declare = false
		} else if !isNotFound(err) {
			return fmt.Errorf("queue %q: %w", q.Name, err)
		}
	}
	for i := range d.topology.Exchanges {
		e := &d.topology.Exchanges[i]
		if !e.Declare || builtIn(e.Name) {
			continue
		}
		if err := d.lookForExchange(e.Name); err == nil {
			e.Declare = false
		} else if !isNotFound(err) {
			return fmt.Errorf("exchange %q: %w", e.Name, err)
		}
	}
	return nil
}

func (d *declarer) remove() error {
	for _, q := range d.topology.Queues {
		d.next()
		if !q.Declare {
			continue
		}
		ch, err := d.channel()
		if err != nil {
			return err
		}
		if _, err := ch.QueueDelete(q.Name, false, false, false); err != nil && !isNotFound(err) {
			return fmt.Errorf("queue %q: %w", q.Name, err)
		}
	}
	for _, e := range d.topology.Exchanges {
		d.next()
		if !e.Declare || builtIn(e.Name) {
			continue
		}
		ch, err := d.channel()
		if err != nil {
			return err
		}
		if err := ch.ExchangeDelete(e.Name, false, false); err != nil && !isNotFound(err) {
			return fmt.Errorf("exchange %q: %w", e.Name, err)
		}
	}
	return nil
}
