package loadcore

import (
	"container/heap"
	"runtime"
	"sync"

	"leveret/capture/event"
)

// pacer wakes producers when their next message is due. One goroutine and one timer serve all producers of a run.
//
// Go's own timers are too coarse for this: a process whose goroutines all wait sleeps in epoll_wait, which counts in
// milliseconds, and a producer of 1000 messages a second would be late by up to a whole period. alarm (pacer_linux.go) is
// a timer that the poller sees as a file, with the resolution of the system's clock.
type pacer struct {
	clock *event.Clock
	alarm alarm
	done  chan struct{}

	mu      sync.Mutex // guards the following
	waiting waitingHeap
	armed   int64 // what alarm is set to; event.None if nothing
	closed  bool
}

// sleeper is a producer's place in the pacer. A producer has one, and waits for one time only.
type sleeper struct {
	due   int64
	index int // in the heap; -1 outside
	wake  chan struct{}
	// producer is whose it is, where a scheduler keeps the time.
	producer *producer
	// conn is whose it is otherwise: its reader is poked.
	conn *conn
}

// spinBelow is how near a due time may be that a producer waits for by yielding instead of sleeping: less than falling
// asleep and being woken cost, so that it burns no processor that a sleep would have saved.
const spinBelow = 5_000 // ns

func newPacer(clock *event.Clock) (*pacer, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	p := &pacer{clock: clock, alarm: a, armed: event.None, done: make(chan struct{})}
	go p.run()
	return p, nil
}

// waitFor asks for a send on s.wake at due; a near due time is waited for at once, and then wakes nobody. Reports whether
// the caller has to wait on s.wake. It may be woken for other reasons as well, and then asks again.
func (p *pacer) waitFor(s *sleeper, due int64) bool {
	now := p.clock.Now()
	for due-now < spinBelow {
		if now >= due {
			return false
		}
		runtime.Gosched()
		now = p.clock.Now()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.waiting.set(s, due)
	p.arm(now)
	return true
}

// wakeAt has the reader of a connection poked at due, and at no other time that was asked for before.
func (p *pacer) wakeAt(s *sleeper, due int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.waiting.set(s, due)
		p.arm(p.clock.Now())
	}
}

// arm sets the alarm to the earliest due time. Called with mu held.
func (p *pacer) arm(now int64) {
	if len(p.waiting) == 0 || p.waiting[0].due == p.armed {
		return
	}
	p.armed = p.waiting[0].due
	p.alarm.set(max(p.armed-now, 1))
}

func (p *pacer) run() {
	defer close(p.done)
	for p.alarm.wait() {
		p.mu.Lock()
		now := p.clock.Now()
		for len(p.waiting) > 0 && p.waiting[0].due <= now {
			s := heap.Pop(&p.waiting).(*sleeper)
			if s.conn != nil {
				s.conn.poke()
			} else {
				wakeUp(s.wake)
			}
		}
		p.armed = event.None
		p.arm(now)
		p.mu.Unlock()
	}
}

// close ends the pacer's goroutine. Nobody is woken by it any more.
func (p *pacer) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.alarm.close()
	<-p.done
}

// wakeUp leaves a token for whoever waits on c, which has room for one; a second one adds nothing.
func wakeUp(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// waitingHeap is a container/heap by due time.
type waitingHeap []*sleeper

// set puts a sleeper to where its due time belongs.
func (h *waitingHeap) set(s *sleeper, due int64) {
	s.due = due
	if s.index >= 0 {
		heap.Fix(h, s.index)
	} else {
		heap.Push(h, s)
	}
}

func (h waitingHeap) Len() int           { return len(h) }
func (h waitingHeap) Less(i, j int) bool { return h[i].due < h[j].due }
func (h waitingHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *waitingHeap) Push(x any) {
	s := x.(*sleeper)
	s.index = len(*h)
	*h = append(*h, s)
}

func (h *waitingHeap) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	s.index = -1
	return s
}
