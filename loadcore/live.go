package loadcore

import (
	"runtime"
	"sync"

	"leveret/capture/event"
)

// Live is a Recorder that hands everything on to another one and keeps figures of what passes, for looking at a run while
// it goes on. The figures are not the record: that is exact, these have the precision that LiveLatency states.
//
// Delivery and confirm latency count from sent. A message's sent time is looked up by producer and sequence in a ring of
// that producer's recent batches (liveruns.go); where it was overwritten meanwhile the latency is Missed. In a process
// without producers nothing is known of what was sent when: there delivery latency counts from the due time in bodies of
// at least StampDueSize bytes, by the wall clocks of the two hosts, and Origin says so.
//
// It takes at most 32 MiB for the rings, of which a producer has its share from its first batch on (at most 2 MiB), half as
// much again for messages that are answered before the write call that carries them has returned, and less than 10 MiB for
// histograms. Safe for concurrent use as a Recorder is.
type Live struct {
	Recorder
	clock     *event.Clock
	tag       uint16
	origin    LiveOrigin
	producers []liveProducer
	shards    []liveShard

	mu       sync.Mutex // guards the following
	total    *liveSums
	totalOf  LiveFigures // its counts
	begun    int64
	interval *LiveWatch // that of Interval
	watches  []*LiveWatch
}

// LiveOrigin is where delivery latency counts from.
type LiveOrigin uint8

const (
	FromSent LiveOrigin = iota // the clock read before the write call, in this process
	FromDue                    // the due time in the body, on the clock of the process that sent it
)

// LiveFigures are what passed in one interval. Counts are of messages.
type LiveFigures struct {
	AtNS   int64 // end of the interval, on the record's clock
	SpanNS int64 // its length

	Sent, Returned, Confirmed, Nacked, Received int64 // what is answered before its batch is recorded counts when it is
	Committed                                   int64 // published in transactions that were committed

	Delivery LiveLatency
	Confirm  LiveLatency // to the confirm, or to the commit of the transaction; nacks and returns have none
	// ConfirmFrames are the acks of the broker, by how many messages each one confirmed.
	ConfirmFrames LiveFrames
}

// LiveLatency is a distribution of latencies, in nanoseconds. The percentiles are at the nearest rank, of a histogram of
// three significant digits: at most 0.1 % (below 1 ms: 512 ns) above the exact value. Least, greatest, sum and counts are
// exact. Everything but the counts is 0 where Count is 0.
type LiveLatency struct {
	Count  int64
	Missed int64 // messages whose sent time was overwritten: without figure, and likely the longest ones
	Skewed int64 // negative, as clocks of two hosts differ: without figure
	SumNS  float64
	MinNS  int64
	P50NS  int64
	P75NS  int64
	P95NS  int64
	P99NS  int64
	MaxNS  int64
}

// Biased tells that messages are missing among the figures, so that they are not to be shown as if they were of all.
func (q *LiveLatency) Biased() bool { return q.Missed > 0 || q.Skewed > 0 }

// LiveFrames is a distribution of messages a frame; percentiles to two significant digits.
type LiveFrames struct {
	Count, Messages    int64
	P50, P75, P95, P99 int64
	Max                int64
}

// LiveBuckets count latencies by bounds.
type LiveBuckets struct {
	AtMost []uint64 // of each bound, how many latencies are at most that long; cumulative, to within the histogram's precision
	Count  uint64   // in all
	SumNS  float64
}

// LiveWatch gives figures interval by interval to one reader.
type LiveWatch struct {
	live   *Live
	sums   *liveSums
	counts LiveFigures
	since  int64
}

// NewLive returns a Live for one run of plan that hands everything on to next.
func NewLive(plan *Plan, next Recorder) *Live {
	l := &Live{Recorder: next, clock: plan.Clock, tag: plan.Tag, begun: plan.Clock.Now(), total: newLiveSums()}
	if len(plan.Producers) == 0 {
		l.origin = FromDue
	}
	l.producers = make([]liveProducer, len(plan.Producers))
	for i := range l.producers {
		l.producers[i].bound(len(l.producers))
	}
	lanes := max(1, len(plan.Producers)+len(plan.Consumers))
	l.shards = make([]liveShard, min(8, 2*runtime.GOMAXPROCS(0), lanes))
	for i := range l.shards {
		l.shards[i].now, l.shards[i].spare = newLiveSums(), newLiveSums()
	}
	l.interval = l.Watch()
	return l
}

// Origin says where delivery latency counts from.
func (l *Live) Origin() LiveOrigin { return l.origin }

// Sends keeps when the messages of a batch were sent, before it hands the batch on.
func (l *Live) Sends(s *event.Sends) {
	if s.N > 0 && int(s.Producer) < len(l.producers) {
		p := &l.producers[s.Producer]
		p.mu.Lock()
		again := s.First < p.next // sent before: it counts, and its latencies, from the first time
		if !again {
			p.add(s.First, s.N, s.Sent)
			p.answer(l.shards)
		}
		p.mu.Unlock()
		if s.Sent != event.None && !again {
			l.shard(s.Producer).sent.Add(int64(s.N))
		}
	}
	l.Recorder.Sends(s)
}

// Settlements hands on what one read call brought for one producer, and takes its confirm latencies.
func (l *Live) Settlements(b *event.Settlements) {
	l.Recorder.Settlements(b)
	if int(b.Producer) >= len(l.producers) {
		return
	}
	at := int(b.Producer) % len(l.shards)
	s, p := &l.shards[at], &l.producers[b.Producer]
	s.settled(b.Runs)
	found := liveFound{shard: s, kind: answerConfirm}
	p.mu.Lock()
	for i := range b.Runs {
		kind := answerConfirm
		switch b.Runs[i].Kind {
		case event.Commit:
			kind = answerCommit
		case event.Ack:
		default:
			continue
		}
		found.turn(kind)
		p.find(&found, liveEarly{first: b.Runs[i].First, n: uint64(b.Runs[i].N), at: b.At, shard: uint16(at), kind: kind})
	}
	p.mu.Unlock()
	found.flush()
}

// Deliveries hands on what one read call brought for one consumer, and takes the latencies of the run's own messages. A
// redelivered message has been measured when it came first.
func (l *Live) Deliveries(d *event.Deliveries) {
	l.Recorder.Deliveries(d)
	at := int(d.Consumer) % len(l.shards)
	s := &l.shards[at]
	found := liveFound{shard: s}
	if l.origin == FromDue {
		found.messages = int64(len(d.Rows))
		for i := range d.Rows {
			if r := &d.Rows[i]; r.Due != event.None && r.Body == event.Intact && !r.Redelivered {
				found.add(d.At-r.Due, 1)
			}
		}
		found.flush()
		return
	}
	var p *liveProducer // locked, unless nil
	for rows := d.Rows; len(rows) > 0; {
		r, n := &rows[0], 1
		if !l.measures(r) {
			found.messages++
			rows = rows[1:]
			continue
		}
		for n < len(rows) && l.measures(&rows[n]) && rows[n].Producer == r.Producer && rows[n].Seq == r.Seq+uint64(n) {
			n++
		}
		if next := &l.producers[r.Producer]; next != p {
			if p != nil {
				p.mu.Unlock()
			}
			p = next
			p.mu.Lock()
		}
		p.find(&found, liveEarly{first: r.Seq, n: uint64(n), at: d.At, shard: uint16(at)})
		rows = rows[n:]
	}
	if p != nil {
		p.mu.Unlock()
	}
	found.flush()
}

// measures tells whether a delivery is one of the run's own messages, for the first time.
func (l *Live) measures(r *event.Delivery) bool {
	return r.Body == event.Intact && r.Tag == l.tag && !r.Redelivered && int(r.Producer) < len(l.producers)
}

func (l *Live) shard(lane uint16) *liveShard { return &l.shards[int(lane)%len(l.shards)] }

// Interval returns the figures since the last call. For one reader; others have a Watch each.
func (l *Live) Interval() LiveFigures { return l.interval.Interval() }

// Total returns the figures of all that passed so far: of the whole run, and of what consumers received before load began.
func (l *Live) Total() LiveFigures {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.harvest()
	f := l.totalOf
	f.AtNS, f.SpanNS = now, now-l.begun
	l.total.figures(&f)
	return f
}

// Buckets counts all latencies so far by bounds, nanoseconds in rising order.
func (l *Live) Buckets(bounds []int64) (delivery, confirm LiveBuckets) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.harvest()
	return l.total.delivery.buckets(bounds), l.total.confirm.buckets(bounds)
}

// Watch begins another sequence of intervals, from now on.
func (l *Live) Watch() *LiveWatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &LiveWatch{live: l, sums: newLiveSums(), since: l.harvest()}
	l.watches = append(l.watches, w)
	return w
}

// Interval returns the figures since the last call, or since the watch began. For one reader.
func (w *LiveWatch) Interval() LiveFigures {
	l := w.live
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.harvest()
	f := w.counts
	f.AtNS, f.SpanNS = now, now-w.since
	w.sums.figures(&f)
	w.counts, w.since = LiveFigures{}, now
	w.sums.reset()
	return f
}

// harvest moves what the shards have gathered to those who want it, and returns the time. l.mu is held. A lane is kept
// only for the exchange of two pointers.
func (l *Live) harvest() (now int64) {
	for i := range l.shards {
		s := &l.shards[i]
		counts := s.take()
		l.totalOf.count(&counts)
		l.total.merge(s.spare)
		for _, w := range l.watches {
			w.counts.count(&counts)
			w.sums.merge(s.spare)
		}
		s.spare.reset()
	}
	return l.clock.Now()
}

// count adds the counts of others.
func (f *LiveFigures) count(others *LiveFigures) {
	f.Sent += others.Sent
	f.Returned += others.Returned
	f.Confirmed += others.Confirmed
	f.Committed += others.Committed
	f.Nacked += others.Nacked
	f.Received += others.Received
}
