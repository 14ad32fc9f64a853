package integrity

import "slices"

// page is what is known of a number of consecutive messages of one producer: a bit for each thing that happened to a
// message, and, until all answers to all of them are in, their times. There are millions of pages.
type page struct {
	sent  []uint64
	acked []uint64
	first arrivals // at one destination; most pages need no more
	odd   *odd     // see unusual

	sentNS, dueNS column

	routes []int32 // by message; nil: all have route
	route  int32
	seen   int32 // messages that a row of sends was seen of, those included that were not sent
	open   int32 // answers that are awaited
	shared bool  // routes are those of the producer's turn, not to be written
	// ahead: something is known of a message that was not known to be sent then.
	ahead bool
	// done: every message was sent and every answer is in; the times are gone.
	done bool
}

// odd is what is known of few pages. Bits are nil while there are none.
type odd struct {
	nacked  []uint64
	returns []uint64
	doubt   []uint64
	again   []uint64 // sent a further time
	more    []arrivals
	places  map[int32]int // in more, by destination, once these are too many to search
	early   []*early
}

// arrivals are the messages of a page that arrived at one destination.
type arrivals struct {
	dest   int32
	intact []uint64    // nil: nothing known of this destination
	odd    *oddArrival // see unusual
}

// oddArrival has bits that are nil while there are none.
type oddArrival struct {
	corrupt []uint64 // claimed by a body whose checksum did not hold
	// early are those that arrived with the redelivered flag before they arrived without. Kept where connections were lost.
	early []uint64
}

// nothingOdd and nothingOddArrived are what pages and arrivals begin with; never written.
var (
	nothingOdd        odd
	nothingOddArrived oddArrival
)

// unusual is what is odd of the page, to be added to.
func (pg *page) unusual() *odd {
	if pg.odd == &nothingOdd {
		pg.odd = &odd{}
	}
	return pg.odd
}

func (a *arrivals) unusual() *oddArrival {
	if a.odd == &nothingOddArrived {
		a.odd = &oddArrival{}
	}
	return a.odd
}

// early holds the times of answers that were read before the send was: clocks of two hosts may disagree.
type early struct {
	dest int32 // confirmDest for confirms
	at   column
}

const confirmDest = -1

// arena makes pages and bits in large pieces: there may be millions.
type arena struct {
	pages []page
	words []uint64
	given [][]uint64 // back
}

func (a *arena) page() *page {
	if len(a.pages) == 0 {
		a.pages = make([]page, 256)
	}
	p := &a.pages[0]
	a.pages = a.pages[1:]
	return p
}

// bits are as many words each time, none of them set.
func (a *arena) bits(words int) []uint64 {
	if n := len(a.given); n > 0 {
		w := a.given[n-1]
		a.given = a.given[:n-1]
		clear(w)
		return w
	}
	if len(a.words) < words {
		a.words = make([]uint64, 1<<14)
	}
	w := a.words[:words:words]
	a.words = a.words[words:]
	return w
}

func (a *arena) give(w []uint64) { a.given = append(a.given, w) }

// setOdd sets a bit of a page that few pages have.
func (l *Ledger) setOdd(bits *[]uint64, slot int) {
	if *bits == nil {
		*bits = l.arena.bits(l.words)
	}
	setBit(*bits, slot)
}

// arrivals returns what arrived at a destination, made where it is new; valid until the page has another one.
func (l *Ledger) arrivals(pg *page, dest int32) *arrivals {
	if pg.first.intact == nil {
		pg.first = arrivals{dest: dest, intact: l.arena.bits(l.words), odd: &nothingOddArrived}
	}
	if a := pg.at(dest); a != nil {
		return a
	}
	o := pg.unusual()
	o.more = append(o.more, arrivals{dest: dest, intact: l.arena.bits(l.words), odd: &nothingOddArrived})
	o.index()
	return &o.more[len(o.more)-1]
}

// at returns what arrived at a destination, nil where nothing is known of it; valid until the page has another one.
func (pg *page) at(dest int32) *arrivals {
	if pg.first.intact != nil && pg.first.dest == dest {
		return &pg.first
	}
	if pg.odd.places != nil {
		if i, ok := pg.odd.places[dest]; ok {
			return &pg.odd.more[i]
		}
		return nil
	}
	for i := range pg.odd.more {
		if pg.odd.more[i].dest == dest {
			return &pg.odd.more[i]
		}
	}
	return nil
}

// index notes the last of more: the messages of a page may go to thousands of queues.
func (o *odd) index() {
	const searched = 16
	last := len(o.more) - 1
	switch {
	case o.places != nil:
		o.places[o.more[last].dest] = last
	case last == searched:
		o.places = map[int32]int{}
		for i := range o.more {
			o.places[o.more[i].dest] = i
		}
	}
}

// each calls f for every destination of the page that something is known of.
func (pg *page) each(f func(*arrivals)) {
	if pg.first.intact == nil {
		return
	}
	f(&pg.first)
	for i := range pg.odd.more {
		f(&pg.odd.more[i])
	}
}

// arrived tells whether a message is known to have arrived intact at a destination.
func (pg *page) arrived(dest int32, slot int) bool {
	a := pg.at(dest)
	return a != nil && testBit(a.intact, slot)
}

// claimed tells whether a corrupt body at a destination names a message.
func (pg *page) claimed(dest int32, slot int) bool {
	a := pg.at(dest)
	return a != nil && testIn(a.odd.corrupt, slot)
}

func (pg *page) refused(slot int) bool {
	return testIn(pg.odd.nacked, slot) || testIn(pg.odd.returns, slot)
}

func (pg *page) routeOf(slot int) int32 {
	if pg.routes != nil {
		return pg.routes[slot]
	}
	return pg.route
}

// setRoute notes the route of n messages of a producer from slot on; first is the sequence of the page's first message.
func (pg *page) setRoute(p *producer, first uint64, slot, n, size int, route int32) {
	if pg.seen == 0 && pg.routes == nil {
		pg.route = route
		if p.turn != nil {
			pg.routes, pg.shared = p.turn.page(first, size), true
		}
	}
	if pg.shared && !slices.ContainsFunc(pg.routes[slot:slot+n], func(r int32) bool { return r != route }) {
		return
	}
	switch {
	case pg.shared:
		pg.routes, pg.shared = slices.Clone(pg.routes), false
	case pg.routes == nil && route != pg.route:
		pg.routes = slices.Repeat([]int32{pg.route}, size)
	}
	if pg.routes != nil {
		for i := slot; i < slot+n; i++ {
			pg.routes[i] = route
		}
	}
}

// turn holds routes that a producer's messages take in turn, so often one after the other that each page finds its own in
// it: thousands of pages need no list of theirs.
type turn struct {
	n      uint64
	routes []int32
}

func (t *turn) page(first uint64, size int) []int32 {
	from := int(first % t.n)
	return t.routes[from : from+size]
}

// producer is one producer of one capture.
type producer struct {
	capture, number int
	awaits          Answer
	// assumed: no manifest says what the producer awaited; it was what came.
	assumed  bool
	confirms int64 // rows of acks and nacks
	commits  int64 // rows of commits
	sent     int64
	answered int64 // sent, and acked, nacked or committed

	turn *turn // routes of the messages, where they go in turn; else nil

	pages []*page          // by sequence / size, from 0 without large gaps
	far   map[uint64]*page // the others: few, or a producer that does not begin near 0

	lanes     []lane
	laneIndex map[laneKey]int // once lanes are too many to search
}

// awaited is what the producer awaits; where no manifest tells, what answers seen so far say.
func (p *producer) awaited() Answer {
	switch {
	case !p.assumed:
		return p.awaits
	case p.confirms > 0:
		return AwaitsConfirm
	case p.commits > 0:
		return AwaitsCommit
	}
	return NoAnswer
}

// maxGap is how many pages a producer's list is extended by at most to reach one that lies beyond its end.
const maxGap = 4096

// page returns the n-th page of a producer, nil if nothing is known of it.
func (p *producer) page(n uint64) *page {
	if n < uint64(len(p.pages)) && p.pages[n] != nil {
		return p.pages[n]
	}
	return p.far[n] // a nil map is fine
}

// pageFor returns the n-th page of a producer, made where it is new.
func (l *Ledger) pageFor(p *producer, n uint64) *page {
	if pg := p.page(n); pg != nil {
		return pg
	}
	pg := l.arena.page()
	pg.sent, pg.acked, pg.odd = l.arena.bits(l.words), l.arena.bits(l.words), &nothingOdd
	if n >= uint64(len(p.pages)+maxGap) {
		if p.far == nil {
			p.far = map[uint64]*page{}
		}
		p.far[n] = pg
		return pg
	}
	for uint64(len(p.pages)) <= n {
		p.pages = append(p.pages, nil)
	}
	p.pages[n] = pg
	return pg
}

// eachPage calls f for the pages of a producer by rising number.
func (p *producer) eachPage(f func(n uint64, pg *page)) {
	numbers := make([]uint64, 0, len(p.far))
	for n := range p.far {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for n, pg := range p.pages {
		for len(numbers) > 0 && numbers[0] < uint64(n) {
			f(numbers[0], p.far[numbers[0]])
			numbers = numbers[1:]
		}
		if pg != nil {
			f(uint64(n), pg)
		}
	}
	for _, n := range numbers {
		f(n, p.far[n])
	}
}

// lane is the way of a producer's messages to one consumer through one destination: order is judged in it.
type lane struct {
	laneKey
	next uint64 // highest sequence seen + 1
	low  uint64 // lowest sequence seen
}

type laneKey struct {
	dest    int32
	capture uint16 // of the consumer
	number  uint16 // of the consumer
}

// find returns the lane of a producer to a consumer, nil where nothing came by it; valid until the next call of lane.
func (p *producer) find(k laneKey) *lane {
	if p.laneIndex != nil {
		if i, ok := p.laneIndex[k]; ok {
			return &p.lanes[i]
		}
		return nil
	}
	for i := range p.lanes {
		if p.lanes[i].laneKey == k {
			return &p.lanes[i]
		}
	}
	return nil
}

// lane returns the lane of a producer to a consumer, made where it is new; valid until the next call.
func (p *producer) lane(k laneKey) *lane {
	if ln := p.find(k); ln != nil {
		return ln
	}
	const searched = 32
	p.lanes = append(p.lanes, lane{laneKey: k, low: ^uint64(0)})
	switch {
	case p.laneIndex != nil:
		p.laneIndex[k] = len(p.lanes) - 1
	case len(p.lanes) > searched:
		p.laneIndex = map[laneKey]int{}
		for i := range p.lanes {
			p.laneIndex[p.lanes[i].laneKey] = i
		}
	}
	return &p.lanes[len(p.lanes)-1]
}
