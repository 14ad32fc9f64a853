package loadcore

import (
	"context"
	"fmt"
	"math"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// Recovery of single lanes: after their connection's, or by themselves where the broker has closed a channel or cancelled a
// consumer of a connection that goes on.

// channel is the lane's channel, as it is now.
func (l lanePlan) channel() *channel {
	if l.producer != nil {
		return l.producer.current.Load()
	}
	return l.consumer.current.Load()
}

// mends sets whether the lane is being recovered. mending.mu is held.
func (l lanePlan) mends(on bool) {
	if l.producer != nil {
		l.producer.mends = on
	} else {
		l.consumer.mends = on
		l.consumer.mending.Store(on)
	}
}

func (l lanePlan) isMending() bool {
	if l.producer != nil {
		return l.producer.mends
	}
	return l.consumer.mends
}

func (l lanePlan) streak() *streak {
	if l.producer != nil {
		return &l.producer.streak
	}
	return &l.consumer.streak
}

// end ends a lane that is not recovered any more.
func (l lanePlan) end() {
	if l.producer != nil {
		l.producer.halt()
		return
	}
	l.consumer.mending.Store(false)
	l.consumer.eng.consumerEnded(l.consumer)
}

// suspend has the producer stand aside until resume.
func (p *producer) suspend() {
	p.cuts.Add(1)
	p.cut.Store(true)
	p.halted.Store(true)
	if p.ended.Load() {
		p.cut.Store(false)
	}
	p.awake()
}

// resume lets it go on, on another channel. The order counts: see standAside.
func (p *producer) resume() {
	p.halted.Store(false)
	p.cut.Store(false)
	if p.ended.Load() {
		p.halted.Store(true)
	}
	p.awake()
}

// standAside is next for a producer that is halted: it waits while its channel is being recovered, and touches nothing until
// then. When publishing stops meanwhile it ends, and what was due is not sent.
func (p *producer) standAside() (n int, w pause, more bool) {
	cuts := p.cuts.Load()
	if !p.cut.Load() && !p.halted.Load() { // it goes on
		return 0, w, true
	}
	if !p.cut.Load() || p.eng.stopped.Load() {
		return 0, w, false
	}
	p.aside.Store(cuts)
	return 0, pause{until: math.MaxInt64}, true
}

// standsAside reports whether nobody drives the producer.
func (p *producer) standsAside() bool { return p.done.Load() || p.aside.Load() == p.cuts.Load() }

// asideLook is how often that is looked at.
const asideLook = time.Millisecond

// settleLane waits until nobody drives a lane whose channel is gone, and writes off what that has left open.
func (m *mending) settleLane(done *manifest.Recovery, l lanePlan) {
	if p := l.producer; p != nil {
		for !p.standsAside() { // a write call has failed by now, and a wait for the recorder is bounded
			time.Sleep(asideLook)
		}
		p.own.Lock()
		defer p.own.Unlock()
		done.InDoubt += int64(p.abandon(m.eng.clock.Now()))
		return
	}
	done.Unacked += int64(l.consumer.abandon())
}

// restoreLane opens a lane's channel, prepares it, sends again what is in doubt and subscribes. The channel is new, and nobody
// else uses it.
func (m *mending) restoreLane(ctx context.Context, done *manifest.Recovery, l lanePlan) error {
	ctx, cancel := context.WithTimeout(ctx, m.eng.plan.connectOptions(0).Timeout+m.eng.remade(l).time())
	defer cancel()
	ch := l.channel()
	if _, err := ch.call(ctx, &wire.ChannelOpen{}, wire.ChannelOpenOkID); err != nil {
		return err
	}
	if err := m.eng.redeclare(ctx, ch); err != nil {
		return err
	}
	if p := l.producer; p != nil {
		p.own.Lock()
		err := p.prepare(ctx)
		p.own.Unlock()
		if err != nil {
			return fmt.Errorf("producer %d: %w", p.index, err)
		}
		if err := m.awaitQueues(ctx, p); err != nil {
			return err
		}
		p.own.Lock()
		defer p.own.Unlock()
		n, err := p.republish(ctx)
		done.Republished += int64(n)
		return err
	}
	s := l.consumer
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if !s.wanted.Load() || !s.live() {
		return nil
	}
	return s.subscribe(ctx)
}

// resume lets a lane go on that is restored; false if its channel is lost again.
func (m *mending) resume(l lanePlan) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	ch := l.channel()
	if ch.doomed.Load() || ch.conn.doomed || ch.isGone() || l.consumer != nil && l.consumer.unsubscribed() {
		return false
	}
	l.mends(false)
	if l.producer != nil {
		l.producer.resume()
	}
	m.eng.wakeMain()
	return true
}

// unsubscribed reports whether the consumer consumes less than it should.
func (s *consumer) unsubscribed() bool {
	if !s.wanted.Load() || !s.live() {
		return false
	}
	for i := range s.queues {
		if s.queues[i].state.Load() == notYet {
			return true
		}
	}
	return false
}

// holds reports whether the lane of a channel that is about to go is being recovered: then that goes on.
func (m *mending) holds(ch *channel) bool {
	l := lanePlan{ch.producer, ch.consumer}
	if l == (lanePlan{}) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.isMending() {
		ch.doomed.Store(true)
		return true
	}
	return false
}

// loseChannel begins the recovery of a channel that the broker has closed; its lane is told next. False: it ends.
func (m *mending) loseChannel(ch *channel, why loss) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.loseLane(lanePlan{ch.producer, ch.consumer}, why) {
		return false
	}
	ch.doomed.Store(true)
	return true
}

// loseConsumer is loseChannel where the channel stays.
func (m *mending) loseConsumer(s *consumer, why loss) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loseLane(lanePlan{consumer: s}, why)
}

// loseLane begins the recovery of a lane whose channel is about to go, or whose consumer the broker has cancelled. While its
// connection is being recovered that waits until the others of the connection are. mending.mu is held.
func (m *mending) loseLane(l lanePlan, why loss) bool {
	if l.isMending() { // whoever does so sees it
		return true
	}
	if !m.eng.mends() {
		return false
	}
	l.mends(true)
	lost := m.eng.clock.Now()
	if m.busy {
		m.later = append(m.later, func() { m.startLane(l, why, lost) })
		return true
	}
	m.startLane(l, why, lost)
	return true
}

// startLane begins the recovery of one lane; where the run is closing it ends. mending.mu is held.
func (m *mending) startLane(l lanePlan, why loss, lost int64) {
	if !m.eng.mayMend() {
		l.end()
		return
	}
	m.eng.cut.Store(true)
	r := &laneRepair{mending: m, lane: l, done: manifest.Recovery{
		Connection: int(l.channel().conn.number), LostNS: lost, OpenNS: event.None, RecoveredNS: event.None, Code: int(why.code), Text: why.withRemedy(),
	}}
	number := 0
	if l.producer != nil {
		number, r.done.Producer = int(l.producer.index), &number
	} else {
		number, r.done.Consumer = int(l.consumer.index), &number
	}
	m.lanes.Add(1)
	go func() {
		defer m.eng.mendings.Done()
		defer m.lanes.Done()
		r.run()
	}()
}

// laneRepair is the recovery of one lane.
type laneRepair struct {
	*mending
	lane lanePlan
	last string
	done manifest.Recovery
}

// run ends early where the connection is lost: its recovery takes the lane over. A channel that was closed for what it sent again is
// not opened once more.
func (r *laneRepair) run() {
	streak := r.lane.streak()
	ctx, cancel := context.WithDeadline(r.eng.recovering, streak.begin(r.eng.plan))
	defer cancel()
	c := r.lane.channel().conn
	for {
		if r.lane.channel().refused.Load() {
			if r.settle(c) {
				r.giveUp()
			}
			return
		}
		timer := time.NewTimer(streak.wait(r.eng.plan))
		select {
		case <-timer.C:
		case <-c.dead:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			if r.lane.channel().doomed.Load() && !r.settle(c) {
				return
			}
			r.giveUp()
			return
		}
		r.done.Attempts++
		if err := r.attempt(ctx, c); err != nil {
			r.last = err.Error()
		} else if r.resumeAs(streak) {
			r.finish()
			return
		}
		if !c.usable() {
			<-c.dead
			return
		}
	}
}

// attempt gives the lane a new channel where its own is gone, and restores it.
func (r *laneRepair) attempt(ctx context.Context, c *conn) error {
	if s := r.lane.consumer; s != nil && !s.current.Load().doomed.Load() { // it was cancelled
		ctx, cancel := context.WithTimeout(ctx, r.eng.plan.connectOptions(0).Timeout+r.eng.remade(r.lane).time())
		defer cancel()
		if err := r.eng.redeclare(ctx, s.current.Load()); err != nil {
			return err
		}
		return s.subscribe(ctx)
	}
	if !r.settle(c) {
		return c.lossReason()
	}
	c.onReader(func() {
		ch := newChannel(c, r.lane.channel().number)
		ch.producer, ch.consumer = r.lane.producer, r.lane.consumer
		ch.carry()
		c.lanes[ch.number].Store(ch)
	})
	return r.restoreLane(ctx, &r.done, r.lane)
}

// settle ends what the lane has begun on its channel, which is gone; false: the connection is lost.
func (r *laneRepair) settle(c *conn) bool {
	select {
	case <-r.lane.channel().gone:
	case <-c.dead:
		return false
	}
	if p := r.lane.producer; p != nil {
		for !p.standsAside() {
			time.Sleep(asideLook)
		}
	}
	c.onReader(func() { r.settleLane(&r.done, r.lane) })
	return true
}

// resumeAs is resume, and ends the attempts that the streak counts.
func (r *laneRepair) resumeAs(s *streak) bool {
	s.recovered() // before the next loss can begin
	return r.resume(r.lane)
}

func (r *laneRepair) finish() {
	r.done.RecoveredNS = r.eng.clock.Now()
	r.done.OpenNS = r.done.RecoveredNS
	ev := event.Connection{At: r.done.RecoveredNS, Connection: uint32(r.done.Connection), State: event.Recovered, Producer: event.NoLane, Consumer: event.NoLane, Text: r.done.Describe()}
	if r.done.Producer != nil {
		ev.Producer = uint32(*r.done.Producer)
	} else {
		ev.Consumer = uint32(*r.done.Consumer)
	}
	r.eng.rec.Connection(&ev)
	r.eng.recovered(r.done)
}

func (r *laneRepair) giveUp() {
	why := fmt.Sprintf("%s; it could not be recovered within %v", r.done.Text, r.eng.plan.ReconnectTime)
	if r.eng.recovering.Err() != nil {
		why = r.done.Text + "; it was not recovered before the run ended"
	}
	if r.last != "" && r.last != r.done.Text {
		why += ": " + r.last
	}
	code := r.done.Code
	if ch := r.lane.channel(); ch.refused.Load() {
		code, why = int(ch.why.code), ch.why.withRemedy()
	}
	r.eng.recovered(r.done)
	r.eng.failed(manifest.Failure{AtNS: r.done.LostNS, Connection: r.done.Connection, Producer: r.done.Producer, Consumer: r.done.Consumer, Code: code, Text: why})
	r.lane.end()
	r.eng.wakeMain()
}
