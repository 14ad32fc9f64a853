// Package loadcore is the load engine: it opens connections, publishes, takes confirms and deliveries, and hands a record
// of every message to a Recorder.
//
//	Plan --> Run: connect --> barrier --> publish and consume --> stop --> confirms --> drain --> close --> Outcome
//	                                          |
//	                                          +--> Recorder: sends, settlements, deliveries, acks, connection events
//
// A lane is a producer or a consumer: one channel, on one connection for life. Each producer has a goroutine that writes
// (publish.go), each connection one that reads (reader.go); one monitor keeps everybody's clocks. The data plane - encode.go,
// assemble.go, publish.go, window.go, transaction.go, confirm.go, reader.go, content.go, consume.go, outbox.go - allocates nothing per batch and calls no
// interface per message; everything else is control plane.
//
//	outcome, err := loadcore.Run(ctx, &loadcore.Plan{Endpoint: ep, Clock: clock, Topology: t, ...}, recorder)
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

// Run connects, waits until every lane is ready, offers the load, stops, drains and closes. Cancelling ctx stops
// publishing; draining and closing follow in their bounds. The error says that the run could not begin (a *ConnectError, or
// from Plan.Validate) or that its record failed; lanes that ended early are Failures of the outcome. The outcome is nil only
// if the plan was refused.
func Run(ctx context.Context, plan *Plan, rec Recorder) (*manifest.Outcome, error) {
	p := plan.withDefaults()
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r := &run{engine: newEngine(p, rec), outcome: &manifest.Outcome{BarrierNS: event.None, PublishStopNS: event.None, DrainEndNS: event.None}}
	p.Progress.run.Store(r.engine)
	return r.run(ctx)
}

// run is the life of an engine.
type run struct {
	*engine
	outcome  *manifest.Outcome
	sampler  *sampler // nil before load has begun
	cpuStart int64
	// drainTimer ends draining; nil before publishing has stopped.
	drainTimer *time.Timer
	asking     sync.Mutex // held by who asks beside the lanes while queues are drained
	starter    *starter   // these two from the barrier to the stop
	exits      *exits
}

func (r *run) run(ctx context.Context) (*manifest.Outcome, error) {
	var err error
	if err = r.plan.Preflight(ctx, nil); err != nil {
		return r.outcome, err
	}
	if r.plan.Pin == PinCPU {
		if r.cpus, err = allowedCPUs(); err != nil {
			return r.outcome, err
		}
	}
	if r.pacer, err = newPacer(r.clock); err != nil {
		return r.outcome, err
	}
	if err = r.startSchedulers(); err != nil {
		r.stopSchedulers()
		r.pacer.close()
		return r.outcome, err
	}
	monitorDone := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { r.monitor(monitorDone) })
	r.progress.enter(PhaseConnecting)
	if err = r.connect(ctx); err == nil && r.plan.Ready != nil {
		err = r.plan.Ready(ctx)
	}
	if err != nil {
		r.outcome.Interrupted = ctx.Err() != nil
		r.stop("could not begin: " + err.Error())
	} else {
		r.load(ctx)
		r.endConsuming()
		r.endPublishing()
		r.progress.enter(PhaseDraining)
		if r.fatalError() == nil {
			r.drain()
		}
		r.outcome.DrainEndNS = r.clock.Now()
		r.sampler.stop()
		r.outcome.CPUNS = cpuTime() - r.cpuStart
	}
	r.progress.enter(PhaseClosing)
	r.close()
	r.stopSchedulers()
	close(monitorDone)
	watching.Wait()
	r.pacer.close()
	r.stopPublishing()
	r.stopDraining()
	if r.drainTimer != nil {
		r.drainTimer.Stop()
	}
	r.summarize()
	r.unackedAtStop()
	r.progress.enter(PhaseDone)
	if err == nil {
		err = r.fatalError()
	}
	return r.outcome, err
}

// load is the time from the barrier to the stop of publishing.
func (r *run) load(ctx context.Context) {
	r.begin()
	var limit <-chan time.Time
	if r.plan.Time > 0 {
		timer := time.NewTimer(r.plan.Time)
		defer timer.Stop()
		limit = timer.C
	}
	for {
		if reason := r.over(); reason != "" {
			r.stop(reason)
			return
		}
		select {
		case <-ctx.Done():
			r.outcome.Interrupted = true
			r.stop(StopInterrupted)
			return
		case <-limit:
			r.stop(StopTime)
			return
		case <-r.changed:
		}
	}
}

// endConsuming keeps consumers from beginning, or leaving by themselves, after the load.
func (r *run) endConsuming() {
	r.endingSince = time.Now()
	r.drainTimer = time.AfterFunc(r.plan.DrainTimeout, r.stopDraining)
	r.starter.end()
	r.exits.end()
}

// begin is the barrier: every lane is ready, and the schedules count from now.
func (r *run) begin() {
	r.cpuStart = cpuTime()
	now := r.clock.Now()
	if r.plan.Time > 0 {
		r.end.Store(addClock(now, uint64(r.plan.Time)))
	}
	for _, p := range r.producers {
		if p.timed {
			p.sched = scheduleOf(p.spec, p.index, now)
		} else if p.spec.PhaseNS > 0 {
			p.start = addClock(now, uint64(p.spec.PhaseNS))
		}
	}
	r.publishers.Store(int32(len(r.producers)))
	r.writing.Add(len(r.producers))
	r.sampler = r.newSampler(now)
	r.barrier.Store(now) // turns are given from here on
	r.outcome.BarrierNS = now
	r.progress.enter(PhaseRunning)
	r.starter, r.exits = r.newStarter(), r.watchExits()
	r.starter.done.Go(func() { r.starter.run(r, now) })
	for _, p := range r.producers {
		if p.shared != nil {
			p.shared.ready(p)
			continue
		}
		go func() {
			p.ch.conn.pin()
			p.publish()
			r.published(p)
		}()
	}
	if r.plan.Started != nil {
		r.plan.Started()
	}
}

// published is called once a producer has ended.
func (e *engine) published(p *producer) {
	p.seen.begin(waitNoMore, e.clock.Now())
	p.done.Store(true)
	if p.exhausted {
		e.producerFailed(p, fmt.Sprintf("the sequence of a producer ends after %d messages", uint64(event.MaxSequence)+1))
	}
	if e.publishers.Add(-1) == 0 {
		e.wakeMain()
	}
	e.writing.Done()
}

// endPublishing waits for the producers, and for the confirms of what they sent. Everything from here to the end of the
// drain is bounded by the drain timeout.
func (r *run) endPublishing() {
	late := time.AfterFunc(lastCall, r.stopPublishing)
	defer late.Stop()
	for r.publishers.Load() > 0 && r.draining.Err() == nil {
		if r.fatalError() != nil { // nothing can be recorded any more: nothing is worth waiting for
			r.haltProducers()
			r.drainTimer.Reset(min(r.plan.DrainTimeout, r.plan.CloseTimeout))
		}
		select {
		case <-r.changed:
		case <-r.draining.Done():
		}
	}
	r.haltWrites()
	r.writing.Wait()
	r.publishingEnded()
	r.progress.enter(PhaseConfirming)
	r.confirmsAwaited.Store(true)
	for !r.confirmed() && r.draining.Err() == nil && r.fatalError() == nil {
		select {
		case <-r.changed:
		case <-r.draining.Done():
		}
	}
}

func (r *run) haltProducers() {
	for _, p := range r.producers {
		p.halt()
	}
	r.stopPublishing()
}

// haltWrites ends producers that are stuck in the socket: nothing but closing it gets them out.
func (r *run) haltWrites() {
	if r.publishers.Load() == 0 {
		return
	}
	r.haltProducers()
	for _, c := range r.connections() {
		if c.opened.Load() && c.out.busy.Load() != 0 {
			c.fail(errTakesNothing)
		}
	}
}

var errTakesNothing = errors.New("publishing was to stop, and the broker did not take what was being written")

// confirmed reports whether no producer that still can waits for a confirm.
func (r *run) confirmed() bool {
	for _, p := range r.producers {
		if !p.halted.Load() && p.unsettled() > 0 || p.cut.Load() && r.plan.Republish {
			return false
		}
	}
	return true
}

// summarize fills in the outcome once everything has ended.
func (r *run) summarize() {
	o := r.outcome
	r.mu.Lock()
	r.describeLosses()
	o.Unanswered = r.unanswered.list()
	o.StopReason, o.Failures, o.Recoveries = r.reason, r.failures, r.recoveries
	r.mu.Unlock()
	if o.StopReason == StopSent {
		o.StopReason += r.limitsMissed()
	}
	for _, p := range r.producers {
		o.Sent += p.count.sent.Load()
		o.InDoubt += p.count.inDoubt.Load()
		o.Republished += p.count.republished.Load()
		o.NotSent += p.count.notSent.Load()
		o.Confirmed += p.count.confirmed.Load()
		o.Nacked += p.count.nacked.Load()
		o.Returned += p.count.returned.Load()
		o.Committed += p.count.committed.Load()
		o.UnattributedReturns += p.confirms.unattributed
		if p.win != nil {
			o.ContradictoryConfirms += int64(p.win.contradictory)
		}
	}
	for _, s := range r.consumers {
		o.Received += int64(s.tag)
		if !s.spec.AutoAck {
			o.Acked += int64(s.settled()) - s.count.abandoned.Load()
		}
	}
	o.Ends = r.ends()
}

// unackedAtStop is what the consumers never acked, by queue. For after all readers have ended.
func (r *run) unackedAtStop() {
	if len(r.outcome.Queues) == 0 {
		return
	}
	for _, s := range r.consumers {
		for k := range s.queues {
			q := &r.outcome.Queues[s.queues[k].queue]
			q.UnackedAtStop += s.unacked(k)
			q.UnworkedAtStop += s.unworked(k)
		}
	}
}
