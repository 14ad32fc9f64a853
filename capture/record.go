package capture

import (
	"strings"
	"sync"

	"leveret/capture/event"
	"leveret/capture/schema"
)

// slot is where the rows of one file are gathered.
type slot struct {
	kind  schema.Kind
	shard uint16
	cur   *block // nil: none taken yet
}

// shard gathers the rows of one file.
type shard struct {
	sync.Mutex
	// guards the following
	slot
}

// publishShard gathers what Sends brings: rows of two files under one mutex.
type publishShard struct {
	sync.Mutex
	// guards the following
	sends, writes slot
}

// room returns the slot's block with place for at least one row, or nil where there is none to be had any more. The
// shard's mutex is held; while no block is free the call waits, which is the last resort (see Reserve, Congested).
func (w *Writer) room(s *slot) *block {
	if s.cur == nil {
		b := w.take(s.kind)
		if b == nil {
			return nil
		}
		b.slot, b.rows, b.text, b.since = s, 0, 0, w.clock.Now()
		s.cur = b
	}
	return s.cur
}

// added counts n more rows in the slot's block and hands it to the flusher if it is full.
func (w *Writer) added(s *slot, n int) {
	s.cur.rows += n
	if s.cur.rows == s.cur.capacity {
		w.hand(s)
	}
}

// hand gives the slot's block to the flusher.
func (w *Writer) hand(s *slot) {
	b := s.cur
	s.cur = nil
	w.queue <- b // has room for every block
}

// Sends records one batch of a producer, N rows of sends and one of writes (none where Sent is event.None). Rows that
// Reserve let pass find room without waiting for the disk.
func (w *Writer) Sends(s *event.Sends) {
	if s.N <= 0 {
		return
	}
	sh := &w.publish[int(s.Producer)%len(w.publish)]
	sh.Lock()
	for done := 0; done < s.N; {
		b := w.room(&sh.sends)
		if b == nil {
			w.lose(schema.Sends, s.N-done)
			break
		}
		n := min(s.N-done, b.capacity-b.rows)
		putSends(b, s, done, n)
		w.added(&sh.sends, n)
		done += n
	}
	if s.Sent != event.None {
		if b := w.room(&sh.writes); b != nil {
			putWrite(b, s)
			w.added(&sh.writes, 1)
		} else {
			w.lose(schema.Writes, 1)
		}
	}
	sh.Unlock()
	w.accounts.sent(s)
}

// putSends copies messages from to from+n-1 of a batch behind the rows of b.
func putSends(b *block, s *event.Sends, from, n int) {
	at := b.rows
	fill(b, schema.SendsProducer, at, n, s.Producer)
	seq := column[uint64](b, schema.SendsSeq, at, n)
	first := s.First + uint64(from)
	for i := range seq {
		seq[i] = first + uint64(i)
	}
	if s.Due != nil {
		copy(column[int64](b, schema.SendsDue, at, n), s.Due[from:from+n])
	} else {
		fill(b, schema.SendsDue, at, n, event.None)
	}
	fill(b, schema.SendsSent, at, n, s.Sent)
	if s.Sizes != nil {
		copy(column[uint32](b, schema.SendsSize, at, n), s.Sizes[from:from+n])
	} else {
		fill(b, schema.SendsSize, at, n, s.Size)
	}
	if s.Routes != nil {
		copy(column[uint16](b, schema.SendsRoute, at, n), s.Routes[from:from+n])
	} else {
		fill(b, schema.SendsRoute, at, n, s.Route)
	}
}

func putWrite(b *block, s *event.Sends) {
	at := b.rows
	fill(b, schema.WritesProducer, at, 1, s.Producer)
	fill(b, schema.WritesFirstSeq, at, 1, s.First)
	fill(b, schema.WritesMessages, at, 1, uint32(s.N))
	fill(b, schema.WritesSent, at, 1, s.Sent)
	fill(b, schema.WritesWritten, at, 1, s.Written)
	fill(b, schema.WritesBytes, at, 1, uint32(s.Bytes))
}

// Settlements records what one read call brought for one producer, a row a message. There is room for the settlements of
// all messages that Reserve let pass, so that frames are read also while the disk stands still.
func (w *Writer) Settlements(s *event.Settlements) {
	sh := &w.settlements[int(s.Producer)%len(w.settlements)]
	settled := 0
	sh.Lock()
	for i := range s.Runs {
		run := &s.Runs[i]
		if run.Kind != event.Return {
			settled += int(run.N)
		}
		for done := uint32(0); done < run.N; {
			b := w.room(&sh.slot)
			if b == nil {
				w.lose(schema.Settlements, int(run.N-done))
				break
			}
			n := min(run.N-done, uint32(b.capacity-b.rows))
			putSettled(b, s, run, done, int(n))
			w.added(&sh.slot, int(n))
			done += n
		}
	}
	sh.Unlock()
	w.accounts.settled(s.Producer, settled)
}

func putSettled(b *block, s *event.Settlements, run *event.SettledRun, from uint32, n int) {
	at := b.rows
	fill(b, schema.SettlementsProducer, at, n, s.Producer)
	seq := column[uint64](b, schema.SettlementsSeq, at, n)
	first := run.First + uint64(from)
	for i := range seq {
		seq[i] = first + uint64(i)
	}
	fill(b, schema.SettlementsKind, at, n, uint8(run.Kind))
	fill(b, schema.SettlementsAt, at, n, s.At)
	fill(b, schema.SettlementsFrameMessages, at, n, run.FrameMessages)
}

// Deliveries records what one read call brought for one consumer. It waits for the disk only where consumers did not
// heed Congested or no more memory is left.
func (w *Writer) Deliveries(d *event.Deliveries) {
	sh := &w.deliveries[int(d.Consumer)%len(w.deliveries)]
	sh.Lock()
	for rows := d.Rows; len(rows) > 0; {
		b := w.room(&sh.slot)
		if b == nil {
			w.lose(schema.Deliveries, len(rows))
			break
		}
		n := min(len(rows), b.capacity-b.rows)
		putDeliveries(b, d, rows[:n])
		w.added(&sh.slot, n)
		rows = rows[n:]
	}
	sh.Unlock()
}

func putDeliveries(b *block, d *event.Deliveries, rows []event.Delivery) {
	at, n := b.rows, len(rows)
	fill(b, schema.DeliveriesConsumer, at, n, d.Consumer)
	fill(b, schema.DeliveriesReceived, at, n, d.At)
	queue := column[uint16](b, schema.DeliveriesQueue, at, n)
	tag := column[uint16](b, schema.DeliveriesTag, at, n)
	producer := column[uint16](b, schema.DeliveriesProducer, at, n)
	seq := column[uint64](b, schema.DeliveriesSeq, at, n)
	deliveryTag := column[uint64](b, schema.DeliveriesDeliveryTag, at, n)
	due := column[int64](b, schema.DeliveriesDue, at, n)
	size := column[uint32](b, schema.DeliveriesSize, at, n)
	body := column[uint8](b, schema.DeliveriesBody, at, n)
	redelivered := column[uint8](b, schema.DeliveriesRedelivered, at, n)
	for i := range rows {
		r := &rows[i]
		queue[i], tag[i], producer[i] = r.Queue, r.Tag, r.Producer
		seq[i], deliveryTag[i], due[i] = r.Seq, r.DeliveryTag, r.Due
		size[i], body[i], redelivered[i] = r.Size, uint8(r.Body), flag(r.Redelivered)
	}
}

// Acks records one settlement that a consumer sent.
func (w *Writer) Acks(a *event.Acks) {
	sh := &w.acks[int(a.Consumer)%len(w.acks)]
	sh.Lock()
	if b := w.room(&sh.slot); b != nil {
		at := b.rows
		fill(b, schema.AcksConsumer, at, 1, a.Consumer)
		fill(b, schema.AcksAt, at, 1, a.At)
		fill(b, schema.AcksDeliveryTag, at, 1, a.DeliveryTag)
		fill(b, schema.AcksMessages, at, 1, a.Messages)
		fill(b, schema.AcksMultiple, at, 1, flag(a.Multiple))
		w.added(&sh.slot, 1)
	} else {
		w.lose(schema.Acks, 1)
	}
	sh.Unlock()
}

// Connection records one change of a connection's state. A text of more than schema.MaxTextBytes is cut; AMQP's own have
// at most 255 bytes.
func (w *Writer) Connection(c *event.Connection) {
	text := fitting(c.Text)
	sh := &w.connections
	sh.Lock()
	defer sh.Unlock()
	b := w.roomFor(&sh.slot, text)
	if b == nil {
		w.lose(schema.Connections, 1)
		return
	}
	at := b.rows
	fill(b, schema.ConnectionsAt, at, 1, c.At)
	fill(b, schema.ConnectionsConnection, at, 1, c.Connection)
	fill(b, schema.ConnectionsState, at, 1, uint8(c.State))
	fill(b, schema.ConnectionsProducer, at, 1, c.Producer)
	fill(b, schema.ConnectionsConsumer, at, 1, c.Consumer)
	fill(b, schema.ConnectionsCode, at, 1, c.Code)
	b.put(schema.ConnectionsText, at, text)
	w.added(&sh.slot, 1)
}

// fitting is a text as the format takes it.
func fitting(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > schema.MaxTextBytes {
		text = strings.ToValidUTF8(text[:schema.MaxTextBytes], "") // no half character at the cut
	}
	return text
}

// roomFor is room for a row with a text, in kinds that have one.
func (w *Writer) roomFor(s *slot, text string) *block {
	if s.cur != nil && s.cur.text+len(text) > connectionText {
		w.hand(s)
	}
	return w.room(s)
}

// put sets a row's text, which is the last column.
func (b *block) put(col, at int, text string) {
	copy(b.columns[col+1][b.text:], text)
	b.text += len(text)
	fill(b, col, at+1, 1, uint32(b.text)) // the first offset is 0 and never changes
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
