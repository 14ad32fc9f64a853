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
	"leveret/capture/manifest"
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
	return feed(ctx, batches, nil, func(r *rows) error {
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
		producers = numbers(nil, r.rec, columnNamed(k, "producer"), k)
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

// numbers are the values of a column, whatever its width; what is null is event.None. They are put into to.
func numbers(to []int64, rec arrow.Record, column int, k schema.Kind) []int64 {
	to = slices.Grow(to[:0], int(rec.NumRows()))[:rec.NumRows()]
	switch c := k.Columns()[column]; c.Type {
	case schema.U8:
		widen(to, u8(rec, column))
	case schema.U16:
		widen(to, u16(rec, column))
	case schema.U32:
		widen(to, u32(rec, column))
		for i, n := range to {
			if c.Nullable && n == int64(event.NoLane) {
				to[i] = event.None
			}
		}
	case schema.U64:
		widen(to, u64(rec, column))
	case schema.I64:
		copy(to, i64(rec, column))
	}
	return to
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
	b.Repeat(next, id, len(x.picked))
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
		values := x.pickNumbers(r, i)
		if names := valueNames[k][c.Name]; names != nil {
			inRuns(values, func(n int64, times int) { b.Repeat(next, nameOf(names, int(n)), times) })
		} else {
			b.Numbers(next, values, event.None)
		}
		next++
		next = x.fillNames(r.batch.capture, c.Name, values, next)
	}
	b.Rows += len(x.picked)
}

// pickNumbers are the values of a column in the rows that were picked; valid until the next call.
func (x *exporter) pickNumbers(r *rows, column int) []int64 {
	x.numbers = numbers(x.numbers, r.rec, column, r.batch.kind)
	if len(x.picked) < len(x.numbers) {
		for i, row := range x.picked { // they rise: row is not before i
			x.numbers[i] = x.numbers[row]
		}
	}
	return x.numbers[:len(x.picked)]
}

// inRuns calls f for equal values that stand together.
func inRuns(values []int64, f func(value int64, times int)) {
	for i := 0; i < len(values); {
		j := i + 1
		for j < len(values) && values[j] == values[i] {
			j++
		}
		f(values[i], j-i)
		i = j
	}
}

// fillNames appends what stands behind an index, and returns the column behind it.
func (x *exporter) fillNames(capture *source, column string, values []int64, next int) int {
	names := namesBehind(column)
	if len(names) == 0 {
		return next
	}
	inRuns(values, func(n int64, times int) {
		for i, text := range namesAt(capture.manifest, column, n) {
			if text != nil {
				x.block.Repeat(next+i, *text, times)
			} else {
				x.block.Nulls(next+i, times)
			}
		}
	})
	return next + len(names)
}

// namesAt are the names that stand behind an index, as many as namesBehind says; nil where one is not known.
func namesAt(m *manifest.Manifest, column string, n int64) []*string {
	switch {
	case column == "route":
		exchange, key := routeNames(m, int(n))
		return []*string{exchange, key}
	case column == "queue" && m != nil && n >= 0 && n < int64(len(m.Topology.Queues)):
		return []*string{&m.Topology.Queues[n].Name}
	case column == "node" && m != nil && m.Management != nil && n >= 0 && n < int64(len(m.Management.Nodes)):
		return []*string{&m.Management.Nodes[n].Name}
	}
	return []*string{nil}
}

// routeNames are exchange and routing key of a route; nil where they are not known.
func routeNames(m *manifest.Manifest, route int) (exchange, key *string) {
	if m == nil || route < 0 || route >= len(m.Topology.Routes) {
		return nil, nil
	}
	r := &m.Topology.Routes[route]
	if r.Random { // a fresh key for each message, which is not recorded
		return &r.Exchange, nil
	}
	return &r.Exchange, &r.RoutingKey
}
