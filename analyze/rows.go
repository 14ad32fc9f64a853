package analyze

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"leveret/analyze/export"
	"leveret/analyze/integrity"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// RowsMessages are the rows that Export makes by joining: one a message and place. All others are of the kinds of a
// capture, one row an event.
const RowsMessages = "messages"

// RowKinds are the kinds of rows that Export knows.
func RowKinds() []string {
	kinds := []string{RowsMessages}
	for _, k := range schema.Kinds {
		kinds = append(kinds, k.String())
	}
	return kinds
}

// Select says which rows Export makes. Open ends of ranges are math.MinInt64 and math.MaxInt64.
type Select struct {
	Rows string // one of RowKinds
	// Where leaves of messages those to which one of these applies (WhereNames); empty: all.
	Where []string
	// Producer leaves one producer of each capture, -1 all of them. FirstSeq and LastSeq bound the sequences, both included.
	Producer          int
	FirstSeq, LastSeq int64
	// FromNS and ToNS bound the time since the barrier: from it on, and before it. The time of a message is when it was due, else
	// sent, else received.
	FromNS, ToNS int64
}

// All selects every row of a kind.
func All(rows string) Select {
	return Select{Rows: rows, Producer: -1, FirstSeq: math.MinInt64, LastSeq: math.MaxInt64, FromNS: math.MinInt64, ToNS: math.MaxInt64}
}

// Check finds what does not go together.
func (s *Select) Check() error {
	k, isKind := schema.KindNamed(s.Rows)
	switch {
	case s.Rows != RowsMessages && !isKind:
		return fmt.Errorf("--rows=%s: is none of %s", s.Rows, strings.Join(RowKinds(), ", "))
	case isKind && len(s.Where) > 0:
		return fmt.Errorf("--where: is for --rows=messages alone; %s are exported as they were recorded", s.Rows)
	case isKind && s.Producer >= 0 && columnNamed(k, "producer") < 0:
		return fmt.Errorf("--producer: %s have none", s.Rows)
	case isKind && s.bySequence() && columnNamed(k, "seq") < 0:
		return fmt.Errorf("--sequence: %s have none", s.Rows)
	}
	for _, name := range s.Where {
		if conditions[name] == nil {
			return fmt.Errorf("--where=%s: is none of %s", name, strings.Join(WhereNames(), ", "))
		}
	}
	return nil
}

func (s *Select) bySequence() bool { return s.FirstSeq != math.MinInt64 || s.LastSeq != math.MaxInt64 }

// sequence tells whether a sequence is within the range.
func (s *Select) sequence(seq uint64) bool {
	return (s.FirstSeq < 0 || seq >= uint64(s.FirstSeq)) && s.LastSeq >= 0 && seq <= uint64(s.LastSeq)
}

// Exported tells what was exported.
type Exported struct {
	Rows int64
	// Incomplete says what is missing in the captures, one line each; every whole batch was exported.
	Incomplete []string
	Notes      []string
}

// rowsOfMessages are kinds of rows that captures of operations alone have none of.
var rowsOfMessages = []string{RowsMessages, schema.Sends.String(), schema.Writes.String(), schema.Settlements.String(), schema.Deliveries.String(), schema.Acks.String()}

// exportBlockRows is how many rows are handed to the writer together.
const exportBlockRows = 4096

// Export writes rows of captures, which are read as one run: times are on the clock of the first capture. The columns are those
// of Columns. Messages come in blocks of up to 512 consecutive ones of a producer, roughly by time; events in the order in which
// they are read, roughly by time, those of one producer or consumer in order. o.IntervalNS and o.By mean nothing here.
//
// Memory is bounded as that of Run is. The writer is not closed.
func Export(ctx context.Context, dirs []string, o Options, s Select, to export.Writer) (*Exported, error) {
	if len(dirs) == 0 {
		return nil, errors.New("export: no capture given")
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMemoryBytes
	}
	if tell := o.Announce; tell != nil {
		var once sync.Once
		o.Announce = func(text string) { once.Do(func() { tell(text) }) }
	}
	o.IntervalNS, o.By = 0, nil
	x := &exporter{s: s, to: to, block: export.NewBlock(Columns(s.Rows))}
	err := x.open(ctx, dirs, o)
	defer x.a.close()
	switch {
	case err != nil:
	case s.Rows == RowsMessages:
		err = x.messages(ctx)
	default:
		err = x.events(ctx)
	}
	if err == nil {
		err = x.flush()
	}
	a := x.a
	if err != nil {
		return nil, err
	}
	a.progress(a.total)
	if x.rows == 0 && slices.Contains(rowsOfMessages, s.Rows) && onlyChurn(a.captures) {
		a.notes = append(a.notes, "this capture holds no messages; it holds churn: --rows churn")
	}
	return &Exported{Rows: x.rows, Incomplete: x.incomplete(), Notes: a.notes}, nil
}

// open opens the captures; for messages, it reads them for the first time.
func (x *exporter) open(ctx context.Context, dirs []string, o Options) (err error) {
	if x.s.Rows == RowsMessages {
		x.a, err = read(ctx, dirs, o, x.message)
	} else {
		x.a = &analysis{o: o}
		err = x.a.open(ctx, dirs)
	}
	if err != nil {
		return err
	}
	from, upTo := since(x.a.window.start, x.s.FromNS), since(x.a.window.start, x.s.ToNS)
	x.inTime = func(t int64) bool { return t >= from && t < upTo }
	return nil
}

// since is a time so long after the barrier; open ends stay open.
func since(barrier, ns int64) int64 {
	if ns == math.MinInt64 || ns == math.MaxInt64 {
		return ns
	}
	return barrier + ns
}

// exporter is one run of Export.
type exporter struct {
	a       *analysis
	s       Select
	to      export.Writer
	block   *export.Block
	rows    int64
	inTime  func(int64) bool
	where   []func(*integrity.History) bool
	picked  []int   // scratch
	numbers []int64 // scratch
}

// flush hands over the rows that are there.
func (x *exporter) flush() error {
	if x.block.Rows == 0 {
		return nil
	}
	x.rows += int64(x.block.Rows)
	err := x.to.Write(x.block)
	x.block.Reset()
	return err
}

// row ends a row of the block.
func (x *exporter) row() error {
	if x.block.Rows++; x.block.Rows < exportBlockRows {
		return nil
	}
	return x.flush()
}

// messages joins the rows once more.
func (x *exporter) messages(ctx context.Context) error {
	a := x.a
	for _, name := range x.s.Where {
		x.where = append(x.where, conditions[name])
	}
	var again []*batch
	for _, b := range a.batches {
		if b.kind == schema.Sends || b.kind == schema.Settlements || b.kind == schema.Deliveries {
			again = append(again, b)
		}
	}
	h := a.histories
	h.Begin(&a.facts)
	var merge *merger
	deliver := func(r *rows, from, to int) {
		h.Deliveries(slice(deliveriesOf(r), from, to), i64(r.rec, schema.DeliveriesDue)[from:to], u32(r.rec, schema.DeliveriesSize)[from:to])
	}
	if a.merged {
		merge = newMerger(a.o.MemoryBytes, deliver)
	}
	err := feed(ctx, again, nil, func(r *rows) error {
		switch r.batch.kind {
		case schema.Sends:
			h.Sends(sendsOf(r), u32(r.rec, schema.SendsSize))
		case schema.Settlements:
			h.Settlements(settlementsOf(r))
		default:
			if merge != nil {
				merge.add(r)
			} else {
				deliver(r, 0, int(r.batch.rows))
			}
		}
		a.progress(a.read + r.batch.length)
		return h.Err()
	})
	if err != nil {
		return err
	}
	if merge != nil {
		a.endMerge(merge)
	}
	return h.Finish()
}

// progress tells that so many bytes were read.
func (a *analysis) progress(read int64) {
	a.read = read
	if a.o.Progress != nil {
		a.o.Progress(read, max(a.total, read))
	}
}

// incomplete says what is missing. Of events only the kind that was read is held against the manifest.
func (x *exporter) incomplete() (lines []string) {
	if x.s.Rows == RowsMessages {
		return append(slices.Clone(x.a.facts.Incomplete), x.a.facts.Lost...)
	}
	k, _ := schema.KindNamed(x.s.Rows)
	for _, c := range x.a.captures {
		if c.final {
			if want, got := c.manifest.Recording.Rows[k.String()], c.rows[k]; want != got {
				c.reason("%s: %d of %d rows", k, got, want)
			}
			if n := c.manifest.Recording.Lost[k.String()]; n > 0 {
				c.reason("%d rows of %s were lost by the recorder", n, k)
			}
		}
		for _, r := range c.reasons {
			if len(x.a.captures) > 1 {
				r = c.dir + ": " + r
			}
			lines = append(lines, r)
		}
	}
	return lines
}

// id names the capture, and the tag under which its messages are stamped.
func (a *analysis) id(capture int) (string, int64) {
	c := a.captures[capture]
	return c.id, int64(c.tag & event.MaxTag)
}
