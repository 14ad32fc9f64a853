package loadcore

import (
	"container/heap"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"leveret/capture/event"
)

// scheduler is one of the few goroutines of the shared drive. It owns connections for life: it reads them all, and gives
// their producers turns. It never waits for one of them: what has to wait for a full socket or for the recorder is lent to a
// goroutine of its own for as long as that takes (turn.go).
//
//	      +--> readable connections: one read each
//	wait -+--> poked connections: acks that were withheld, the end
//	      +--> connections whose consumers have work done by now
//	      +--> producers that are due, woken, or have more to send: one turn each
//	           (back to wait, at once where somebody has more to send)
type scheduler struct {
	eng  *engine
	poll *poller

	// Of the goroutine.
	buf      []byte // one read, whichever connection it comes from
	reading  *conn
	receiver receiver
	rows     [][]event.Delivery
	held     []*conn // not read now: the recorder cannot follow
	sleeping waitingHeap
	again    []*producer // have more to send
	turning  []*producer
	poked    []*conn

	// What the monitor sees of it: the goroutine waits, or begins another round.
	waits  atomic.Bool // and no call has ended that yet
	rounds atomic.Uint64

	helpers sync.WaitGroup // goroutines that producers are lent to
	done    chan struct{}

	mu    sync.Mutex  // guards the following
	woken []*producer // shall have a turn
	calls []*conn     // shall be attended to
	ended bool
}

// dueAtOnce bounds the producers that are woken in one round, so that reading goes on however many are due.
const dueAtOnce = 256

// heldFor is how long connections that are held back wait before the recorder is asked again.
const heldFor = 1_000_000 // ns

func newScheduler(e *engine) (*scheduler, error) {
	poll, err := newPoller()
	if err != nil {
		return nil, err
	}
	s := &scheduler{eng: e, poll: poll, done: make(chan struct{})}
	s.receiver = receiver{borrow: s.room, giveUp: func() {}}
	return s, nil
}

func (s *scheduler) run() {
	defer close(s.done)
	for {
		n, err := s.wait()
		if err != nil {
			s.abandon(err)
		}
		for i := range n {
			if number := s.poll.ready(i); number >= 0 {
				s.readable(s.eng.conn(number))
			}
		}
		if len(s.held) > 0 {
			s.letGo()
		}
		if !s.takeCalls() {
			return
		}
		s.wakeDue()
		for _, p := range s.turning {
			s.turn(p)
		}
	}
}

// wait waits for what the scheduler can be woken by. The flag is set before the lists are looked at, and whoever adds to
// them looks at the flag afterwards: so no call is lost.
func (s *scheduler) wait() (int, error) {
	s.rounds.Add(1)
	s.waits.Store(true)
	now := s.eng.clock.Now()
	until := int64(math.MaxInt64)
	if len(s.sleeping) > 0 {
		until = s.sleeping[0].due
		if until-now < spinBelow {
			until = now
		}
	}
	if len(s.held) > 0 {
		until = min(until, now+heldFor)
	}
	s.mu.Lock()
	if len(s.again)+len(s.woken)+len(s.calls) > 0 || s.ended {
		until = now
	}
	s.mu.Unlock()
	n, err := s.poll.wait(now, until)
	s.waits.Store(false)
	return n, err
}

// takeCalls takes the lists that others have added to, and attends to the connections; false: the scheduler ends.
func (s *scheduler) takeCalls() bool {
	s.mu.Lock()
	clear(s.turning)
	s.turning, s.again = s.again, s.turning[:0]
	for _, p := range s.turning {
		p.again = false
	}
	for i, p := range s.woken {
		p.queued.Store(false)
		s.turning = append(s.turning, p)
		s.woken[i] = nil
	}
	s.woken = s.woken[:0]
	s.poked, s.calls = s.calls, s.poked[:0]
	ended := s.ended
	s.mu.Unlock()
	for _, c := range s.poked {
		s.attend(c)
	}
	clear(s.poked)
	return !ended
}

// wakeDue adds those who are due to the turns of this round.
func (s *scheduler) wakeDue() {
	now := s.eng.clock.Now()
	for range dueAtOnce {
		if len(s.sleeping) == 0 || s.sleeping[0].due > now {
			return
		}
		switch who := heap.Pop(&s.sleeping).(*sleeper); {
		case who.conn != nil:
			who.conn.chores.Store(true)
			s.attend(who.conn)
		default:
			s.turning = append(s.turning, who.producer)
		}
	}
}

// wakeAt has a connection attended to at due, and at no other time that was asked for before. Of the scheduler's goroutine.
func (s *scheduler) wakeAt(who *sleeper, due int64) { s.sleeping.set(who, due) }

// ready gives a producer a turn. Safe for concurrent use.
func (s *scheduler) ready(p *producer) {
	if p.queued.Swap(true) {
		return
	}
	s.mu.Lock()
	s.woken = append(s.woken, p)
	s.mu.Unlock()
	s.call()
}

// poke has the scheduler attend to a connection. Safe for concurrent use.
func (s *scheduler) poke(c *conn) {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	s.call()
}

func (s *scheduler) call() {
	if s.waits.CompareAndSwap(true, false) {
		s.poll.wake()
	}
}

// stop ends the goroutine, and waits for it and for those that its producers were lent to.
func (s *scheduler) stop() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.poll.wake()
	<-s.done
	s.helpers.Wait()
	s.poll.close()
}

// abandon gives up all connections: the system does not tell about them any more. What is left is to end them.
func (s *scheduler) abandon(why error) {
	for _, c := range s.eng.connections() {
		if c.shared == s && c.usable() {
			c.fail(why)
		}
	}
	time.Sleep(time.Millisecond)
}
