package loadcore

import (
	"fmt"
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
	ch     *channel
	queues []subscription // by consumer tag

	batch   event.Deliveries // of this read call
	touched bool             // on the connection's list of this read call

	// Of the message that is arriving: the place of its queue in queues, and its flag.
	local       int
	redelivered bool

	tag   uint64 // last delivery taken
	acked uint64
	every uint64 // deliveries to one ack
	limit uint64 // deliveries in all that are acked and counted; 0: no limit
	acks  event.Acks
	owed  []uint16 // places in queues of the deliveries after acked; kept only where there are several queues

	flushAcks atomic.Bool // the tail of an incomplete group is acked, too
	finished  atomic.Bool // the limit is reached
	ended     atomic.Bool // its channel is gone or the broker has cancelled all of it
	count     consumerCount
}

// subscription is one queue that a consumer consumes.
type subscription struct {
	queue    uint16 // index in the topology
	name     string
	received uint64
	shown    atomic.Int64 // received, for others to read
	state    atomic.Int32
}

// States of a subscription.
const (
	subscribed int32 = iota
	cancelling       // basic.cancel is sent by the reader, which takes the answer
	cancelled
)

// consumerCount is read by others while the run goes on.
type consumerCount struct {
	received, acked atomic.Int64
	_               [48]byte
}

// rowsAtOnce bounds the deliveries that are handed to the recorder in one call, and so the memory of a consumer.
const rowsAtOnce = 4096

// deliver takes basic.deliver; the message follows.
func (s *consumer) deliver(args []byte) error {
	consumerTag, tag, redelivered, err := wire.ParseDelivery(args)
	if err != nil {
		return err
	}
	if tag != s.tag+1 {
		return fmt.Errorf("the broker sent delivery tag %d on channel %d after %d", tag, s.ch.number, s.tag)
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
	s.tag++
	q := &s.queues[s.local]
	q.received++
	if len(s.queues) > 1 && !s.spec.AutoAck {
		s.owed = append(s.owed, uint16(s.local))
	}
	s.touch()
	if len(s.batch.Rows) == rowsAtOnce {
		s.hand(s.ch.conn.at)
	}
	s.batch.Rows = append(s.batch.Rows, event.Delivery{
		Seq: st.Seq, DeliveryTag: s.tag, Due: st.Due, Size: uint32(min(s.ch.content.size, 1<<32-1)),
		Tag: st.Tag, Producer: st.Producer, Queue: q.queue, Body: b, Redelivered: s.redelivered,
	})
}

func (s *consumer) touch() {
	if !s.touched {
		s.touched = true
		if c := s.ch.conn; c.polled {
			s.batch.Rows = c.shared.borrowRows()
		}
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

// finishRead records what one read call brought and appends the acks that are due to dst. With hold, acks are withheld.
func (s *consumer) finishRead(dst []byte, at int64, hold bool) []byte {
	s.touched = false
	s.hand(at)
	if c := s.ch.conn; c.polled {
		c.shared.returnRows(s.batch.Rows)
		s.batch.Rows = nil
	}
	if !s.spec.AutoAck && !hold && !s.ch.isGone() {
		dst = s.appendAcks(dst)
	}
	for i := range s.queues {
		s.queues[i].shown.Store(int64(s.queues[i].received))
	}
	s.count.received.Store(int64(s.tag))
	if s.limit > 0 && s.tag >= s.limit && !s.finished.Load() {
		dst = s.finish(dst)
	}
	return dst
}

// acksAtOnce bounds the bytes of acks that are made at once, where many have been withheld. The rest follows.
const acksAtOnce = backlogLimit

// appendAcks appends the acks that are due and records them as one.
func (s *consumer) appendAcks(dst []byte) []byte {
	upTo := s.tag
	if s.limit > 0 {
		upTo = min(upTo, s.limit)
	}
	first := s.acked
	for s.acked+s.every <= upTo && len(dst) < acksAtOnce {
		s.acked += s.every
		dst = wire.AppendAck(dst, s.ch.number, s.acked, s.every > 1)
	}
	if s.acked < upTo && s.acked+s.every > upTo && (s.flushAcks.Load() || upTo == s.limit) {
		s.acked = upTo
		dst = wire.AppendAck(dst, s.ch.number, s.acked, true)
	}
	n := s.acked - first
	if n == 0 {
		return dst
	}
	if len(s.queues) > 1 {
		s.owed = s.owed[:copy(s.owed, s.owed[n:])]
	}
	s.acks = event.Acks{Consumer: s.index, At: s.eng.clock.Now(), DeliveryTag: s.acked, Messages: uint32(n), Multiple: s.every > 1}
	s.eng.rec.Acks(&s.acks)
	s.count.acked.Store(int64(s.acked))
	return dst
}

// owes reports whether acks are due that were not sent.
func (s *consumer) owes() bool {
	if s.spec.AutoAck || s.ch.isGone() {
		return false
	}
	upTo := s.tag
	if s.limit > 0 {
		upTo = min(upTo, s.limit)
	}
	return upTo-s.acked >= s.every || upTo > s.acked && s.flushAcks.Load()
}
