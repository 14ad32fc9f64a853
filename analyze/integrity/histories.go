package integrity

import (
	"leveret/capture/event"
)

// Histories joins the rows of a finished ledger once more and hands out each message with all its times and outcomes, a page
// of messages as soon as its last row was seen. The first reading counts the rows of each page (Count...), the second joins
// them (Sends, Settlements, Deliveries), then Finish hands out what is left of pages whose rows did not all come again.
//
// Memory: four bytes a page, the bits of the ledger, and the times of the messages whose rows are not all in, within the
// ledger's budget; what exceeds it goes to a temporary file.
type Histories struct {
	l     *Ledger
	o     *outcomes
	pager *pager
	each  func(*History) error
	err   error // the first of each

	known map[*producer]*records
	order []*records

	fates []Fate
	copy  copied
	one   History
}

// History is one message at one place. Times are event.None where there are none.
type History struct {
	Capture  int    // of the producer; -1: the message is not known to be of any of the captures
	Tag      uint16 // in the stamp, of a message of no capture
	Producer int    // of a message of no capture: what the stamp claims
	Seq      uint64
	Sent     int64
	Due      int64
	// Known: a row of sends tells of it; else the times of the producer are missing.
	Known     bool
	Size      int64                // bytes; -1: not known
	Route     int                  // of the capture; -1: not known
	Settled   event.SettlementKind // Ack, Nack or Commit; 0: not settled
	SettledAt int64
	Returned  int64
	// InDoubt is when its channel was lost before the broker had answered, Republished when it was sent again, both the first time.
	InDoubt, Republished int64

	// Awaits is what its producer awaited of the broker.
	Awaits          Answer
	Queue           string // "" and -1: no place
	QueueIndex      int    // over all captures, by name
	Outcome         Outcome
	Received        int64 // of the first intact delivery, else of the first corrupt one
	ConsumerCapture int   // -1: not received
	Consumer        int
	Redelivered     bool // that delivery
	Body            event.Body
	Deliveries      int64 // rows of deliveries that are of this message and place
	Duplicates      int64
	OutOfOrder      bool
}

// NewHistories begins, before the first reading of l. each gets one message at a time, valid until it returns; its first error
// ends the work (Err).
func (l *Ledger) NewHistories(each func(*History) error) *Histories {
	return &Histories{l: l, each: each, known: map[*producer]*records{}, pager: newPager(l.size, l.o.MemoryBytes, l.o.Tmp, l.o.Announce)}
}

// Begin begins the second reading; the ledger has been finished.
func (h *Histories) Begin(f *Facts) { h.o = h.l.outcomes(f) }

// Err is the first failure of the temporary file, or of each.
func (h *Histories) Err() error {
	if h.err == nil {
		h.err = h.pager.err
	}
	return h.err
}

// Close gives up memory and temporary file.
func (h *Histories) Close() error {
	h.known, h.order = nil, nil
	return h.pager.close()
}

// records are what is kept of one producer.
type records struct {
	*producer
	near  []recordState           // by page, from 0 without large gaps
	far   map[uint64]*recordState // the others
	lanes producer                // for its lanes alone
}

// recordState says how many rows of a page are still to come, and what the others told; the page is nil until the first comes.
type recordState struct {
	rows uint32
	page *record
}

// record holds the times of a page of messages.
type record struct {
	sent, due, facts  column
	settled, returned column
	doubt, again      column // only where there are any; so visits
	visits            []*visit
}

// visit is what arrived at one destination.
type visit struct {
	dest     int32
	at, what column
	counts   column // only where one arrived more than once
}

// Of facts: what is known of a message beside times. The lowest 32 bits are its size, the next 16 its route.
const (
	factKnown = 1 << 48
	factKind  = 49 // its bits are the kind of settlement
)

// Of what: 16 bits are the consumer, 16 its capture.
const (
	whatRedelivered = 1 << (32 + iota)
	whatIntact
	whatCorrupt
	whatOutOfOrder
	whatRepeated // counts has the deliveries, and shifted by 32 the duplicates
	whatEarly    // it came flagged before it came without: compare arrivals.early
)

func (h *Histories) records(p *producer) *records {
	r := h.known[p]
	if r == nil {
		r = &records{producer: p}
		h.known[p] = r
		h.order = append(h.order, r)
	}
	return r
}

// state finds the state of a page, made where it is new; valid until the next call.
func (r *records) state(n uint64) *recordState {
	if s := r.far[n]; s != nil {
		return s
	}
	if n >= uint64(len(r.near)+maxGap) {
		if r.far == nil {
			r.far = map[uint64]*recordState{}
		}
		s := &recordState{}
		r.far[n] = s
		return s
	}
	for uint64(len(r.near)) <= n {
		r.near = append(r.near, recordState{})
	}
	return &r.near[n]
}

// CountSends, CountSettlements and CountDeliveries count the rows of the first reading.
func (h *Histories) CountSends(r *SendRows) {
	for i, seq := range r.Seq {
		h.records(h.l.producer(r.Capture, r.Producer[i], false)).state(seq>>h.l.shift).rows++
	}
}

func (h *Histories) CountSettlements(r *SettlementRows) {
	for i, seq := range r.Seq {
		h.records(h.l.producer(r.Capture, r.Producer[i], false)).state(seq>>h.l.shift).rows++
	}
}

func (h *Histories) CountDeliveries(r *DeliveryRows) {
	for i, seq := range r.Seq {
		if p := h.l.claimant(r, i); p != nil {
			h.records(p).state(seq>>h.l.shift).rows++
		}
	}
}

// claimant is the producer whose message a delivery says that it is; nil for one of none of the captures.
func (l *Ledger) claimant(r *DeliveryRows, i int) *producer {
	body := event.Body(r.Body[i])
	if body == event.Unstamped || r.Seq[i] > event.MaxSequence {
		return nil
	}
	p := l.own(r.Tag[i], r.Producer[i])
	if p == nil && body == event.Corrupt && l.x.publisher >= 0 {
		p = l.producer(l.x.publisher, r.Producer[i], true)
	}
	return p
}
