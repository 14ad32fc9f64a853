package loadcore

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// engine is one run: its lanes, and what they have in common.
type engine struct {
	plan     *Plan // with defaults
	clock    *event.Clock
	rec      Recorder
	pacer    *pacer
	progress *Progress

	bodies     []pooledBody            // of producers with PooledBodies
	exclusive  map[int]*exclusiveQueue // by queue
	conns      []atomic.Pointer[conn]  // by number; another one where a connection was opened again
	schedulers []*scheduler
	producers  []*producer
	consumers  []*consumer

	barrier    atomic.Int64   // when load began; 0 before
	end        atomic.Int64   // nothing that is due at or after it is sent
	stopped    atomic.Bool    // publishing shall end
	publishers atomic.Int32   // producers that are still publishing
	writing    sync.WaitGroup // they

	// changed has a token when something happened that the main loop may be waiting for.
	changed         chan struct{}
	confirmsAwaited atomic.Bool // a producer whose last confirm has come says so

	publishing     context.Context // ends what a producer waits for in the recorder
	stopPublishing context.CancelFunc
	draining       context.Context // ends with the drain timeout, once publishing has stopped
	stopDraining   context.CancelFunc

	endingSince time.Time // when publishing was to stop; zero: it has not
	leaveOnce   sync.Once // guards the following three
	leaveTime   time.Duration
	leaving     context.Context
	stopLeaving context.CancelFunc
	silent      sync.Map // endpoints that did not answer in time
	longest     sync.Map // basic.publish frames, by the routes of a producer
	cpus        []int    // with PinCPU: the processors to go round

	// Of recoveries (recovery.go).
	mending     []mending
	mendings    sync.WaitGroup
	recovering  context.Context // ends when connections are to be closed
	stopMending context.CancelFunc
	cut         atomic.Bool // there was one
	renaming    renaming
	bindingsOf  func() map[int][]*manifest.Binding // by queue
	remakes     sync.Map                           // *remade

	limitsDeliveries atomic.Bool // of itself: the broker's quorum queues have a delivery limit where nothing is said of one

	drained atomic.Bool // the time of the drain is over
	closing atomic.Bool // connections are being closed: their loss is no failure of the run

	mu       sync.Mutex // guards the following
	failures []manifest.Failure
	lost     []lostConn
	// recoveries are those that are over; losses tell of each when it begins.
	recoveries []manifest.Recovery
	reason     string
	fatal      error // the recorder's
	unanswered sayings
}

func newEngine(plan *Plan, rec Recorder) *engine {
	e := &engine{plan: plan, clock: plan.Clock, rec: rec, progress: plan.Progress, changed: make(chan struct{}, 1)}
	e.end.Store(math.MaxInt64)
	e.bodies, e.exclusive = poolBodies(plan.Bodies), plan.exclusiveQueues()
	e.bindingsOf = sync.OnceValue(func() map[int][]*manifest.Binding { return bindingsByQueue(plan.Topology) })
	e.publishing, e.stopPublishing = context.WithCancel(context.Background())
	e.recovering, e.stopMending = context.WithCancel(context.Background())
	e.draining, e.stopDraining = context.WithCancel(context.Background())
	for i := range plan.Producers {
		e.producers = append(e.producers, e.newProducer(i, &plan.Producers[i]))
	}
	for i := range plan.Consumers {
		e.consumers = append(e.consumers, e.newConsumer(i, &plan.Consumers[i]))
	}
	e.conns = make([]atomic.Pointer[conn], plan.Connections)
	e.mending = make([]mending, plan.Connections)
	for i := range e.conns {
		e.conns[i].Store(e.newConn(uint32(i)))
		e.mending[i].eng = e
	}
	for _, p := range e.producers {
		c := e.conn(p.spec.Connection)
		c.lanePlan = append(c.lanePlan, lanePlan{producer: p})
	}
	for _, s := range e.consumers {
		c := e.conn(s.spec.Connection)
		c.lanePlan = append(c.lanePlan, lanePlan{consumer: s})
		c.timed = c.timed || s.work != nil || s.spec.Polling
	}
	return e
}

func (e *engine) newConn(number uint32) *conn {
	c := &conn{eng: e, number: number, dead: make(chan struct{}), armed: math.MaxInt64, sleeper: sleeper{index: -1}}
	c.sleeper.conn = c
	return c
}

// conn is the connection of a number, as it is now.
func (e *engine) conn(number int) *conn { return e.conns[number].Load() }

// connections are all of them in order.
func (e *engine) connections() iter.Seq2[int, *conn] {
	return func(yield func(int, *conn) bool) {
		for i := range e.conns {
			if !yield(i, e.conn(i)) {
				return
			}
		}
	}
}

// wakeMain has the main loop look again.
func (e *engine) wakeMain() { wakeUp(e.changed) }

// stop ends publishing now; the first reason counts. What was due before end may still go out, see lastCall.
func (e *engine) stop(reason string) {
	e.mu.Lock()
	if e.reason == "" {
		e.reason = reason
	}
	e.mu.Unlock()
	if e.stopped.Load() {
		return
	}
	e.end.Store(min(e.end.Load(), e.clock.Now()))
	e.stopped.Store(true)
	for _, p := range e.producers {
		p.awake()
	}
}

// recorderRefused is called when the recorder fails or was no longer waited for.
func (e *engine) recorderRefused() {
	err := e.rec.Err()
	if err == nil {
		return
	}
	e.mu.Lock()
	if e.fatal == nil {
		e.fatal = fmt.Errorf(StopRecording+": %w", err)
	}
	e.mu.Unlock()
	e.wakeMain()
}

func (e *engine) fatalError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fatal
}

// mostFailures bounds what the outcome lists of them; the record has what was lost.
const mostFailures = 10_000

func (e *engine) failed(f manifest.Failure) {
	e.mu.Lock()
	if len(e.failures) < mostFailures {
		e.failures = append(e.failures, f)
	}
	e.mu.Unlock()
	e.wakeMain()
}

// lostConn is a connection that was lost: which of the failures it is, and what is said of the loss itself.
type lostConn struct {
	failure int
	conn    *conn
	text    string
}

// connectionLost is called once for a connection that is lost. Its lanes are told next.
func (e *engine) connectionLost(c *conn, why loss) {
	if e.closing.Load() || e.mending[c.number].lose(c, why) {
		return
	}
	l := lostConn{conn: c, text: why.withRemedy()}
	f := manifest.Failure{AtNS: e.clock.Now(), Connection: int(c.number), Code: int(why.code), Text: l.describe()}
	e.mu.Lock()
	l.failure = len(e.failures)
	e.failures, e.lost = append(e.failures, f), append(e.lost, l)
	e.mu.Unlock()
	if e.plan.OnDisconnect == DisconnectFail && e.barrier.Load() != 0 {
		e.stop(StopDisconnected + ": " + l.text)
	}
	e.wakeMain()
}

// describe says what messages of the connection's producers have no answer, too. While a write call is under way, these are all
// that it was to carry.
func (l *lostConn) describe() string {
	unconfirmed, uncommitted := 0, 0
	for _, lane := range l.conn.lanePlan {
		switch p := lane.producer; {
		case p == nil:
		case p.tx != nil:
			uncommitted += p.unsettled()
		default:
			unconfirmed += p.unsettled()
		}
	}
	text := l.text
	if unconfirmed > 0 {
		text += "; " + notSettled(unconfirmed, false)
	}
	if uncommitted > 0 {
		text += "; " + notSettled(uncommitted, true)
	}
	return text
}

// describeLosses says it again, when all write calls have ended. Called with mu held.
func (e *engine) describeLosses() {
	for i := range e.lost {
		e.failures[e.lost[i].failure].Text = e.lost[i].describe()
	}
}

// channelClosed is called when the broker has closed a channel. Its lane is told next. Where it answers a question of the
// drain, of a queue that is gone, a producer has not failed: it has ended before, and the drain's note says what it was told.
// Once the drain is over, a consumer's can only be a late answer of that kind, too.
func (e *engine) channelClosed(ch *channel, m *wire.ChannelClose, why loss) {
	refused := ch.producer != nil && refusesMessage(why)
	ch.refused.Store(refused)
	if e.mending[ch.conn.number].holds(ch) {
		e.laneEvent(ch, event.ChannelClosed, why)
		return
	}
	if why.code == uint16(wire.ReplyNotFound) {
		asked := wire.MethodID(uint32(m.Class)<<16|uint32(m.Method)) == wire.QueueDeclareID
		if e.drained.Load() || asked && ch.producer != nil {
			return
		}
	}
	if ch.producer != nil || ch.consumer != nil {
		f := e.laneEvent(ch, event.ChannelClosed, why)
		if refused || !e.mending[ch.conn.number].loseChannel(ch, why) {
			e.laneFailed(f)
		}
	}
}

// laneEvent records what ended a lane, or a part of it, before it should, and returns what that is where it is not made good.
func (e *engine) laneEvent(ch *channel, state event.ConnectionState, why loss) manifest.Failure {
	ev := event.Connection{
		At: e.clock.Now(), Connection: ch.conn.number, State: state,
		Producer: event.NoLane, Consumer: event.NoLane, Code: why.code, Text: why.text,
	}
	f := manifest.Failure{AtNS: ev.At, Connection: int(ch.conn.number), Code: int(why.code), Text: why.withRemedy()}
	lane := 0
	if ch.producer != nil {
		lane, f.Producer = int(ch.producer.index), &lane
		ev.Producer = uint32(lane)
	} else {
		lane, f.Consumer = int(ch.consumer.index), &lane
		ev.Consumer = uint32(lane)
	}
	e.rec.Connection(&ev)
	return f
}

// laneFailed is called when a lane has ended before it should.
func (e *engine) laneFailed(f manifest.Failure) {
	e.failed(f)
	if e.plan.OnDisconnect == DisconnectFail && e.barrier.Load() != 0 {
		e.stop(StopDisconnected + ": " + f.Text)
	}
}

// producerFailed ends a producer whose connection goes on.
func (e *engine) producerFailed(p *producer, text string) {
	lane := int(p.index)
	e.failed(manifest.Failure{AtNS: e.clock.Now(), Connection: p.spec.Connection, Producer: &lane, Text: text})
	p.halt()
	e.wakeMain()
}

// consumerFailed ends a consumer whose connection goes on.
func (e *engine) consumerFailed(s *consumer, text string) {
	lane := int(s.index)
	e.consumerEnded(s)
	e.laneFailed(manifest.Failure{AtNS: e.clock.Now(), Connection: s.spec.Connection, Consumer: &lane, Text: text})
}

// consumerEnded is called when a consumer can receive no more.
func (e *engine) consumerEnded(s *consumer) {
	s.ended.Store(true)
	e.wakeMain()
}
