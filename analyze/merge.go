package analyze

import (
	"math"
	"slices"

	"leveret/analyze/integrity"
	"leveret/capture/schema"
)

// merger brings the deliveries of several files into the order of time. Which of several deliveries of a message came first
// says which of them is a duplicate, whether it was out of order, and how long the message took; within a file rows stand in the
// order of time as they are, but batches of several files overlap.
//
// A batch waits until nothing that is still to be read was received before its rows (batch.horizon). What waits is bounded:
// beyond it the earliest rows are shown nevertheless, and overrun is set.
type merger struct {
	show    func(r *rows, from, to int)
	files   []*mergeFile // those with rows that wait, by the time of their next one
	byFile  map[*file]*mergeFile
	held    int64 // bytes
	most    int64
	overrun bool
}

// mergeFile are the batches of one file that wait.
type mergeFile struct {
	waiting []*rows
	times   []int64 // of the first one
	next    int     // its row
}

// head is the time of the next row.
func (f *mergeFile) head() int64 { return f.times[f.next] }

func newMerger(budget int64, show func(r *rows, from, to int)) *merger {
	return &merger{show: show, byFile: map[*file]*mergeFile{}, most: budget / 2}
}

// add takes a batch of deliveries, which it keeps until its rows were shown.
func (m *merger) add(r *rows) {
	r.held = true
	f := m.byFile[r.batch.file]
	if f == nil {
		f = &mergeFile{}
		m.byFile[r.batch.file] = f
	}
	f.waiting = append(f.waiting, r)
	m.held += r.batch.memory()
	if len(f.waiting) == 1 {
		f.begin()
		m.insert(f)
	}
	m.showUntil(r.batch.horizon)
	for m.held > m.most && len(m.files) > 0 {
		m.overrun = true
		m.showNext(math.MaxInt64)
	}
}

func (f *mergeFile) begin() {
	f.times, f.next = i64(f.waiting[0].rec, schema.DeliveriesReceived), 0
}

func (m *merger) insert(f *mergeFile) {
	i, _ := slices.BinarySearchFunc(m.files, f.head(), func(x *mergeFile, at int64) int {
		if x.head() <= at {
			return -1
		}
		return 1
	})
	m.files = slices.Insert(m.files, i, f)
}

// showUntil shows the rows that were received before a time.
func (m *merger) showUntil(horizon int64) {
	for len(m.files) > 0 && m.files[0].head() < horizon {
		m.showNext(horizon)
	}
}

// finish shows what is left.
func (m *merger) finish() {
	for len(m.files) > 0 {
		m.showNext(math.MaxInt64)
	}
}

// showNext shows rows of the file whose next one is the earliest, as far as they come before those of the others and before the
// horizon.
func (m *merger) showNext(horizon int64) {
	f := m.files[0]
	m.files = m.files[:copy(m.files, m.files[1:])]
	until := horizon
	if len(m.files) > 0 {
		until = min(until, m.files[0].head()+1)
	}
	end := f.next + 1
	for end < len(f.times) && f.times[end] < until {
		end++
	}
	r := f.waiting[0]
	m.show(r, f.next, end)
	if f.next = end; end < len(f.times) {
		m.insert(f)
		return
	}
	m.held -= r.batch.memory()
	r.release()
	f.waiting = f.waiting[:copy(f.waiting, f.waiting[1:])]
	if len(f.waiting) > 0 {
		f.begin()
		m.insert(f)
	}
}

// memory is what a decoded batch takes: its bytes, and, where they are compressed, its columns, which are parts of them elsewhere.
func (b *batch) memory() int64 {
	columns := int64(0)
	for _, c := range b.kind.Columns() {
		columns += b.rows * int64(c.Type.Width())
	}
	if columns <= b.length {
		return b.length
	}
	return b.length + columns
}

// setHorizons notes for each batch before which time nothing was received of what is read after it.
func setHorizons(batches []*batch) {
	horizon := int64(math.MaxInt64)
	for _, b := range slices.Backward(batches) {
		b.horizon = horizon
		if b.kind == schema.Deliveries {
			horizon = min(horizon, b.minTime)
		}
	}
}

// mustMerge tells, after the first reading, whether it matters which of several deliveries came first, and the order in which
// batches were read cannot tell: messages came more than once from a queue, and deliveries stand in several files that overlap.
func (a *analysis) mustMerge() bool {
	if a.merged || a.ledger.Repeated() == 0 {
		return false
	}
	last := map[*file]int64{}
	for _, b := range a.batches {
		if b.kind != schema.Deliveries {
			continue
		}
		for f, at := range last {
			if f != b.file && b.minTime <= at {
				return true
			}
		}
		last[b.file] = max(b.maxTime, last[b.file])
	}
	return false
}

// slice are some of the rows.
func slice(d *integrity.DeliveryRows, from, to int) *integrity.DeliveryRows {
	return &integrity.DeliveryRows{
		Capture: d.Capture, Consumer: d.Consumer[from:to], Queue: d.Queue[from:to], Tag: d.Tag[from:to], Producer: d.Producer[from:to],
		Seq: d.Seq[from:to], Received: d.Received[from:to], Body: d.Body[from:to], Redelivered: d.Redelivered[from:to],
	}
}
