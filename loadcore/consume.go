package loadcore

import (
	"fmt"
	"math"
	"sync/atomic"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// consumer is one consuming channel: data plane. Everything but the atomic fields belongs to the connection's reader.
//
// Delivery tags of a channel count up by one, so that two of them say everything about acks: those up to acked are sent,
// those after it up to tag are owed. Withholding acks therefore costs no memory.
type consumer struct {
	eng    *engine
	index  uint16
	spec   *manifest.Consumer
	ch     *channel       // for who reads; for others: current
	queues []subscription // by consumer tag

	batch   event.Deliveries // of this read call
	touched bool             // on the connection's list of this read call

	// Of the message that is arriving: the place of its queue in queues, and its flag.
	local       int
	redelivered bool

	tag   uint64 // last delivery taken, counted over all channels that the consumer has had
	shift uint64 // those of the channels before this one: the broker's delivery tags are less by so many
	acked uint64
	every uint64 // deliveries to one ack
	limit uint64 // deliveries in all that are acked and counted; 0: no limit
	acks  event.Acks
	owed  []uint16 // places in queues of the deliveries that owe something; kept only where there are several queues

	work  *work         // nil: it is done with a message as soon as that has come
	polls *polls        // nil: it subscribes
	tx    *transactions // nil: acks count as they are sent

	current   atomicChannel
	flushAcks atomic.Bool  // the tail of an incomplete group is acked, too
	finished  atomic.Bool  // the limit is reached, or it has left
	left      atomic.Bool  // it has left by itself, with everything acked and its cancel confirmed
	wanted    atomic.Bool  // it shall consume
	mending   atomic.Bool  // it is being recovered, or about to be
	mends     bool         // guarded by mending.mu: likewise
	streak    streak       // of the goroutine that recovers it by itself
	ended     atomic.Bool  // its channel is gone or the broker has cancelled all of it
	begun     atomic.Int64 // when it began to consume; 0: it has not
	lifted    atomic.Bool  // what comes is only read, no longer worked on (automatic acks)
	count     consumerCount
}

// subscription is one queue that a consumer consumes.
type subscription struct {
	queue    uint16 // index in the topology
	name     string
	received uint64
	shown    atomic.Int64 // received, for others to read
	state    atomic.Int32
	dropped  bool // cancelled by the broker, for good; the reader's
}

// States of a subscription.
const (
	subscribed int32 = iota
	cancelling       // basic.cancel is sent by the reader, which takes the answer
	cancelled
	notYet // it begins to consume after the load has begun
)

// consumerCount is read by others while the run goes on.
type consumerCount struct {
	received, acked, worked atomic.Int64 // worked: with simulated work only
	abandoned               atomic.Int64 // of acked: those that went back to the broker with a lost channel
	_                       [32]byte
}

// rowsAtOnce bounds the deliveries that are handed to the recorder in one call, and so the memory of a consumer.
const rowsAtOnce = 4096

// deliver takes basic.deliver; the message follows.
func (s *consumer) deliver(args []byte) error {
	consumerTag, tag, redelivered, err := wire.ParseDelivery(args)
	if err != nil {
		return err
	}
	if tag == 1 && (!s.wanted.Load() || s.polls != nil) {
		return fmt.Errorf("the broker sent basic.deliver on channel %d, where nothing has subscribed", s.ch.number)
	}
	if tag+s.shift != s.tag+1 {
		return fmt.Errorf("the broker sent delivery tag %d on channel %d after %d", tag, s.ch.number, s.tag-s.shift)
	}
	s.local = 0
	if len(s.queues) > 1 {
		if s.local, err = s.subscription(consumerTag); err != nil {
			return err
		}
	}
	s.redelivered = redelivered
	s.ch.content.expects = contentHeader
	return nil
}

// subscription finds the queue by consumer tag, which is its place in queues in decimal: short, as every delivery repeats it.
func (s *consumer) subscription(tag []byte) (int, error) {
	n := 0
	for _, c := range tag {
		if c < '0' || c > '9' || n > len(s.queues) {
			n = len(s.queues)
			break
		}
		n = n*10 + int(c-'0')
	}
	if n >= len(s.queues) || len(tag) == 0 {
		return 0, fmt.Errorf("the broker sent a delivery for the unknown consumer tag %q on channel %d", tag, s.ch.number)
	}
	return n, nil
}

// received takes the message that basic.deliver announced.
func (s *consumer) received(st Stamp, b event.Body) {
	if !s.touched {
		s.touch()
	}
	s.tag++
	q := &s.queues[s.local]
	q.received++
	if len(s.queues) > 1 && s.owing() {
		s.owed = append(s.owed, uint16(s.local))
	}
	if len(s.batch.Rows) == rowsAtOnce {
		s.hand(s.ch.conn.at)
	}
	s.batch.Rows = append(s.batch.Rows, event.Delivery{
		Seq: st.Seq, DeliveryTag: s.tag, Due: st.Due, Size: uint32(min(s.ch.content.size, 1<<32-1)),
		Tag: st.Tag, Producer: st.Producer, Queue: q.queue, Body: b, Redelivered: s.redelivered,
	})
}

// touch puts the consumer on the connection's list of this read call.
func (s *consumer) touch() {
	if !s.touched {
		s.touched = true
		c := s.ch.conn
		if c.polled {
			s.batch.Rows = c.shared.borrowRows()
		}
		if s.work != nil {
			s.catchUp(c.at)
		}
		c.consumersRead = append(c.consumersRead, s)
	}
}

// attend is touch where no delivery has come: for what is due by the clock, or was withheld.
func (s *consumer) attend() {
	if !s.touched {
		s.touched = true
		s.ch.conn.consumersRead = append(s.ch.conn.consumersRead, s)
	}
}

// hand gives the rows of this read call to the recorder.
func (s *consumer) hand(at int64) {
	if len(s.batch.Rows) > 0 {
		s.batch.At = at
		s.eng.rec.Deliveries(&s.batch)
		s.batch.Rows = s.batch.Rows[:0]
	}
}

// finishRead records what one read call brought and appends the acks that are due to dst, and what it polls next. With
// hold, both are withheld.
func (s *consumer) finishRead(dst []byte, at int64, hold bool) []byte {
	s.touched = false
	s.hand(at)
	if c := s.ch.conn; c.polled && s.batch.Rows != nil {
		c.shared.returnRows(s.batch.Rows)
		s.batch.Rows = nil
	}
	if s.work != nil {
		s.catchUp(at)
	}
	if s.acking() && !hold && !s.ch.isGone() {
		dst = s.appendAcks(dst)
	}
	for i := range s.queues {
		s.queues[i].shown.Store(int64(s.queues[i].received))
	}
	s.count.received.Store(int64(s.tag))
	if s.limit > 0 && s.reach() >= s.limit && !s.finished.Load() {
		dst = s.finish(dst)
	}
	if s.polls != nil && !hold {
		dst = s.appendGet(dst, at)
	}
	return dst
}

// catchUp counts what the consumer has worked off by now.
func (s *consumer) catchUp(now int64) {
	if s.lifted.Load() {
		return
	}
	if s.work.begin == 0 {
		s.work.begin = s.eng.barrier.Load()
	}
	before := s.work.done
	s.work.catchUp(now, s.tag)
	if s.spec.AutoAck && len(s.queues) > 1 {
		s.settle(s.work.done - before)
	}
	s.count.worked.Store(int64(s.work.done))
}

// reach is the last delivery that the consumer is done with and that its limit allows.
func (s *consumer) reach() uint64 {
	upTo := s.tag
	if s.work != nil {
		upTo = s.work.done
	}
	if s.limit > 0 {
		upTo = min(upTo, s.limit)
	}
	return upTo
}

// nextLook is when the consumer has something to do though nothing comes; math.MaxInt64: never.
func (s *consumer) nextLook(now int64) int64 {
	if s.ch.isGone() {
		return math.MaxInt64
	}
	next := int64(math.MaxInt64)
	if s.work != nil && !s.lifted.Load() {
		next = s.work.due(now, s.tag)
	}
	if s.polls != nil {
		next = min(next, s.pollDue())
	}
	return next
}
