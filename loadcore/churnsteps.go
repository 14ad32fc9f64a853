package loadcore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// operation is one operation of a churn, from its first step to its last.
type operation struct {
	*churner
	n       uint64
	due     int64
	started int64              // of the making, or of the undoing
	link    *churnLink         // that it is on
	channel *poolChannel       // likewise; nil where it uses none of the pool's
	number  uint16             // of the channel that it made
	outcome event.ChurnOutcome // of the last step
}

// name of what the operation makes.
func (op *operation) name() string { return fmt.Sprintf("%s%d", op.plan.Prefix, op.n) }

// firstStep is the first one of an operation's making.
func (c *churner) firstStep() event.ChurnStep {
	switch c.spec.What {
	case manifest.ChurnConnection:
		return event.StepTCP
	case manifest.ChurnChannel:
		return event.StepChannelOpen
	case manifest.ChurnQueue:
		return event.StepQueueDeclare
	case manifest.ChurnConsumer:
		return event.StepConsume
	}
	return event.StepQueueBind
}

// make does the steps of the making; false where one failed, and then nothing is left of what the others made.
func (op *operation) make() bool {
	op.started = op.clock.Now()
	ok := false
	switch op.spec.What {
	case manifest.ChurnConnection:
		ok = op.connect()
	case manifest.ChurnChannel:
		ok = op.openChannel()
	default:
		ok = op.declare()
	}
	op.live.made(ok, op.due, op.started, op.clock.Now())
	return ok
}

// undo does the steps of the undoing.
func (op *operation) undo() {
	op.started = op.clock.Now()
	op.due = event.None
	ok := false
	switch op.spec.What {
	case manifest.ChurnConnection:
		at, err := op.link.close(op.undoing, op.timeout())
		ok = op.done(event.StepConnectionClose, true, op.started, at, err)
	case manifest.ChurnChannel:
		ok = op.step(event.StepChannelClose, true, op.number, &wire.ChannelClose{ReplyCode: wire.ReplySuccess, ReplyText: "Goodbye"}, wire.ChannelCloseOkID)
		if ok {
			op.link.release(op.number)
		}
	default:
		ok = op.remove()
	}
	op.live.undone(ok)
}

// step sends one request, records it and tells whether it was done.
func (op *operation) step(s event.ChurnStep, last bool, channel uint16, m wire.Method, want wire.MethodID) bool {
	begun := op.clock.Now()
	_, at, err := op.link.call(op.undoing, channel, m, want, op.timeout())
	return op.done(s, last, begun, at, err)
}

// done records a step that ended at a time, in vain where there is an error.
func (op *operation) done(s event.ChurnStep, last bool, begun, at int64, err error) bool {
	row := &event.Churn{Op: op.n, Step: s, Outcome: event.StepDone, Last: last, Due: op.due, Started: op.started, Begun: begun, Ended: at}
	if err != nil {
		op.explain(row, err)
	}
	op.outcome = row.Outcome
	op.record(row)
	return err == nil
}

// explain says in a row why its step failed.
func (op *operation) explain(row *event.Churn, err error) {
	row.Last = false
	var why loss
	var unconnected *ConnectError
	switch {
	case errors.Is(err, context.Canceled): // nobody else ends what goes on
		row.Outcome, row.Text = event.StepTimedOut, context.Cause(op.undoing).Error()
	case errors.As(err, &unconnected):
		row.Code, row.Text = unconnected.Code, unconnected.reason()
		switch {
		case unconnected.Code != 0:
			row.Outcome = event.StepRefused
		case isTimeout(unconnected.Err):
			row.Outcome = event.StepTimedOut
		default:
			row.Outcome = event.StepLost
		}
	case errors.Is(err, errChurnTimeout):
		of := strings.TrimSuffix(err.Error(), errChurnTimeout.Error()) // the request, where it is not the step's own
		row.Outcome, row.Text = event.StepTimedOut, of+fmt.Sprintf("no answer within %v", op.timeout())
	case errors.As(err, &why):
		row.Code, row.Text, row.Outcome = why.code, why.text, event.StepLost
		if why.code != 0 && op.link != nil && op.link.alive() {
			row.Outcome = event.StepRefused
		}
	case op.undoing.Err() != nil:
		row.Outcome, row.Text = event.StepTimedOut, err.Error()
	default:
		row.Outcome, row.Text = event.StepLost, err.Error()
	}
	row.Text = op.anonymous(oneLine(row.Text))
}

// anonymous is a text without the operation's own name, so that failures of one cause have one text.
func (op *operation) anonymous(text string) string {
	return strings.ReplaceAll(text, op.name(), op.plan.Prefix+"N")
}

// connect opens a connection, and channels on it where there are to be some. Its steps are recorded when it is open, or can't be: recording may
// wait for the disk, and opening has a deadline.
func (op *operation) connect() bool {
	number := uint32(op.n)
	ep, o := op.plan.candidates(number)[0], op.plan.connectOptions(number)
	steps := []event.ChurnStep{event.StepTCP, event.StepHandshake}
	if ep.TLS != nil {
		steps = slices.Insert(steps, 1, event.StepTLS)
	}
	var passed []int64 // when each of them had been done
	o.passed = func(Stage) { passed = append(passed, op.clock.Now()) }
	l, err := open(op.undoing, ep, o)
	failed := op.clock.Now()
	if err == nil {
		op.link = newChurnLink(op.clock, l)
	} else {
		passed = passed[:min(len(passed), len(steps)-1)] // the last one may have been done too late
	}
	begun := op.started
	for i, at := range passed {
		op.done(steps[i], i+1 == len(steps) && op.spec.Channels == 0, begun, at, nil)
		begun = at
	}
	if err != nil {
		return op.done(steps[len(passed)], false, begun, failed, err)
	}
	for i := range op.spec.Channels {
		if !op.step(event.StepChannelOpen, i+1 == op.spec.Channels, uint16(i+1), &wire.ChannelOpen{}, wire.ChannelOpenOkID) {
			op.link.abandon()
			return false
		}
	}
	return true
}

// openChannel opens a channel on one of the shared connections.
func (op *operation) openChannel() bool {
	err := error(nil)
	if op.link, err = op.pool.link(op.n); err != nil {
		return op.done(event.StepChannelOpen, false, op.started, op.clock.Now(), err)
	}
	number, ok := op.link.channel()
	if !ok {
		return op.done(event.StepChannelOpen, false, op.started, op.clock.Now(), errors.New("the connection has no channel left (channel_max): more --connections, or fewer that are held"))
	}
	op.number = number
	return op.step(event.StepChannelOpen, true, number, &wire.ChannelOpen{}, wire.ChannelOpenOkID)
}

// declare makes what lives on a channel of the pool: a queue with its binding, a consumer, a binding.
func (op *operation) declare() bool {
	if !op.borrow() {
		return op.done(op.firstStep(), false, op.started, op.clock.Now(), op.channel.why)
	}
	ch := op.channel.number
	switch op.spec.What {
	case manifest.ChurnConsumer:
		ok := op.step(event.StepConsume, true, ch, &wire.BasicConsume{Queue: op.spec.Queue.Name, ConsumerTag: op.name(), NoAck: true}, wire.BasicConsumeOkID)
		if !ok {
			op.pool.giveBack(op.channel, op.outcome)
		}
		return ok
	case manifest.ChurnBinding:
		ok := op.step(event.StepQueueBind, true, ch, &wire.QueueBind{Queue: op.spec.Queue.Name, Exchange: op.spec.Exchange, RoutingKey: op.name()}, wire.QueueBindOkID)
		op.pool.giveBack(op.channel, op.outcome)
		return ok
	}
	ok := op.step(event.StepQueueDeclare, op.spec.Exchange == "", ch, op.declaration(op.name()), wire.QueueDeclareOkID)
	there := op.outcome != event.StepRefused // of what it refused the broker has made nothing; else it may have
	if ok && op.spec.Exchange != "" {
		ok = op.step(event.StepQueueBind, true, ch, &wire.QueueBind{Queue: op.name(), Exchange: op.spec.Exchange, RoutingKey: op.name()}, wire.QueueBindOkID)
	}
	if !ok && there {
		op.remains.add(op.name())
	}
	op.pool.giveBack(op.channel, op.outcome)
	return ok
}

// remove undoes what declare made.
func (op *operation) remove() bool {
	if op.spec.What == manifest.ChurnConsumer { // it lives on its channel
		ok := op.step(event.StepCancel, true, op.channel.number, &wire.BasicCancel{ConsumerTag: op.name()}, wire.BasicCancelOkID)
		op.pool.giveBack(op.channel, op.outcome)
		return ok
	}
	step := event.StepQueueUnbind
	if op.spec.What == manifest.ChurnQueue {
		step = event.StepQueueDelete
	}
	ok := op.borrow()
	if !ok {
		op.done(step, false, op.started, op.clock.Now(), op.channel.why)
	} else {
		if step == event.StepQueueDelete {
			ok = op.step(step, true, op.channel.number, &wire.QueueDelete{Queue: op.name()}, wire.QueueDeleteOkID)
		} else {
			ok = op.step(step, true, op.channel.number, &wire.QueueUnbind{Queue: op.spec.Queue.Name, Exchange: op.spec.Exchange, RoutingKey: op.name()}, wire.QueueUnbindOkID)
		}
		op.pool.giveBack(op.channel, op.outcome)
	}
	if !ok && step == event.StepQueueDelete {
		op.remains.add(op.name())
	}
	return ok
}

// borrow takes a channel of the pool; false where there is none to be had, and then its why says it.
func (op *operation) borrow() bool {
	op.channel = op.pool.borrow(op.n)
	op.link = op.channel.link
	if op.channel.why != nil {
		return false
	}
	op.started = op.clock.Now() // what it took to have a channel is no part of the operation
	return true
}

// declaration of a queue as the plan has it.
func (c *churner) declaration(name string) *wire.QueueDeclare {
	q := c.spec.Queue
	return &wire.QueueDeclare{Queue: name, Durable: q.Durable, Exclusive: q.Exclusive, AutoDelete: q.AutoDelete, Arguments: tableOf(q.Arguments)}
}

// timeout is how long a request may wait for its answer.
func (c *churner) timeout() time.Duration { return time.Duration(c.spec.TimeoutNS) }
