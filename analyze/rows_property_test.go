package analyze

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/export"
	"leveret/analyze/integrity"
	"leveret/analyze/result"
)

// table keeps exported rows, each as a map from column to value; what is null is not in it.
type table struct{ rows []map[string]any }

func (w *table) Write(b *export.Block) error {
	for row := range b.Rows {
		m := map[string]any{}
		for i, c := range b.Columns {
			v := &b.Values[i]
			switch {
			case len(v.Missing) > 0 && v.Missing[row]:
			case c.Kind == export.Text:
				m[c.Name] = v.Texts[row]
			default:
				m[c.Name] = v.Numbers[row]
			}
		}
		w.rows = append(w.rows, m)
	}
	return nil
}

func (w *table) Close() error { return nil }

func exported(t *testing.T, s Select, o Options, dirs ...string) (*table, *Exported) {
	t.Helper()
	w := &table{}
	o.Tmp = t.TempDir()
	x, err := Export(t.Context(), dirs, o, s, w)
	if err != nil {
		t.Fatal(err)
	}
	if x.Rows != int64(len(w.rows)) {
		t.Fatalf("%d rows were written, %d are said", len(w.rows), x.Rows)
	}
	return w, x
}

// Random histories: the exported messages, counted one by one, are the counts of the slow reference.
func TestExportedMessagesAgainstReference(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 50
	}
	for seed := range n {
		h := randomHistory(seed)
		want := judgeByReference(h)
		dir := h.record(record(t, h.m))
		rows, _ := exported(t, All(RowsMessages), Options{MemoryBytes: 1}, dir) // nothing fits: all goes through the temporary file
		compareRows(t, fmt.Sprintf("seed %d", seed), h, rows, want)
		if t.Failed() {
			return
		}
	}
}

// Each count of the result, as the rows have it.
func compareRows(t *testing.T, what string, h *history, rows *table, want *reference) {
	t.Helper()
	got := map[string]*result.Counts{}
	queued := map[string]int64{} // queued or discarded: the broker's count tells how many of each, not which
	either := map[string]int64{} // likewise of queues that nobody consumes: in the queue, or gone
	queue := func(name string) *result.Counts {
		if got[name] == nil {
			got[name] = &result.Counts{}
		}
		return got[name]
	}
	type id struct{ producer, seq any }
	settled := map[id]string{}
	var total result.Counts
	once, unsent := map[id]bool{}, map[[3]any]bool{}
	for _, r := range rows.rows {
		name, _ := r["queue_name"].(string)
		c, fate := queue(name), r["integrity"].(string)
		if !slices.ContainsFunc(integrity.Meanings, func(m struct {
			Outcome integrity.Outcome
			Text    string
		}) bool {
			return string(m.Outcome) == fate
		}) {
			t.Errorf("%s: integrity is %q, which is explained nowhere", what, fate)
		}
		c.Received += r["deliveries"].(int64)
		c.Duplicates += r["duplicates"].(int64)
		c.OutOfOrder += r["out_of_order"].(int64)
		switch {
		case fate == "foreign":
			c.Foreign++
		case fate == "corrupt_unattributed":
			c.Corrupt++
			c.CorruptUnattributed++
		case fate == "corrupt":
			c.Corrupt++
		case r["body"] == "intact":
			c.ReceivedUnique++
		case fate == "not_sent":
			if k := [3]any{name, r["producer"], r["seq"]}; !unsent[k] { // a row for each subscription of a stream
				unsent[k] = true
				c.NotSent++
			}
		case fate == "lost":
			c.Lost++
			c.Missing++
		case fate == "missing_unconfirmed":
			c.MissingUnconfirmed++
			c.Missing++
		case fate == "missing":
			c.Missing++
		case fate == "removed_by_rule":
			c.RemovedByRule++
			c.Missing++
		case fate == "queued_or_unaccounted", fate == "queued_or_removed_by_rule":
			either[name]++
		case strings.HasPrefix(fate, "queued"), fate == "discarded":
			queued[name]++
		}
		if k := (id{r["producer"], r["seq"]}); r["capture"] != nil && !once[k] {
			once[k] = true
			if r["sent_ns"] != nil {
				total.Sent++
			} else if fate == "not_sent" {
				total.NotSent++
			}
			if kind, _ := r["settlement"].(string); kind != "" {
				settled[k] = kind
			}
			if r["returned_ns"] != nil {
				total.Returned++
			}
		}
	}
	for _, kind := range settled {
		*map[string]*int64{"ack": &total.Confirmed, "nack": &total.Nacked, "commit": &total.Committed}[kind]++
	}
	w := &want.counts
	if total.Sent != w.Sent || total.NotSent != w.NotSent || total.Confirmed != w.Confirmed || total.Nacked != w.Nacked || total.Committed != w.Committed || total.Returned != w.Returned {
		t.Errorf("%s: totals\n got %+v\nwant %+v", what, total, *w)
	}
	for i := range want.queues {
		name := h.m.Topology.Queues[i].Name
		g, w := queue(name), &want.queues[i]
		n := w.QueuedAtStop + w.DiscardedAtStop
		if e := either[name]; e > 0 && n+w.RemovedByRule <= e { // which of them were removed no row tells
			g.Missing, g.RemovedByRule, queued[name] = w.Missing, w.RemovedByRule, n
		}
		if queued[name] != n {
			t.Errorf("%s: %s: %d queued or discarded, want %d", what, name, queued[name], n)
		}
		compareQueue(t, what+": "+name, g, w)
	}
}

func compareQueue(t *testing.T, what string, got, want *result.Counts) {
	t.Helper()
	for _, x := range []struct {
		name      string
		got, want int64
	}{
		{"received", got.Received, want.Received}, {"received_unique", got.ReceivedUnique, want.ReceivedUnique},
		{"duplicates", got.Duplicates, want.Duplicates}, {"out_of_order", got.OutOfOrder, want.OutOfOrder},
		{"foreign", got.Foreign, want.Foreign}, {"corrupt", got.Corrupt, want.Corrupt},
		{"corrupt_unattributed", got.CorruptUnattributed, want.CorruptUnattributed}, {"not_sent", got.NotSent, want.NotSent},
		{"lost", got.Lost, want.Lost}, {"missing", got.Missing, want.Missing},
		{"missing_unconfirmed", got.MissingUnconfirmed, want.MissingUnconfirmed}, {"removed_by_rule", got.RemovedByRule, want.RemovedByRule},
	} {
		if x.got != x.want {
			t.Errorf("%s: %d %s, want %d", what, x.got, x.name, x.want)
		}
	}
}
