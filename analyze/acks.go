package analyze

import "leveret/capture/schema"

// ackTimes joins deliveries with the acks that consumers sent for them. Delivery tags of a channel count up by one, and leveret
// acks in their order: each consumer's deliveries and acks are two queues, and whichever is read ahead waits for the other.
// Kept is a run for each read that brought deliveries, so that what a prefetch bounds is little; beyond most runs it gives up.
type ackTimes struct {
	l         *latencies
	consumers map[consumerKey]*ackQueue
	last      *ackQueue // of the last row, which mostly is the next one's
	lastKey   consumerKey
	passed    []tagRun // deliveries behind which others were acked, and they were not
	runs      int
	most      int
	gaveUp    bool
}

type consumerKey struct {
	capture int
	number  uint16
}

// ackQueue is one consumer's.
type ackQueue struct {
	received fifo // deliveries without their acks
	acks     fifo // acks without their deliveries
	tag      uint64
	settled  bool // it has sent an ack
	restarts bool // its channel was opened again, and counts anew: nothing more is joined
}

// tagRun are n consecutive delivery tags from first on, received, or acked, at one time.
type tagRun struct {
	first, n uint64
	at       int64
}

// fifo is a queue of runs that uses its memory again.
type fifo struct {
	runs []tagRun
	head int
}

func (f *fifo) empty() bool { return f.head == len(f.runs) }

func (f *fifo) push(r tagRun) {
	if f.head > 64 && f.head*2 > len(f.runs) {
		f.runs = f.runs[:copy(f.runs, f.runs[f.head:])]
		f.head = 0
	}
	f.runs = append(f.runs, r)
}

func newAckTimes(l *latencies, budget int64) *ackTimes {
	const runSize = 2 * 24 // a queue that has grown holds as much again
	const least = 1 << 18  // batches of deliveries may be read whole before those of their acks
	return &ackTimes{l: l, consumers: map[consumerKey]*ackQueue{}, most: max(int(budget/runSize), least)}
}

func (a *ackTimes) queue(k consumerKey) *ackQueue {
	if a.last != nil && a.lastKey == k {
		return a.last
	}
	q := a.consumers[k]
	if q == nil {
		q = &ackQueue{}
		a.consumers[k] = q
	}
	a.last, a.lastKey = q, k
	return q
}

// deliveries of one batch.
func (a *ackTimes) deliveries(r *rows) {
	consumer, tags, received := u16(r.rec, schema.DeliveriesConsumer), u64(r.rec, schema.DeliveriesDeliveryTag), i64(r.rec, schema.DeliveriesReceived)
	for i := 0; i < len(tags) && !a.gaveUp; {
		j := i + 1
		for j < len(tags) && tags[j] == tags[i]+uint64(j-i) && received[j] == received[i] && consumer[j] == consumer[i] {
			j++
		}
		if manual, known := r.batch.capture.acks(consumer[i]); manual || !known {
			a.deliver(a.queue(consumerKey{r.batch.capture.index, consumer[i]}), tagRun{tags[i], uint64(j - i), received[i]})
		}
		i = j
	}
}

func (a *ackTimes) deliver(q *ackQueue, run tagRun) {
	if q.restarts || run.first <= q.tag {
		q.restarts = true
		return
	}
	q.tag = run.first + run.n - 1
	q.received.push(run)
	a.runs++
	a.match(q)
}

// acked are the acks of one batch.
func (a *ackTimes) acked(r *rows) {
	consumer, tags := u16(r.rec, schema.AcksConsumer), u64(r.rec, schema.AcksDeliveryTag)
	at, messages := i64(r.rec, schema.AcksAt), u32(r.rec, schema.AcksMessages)
	for i, tag := range tags {
		if n := uint64(messages[i]); !a.gaveUp && n > 0 && n <= tag {
			a.ack(a.queue(consumerKey{r.batch.capture.index, consumer[i]}), tagRun{tag - n + 1, n, at[i]})
		}
	}
}

func (a *ackTimes) ack(q *ackQueue, run tagRun) {
	q.settled = true
	q.acks.push(run)
	a.runs++
	a.match(q)
}

// match joins what is there of both.
func (a *ackTimes) match(q *ackQueue) {
	for !q.received.empty() && !q.acks.empty() {
		r, k := &q.received.runs[q.received.head], &q.acks.runs[q.acks.head]
		switch {
		case r.first < k.first: // never acked
			n := min(r.n, k.first-r.first)
			a.passed = append(a.passed, tagRun{r.first, n, r.at})
			a.runs++
			a.take(&q.received, n)
		case k.first < r.first: // a delivery that the record has not
			a.take(&q.acks, min(k.n, r.first-k.first))
		default:
			n := min(r.n, k.n)
			a.l.acked(r.at, k.at-r.at, n)
			a.take(&q.received, n)
			a.take(&q.acks, n)
		}
	}
	if a.runs > a.most {
		a.gaveUp, a.consumers, a.last, a.passed = true, nil, nil, nil
	}
}

// take removes the first n tags of a queue's first run.
func (a *ackTimes) take(f *fifo, n uint64) {
	r := &f.runs[f.head]
	r.first += n
	if r.n -= n; r.n == 0 {
		f.head++
		a.runs--
	}
}

// finish counts what was never acked, of consumers that ack, once it is known how long acks were recorded. It tells whether
// every delivery could be followed.
func (a *ackTimes) finish(acks func(consumerKey) bool) bool {
	for _, r := range a.passed {
		a.l.unacked(r.at, r.n)
	}
	for k, q := range a.consumers {
		if !q.settled && !acks(k) {
			continue
		}
		for _, r := range q.received.runs[q.received.head:] {
			a.l.unacked(r.at, r.n)
		}
	}
	return !a.gaveUp
}

// acked and unacked take n deliveries each: acked so long after they were received, or received then and never acked.
func (l *latencies) acked(received, ns int64, n uint64) {
	for range n {
		if l.selecting {
			l.ack.look(received, ns, l.following)
		} else {
			l.ack.count(received, ns)
		}
	}
}

func (l *latencies) unacked(received int64, n uint64) {
	if l.selecting {
		return
	}
	for range n {
		l.ack.censored.add(l.until, received)
		l.ack.followed.add(received)
	}
}

// acks tells of a consumer that the plan has it ack; known is false where there is no plan.
func (c *source) acks(consumer uint16) (manual, known bool) {
	if c.manifest == nil || int(consumer) >= len(c.manifest.Consumers) {
		return false, false
	}
	return !c.manifest.Consumers[consumer].AutoAck, true
}

// finishAcks ends the counting of ack latency.
func (a *analysis) finishAcks(t *ackTimes) {
	if t == nil {
		return
	}
	whole := t.finish(func(k consumerKey) bool {
		manual, _ := a.captures[k.capture].acks(k.number)
		return manual
	})
	if !whole {
		a.latency.ack = cell{}
		a.notes = append(a.notes, "analysis: no ack latency, for more deliveries waited for their acks at a time than the memory for it (an eighth of the budget) holds")
	}
}

// hasAcks tells whether there are rows of acks at all.
func (a *analysis) hasAcks() bool {
	for _, b := range a.batches {
		if b.kind == schema.Acks {
			return true
		}
	}
	return false
}
