package analyze

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"leveret/analyze/export"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// valueNames are the names of values that are numbers in a capture; see FORMAT.md.
var valueNames = map[schema.Kind]map[string][]string{
	schema.Settlements: {"kind": {"", "ack", "nack", "return", "commit", "in_doubt"}},
	schema.Deliveries:  {"body": {"", "intact", "corrupt", "unstamped"}},
	schema.Connections: {"state": stateNames()},
	schema.Churn:       {"step": churnStepNames(), "outcome": churnOutcomeNames()},
}

// flagColumns are columns that are 0 or 1.
var flagColumns = []string{"redelivered", "multiple", "last"}

func stateNames() []string {
	names := []string{""}
	for s := event.Connecting; s <= event.Recovered; s++ {
		names = append(names, s.String())
	}
	return names
}

func churnStepNames() []string {
	names := []string{""}
	for s := event.StepTCP; s <= event.LastChurnStep; s++ {
		names = append(names, s.String())
	}
	return names
}

func churnOutcomeNames() []string {
	names := []string{""}
	for o := event.StepDone; o <= event.StepNotBegun; o++ {
		names = append(names, o.String())
	}
	return names
}

// nameOf is the name of a value, its number where it has none.
func nameOf(names []string, n int) string {
	if n < len(names) && names[n] != "" {
		return names[n]
	}
	return strconv.Itoa(n)
}

// Columns are the columns of one of RowKinds. Those of events are the capture's own, with its ID and its tag before them
// (deliveries have the tag in the stamp), and the names of queues and routes behind their indexes.
func Columns(rows string) []export.Column {
	if rows == RowsMessages {
		return messageColumns
	}
	k, ok := schema.KindNamed(rows)
	if !ok {
		return nil
	}
	columns := []export.Column{{Name: "capture", Kind: export.Text}}
	if columnNamed(k, "tag") < 0 {
		columns = append(columns, export.Column{Name: "tag"})
	}
	for _, c := range k.Columns() {
		column := export.Column{Name: c.Name, Nullable: c.Nullable}
		switch {
		case c.Type == schema.Text || valueNames[k][c.Name] != nil:
			column.Kind = export.Text
		case slices.Contains(flagColumns, c.Name):
			column.Kind = export.Flag
		}
		columns = append(columns, column)
		for _, name := range namesBehind(c.Name) {
			columns = append(columns, export.Column{Name: name, Kind: export.Text, Nullable: true})
		}
	}
	return columns
}

// namesBehind are the columns that stand behind an index.
func namesBehind(column string) []string {
	switch column {
	case "route":
		return []string{"exchange", "routing_key"}
	case "queue":
		return []string{"queue_name"}
	case "node":
		return []string{"node_name"}
	}
	return nil
}

func columnNamed(k schema.Kind, name string) int {
	return slices.IndexFunc(k.Columns(), func(c schema.Column) bool { return c.Name == name })
}

// events reads the batches of one kind.
func (x *exporter) events(ctx context.Context) error {
	a := x.a
	k, _ := schema.KindNamed(x.s.Rows)
	var batches []*batch
	a.total = 0
	for _, b := range a.batches {
		if b.kind == k {
			batches = append(batches, b)
			a.total += b.length
		}
	}
	return feed(ctx, batches, func(r *rows) error {
		r.batch.capture.rows[k] += r.batch.rows
		x.pick(r)
		x.fill(r)
		a.progress(a.read + r.batch.length)
		if x.block.Rows < exportBlockRows {
			return nil
		}
		return x.flush()
	})
}

// pick chooses the rows of a batch.
func (x *exporter) pick(r *rows) {
	k := r.batch.kind
	main, otherwise := k.TimeColumn()
	times := i64(r.rec, main)
	var producers []int64
	if x.s.Producer >= 0 {
		producers = numbers(r.rec, columnNamed(k, "producer"), k)
	}
	var seqs []uint64
	if x.s.bySequence() {
		seqs = u64(r.rec, columnNamed(k, "seq"))
	}
	x.picked = x.picked[:0]
	for i, t := range times {
		if t == event.None && otherwise >= 0 {
			t = i64(r.rec, otherwise)[i]
		}
		if x.inTime(t) && (producers == nil || producers[i] == int64(x.s.Producer)) && (seqs == nil || x.s.sequence(seqs[i])) {
			x.picked = append(x.picked, i)
		}
	}
}

// numbers are the values of a column, whatever its width; what is null is event.None.
func numbers(rec arrow.Record, column int, k schema.Kind) []int64 {
	out := make([]int64, rec.NumRows())
	switch c := k.Columns()[column]; c.Type {
	case schema.U8:
		widen(out, u8(rec, column))
	case schema.U16:
		widen(out, u16(rec, column))
	case schema.U32:
		widen(out, u32(rec, column))
		for i, n := range out {
			if c.Nullable && n == int64(event.NoLane) {
				out[i] = event.None
			}
		}
	case schema.U64:
		widen(out, u64(rec, column))
	case schema.I64:
		copy(out, i64(rec, column))
	}
	return out
}

func widen[T uint8 | uint16 | uint32 | uint64](to []int64, from []T) {
	for i, n := range from {
		to[i] = int64(n)
	}
}

// fill appends the rows that were picked, column by column.
func (x *exporter) fill(r *rows) {
	k, b, next := r.batch.kind, x.block, 0
	id, tag := x.a.id(r.batch.capture.index)
	for range x.picked {
		b.Text(next, id)
	}
	next++
	if columnNamed(k, "tag") < 0 {
		for range x.picked {
			b.Number(next, tag)
		}
		next++
	}
	for i, c := range k.Columns() {
		if c.Type == schema.Text {
			texts := r.rec.Column(i).(*array.String)
			for _, row := range x.picked {
				b.Text(next, strings.Clone(texts.Value(row))) // the batch's memory is used again
			}
			next++
			continue
		}
		values, names := numbers(r.rec, i, k), valueNames[k][c.Name]
		for _, row := range x.picked {
			switch n := values[row]; {
			case names != nil:
				b.Text(next, nameOf(names, int(n)))
			case c.Nullable && n == event.None:
				b.Null(next)
			default:
				b.Number(next, n)
			}
		}
		next++
		next = x.fillNames(r, c.Name, values, next)
	}
	b.Rows += len(x.picked)
}

// fillNames appends what stands behind an index.
func (x *exporter) fillNames(r *rows, column string, values []int64, next int) int {
	capture := r.batch.capture
	switch column {
	case "route":
		for _, row := range x.picked {
			c := columnFiller{block: x.block, next: next}
			x.route(&c, capture.index, int(values[row]))
		}
		return next + 2
	case "queue":
		for _, row := range x.picked {
			if m := capture.manifest; m != nil && values[row] >= 0 && values[row] < int64(len(m.Topology.Queues)) {
				x.block.Text(next, m.Topology.Queues[values[row]].Name)
			} else {
				x.block.Null(next)
			}
		}
		return next + 1
	case "node":
		for _, row := range x.picked {
			if m := capture.manifest; m != nil && m.Management != nil && values[row] >= 0 && values[row] < int64(len(m.Management.Nodes)) {
				x.block.Text(next, m.Management.Nodes[values[row]].Name)
			} else {
				x.block.Null(next)
			}
		}
		return next + 1
	}
	return next
}
