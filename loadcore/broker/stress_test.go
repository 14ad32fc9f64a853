package broker_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
)

// TestEveryMessageIsAckedOnce lets many clients do everything at once: publish with confirms, consume with different
// prefetches, ack one and many, reject, close channels and connections with deliveries open. In the end every message has
// been acknowledged in every queue exactly once, as an acknowledged message never comes again and all others do.
func TestEveryMessageIsAckedOnce(t *testing.T) {
	const producers, each, queues, consumers = 3, 1500, 3, 6
	s := start(t, broker.Options{MaxMemory: 2 << 20})
	setup, err := amqp.Dial(s.URI())
	if err != nil {
		t.Fatal(err)
	}
	defer setup.Close()
	ch, err := setup.Channel()
	if err != nil {
		t.Fatal(err)
	}
	for q := range queues {
		if _, err := ch.QueueDeclare(fmt.Sprint(q), false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		if err := ch.QueueBind(fmt.Sprint(q), "", "amq.fanout", false, nil); err != nil {
			t.Fatal(err)
		}
	}
	var acked [queues][producers * each]atomic.Int32
	var open atomic.Int64
	open.Store(queues * producers * each)
	ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
	defer stop()
	var wg sync.WaitGroup
	for c := range consumers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(c), 1))
			for open.Load() > 0 && ctx.Err() == nil {
				if err := consumeSome(ctx, s.URI(), c%queues, rnd, acked[c%queues][:], &open); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for p := range producers {
		wg.Go(func() {
			if err := publishSome(ctx, s.URI(), p*each, each); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for q := range queues {
		for n := range acked[q] {
			if k := acked[q][n].Load(); k != 1 {
				t.Fatalf("queue %d, message %d: acknowledged %d times", q, n, k)
			}
		}
	}
	if st := s.Stats(); st.Ready != 0 || st.Unacked != 0 {
		t.Errorf("%+v", st)
	}
}

func publishSome(ctx context.Context, uri string, first, n int) error {
	conn, err := amqp.Dial(uri)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	var last *amqp.DeferredConfirmation
	for i := range n {
		body := binary.BigEndian.AppendUint32(make([]byte, 0, 1000), uint32(first+i))
		if last, err = ch.PublishWithDeferredConfirm("amq.fanout", "", true, false, amqp.Publishing{Body: body[:4+i%900]}); err != nil {
			return err
		}
	}
	ok, err := last.WaitContext(ctx)
	if err == nil && !ok {
		err = fmt.Errorf("message %d was nacked", first+n-1)
	}
	return err
}

// consumeSome takes some deliveries of a queue on a connection of its own, settles them somehow, and leaves.
func consumeSome(ctx context.Context, uri string, queue int, rnd *rand.Rand, acked []atomic.Int32, open *atomic.Int64) error {
	conn, err := amqp.Dial(uri)
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Qos(1+rnd.IntN(100), 0, rnd.IntN(3) == 0); err != nil {
		return err
	}
	ds, err := ch.Consume(fmt.Sprint(queue), "c", false, false, false, false, nil)
	if err != nil {
		return err
	}
	var pending []amqp.Delivery
	done := func() { // acknowledge what is pending, in one frame
		for _, d := range pending {
			acked[binary.BigEndian.Uint32(d.Body)].Add(1)
		}
		open.Add(-int64(len(pending)))
		pending = pending[:0]
	}
	for range 100 + rnd.IntN(400) {
		select {
		case d := <-ds:
			if len(d.Body) < 4 {
				return fmt.Errorf("a delivery of %d bytes", len(d.Body))
			}
			switch rnd.IntN(10) {
			case 0:
				err = d.Nack(false, true)
			case 1:
				pending = append(pending, d)
				err = d.Ack(true)
				done()
			case 2:
				pending = append(pending, d)
			default:
				err = d.Ack(false)
				acked[binary.BigEndian.Uint32(d.Body)].Add(1)
				open.Add(-1)
			}
			if err != nil {
				return err
			}
		case <-time.After(20 * time.Millisecond):
			if len(pending) > 0 {
				if err := pending[len(pending)-1].Ack(true); err != nil {
					return err
				}
				done()
			}
			if open.Load() == 0 || ctx.Err() != nil {
				return nil
			}
		}
	}
	if rnd.IntN(2) == 0 {
		return ch.Cancel("c", false)
	}
	return nil // what is pending goes back
}
