package loadcore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Recovery of a connection and of what it carries: control plane. Each loss has a goroutine of its own, which goes through these
// states; what becomes of single lanes is in recoverlane.go.
//
//	            +---------------------------------------------+
//	            v                                             | lost again, or not opened
//	up --> settling --> waiting --> opening --> restoring ----+
//	                       |           |            |
//	                       |           |            +--> up
//	                       +-----------+--> given up: --reconnect-time is over, or the run
//
//   - settling: its reader has ended, its producers stand aside; what is unconfirmed is in doubt, what is unacked is the broker's
//     again. Nobody else touches its lanes from here on.
//   - waiting: Backoff.
//   - opening: one endpoint after the other, the one that was lost last. It is a new conn in the place of the old one.
//   - restoring: topology, channels, what is to be sent again, consumers; each lane goes on as soon as it is restored. A channel
//     that the broker closes meanwhile is its lane's own affair afterwards.
//
// Schedules go on all the time: what is due meanwhile is late (catchup.go).

// mending is the recovery of one connection, whichever incarnation it has.
type mending struct {
	eng *engine

	mu    sync.Mutex     // guards the following, doomed of connections, and mends of lanes
	busy  bool           // the connection is being recovered
	later []func()       // lanes that begin theirs when it has been
	lanes sync.WaitGroup // lanes that are recovered by themselves

	streak streak // of the goroutine that recovers the connection
}

// mends reports whether what is lost now is recovered.
func (e *engine) mends() bool {
	return e.plan.OnDisconnect == DisconnectReconnect && e.barrier.Load() != 0 && !e.closing.Load()
}

// mayMend begins a recovery; false if there is to be none. Who gets true calls mendings.Done at its end.
func (e *engine) mayMend() bool {
	if !e.mends() {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing.Load() {
		return false
	}
	e.mendings.Add(1)
	return true
}

// endMending ends all recoveries, and keeps others from beginning.
func (e *engine) endMending() {
	e.mu.Lock()
	e.closing.Store(true)
	e.mu.Unlock()
	e.stopMending()
	e.mendings.Wait()
}

// lose begins the recovery of a connection that is lost; its lanes are told next. False: they end.
func (m *mending) lose(c *conn, why loss) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy { // it is looked at when restoring ends
		c.doomed = true
		c.mends.Store(true)
		return true
	}
	if !m.eng.mayMend() {
		return false
	}
	m.busy, c.doomed = true, true
	c.mends.Store(true)
	m.eng.cut.Store(true)
	r := &repair{mending: m, conn: c, why: why, done: manifest.Recovery{
		Connection: int(c.number), LostNS: m.eng.clock.Now(), OpenNS: event.None, RecoveredNS: event.None, Code: int(why.code), Text: why.withRemedy(),
	}}
	m.eng.progress.connectionLost(r.done.LostNS, r.done.Text)
	go func() {
		defer m.eng.mendings.Done()
		r.run()
	}()
	return true
}

// repair is the recovery of one loss of a connection.
type repair struct {
	*mending
	conn *conn // the incarnation that was lost last
	why  loss
	last string // why the last attempt has failed
	done manifest.Recovery
}

func (r *repair) run() {
	ctx, cancel := context.WithDeadline(r.eng.recovering, r.streak.begin(r.eng.plan))
	defer cancel()
	for {
		r.settle()
		timer := time.NewTimer(max(r.streak.wait(r.eng.plan), spread(r.eng.progress.Outage().Missing)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			r.giveUp()
			return
		}
		r.done.Attempts++
		if r.open(ctx) && r.restore(ctx) {
			return
		}
		if ctx.Err() != nil && r.conn.usable() {
			r.conn.fail(loss{text: "given up while it was being recovered: " + r.last})
		}
	}
}

// crowdEach is how long the attempts of a connection are spread over for each one that is lost at the same time. Thousands that try ten
// times a second leave the processors nothing for finding out which others are lost, nor the broker for taking them.
const crowdEach = 500 * time.Microsecond

// spread is a random wait where so many connections are lost.
func spread(lost int) time.Duration { return rand.N(time.Duration(max(lost, 1)) * crowdEach) }

// settle ends what the last incarnation has begun, and takes its lanes over.
func (r *repair) settle() {
	c := r.conn
	<-c.dead
	r.lanes.Wait()
	c.readers.Wait()
	c.out.flushers.Wait()
	r.mu.Lock()
	r.later = nil
	for _, l := range c.lanePlan {
		l.mends(true)
	}
	r.mu.Unlock()
	for _, l := range c.lanePlan {
		<-l.channel().gone
		r.settleLane(&r.done, l)
	}
}

// open makes the next incarnation; false: there is none, or it is lost already.
func (r *repair) open(ctx context.Context) bool {
	e, old := r.eng, r.conn
	c := e.newConn(old.number)
	c.lanePlan, c.timed, c.shared = old.lanePlan, old.timed, old.shared
	c.attempt = fmt.Sprintf("attempt %d", r.done.Attempts)
	c.inherit(old)
	err := c.dial(ctx, e.nextEndpoints(old), e.plan.connectOptions(c.number), func(_ context.Context, l *link, _ ConnectOptions) error {
		if err := c.takeLink(l); err != nil {
			return err
		}
		r.conn = c
		e.conns[c.number].Store(c)
		c.begin()
		return nil
	})
	if err != nil {
		if r.last == "" || ctx.Err() == nil { // one that was cut short as time was over says less than the one before
			r.last = err.Error()
		}
		return false
	}
	r.done.Endpoint, r.done.OpenNS = c.endpoint.String(), e.clock.Now()
	return true
}

// nextEndpoints is the order in which endpoints are tried after a loss: the one that was lost comes last.
func (e *engine) nextEndpoints(lost *conn) []*Endpoint {
	order := e.order(lost.number)
	if i := slices.Index(order, lost.endpoint); i >= 0 {
		order = slices.Concat(order[i+1:], order[:i+1])
	}
	return order
}

// inherit goes on with the counters that the sampler has read.
func (c *conn) inherit(old *conn) {
	c.reads.Store(old.reads.Load())
	for _, n := range [...]struct{ to, from *int64Counter }{
		{&c.seen.bytes, &old.seen.bytes}, {&c.seen.deliveryReads, &old.seen.deliveryReads},
		{&c.seen.deliveries, &old.seen.deliveries}, {&c.seen.paused, &old.seen.paused},
	} {
		n.to.Store(n.from.Load())
	}
}

// restore gives the lanes back what they had; false: the connection is lost again.
func (r *repair) restore(ctx context.Context) bool {
	c := r.conn
	var later []lanePlan
	for _, l := range c.lanePlan {
		err := r.restoreLane(ctx, &r.done, l)
		if err == nil && r.resume(l) {
			continue
		}
		if err != nil {
			r.last = err.Error()
		}
		if ch := l.channel(); c.usable() && !ch.isGone() && !ch.doomed.Load() { // an answer does not come: the broker does not work yet, or not for us
			c.fail(loss{text: "recovering: " + r.last})
		}
		if !c.usable() {
			return false
		}
		later = append(later, l)
	}
	return r.finish(later)
}

// finish ends the recovery, unless the connection has been lost meanwhile. Lanes that could not be restored try on by themselves.
func (r *repair) finish(later []lanePlan) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conn
	if c.doomed {
		return false
	}
	r.busy = false
	r.streak.recovered()
	r.done.RecoveredNS = r.eng.clock.Now()
	r.eng.rec.Connection(&event.Connection{At: r.done.RecoveredNS, Connection: c.number, State: event.Recovered, Producer: event.NoLane, Consumer: event.NoLane, Text: r.done.Describe()})
	r.eng.recovered(r.done)
	r.eng.progress.connectionBack(r.done.RecoveredNS)
	for _, l := range later {
		r.startLane(l, loss{text: r.last}, r.done.LostNS)
	}
	for _, start := range r.later {
		start()
	}
	r.later = nil
	return true
}

// giveUp ends the lanes: the connection is not opened any more.
func (r *repair) giveUp() {
	r.mu.Lock()
	r.busy = false
	r.mu.Unlock()
	why := fmt.Sprintf("%s; it could not be recovered within %v", r.done.Text, r.eng.plan.ReconnectTime)
	if errors.Is(context.Cause(r.eng.recovering), context.Canceled) {
		why = r.done.Text + "; it was not recovered before the run ended"
	}
	if r.last != "" {
		why += ": " + r.last
	}
	r.eng.recovered(r.done)
	r.eng.progress.connectionGivenUp()
	r.eng.failed(manifest.Failure{AtNS: r.done.LostNS, Connection: r.done.Connection, Code: r.done.Code, Text: why})
	for _, l := range r.conn.lanePlan {
		l.end()
	}
	r.eng.wakeMain()
}

// mostRecoveries bounds what the outcome lists of them; the record has all.
const mostRecoveries = 10_000

// recovered notes a recovery that is over.
func (e *engine) recovered(r manifest.Recovery) {
	e.mu.Lock()
	if len(e.recoveries) < mostRecoveries {
		e.recoveries = append(e.recoveries, r)
	}
	e.mu.Unlock()
	e.wakeMain()
}
