// Package analyze makes a result of one or several captures: counts and verdict, rates, exact latency percentiles.
//
// What flows in are capture directories, whole or damaged; what flows out is a result.Result. Nothing is trusted that
// was not checked: each batch proves itself by its checksum before a row of it is read, and whether any is missing is
// decided by journal and manifest. What is wrong becomes a finding; an error is returned only where there is nothing
// to analyze, or where it cannot go on (no such directory, temporary space full, cancelled).
//
//	openCapture      manifest, journal, where the batches are         (one goroutine)
//	feed             verified, decoded batches by time                (all processors, some batches ahead)
//	integrity.Ledger joins them by (tag, producer, sequence)          (one goroutine)
//	latencies        first counts, then selects the exact percentiles (the batches are read twice at least)
//
// Memory is bounded: Options.MemoryBytes for the times of messages under way (what exceeds it goes to a temporary file)
// and as much for the selection of percentiles, some bits a message, a few KiB an interval, and the batches being
// decoded. Slices of a batch are valid until its visitor returns.
package analyze

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"leveret/analyze/assert"
	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// Run analyzes captures as one run: their producers and consumers may have been recorded by different processes.
func Run(ctx context.Context, dirs []string, o Options) (*result.Result, error) {
	if len(dirs) == 0 {
		return nil, errors.New("analyze: no capture given")
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMemoryBytes
	}
	if o.Findings == 0 {
		o.Findings = DefaultFindings
	}
	if o.Findings < 0 || o.Findings > MostFindings {
		return nil, fmt.Errorf("analyze: a finding cannot name %d messages: from 1 to %d", o.Findings, MostFindings)
	}
	if tell := o.Announce; tell != nil {
		var once sync.Once
		o.Announce = func(text string) { once.Do(func() { tell(text) }) } // each reading may need a file
	}
	// Nearly all memory here is kept for long and used again: there is little garbage, and no reason to let the heap
	// grow to twice of what is in use.
	const spare = 30 // percent
	defer debug.SetGCPercent(debug.SetGCPercent(spare))
	a, err := read(ctx, dirs, o, nil)
	defer a.close()
	if err != nil {
		return nil, err
	}
	if err := a.choose(ctx); err != nil {
		return nil, err
	}
	if o.Progress != nil && a.read < a.total {
		o.Progress(a.total, a.total) // no second reading was needed
	}
	a.judgement = a.ledger.Judge(&a.facts)
	r := a.result()
	assert.Apply(r, o.Assertions)
	return r, nil
}

// read opens captures and reads them for the first time. Where it turns out that deliveries have to be merged, that is done anew.
// The analysis must be closed, also where there is an error.
func read(ctx context.Context, dirs []string, o Options, each func(*integrity.History) error) (*analysis, error) {
	a := &analysis{o: o, each: each}
	err := a.open(ctx, dirs)
	if err == nil {
		err = a.count(ctx)
	}
	if err != nil || !a.mustMerge() {
		return a, err
	}
	a.close()
	a = &analysis{o: o, each: each, merged: true, read: a.read, total: a.read}
	if err = a.open(ctx, dirs); err == nil {
		err = a.count(ctx)
	}
	return a, err
}

// askPercentiles puts together what was asked for and what assertions need.
func (a *analysis) askPercentiles() error {
	ask := slices.Clone(a.o.Percentiles)
	for _, p := range assert.Percents(a.o.Assertions) {
		if !slices.Contains(reported[:], p) {
			ask = append(ask, p)
		}
	}
	slices.Sort(ask)
	if ask = slices.Compact(ask); len(ask) > MostPercentiles {
		return fmt.Errorf("analyze: %d percentiles asked for, at most %d can be", len(ask), MostPercentiles)
	}
	a.latency.asked = ask
	return nil
}

// analysis is one run of Run.
type analysis struct {
	o        Options
	captures []*source
	batches  []*batch // by time

	window     window
	time       *timeline
	latency    *latencies
	expected   *integrity.Expected
	ledger     *integrity.Ledger
	facts      integrity.Facts
	judgement  integrity.Judgement
	course     course
	observed   observed
	brokerSide brokerSide
	received   [][]int64 // by capture and consumer
	clocks     clocks

	// histories, where each is set: the first reading counts for them, and leaves the ledger open.
	each      func(*integrity.History) error
	histories *integrity.Histories
	merged    bool // deliveries of several files are brought into the order of time; see merger

	read, total int64 // bytes, for Progress
	notes       []string
}

// open opens the captures, and prepares their reading.
func (a *analysis) open(ctx context.Context, dirs []string) error {
	for i, dir := range dirs {
		if slices.ContainsFunc(dirs[:i], func(d string) bool { return sameDir(d, dir) }) {
			return &AskedError{Text: fmt.Sprintf("capture %s is given twice: give each once", dir)}
		}
		c, err := openCapture(dir, i)
		if err != nil {
			return err
		}
		a.captures = append(a.captures, c)
		if j := slices.IndexFunc(a.captures[:i], c.copyOf); j >= 0 {
			return &AskedError{Text: fmt.Sprintf("capture %s is given twice: %s is a copy of it; leave one of them out", dirs[j], dir)}
		}
		for _, name := range c.unknown {
			a.notes = append(a.notes, fmt.Sprintf("analysis: %s left out: a later version of leveret recorded a kind of rows that this one does not know", filepath.Join(dir, name)))
		}
	}
	return a.prepare(ctx)
}

func (a *analysis) close() {
	if a.ledger != nil {
		a.ledger.Close()
	}
	if a.histories != nil {
		a.histories.Close()
	}
	for _, c := range a.captures {
		c.close()
	}
}

// prepare brings the captures onto one clock and divides their time.
func (a *analysis) prepare(ctx context.Context) error {
	if err := a.joinClocks(ctx); err != nil {
		return err
	}
	a.batches = byTime(a.captures)
	setHorizons(a.batches)
	var perKind [lastKind + 1]int64
	for _, b := range a.batches {
		perKind[b.kind] += b.rows
		a.total += b.length
		if joined(b.kind) {
			a.total += b.length
		}
	}
	for k, n := range perKind {
		if n > MaxRows {
			return fmt.Errorf("analyze: %d rows of %s, at most %d can be analyzed together", n, schema.Kind(k), int64(MaxRows))
		}
	}
	var ms []*manifest.Manifest
	var tags []uint16
	for _, c := range a.captures {
		ms, tags = append(ms, c.manifest), append(tags, c.tag)
	}
	a.expected = integrity.NewExpected(ms, tags)
	a.facts.NotOneRun, a.facts.SeveralBrokers = differences(a.captures)
	a.window = findWindow(a.captures)
	err := a.window.cut(a.o.FromNS, a.o.ToNS)
	if err != nil {
		return err
	}
	messages := perKind[schema.Sends] // due, else sent
	if messages == 0 {
		messages = perKind[schema.Deliveries]
	}
	if onlyChurn(a.captures) {
		messages = perKind[schema.Churn] / 4 // operations have some steps each
	}
	if a.time, err = divide(&a.window, a.o.IntervalNS, messages, a.leastIntervals()); err != nil {
		return err
	}
	a.latency = newLatencies(a.time)
	a.latency.finer, a.latency.churned = a.o.Finer, newChurned(a.time, a.window.asked, a.captures)
	if err := a.askPercentiles(); err != nil {
		return err
	}
	return a.newGroupings()
}

// joined are the kinds that are joined, by the ledger or (deliveries with acks) beside it, or that have latencies of their own
// (churn): they are read again for the exact percentiles.
func joined(k schema.Kind) bool {
	return k == schema.Sends || k == schema.Settlements || k == schema.Deliveries || k == schema.Acks || k == schema.Churn
}

// count is the first reading: everything but the exact percentiles.
func (a *analysis) count(ctx context.Context) error {
	a.ledger = a.newLedger()
	v := a.newVisitor(a.ledger, true)
	if slices.ContainsFunc(a.captures, (*source).mayHaveLost) {
		a.course.movement, a.course.effects = newMovement(a.window.runStart, a.window.end), a.newEffects()
	}
	if a.each != nil {
		a.histories = a.ledger.NewHistories(a.each)
	}
	if a.hasAcks() {
		v.acked = newAckTimes(a.latency, a.o.MemoryBytes/8)
		if len(a.latency.asked) > 0 {
			a.latency.ack.followed = newFollowed(a.time.runStart, a.time.end)
		}
	}
	if err := a.feed(ctx, a.batches, a.columns(v), v); err != nil {
		return err
	}
	a.findFacts()
	a.latency.until = a.answersUntil()
	a.ledger.Finish(&a.facts)
	a.finishAcks(v.acked)
	a.loadFacts()
	a.brokerFacts()
	a.churnFacts()
	a.findLimit()
	if err := a.ledger.Err(); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	a.latency.endCounting()
	if a.histories != nil {
		return a.ledger.Rest()
	}
	if err := a.ledger.Close(); err != nil { // its memory is wanted for the second reading
		return fmt.Errorf("analyze: %w", err)
	}
	if n := a.ledger.SpilledBytes(); n > 0 {
		a.notes = append(a.notes, fmt.Sprintf(spilledNote, n>>20))
	}
	return nil
}

// spilledNote says how large a temporary file became.
const spilledNote = "analysis: %d MiB of a temporary file were used"

// choose reads the rows again until every percentile is exact, and the findings have the times of the messages they name.
func (a *analysis) choose(ctx context.Context) error {
	var again []*batch
	for _, b := range a.batches {
		if joined(b.kind) {
			again = append(again, b)
		}
	}
	for round := 0; ; round++ {
		ledger := a.newLedger()
		watch := ledger.Watch(a.ledger) && round == 0
		if !a.latency.openSelections(a.o.MemoryBytes) && !watch {
			return ledger.Close()
		}
		if round > 0 {
			for _, b := range again {
				a.total += b.length
			}
		}
		v := a.newVisitor(ledger, false)
		if a.latency.ack.open || a.latency.ack.followed != nil && a.latency.following {
			v.acked = newAckTimes(a.latency, a.o.MemoryBytes/8)
		}
		err := a.feed(ctx, again, a.columns(v), v)
		err = errors.Join(err, ledger.Err(), ledger.Close())
		if err == nil {
			err = a.latency.closeSelections()
		}
		if err != nil {
			return fmt.Errorf("analyze: second reading: %w", err)
		}
	}
}

func (a *analysis) newLedger() *integrity.Ledger {
	producers := 0
	for _, c := range a.captures {
		if c.manifest != nil {
			producers += len(c.manifest.Producers)
		}
	}
	return integrity.NewLedger(a.expected, a.latency, integrity.Options{
		MemoryBytes: a.o.MemoryBytes, Tmp: a.o.Tmp, Announce: a.o.Announce, Producers: producers, Examples: a.o.Findings,
		Parties: len(a.latency.groupings) > 0,
	})
}

// feed shows batches to v and tells of the progress.
func (a *analysis) feed(ctx context.Context, batches []*batch, wanted columns, v *visitor) error {
	err := feed(ctx, batches, wanted, func(r *rows) error {
		v.visit(r)
		a.read += r.batch.length
		if a.o.Progress != nil {
			a.o.Progress(a.read, max(a.total, a.read))
		}
		return v.ledger.Err()
	})
	if err == nil && v.merge != nil {
		a.endMerge(v.merge)
	}
	return err
}

// endMerge shows the last rows of a reading.
func (a *analysis) endMerge(m *merger) {
	m.finish()
	const note = "analysis: deliveries of several files lie too far apart in time to be put into order within the memory: which of several deliveries of a message came first was not always told (--memory)"
	if m.overrun && !slices.Contains(a.notes, note) {
		a.notes = append(a.notes, note)
	}
}
