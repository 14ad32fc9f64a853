package analyze

import (
	"maps"
	"slices"
	"strings"

	"leveret/analyze/export"
	"leveret/analyze/integrity"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// messageColumns are those of RowsMessages, in the order in which message fills them.
var messageColumns = []export.Column{
	{Name: "capture", Kind: export.Text, Nullable: true}, // of the producer; null: a message of none of the captures
	{Name: "tag"},
	{Name: "producer"},
	{Name: "seq"},
	{Name: "exchange", Kind: export.Text, Nullable: true},
	{Name: "routing_key", Kind: export.Text, Nullable: true},
	{Name: "size_bytes", Nullable: true},
	{Name: "due_ns", Nullable: true},
	{Name: "sent_ns", Nullable: true},
	{Name: "settlement", Kind: export.Text, Nullable: true}, // ack, nack, commit
	{Name: "settled_ns", Nullable: true},
	{Name: "returned_ns", Nullable: true},
	{Name: "queue_name", Kind: export.Text, Nullable: true},
	{Name: "consumer_capture", Kind: export.Text, Nullable: true},
	{Name: "consumer", Nullable: true},
	{Name: "received_ns", Nullable: true},
	{Name: "redelivered", Kind: export.Flag, Nullable: true},
	{Name: "body", Kind: export.Text, Nullable: true},
	{Name: "deliveries"},
	{Name: "duplicates"},
	{Name: "out_of_order", Kind: export.Flag},
	{Name: "integrity", Kind: export.Text},
	{Name: "in_doubt_ns", Nullable: true},    // its channel was lost before the broker had answered
	{Name: "republished_ns", Nullable: true}, // and it was sent again, the first time
}

// conditions are what Select.Where may ask for. Those that are a count of the result are true of as many messages and queues.
var conditions = map[string]func(*integrity.History) bool{
	"lost":                is(integrity.OutcomeLost),
	"missing":             is(integrity.OutcomeLost, integrity.OutcomeMissing, integrity.OutcomeUnconfirmed, integrity.OutcomeRemoved),
	"missing_unconfirmed": is(integrity.OutcomeUnconfirmed),
	"removed_by_rule":     is(integrity.OutcomeRemoved),
	"unaccounted":         is(integrity.OutcomeUnaccounted),
	"duplicate":           func(m *integrity.History) bool { return m.Duplicates > 0 },
	"out_of_order":        func(m *integrity.History) bool { return m.OutOfOrder },
	"corrupt":             is(integrity.OutcomeCorrupt, integrity.OutcomeCorruptElse),
	"foreign":             is(integrity.OutcomeForeign),
	"other_queue":         is(integrity.OutcomeOtherQueue),
	"unroutable":          is(integrity.OutcomeUnroutable),
	"returned":            func(m *integrity.History) bool { return m.Returned != event.None },
	"nacked":              func(m *integrity.History) bool { return m.Settled == event.Nack },
	"not_sent":            is(integrity.OutcomeNotSent),
	"unconfirmed":         func(m *integrity.History) bool { return unsettled(m, integrity.AwaitsConfirm) },
	"uncommitted":         func(m *integrity.History) bool { return unsettled(m, integrity.AwaitsCommit) },
	"queued":              func(m *integrity.History) bool { return strings.HasPrefix(string(m.Outcome), "queued") },
	"discarded":           is(integrity.OutcomeDiscarded),
	"delivered":           is(integrity.OutcomeDelivered),
	"redelivered":         func(m *integrity.History) bool { return m.Redelivered },
	"in_doubt":            func(m *integrity.History) bool { return m.InDoubt != event.None },
	"republished":         func(m *integrity.History) bool { return m.Republished != event.None },
}

// WhereNames are the conditions, sorted.
func WhereNames() []string { return slices.Sorted(maps.Keys(conditions)) }

func is(outcomes ...integrity.Outcome) func(*integrity.History) bool {
	return func(m *integrity.History) bool { return slices.Contains(outcomes, m.Outcome) }
}

func unsettled(m *integrity.History, a integrity.Answer) bool {
	return m.Awaits == a && m.Sent != event.None && m.Settled == 0
}

// wanted tells whether a message is to be exported.
func (x *exporter) wanted(m *integrity.History) bool {
	if x.s.Producer >= 0 && (m.Capture < 0 || m.Producer != x.s.Producer) || x.s.bySequence() && (m.Capture < 0 || !x.s.sequence(m.Seq)) {
		return false
	}
	t := m.Due
	if t == event.None || m.Capture < 0 {
		t = m.Sent
	}
	if t == event.None {
		t = m.Received
	}
	if !x.inTime(t) {
		return false
	}
	return len(x.where) == 0 || slices.ContainsFunc(x.where, func(holds func(*integrity.History) bool) bool { return holds(m) })
}

// message makes a row.
func (x *exporter) message(m *integrity.History) error {
	if !x.wanted(m) {
		return nil
	}
	c := columnFiller{block: x.block}
	if m.Capture >= 0 {
		id, tag := x.a.id(m.Capture)
		c.text(id)
		c.number(tag)
	} else {
		c.null()
		c.number(int64(m.Tag))
	}
	c.number(int64(m.Producer))
	c.number(int64(m.Seq))
	x.route(&c, m.Capture, m.Route)
	c.known(m.Size, -1)
	c.known(m.Due, event.None)
	c.known(m.Sent, event.None)
	c.name(valueNames[schema.Settlements]["kind"], int(m.Settled))
	c.known(m.SettledAt, event.None)
	c.known(m.Returned, event.None)
	if m.QueueIndex >= 0 {
		c.text(m.Queue)
	} else {
		c.null()
	}
	if m.Received != event.None {
		id, _ := x.a.id(m.ConsumerCapture)
		c.text(id)
		c.number(int64(m.Consumer))
		c.number(m.Received)
		c.flag(m.Redelivered)
		c.name(valueNames[schema.Deliveries]["body"], int(m.Body))
	} else {
		for range 5 {
			c.null()
		}
	}
	c.number(m.Deliveries)
	c.number(m.Duplicates)
	c.flag(m.OutOfOrder)
	c.text(string(m.Outcome))
	c.known(m.InDoubt, event.None)
	c.known(m.Republished, event.None)
	return x.row()
}

// route fills exchange and routing key.
func (x *exporter) route(c *columnFiller, capture, route int) {
	var names [2]*string
	if capture >= 0 {
		names[0], names[1] = routeNames(x.a.captures[capture].manifest, route)
	}
	for _, name := range names {
		if name != nil {
			c.text(*name)
		} else {
			c.null()
		}
	}
}

// columnFiller fills one row of a block, column after column.
type columnFiller struct {
	block *export.Block
	next  int
}

func (c *columnFiller) number(n int64) { c.block.Number(c.next, n); c.next++ }
func (c *columnFiller) flag(yes bool)  { c.block.Bool(c.next, yes); c.next++ }
func (c *columnFiller) text(s string)  { c.block.Text(c.next, s); c.next++ }
func (c *columnFiller) null()          { c.block.Null(c.next); c.next++ }

// known is null where the number is the one that stands for a missing one.
func (c *columnFiller) known(n, missing int64) {
	if n == missing {
		c.null()
	} else {
		c.number(n)
	}
}

// name is the name of a value; null for 0, which is none.
func (c *columnFiller) name(names []string, n int) {
	if n == 0 {
		c.null()
	} else {
		c.text(nameOf(names, n))
	}
}
