package analyze

import (
	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// observed are the rows of self-observation: for each interval, and for each recording process, merged. A row belongs to
// the interval that its middle lies in.
type observed struct {
	intervals [][]*event.Self // by interval, then by capture; nil where there is none
	batches   batchSizes
	frames    frameSizes
	late      []lateLook
}

func (v *visitor) self(r *rows) {
	var s event.Self
	fields := schema.SelfFields(&s)
	for row := range int(r.batch.rows) {
		for i, c := range schema.Self.Columns() {
			if c.Type == schema.I64 {
				*fields[i] = i64(r.rec, i)[row]
			} else {
				*fields[i] = int64(u64(r.rec, i)[row])
			}
		}
		v.a.observe(r.batch.capture.index, &s)
		v.a.lookedLate(r.batch.capture, &s)
	}
}

func (a *analysis) observe(capture int, s *event.Self) {
	i, _, _ := a.time.find(s.At - s.SpanNS/2)
	if i < 0 || s.SpanNS <= 0 {
		return
	}
	if a.observed.intervals == nil {
		a.observed.intervals = make([][]*event.Self, len(a.time.counts))
	}
	if a.observed.intervals[i] == nil {
		a.observed.intervals[i] = make([]*event.Self, len(a.captures))
	}
	if have := a.observed.intervals[i][capture]; have != nil {
		have.Merge(s)
		return
	}
	copied := *s
	a.observed.intervals[i][capture] = &copied
}

// interval is what was observed in one interval of the timeline.
func (o *observed) interval(i int) *result.Self {
	if o.intervals == nil || o.intervals[i] == nil {
		return nil
	}
	return selfOf(o.intervals[i])
}

// during is what was observed in some of the intervals.
func (o *observed) during(in func(interval int) bool, captures int) *result.Self {
	if o.intervals == nil {
		return nil
	}
	whole := make([]*event.Self, captures)
	for i, processes := range o.intervals {
		if !in(i) {
			continue
		}
		for c, s := range processes {
			switch {
			case s == nil:
			case whole[c] == nil:
				copied := *s
				whole[c] = &copied
			default:
				whole[c].Merge(s)
			}
		}
	}
	return selfOf(whole)
}

// selfOf puts what the processes observed in the same time together; nil where none did.
func selfOf(processes []*event.Self) *result.Self {
	var all *event.Self
	cores, coresKnown := 0.0, true
	for _, s := range processes {
		if s == nil {
			continue
		}
		if s.CPUNS == event.None {
			coresKnown = false
		} else {
			cores += float64(s.CPUNS) / float64(s.SpanNS)
		}
		if all == nil {
			copied := *s
			all = &copied
		} else {
			all.Merge(s)
		}
	}
	if all == nil {
		return nil
	}
	r := &result.Self{
		LateMaxNS: known(all.LateMaxNS), ReadingPausedNS: all.PausedNS, UnsentMaxBytes: known(all.UnsentMaxBytes),
		Writes: all.Writes, WrittenMessages: all.WrittenMessages, LargestWrite: all.LargestWrite,
		Reads: all.Reads, ReadBytes: all.ReadBytes, DeliveryReads: all.DeliveryReads, Deliveries: all.Deliveries, LargestRead: all.LargestRead,
		GCCycles: all.GCCycles, GCPauseNS: all.GCPauseNS, SchedLatencyP99NS: known(all.SchedLatencyP99NS),
		HeapBytes: all.HeapBytes, Goroutines: all.Goroutines,
	}
	if coresKnown {
		r.CPUCores = &cores
	}
	if all.LateMessages > 0 {
		mean := float64(all.LateSumNS) / float64(all.LateMessages)
		r.LateMeanNS = &mean
	}
	shares(r, all)
	return r
}

// shares are what producers waited for, of the time in which they were at it.
func shares(r *result.Self, s *event.Self) {
	if s.PublishingNS <= 0 {
		return
	}
	work := 1.0
	share := func(w event.Wait) *float64 {
		v := float64(w.SumNS) / float64(s.PublishingNS)
		work -= v
		return &v
	}
	r.WindowShare, r.SocketShare, r.RecorderShare, r.ScheduleShare = share(s.Window), share(s.Socket), share(s.Recorder), share(s.Schedule)
	work = max(work, 0)
	r.WorkShare = &work
}

func known(v int64) *int64 {
	if v == event.None {
		return nil
	}
	return &v
}

// batchSizes counts the writes of each size.
type batchSizes struct {
	counts           []int64 // by messages, up to mostBatch
	writes, messages int64
	largest          int64
}

const mostBatch = 1 << 16

func (b *batchSizes) add(messages []uint32) {
	for _, n := range messages {
		b.writes++
		b.messages += int64(n)
		b.largest = max(b.largest, int64(n))
		if n > mostBatch {
			continue
		}
		for int(n) >= len(b.counts) {
			b.counts = append(b.counts, 0)
		}
		b.counts[n]++
	}
}

// result is nil without writes.
func (b *batchSizes) result() *result.BatchSizes {
	if b.writes == 0 {
		return nil
	}
	return &result.BatchSizes{
		Writes: b.writes, Mean: float64(b.messages) / float64(b.writes), Max: b.largest,
		P50: b.percentile(50 * quantile.One), P99: b.percentile(99 * quantile.One),
	}
}

func (b *batchSizes) percentile(p quantile.Percent) *int64 {
	rank := int64(quantile.Rank(p, uint64(b.writes)))
	for size, n := range b.counts {
		if rank <= n {
			v := int64(size)
			return &v
		}
		rank -= n
	}
	return nil
}
