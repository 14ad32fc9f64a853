package loadcore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// DefaultChurnCloseTimeout is the time for undoing what is still there when a churn ends.
const DefaultChurnCloseTimeout = 30 * time.Second

// StopOperations is the reason to stop where as many operations were done as were asked for.
const StopOperations = "all operations done"

// ChurnPlan is a load of operations: each makes something at the broker, holds it for a time and undoes it. Churn does not change it.
type ChurnPlan struct {
	// Plan says where the broker is, how connections are opened and how they are called, how long load is offered (Time) and how
	// long undoing the rest may take then (CloseTimeout; 0: DefaultChurnCloseTimeout). It has no lanes.
	*Plan
	Churn manifest.Churn
	// Prefix begins the names of all that is made, so that nobody else has such names.
	Prefix string
	// Live, where set, can be read while the load goes on.
	Live *ChurnLive
}

// Validate refuses a schedule that cannot be counted exactly, or whose next operation would be searched for without end.
func (p *ChurnPlan) Validate() error { return checkStages(p.Churn.Stages) }

// ChurnRecorder takes the record of every step. Safe for concurrent use; the row belongs to the caller again when the call returns.
type ChurnRecorder interface {
	Churn(*event.Churn)
	// Err is the sticky error; the load stops with it.
	Err() error
}

// Churn offers the load until its time is over, as many operations were done as were asked for, or ctx ends; then it undoes
// what is there and closes, within the close timeout. Due times never move: an operation whose turn comes late because all of the
// bounded places are taken is late by that in the record. Operations that fail are recorded and counted, and the load goes on.
//
// The error says that it could not begin, or that the record failed; the outcome is nil in the former case.
func Churn(ctx context.Context, plan *ChurnPlan, rec ChurnRecorder) (*manifest.Outcome, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	p := *plan
	p.Plan = p.Plan.withDefaults()
	if plan.CloseTimeout == 0 {
		p.CloseTimeout = DefaultChurnCloseTimeout
	}
	if p.Live == nil {
		p.Live = new(ChurnLive)
	}
	c := &churner{plan: &p, spec: &p.Churn, rec: rec, clock: p.Clock, live: p.Live, ending: make(chan struct{})}
	c.slots, c.places = make(chan struct{}, c.spec.Concurrency), make(chan struct{}, c.spec.Alive)
	c.undoing, c.stopUndoing = context.WithCancelCause(context.Background())
	defer c.stopUndoing(nil)
	return c.run(ctx)
}

// churner is one churn.
//
//	offer: due --> place (alive) --> slot (in work) --> make --> slot back --> held --> slot --> undo --> place back
//
// Each operation that is alive has a goroutine.
type churner struct {
	plan  *ChurnPlan
	spec  *manifest.Churn
	rec   ChurnRecorder
	clock *event.Clock
	live  *ChurnLive
	pool  *churnPool // connections that operations share; nil where each has its own
	pacer *pacer

	places, slots chan struct{} // bounds: operations that are alive, and those that are in work
	ending        chan struct{} // closed when nothing new begins: what is held is undone
	operations    sync.WaitGroup
	undoing       context.Context // ends when there is no more time for undoing
	stopUndoing   context.CancelCauseFunc

	remains remains
}

func (c *churner) run(ctx context.Context) (*manifest.Outcome, error) {
	var err error
	if c.pacer, err = newPacer(c.clock); err != nil {
		return nil, err
	}
	defer c.pacer.close()
	if err := c.setUp(ctx); err != nil {
		return nil, errors.Join(err, c.tearDown())
	}
	o := &manifest.Outcome{BarrierNS: event.None, PublishStopNS: event.None, DrainEndNS: event.None}
	cpu := cpuTime()
	o.BarrierNS = c.clock.Now()
	c.live.begin(o.BarrierNS)
	o.StopReason, o.PublishStopNS = c.offer(ctx, o.BarrierNS)
	if c.plan.Time > 0 && o.StopReason == StopTime {
		o.PublishStopNS = addClock(o.BarrierNS, uint64(c.plan.Time))
	}
	o.Interrupted = o.StopReason == StopInterrupted
	c.live.stop()
	close(c.ending)
	late := time.AfterFunc(max(c.plan.CloseTimeout, 0), func() {
		c.stopUndoing(fmt.Errorf("not done within %v of the end of the load", c.plan.CloseTimeout))
	})
	c.operations.Wait()
	left := c.tearDown()
	late.Stop()
	o.DrainEndNS = c.clock.Now()
	o.CPUNS = cpuTime() - cpu
	o.Drained = left == nil
	if left != nil {
		o.DrainNote = left.Error()
	}
	o.Churn = c.live.outcome()
	c.remains.describe(o.Churn)
	return o, c.rec.Err()
}

// offer begins operations as they are due until it says why, and since when, there are no more.
func (c *churner) offer(ctx context.Context, barrier int64) (reason string, stopped int64) {
	end := event.None
	stop, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	if c.plan.Time > 0 {
		end = addClock(barrier, uint64(c.plan.Time))
		timer := time.AfterFunc(c.plan.Time, func() { halt(errChurnTime) })
		defer timer.Stop()
	}
	d := &dueTimes{timed: c.spec.Timed(), due: event.None}
	if d.timed {
		d.schedule = scheduleOf(c.spec.Schedule(), 0, barrier)
		d.due = d.schedule.due
	}
	wake := &sleeper{index: -1, wake: make(chan struct{}, 1)}
	for n := uint64(0); c.spec.Limit == 0 || n < uint64(c.spec.Limit); n++ {
		switch {
		case c.rec.Err() != nil:
			return StopRecording + ": " + c.rec.Err().Error(), c.clock.Now()
		case d.timed && end != event.None && d.due >= end:
			<-stop.Done() // the rest of the time belongs to the load, too
			return c.reason(ctx), c.clock.Now()
		case d.timed && !c.await(stop, wake, d.due), !c.take(stop, c.places):
			stopped = c.missed(ctx, d, n, end)
			return c.reason(ctx), stopped
		}
		if !c.take(stop, c.slots) {
			<-c.places
			stopped = c.missed(ctx, d, n, end)
			return c.reason(ctx), stopped
		}
		c.begin(n, d.due)
		d.next()
	}
	return StopOperations, c.clock.Now()
}

var errChurnTime = errors.New(StopTime)

func (c *churner) reason(ctx context.Context) string {
	if ctx.Err() != nil {
		return StopInterrupted
	}
	return StopTime
}

// dueTimes are those of the operations, one after the other.
type dueTimes struct {
	timed    bool
	schedule schedule
	due      int64 // of the next; event.None in closed loop
}

func (d *dueTimes) next() {
	if d.timed {
		d.schedule.next()
		d.due = d.schedule.due
	}
}

// await is until an operation is due; false where the load ends before.
func (c *churner) await(stop context.Context, s *sleeper, due int64) bool {
	for c.pacer.waitFor(s, due) {
		select {
		case <-s.wake:
		case <-stop.Done():
			return false
		}
	}
	return stop.Err() == nil
}

// take is until there is a free place; false where the load ends before.
func (c *churner) take(stop context.Context, places chan struct{}) bool {
	if stop.Err() != nil {
		return false
	}
	select {
	case places <- struct{}{}:
		return true
	case <-stop.Done():
		return false
	}
}

// missed is for the operations from n on that were due before the end: at the end of the time those begin that find a place, however
// late this process was to look; from the first on that finds none they are recorded as not begun. It gives the end.
func (c *churner) missed(ctx context.Context, d *dueTimes, n uint64, end int64) int64 {
	now := c.clock.Now()
	if end == event.None || now < end {
		end = now
	}
	first, room := c.firstStep(), true
	for ; d.timed && d.due < end && (c.spec.Limit == 0 || n < uint64(c.spec.Limit)) && c.rec.Err() == nil; n++ {
		if room = room && ctx.Err() == nil && c.free(); room {
			c.begin(n, d.due)
			d.next()
			continue
		}
		c.record(&event.Churn{Op: n, Step: first, Outcome: event.StepNotBegun, Due: d.due, Started: event.None, Begun: event.None, Ended: end,
			Text: "the load ended before its turn came"})
		c.live.missed()
		d.next()
	}
	return end
}

// free takes a place and a slot, where both are to be had now.
func (c *churner) free() bool {
	select {
	case c.places <- struct{}{}:
	default:
		return false
	}
	select {
	case c.slots <- struct{}{}:
		return true
	default:
		<-c.places
		return false
	}
}

// begin starts an operation, which has a place and a slot.
func (c *churner) begin(n uint64, due int64) {
	c.live.alive(1)
	c.operations.Go(func() {
		defer func() {
			c.live.alive(-1)
			<-c.places
		}()
		c.operate(n, due)
	})
}

// operate is the life of one operation.
func (c *churner) operate(n uint64, due int64) {
	op := &operation{churner: c, n: n, due: due}
	made := op.make()
	<-c.slots
	if !made {
		return
	}
	if hold := time.Duration(c.spec.LifetimeNS); hold > 0 {
		timer := time.NewTimer(hold)
		select {
		case <-timer.C:
		case <-c.ending:
			timer.Stop()
		}
	}
	c.slots <- struct{}{} // those in work end within their deadlines
	op.undo()
	<-c.slots
}

func (c *churner) record(row *event.Churn) {
	c.live.steps.Add(1)
	c.rec.Churn(row)
}
