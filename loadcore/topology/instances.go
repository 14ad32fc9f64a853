package topology

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore"
)

// Instances of one test that begin together meet at a queue of the broker that they load: each is a consumer of it, and the
// broker tells everyone how many there are. The queue vanishes with the last of them.

const (
	countEvery = 100 * time.Millisecond
	// stayAfter is how long an instance stays countable after it has seen all of them, so that the others see it, too. It is
	// short, so that it is not counted among those of the next run.
	stayAfter = 2 * time.Second
)

// Instances is the presence of this instance among those of its test. It ends by itself when the others have had time to
// count it.
type Instances struct{ gone chan struct{} }

// Gather waits until expected instances (at least 2) have come to the queue of that name, this one among them. It fails after
// timeout, when more have come than are expected, and when ctx ends. counted, where set, is told their number whenever it
// changes. Errors of the connection are *loadcore.ConnectError.
func Gather(ctx context.Context, ep loadcore.Endpoint, queue string, expected int, timeout time.Duration, counted func(int)) (*Instances, error) {
	conn, sock, err := connect(ctx, ep, queue)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("time is over"))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { sock.Close() }) // the library's calls take no context
	defer stop()
	seen, err := gather(ctx, conn, queue, expected, counted)
	if err != nil {
		_ = conn.CloseDeadline(time.Now().Add(closeTimeout))
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%d of %d instances had come to queue %s when the waiting ended (%w): start the others, or wait longer (--instance-sync-timeout=%v)",
				seen, expected, queue, context.Cause(ctx), timeout)
		}
		return nil, err
	}
	i := &Instances{gone: make(chan struct{})}
	time.AfterFunc(stayAfter, func() {
		_ = conn.CloseDeadline(time.Now().Add(closeTimeout)) // all have begun: nothing depends on how this ends
		close(i.gone)
	})
	return i, nil
}

func gather(ctx context.Context, conn *amqp.Connection, queue string, expected int, counted func(int)) (seen int, err error) {
	ch, err := conn.Channel()
	if err != nil {
		return 0, fmt.Errorf("meeting the other instances: %w", err)
	}
	// Durable, because brokers begin to refuse queues that are neither that nor exclusive.
	if _, err := ch.QueueDeclare(queue, true, true, false, false, nil); err != nil {
		return 0, refused("declaring queue", queue, nil, err)
	}
	if _, err := ch.Consume(queue, "", true, false, false, false, nil); err != nil {
		return 0, refused("consuming from queue", queue, nil, err)
	}
	for {
		q, err := ch.QueueDeclarePassive(queue, true, true, false, false, nil)
		if err != nil {
			return seen, refused("counting the consumers of queue", queue, nil, err)
		}
		if q.Consumers != seen && counted != nil {
			counted(q.Consumers)
		}
		seen = q.Consumers
		switch {
		case seen == expected:
			return seen, nil
		case seen > expected:
			return seen, fmt.Errorf("%d instances have come to queue %s, %d are expected: give another --id to those of another test, or more --expected-instances", seen, queue, expected)
		}
		select {
		case <-time.After(countEvery):
		case <-ctx.Done():
			return seen, ctx.Err()
		}
	}
}

// Leave waits for the end of the presence, which a run that is over sooner must not cut short.
func (i *Instances) Leave() { <-i.gone }
