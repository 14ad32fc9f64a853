// Package topology declares what a run publishes to and consumes from, and works out which queues each routing key
// reaches.
//
// In flows a manifest.Topology as planned; out flows the same one as the broker has it: server-given names, ready counts
// at the start, and Routes with their queues, by which the analysis later judges what must have arrived where.
//
//	session, err := topology.Declare(ctx, endpoint, "run-1 topology", &t)
//	...the run...
//	err = session.Close()
//
// It is the one user of amqp091-go outside tests: declaring is not worth speed, and a second implementation of the
// protocol keeps our own honest.
package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Bounds are the deadlines of a session, as a broker may complete the handshake and fall silent; 0 takes the default. That of
// opening its connection is the endpoint's (loadcore.Endpoint.ConnectTimeout).
type Bounds struct {
	Declare time.Duration // of all that is declared, looked for and bound, and 50 ms more for each object; default 30 s
	Close   time.Duration // of its end, and 5 ms more for each queue that is to be deleted; default 5 s
	// Declaring, where set, is called by Declared before each exchange, queue and binding, with how many are done; it must not block.
	Declaring Advance
}

// Advance is told how many of all objects are done.
type Advance func(done, all int)

const (
	closeTimeout   = 5 * time.Second
	declareTimeout = 30 * time.Second
	declareEach    = 50 * time.Millisecond
	deleteEach     = 5 * time.Millisecond
)

// Session is the connection that declared. It stays open during the run.
type Session struct {
	conn     *amqp.Connection
	sock     net.Conn // what conn runs on: closing it ends every call at once
	topology *manifest.Topology
	bounds   Bounds
	polled   []int         // see DeleteAtEnd
	ch       *amqp.Channel // for deleting; nil before
	release  func()        // ends the renewal of its password
}

// Declare checks t (Validate), connects, declares the exchanges and queues that have Declare set, looks for those that
// have not, and binds. It writes into t what it learns: names given by the broker, ReadyAtStart, Routes. Of a Predeclared
// topology it declares what it does not find; what it found loses its Declare, and an exchange has the type that is there,
// "" where that cannot be learned. A Strict topology is only looked at. Exclusive queues are left to the connections of
// their consumers, who bind them too; the routes count on them.
//
// Errors of the connection are *loadcore.ConnectError, refusals of the broker *Error. Cancelling ctx ends it at any point.
// On an error queues that the broker named are deleted again; others that were declared until then stay.
func Declare(ctx context.Context, ep loadcore.Endpoint, connectionName string, t *manifest.Topology) (*Session, error) {
	return Bounds{}.Declared(ctx, ep, connectionName, t)
}

// Declared is the function Declare within other deadlines.
func (b Bounds) Declared(ctx context.Context, ep loadcore.Endpoint, connectionName string, t *manifest.Topology) (*Session, error) {
	b.Declare, b.Close = cmp.Or(b.Declare, declareTimeout), cmp.Or(b.Close, closeTimeout)
	if err := Validate(t); err != nil {
		return nil, err
	}
	secret := ep.Password()
	conn, sock, err := connect(ctx, ep, connectionName)
	if err != nil {
		return nil, err
	}
	s := &Session{conn: conn, sock: sock, topology: t, bounds: b}
	// The call takes no context; it ends with the connection at the latest. A refusal of the broker closes that.
	s.release = ep.HoldSecret(secret, func(secret string) { go conn.UpdateSecret(secret, loadcore.SecretReason) })
	if err := s.declare(ctx); err != nil {
		// The refusal is what the user can act on, not how the end went after it.
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Session) declare(ctx context.Context) error {
	objects := len(s.topology.Exchanges) + len(s.topology.Queues) + len(s.topology.Bindings)
	limit := s.bounds.Declare + time.Duration(objects)*declareEach
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the broker did not answer within %v (--declare-timeout)", limit))
	defer cancel()
	// The library's calls take no context; without their connection they end.
	stop := context.AfterFunc(ctx, func() { s.sock.Close() })
	d := newDeclarer(s.topology)
	d.conn, d.advance = s.conn, s.bounds.Declaring
	err := d.all()
	// Where ctx has ended the connection is closed, or about to be, also if everything was declared before.
	if !stop() {
		return fmt.Errorf("declaring the topology: %w", context.Cause(ctx))
	}
	return err
}

// DeleteAtEnd has Close delete those of the queues, by index, that the session has declared and that are to be deleted
// automatically: a broker does that when the last subscription ends, and a queue that is only asked with basic.get never
// has one.
func (s *Session) DeleteAtEnd(queues []int) {
	for _, i := range queues {
		if q := &s.topology.Queues[i]; q.Declare && q.AutoDelete && !q.Exclusive {
			s.polled = append(s.polled, i)
		}
	}
}

// Close ends the session. Queues that the broker named and that are to be deleted automatically are deleted if nobody
// uses them: those that never had a consumer would stay for ever otherwise. A connection that is gone already is no error.
func (s *Session) Close() error {
	s.release()
	// The library's calls have no deadline; without their connection they end.
	stop := time.AfterFunc(s.closeTime(), func() { s.sock.Close() })
	defer stop.Stop()
	if err := errors.Join(s.deletePolled(), s.deleteStrays()); err != nil && !errors.Is(err, amqp.ErrClosed) {
		_ = s.conn.CloseDeadline(time.Now().Add(s.bounds.Close))
		return fmt.Errorf("deleting queues of the run: %w", err)
	}
	if err := s.conn.CloseDeadline(time.Now().Add(s.bounds.Close)); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("closing the connection that declared the topology: %w", err)
	}
	return nil
}

// closeTime is how long the end may take, with the time for what is to be deleted.
func (s *Session) closeTime() time.Duration {
	queues := len(s.polled)
	for i := range s.topology.Queues {
		if isStray(&s.topology.Queues[i]) {
			queues++
		}
	}
	return s.bounds.Close + time.Duration(queues)*deleteEach
}

// isStray reports whether the queue would stay for ever if it never had a consumer.
func isStray(q *manifest.Queue) bool { return q.ServerNamed && q.AutoDelete && q.Name != "" }

func (s *Session) deletePolled() error {
	for _, i := range s.polled {
		if _, err := s.delete(i, false); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) deleteStrays() error {
	for i := range s.topology.Queues {
		if !isStray(&s.topology.Queues[i]) {
			continue
		}
		refused, err := s.delete(i, true)
		if err != nil && !refused { // one in use goes with its last consumer
			return err
		}
	}
	return nil
}

// delete deletes a queue, where ifUnused only one without consumers.
func (s *Session) delete(queue int, ifUnused bool) (refused bool, err error) {
	if s.ch == nil || s.ch.IsClosed() { // a refusal closes the channel
		if s.ch, err = s.conn.Channel(); err != nil {
			return false, err
		}
	}
	_, err = s.ch.QueueDelete(s.topology.Queues[queue].Name, ifUnused, false, false)
	var refusal *amqp.Error
	return errors.As(err, &refusal) && refusal.Server, err
}
