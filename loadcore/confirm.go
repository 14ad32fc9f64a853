package loadcore

import (
	"fmt"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// confirms is what the connection's reader owns of a producer: data plane.
type confirms struct {
	batch        event.Settlements // of this read call
	touched      bool              // on the connection's list of this read call
	acked        int64
	nacked       int64
	returned     int64
	committed    int64
	unattributed int64 // returned messages that do not carry a stamp of what this producer has sent
}

// settled takes basic.ack or basic.nack.
func (p *producer) settled(id wire.MethodID, args []byte) error {
	kind, parse := event.Ack, wire.ParseAck
	if id == wire.BasicNackID {
		kind, parse = event.Nack, wire.ParseNack
	}
	m, err := parse(args)
	if err != nil {
		return err
	}
	if p.win == nil {
		return fmt.Errorf("the broker sent %s on channel %d, which has no confirms", id, p.ch.number)
	}
	c := &p.confirms
	before := p.win.done
	runs, verdict := p.win.settle(c.batch.Runs, m.DeliveryTag, m.Multiple, kind)
	if verdict == neverIssued {
		return fmt.Errorf("the broker sent %s for delivery tag %d on channel %d, where only %d were published", id, m.DeliveryTag, p.ch.number, p.win.published())
	}
	c.batch.Runs = runs
	if kind == event.Ack {
		c.acked += int64(p.win.done - before)
	} else {
		c.nacked += int64(p.win.done - before)
	}
	p.touch()
	return nil
}

// returned takes basic.return; the message follows.
func (p *producer) returned(args []byte) error {
	if _, err := wire.ParseReturn(args); err != nil {
		return err
	}
	p.ch.content.expects = contentHeader
	return nil
}

// gotBack takes the message that was returned. Its stamp says which one it is.
func (p *producer) gotBack(s Stamp, b event.Body) {
	c := &p.confirms
	p.touch()
	if b != event.Intact || s.Tag != p.eng.plan.Tag || s.Producer != p.index || s.Seq >= p.begun.Load() {
		c.unattributed++
		return
	}
	c.returned++
	runs := c.batch.Runs
	if n := len(runs); n > 0 && runs[n-1].Kind == event.Return && runs[n-1].First+uint64(runs[n-1].N) == s.Seq {
		runs[n-1].N++
		return
	}
	c.batch.Runs = append(runs, event.SettledRun{First: s.Seq, N: 1, Kind: event.Return})
}

func (p *producer) touch() {
	if !p.confirms.touched {
		p.confirms.touched = true
		p.ch.conn.producersRead = append(p.ch.conn.producersRead, p)
	}
}

// finishRead makes room in the window, wakes the producer, and records what one read call brought.
func (p *producer) finishRead(at int64) {
	c := &p.confirms
	c.touched = false
	p.count.confirmed.Store(c.acked) // before the window says that nothing is open: then they are looked at
	p.count.nacked.Store(c.nacked)
	p.count.returned.Store(c.returned)
	p.count.committed.Store(c.committed)
	if p.win != nil {
		p.win.flush()
	}
	if p.tx != nil {
		p.tx.release()
	}
	if p.parked.Load() {
		p.awake()
	}
	if len(c.batch.Runs) > 0 {
		if p.win != nil && p.win.numbering.jumped.Load() {
			c.batch.Runs = p.win.translate(c.batch.Runs)
		}
		c.batch.At = at
		p.eng.rec.Settlements(&c.batch)
		c.batch.Runs = c.batch.Runs[:0]
	}
	if p.eng.confirmsAwaited.Load() && p.unsettled() == 0 {
		p.eng.wakeMain()
	}
}

// unsettled is how many messages wait for their confirm, or for the end of their transaction.
func (p *producer) unsettled() int {
	switch {
	case p.win != nil:
		return p.win.open()
	case p.tx != nil:
		return int(p.tx.uncommitted.Load())
	}
	return 0
}

// unsettledText says what n unsettled messages are: "2 messages were not confirmed".
func (p *producer) unsettledText(n int) string { return notSettled(n, p.tx != nil) }

func notSettled(n int, committed bool) string {
	verb, what := "were", "confirmed"
	if n == 1 {
		verb = "was"
	}
	if committed {
		what = "committed"
	}
	return fmt.Sprintf("%s %s not %s", messages(n), verb, what)
}

// messages counts them in words: "1 message".
func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
