package loadcore

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// ChurnLive are the counters of a churn, which can be read while it goes on. The zero value is ready for one; safe for
// concurrent use.
type ChurnLive struct {
	steps                                              atomic.Int64
	nMade, nFailed, nMissed, nUndone, nUndoFailed, now atomic.Int64
	most                                               atomic.Int64
	barrier                                            atomic.Int64
	stopped                                            atomic.Bool

	mu   sync.Mutex // guards the following
	hist *hdrhistogram.Histogram
}

// ChurnFigures are counts since the beginning, and the latency of what was made since the last look.
type ChurnFigures struct {
	BarrierNS                                  int64 // when load began; 0 before
	Stopping                                   bool  // nothing new begins
	Made, Failed, NotBegun, Undone, UndoFailed int64
	Alive                                      int64 // being made, held or being undone now
	// Latency counts from due, in closed loop from when the operation began, to when all was made: at the nearest rank of a
	// histogram of three significant digits.
	Count                int64
	P50NS, P99NS, HighNS int64
}

// highestLatency is the most that the live histogram tells apart.
const highestLatency = int64(time.Hour)

// Look gives the counters, and the latencies since the last look.
func (l *ChurnLive) Look() ChurnFigures {
	f := ChurnFigures{BarrierNS: l.barrier.Load(), Stopping: l.stopped.Load(), Made: l.nMade.Load(), Failed: l.nFailed.Load(), NotBegun: l.nMissed.Load(),
		Undone: l.nUndone.Load(), UndoFailed: l.nUndoFailed.Load(), Alive: l.now.Load()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hist == nil || l.hist.TotalCount() == 0 {
		return f
	}
	f.Count, f.P50NS, f.P99NS, f.HighNS = l.hist.TotalCount(), l.hist.ValueAtQuantile(50), l.hist.ValueAtQuantile(99), l.hist.Max()
	l.hist.Reset()
	return f
}

func (l *ChurnLive) begin(barrier int64) { l.barrier.Store(barrier) }
func (l *ChurnLive) stop()               { l.stopped.Store(true) }
func (l *ChurnLive) missed()             { l.nMissed.Add(1) }

// alive counts operations that begin and end. Only one goroutine begins some.
func (l *ChurnLive) alive(n int64) {
	if now := l.now.Add(n); now > l.most.Load() {
		l.most.Store(now)
	}
}

// made counts an operation that was made, or was not.
func (l *ChurnLive) made(ok bool, due, started, ended int64) {
	if !ok {
		l.nFailed.Add(1)
		return
	}
	l.nMade.Add(1)
	if due == event.None {
		due = started
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hist == nil {
		l.hist = hdrhistogram.New(1, highestLatency, 3)
	}
	l.hist.RecordValue(min(max(ended-due, 1), highestLatency))
}

func (l *ChurnLive) undone(ok bool) {
	if ok {
		l.nUndone.Add(1)
	} else {
		l.nUndoFailed.Add(1)
	}
}

// outcome has the counters for the manifest.
func (l *ChurnLive) outcome() *manifest.ChurnOutcome {
	return &manifest.ChurnOutcome{Made: l.nMade.Load(), Failed: l.nFailed.Load(), NotBegun: l.nMissed.Load(), Undone: l.nUndone.Load(),
		UndoFailed: l.nUndoFailed.Load(), Steps: l.steps.Load(), MostAlive: l.most.Load()}
}
