package loadcore

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/HdrHistogram/hdrhistogram-go"

	"leveret/capture/event"
)

// Range and precision of the histograms: nanoseconds, from 1 us to 1 h in three significant digits. What is longer counts
// as 1 h in the percentiles.
const (
	liveLeastNS    = 1_000
	liveGreatestNS = 3_600_000_000_000
	liveDigits     = 3
	liveFrameMost  = 1 << 24 // messages; more count as so many
	liveFrameDigit = 2
)

// liveShard gathers what some of the lanes do. The mutex is taken once for up to len(liveFound.of) different latencies.
type liveShard struct {
	sent, returned, nacked atomic.Int64

	mu         sync.Mutex // guards the following
	answered   [answers]int64
	now, spare *liveSums // spare is empty, but for the time of a harvest, whose it is
}

// take returns the counts since the last call, and leaves the distributions that go with them in spare. Messages that have a
// latency are counted with it, so that no interval has the one without the other.
func (s *liveShard) take() LiveFigures {
	f := LiveFigures{Sent: s.sent.Swap(0), Returned: s.returned.Swap(0), Nacked: s.nacked.Swap(0)}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Received, f.Confirmed, f.Committed = s.answered[answerDelivery], s.answered[answerConfirm], s.answered[answerCommit]
	s.answered = [answers]int64{}
	s.now, s.spare = s.spare, s.now
	return f
}

// settled counts what one read call brought for a producer, but for confirms and commits, and the frames of the confirms.
func (s *liveShard) settled(runs []event.SettledRun) {
	var nacked, returned int64
	frames := false
	for i := range runs {
		switch r := &runs[i]; r.Kind {
		case event.Ack:
			frames = true
		case event.Nack:
			nacked += int64(r.N)
		case event.Return:
			returned += int64(r.N)
		}
	}
	s.nacked.Add(nacked)
	s.returned.Add(returned)
	if frames {
		s.mu.Lock()
		s.now.frames.take(runs)
		s.mu.Unlock()
	}
}

// liveAnswer is how a message was answered.
type liveAnswer uint8

const (
	answerDelivery liveAnswer = iota
	answerConfirm
	answerCommit
	answers
)

// liveFound gathers answers of one kind and their latencies for a shard, so that its mutex is not taken for each of them.
// flush ends it.
type liveFound struct {
	shard    *liveShard
	kind     liveAnswer
	messages int64 // answered, with a latency or without
	missed   int64
	n        int
	of       [64]struct{ ns, messages int64 }
}

// turn sets the kind of what comes next.
func (f *liveFound) turn(kind liveAnswer) {
	if kind != f.kind {
		f.flush()
		f.kind = kind
	}
}

// add takes the latency of some of the messages.
func (f *liveFound) add(ns, messages int64) {
	if f.n > 0 && f.of[f.n-1].ns == ns {
		f.of[f.n-1].messages += messages
		return
	}
	if f.n == len(f.of) {
		f.flush()
	}
	f.of[f.n].ns, f.of[f.n].messages = ns, messages
	f.n++
}

func (f *liveFound) flush() {
	if f.messages == 0 && f.n == 0 {
		return
	}
	s := f.shard
	s.mu.Lock()
	h := &s.now.delivery
	if f.kind != answerDelivery {
		h = &s.now.confirm
	}
	s.answered[f.kind] += f.messages
	h.missed += f.missed
	for i := range f.of[:f.n] {
		h.add(f.of[i].ns, f.of[i].messages)
	}
	s.mu.Unlock()
	f.n, f.missed, f.messages = 0, 0, 0
}

// liveSums are the distributions of an interval.
type liveSums struct {
	delivery, confirm liveHistogram
	frames            liveFrameSizes
}

func newLiveSums() *liveSums {
	s := &liveSums{}
	s.delivery.counts = hdrhistogram.New(liveLeastNS, liveGreatestNS, liveDigits)
	s.confirm.counts = hdrhistogram.New(liveLeastNS, liveGreatestNS, liveDigits)
	s.frames.counts = hdrhistogram.New(1, liveFrameMost, liveFrameDigit)
	s.delivery.reset()
	s.confirm.reset()
	return s
}

func (s *liveSums) merge(other *liveSums) {
	s.delivery.merge(&other.delivery)
	s.confirm.merge(&other.confirm)
	s.frames.merge(&other.frames)
}

func (s *liveSums) reset() {
	s.delivery.reset()
	s.confirm.reset()
	s.frames.reset()
}

func (s *liveSums) figures(f *LiveFigures) {
	f.Delivery, f.Confirm, f.ConfirmFrames = s.delivery.figures(), s.confirm.figures(), s.frames.figures()
}

// liveHistogram is a distribution of latencies; extremes and sum are exact beside it.
type liveHistogram struct {
	counts         *hdrhistogram.Histogram
	missed, skewed int64
	sum            float64
	least, most    int64
}

func (h *liveHistogram) add(ns, messages int64) {
	if ns < 0 {
		h.skewed += messages
		return
	}
	h.least, h.most = min(h.least, ns), max(h.most, ns)
	h.sum += float64(ns) * float64(messages)
	_ = h.counts.RecordValues(min(ns, liveGreatestNS), messages) // in range: it cannot fail
}

func (h *liveHistogram) merge(other *liveHistogram) {
	h.missed += other.missed
	h.skewed += other.skewed
	if other.counts.TotalCount() == 0 {
		return
	}
	h.sum += other.sum
	h.least, h.most = min(h.least, other.least), max(h.most, other.most)
	h.counts.Merge(other.counts)
}

func (h *liveHistogram) reset() {
	if h.counts.TotalCount() > 0 {
		h.counts.Reset()
	}
	h.missed, h.skewed, h.sum, h.least, h.most = 0, 0, 0, math.MaxInt64, 0
}

func (h *liveHistogram) figures() LiveLatency {
	q := LiveLatency{Count: h.counts.TotalCount(), Missed: h.missed, Skewed: h.skewed, SumNS: h.sum}
	if q.Count > 0 {
		q.MinNS, q.MaxNS = h.least, h.most
		at := func(percent int64) int64 { return max(min(atRank(h.counts, percent), h.most), h.least) }
		q.P50NS, q.P75NS, q.P95NS, q.P99NS = at(50), at(75), at(95), at(99)
	}
	return q
}

// atRank is the value at the nearest rank ceil(percent*N/100). The library takes a share of N and rounds, so the share is
// made from the rank.
func atRank(h *hdrhistogram.Histogram, percent int64) int64 {
	n := h.TotalCount()
	rank := percent*(n/100) + (percent*(n%100)+99)/100
	return h.ValueAtQuantile(100 * float64(rank) / float64(n))
}

func (h *liveHistogram) buckets(bounds []int64) LiveBuckets {
	b := LiveBuckets{AtMost: make([]uint64, len(bounds)), Count: uint64(h.counts.TotalCount()), SumNS: h.sum}
	at, below := 0, uint64(0)
	for _, bar := range h.counts.Distribution() {
		for at < len(bounds) && bar.To > bounds[at] {
			b.AtMost[at] = below
			at++
		}
		below += uint64(bar.Count)
	}
	for ; at < len(bounds); at++ {
		b.AtMost[at] = below
	}
	return b
}

// liveFrameSizes is a distribution of messages a frame.
type liveFrameSizes struct {
	counts         *hdrhistogram.Histogram
	messages, most int64
}

// take counts the frames that acked runs. The runs of one frame follow one another; of frames of one message each, all in
// a row are one run.
func (f *liveFrameSizes) take(runs []event.SettledRun) {
	left := uint32(0) // messages of a frame whose further runs follow
	for i := range runs {
		r := &runs[i]
		switch {
		case r.Kind != event.Ack:
			continue
		case left > 0:
			left -= min(left, r.N)
			continue
		case r.FrameMessages <= 1:
			f.add(1, int64(r.N))
			continue
		}
		f.add(int64(r.FrameMessages), 1)
		left = r.FrameMessages - min(r.FrameMessages, r.N)
	}
}

func (f *liveFrameSizes) add(messages, frames int64) {
	f.messages += messages * frames
	f.most = max(f.most, messages)
	_ = f.counts.RecordValues(min(messages, liveFrameMost), frames) // in range: it cannot fail
}

func (f *liveFrameSizes) merge(other *liveFrameSizes) {
	if other.counts.TotalCount() == 0 {
		return
	}
	f.messages += other.messages
	f.most = max(f.most, other.most)
	f.counts.Merge(other.counts)
}

func (f *liveFrameSizes) reset() {
	if f.counts.TotalCount() > 0 {
		f.counts.Reset()
	}
	f.messages, f.most = 0, 0
}

func (f *liveFrameSizes) figures() LiveFrames {
	q := LiveFrames{Count: f.counts.TotalCount(), Messages: f.messages, Max: f.most}
	if q.Count > 0 {
		q.P50, q.P75 = min(atRank(f.counts, 50), q.Max), min(atRank(f.counts, 75), q.Max)
		q.P95, q.P99 = min(atRank(f.counts, 95), q.Max), min(atRank(f.counts, 99), q.Max)
	}
	return q
}
