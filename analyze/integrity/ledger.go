// Package integrity judges what became of every message: it joins sends, settlements and deliveries by (producer,
// sequence), counts what happened at each queue that a message should have reached, and gives the verdict.
//
// What flows in are the rows of verified batches, column by column, and the manifests of the captures; what flows out
// are, during the join, the times of every answered message (Answers: latencies are made of them), and at the end
// counts, findings and a verdict as plain result values. Rows are borrowed for the length of a call.
//
//	l := integrity.NewLedger(expected, answers, options)
//	defer l.Close()
//	for each batch, by time { l.Sends(...) or l.Settlements(...) or l.Deliveries(...) }
//	l.Finish()
//	verdict := l.Judge(facts)
//
// Order of the calls: the rows of one consumer must come in the order in which they were recorded, and deliveries of one message
// in the order of time, for the first is not as the others. Sends should come
// before their answers (then memory is bounded by what is under way), but an answer that comes first is joined too.
//
// Memory: the times of messages that still await an answer, within a budget (beyond it they go to a temporary file);
// and a few bits for each message.
package integrity

import (
	"slices"

	"leveret/analyze/result"
)

// SendRows are rows of sends of one capture, all columns of the same length. Due and Sent are event.None where null.
type SendRows struct {
	Capture  int // index in the captures given
	Producer []uint16
	Seq      []uint64
	Due      []int64
	Sent     []int64
	Route    []uint16
}

// SettlementRows are rows of settlements of one capture.
type SettlementRows struct {
	Capture  int
	Producer []uint16
	Seq      []uint64
	Kind     []uint8
	At       []int64
}

// DeliveryRows are rows of deliveries of one capture, in the order in which each consumer received them.
type DeliveryRows struct {
	Capture     int
	Consumer    []uint16
	Queue       []uint16
	Tag         []uint16
	Producer    []uint16
	Seq         []uint64
	Received    []int64
	Body        []uint8
	Redelivered []uint8
}

// Answers takes the times of answered messages while the ledger joins, and at the end those of unanswered ones. All
// slices have the same length (due may be nil: no message had a due time) and are valid until the call returns.
type Answers interface {
	// Of is called, with Options.Parties, before each call of the others but Expected: it says of whom that tells, all messages of
	// one producer, with consecutive sequences.
	Of(Party)
	// Confirmed: at[i] is when the broker first acked a message.
	Confirmed(at, sent, due []int64)
	// Committed: at[i] is when the broker answered the commit of a message's transaction.
	Committed(at, sent, due []int64)
	// Delivered: at[i] is when a message was first received intact from one of the queues that it should reach.
	Delivered(at, sent, due []int64)
	// Expected: at these times, n more deliveries each became expected of consumed queues (a message was sent, or arrives although it
	// was refused), or, n below zero, fewer (it was refused, or, as Finish finds, arrived damaged, was never committed, lies before the beginning of
	// a stream's subscription, or is not in the queue any more).
	Expected(at []int64, n int)
	// Unconfirmed, Uncommitted and Undelivered are called by Finish: a message that was neither acked nor nacked, one whose
	// transaction was not committed, and one that was never received intact from a consumed queue that it should have
	// reached. due is event.None where there is none.
	Unconfirmed(sent, due int64)
	Uncommitted(sent, due int64)
	Undelivered(sent, due int64)
	// Unsent: a message that was due and never sent would have had this answer, and been received from so many consumed queues.
	Unsent(due int64, answer Answer, queues int)
}

// Party says whose message an answer is to, and for a delivery where it came from.
type Party struct {
	Capture, Producer         int
	Seq                       uint64 // of the first message; the others of the call follow it
	Queue                     int    // in the order of the topology; -1: no delivery
	ConsumerCapture, Consumer int    // -1 where no consumer is known
}

// Answer is what a producer awaits of the broker for each message.
type Answer uint8

const (
	NoAnswer      Answer = iota
	AwaitsConfirm        // publisher confirms
	AwaitsCommit         // transactions
)

// Options of a Ledger.
type Options struct {
	MemoryBytes int64        // for the times of messages under way
	Tmp         string       // directory of the temporary file; "" is the system's
	Announce    func(string) // called once before a temporary file is made; may be nil
	Producers   int          // how many producers there are, as far as known
	Examples    int          // messages named by a finding
	// Parties: Answers are told of whom each call is, and Unsent is called for each queue alone.
	Parties bool
}

// Ledger joins rows and counts. Not safe for concurrent use.
type Ledger struct {
	x       *Expected
	answers Answers
	o       Options

	shift uint     // log2 of the messages in a page
	size  int      // messages in a page
	words int      // 64-bit words for a bit of each
	full  []uint64 // every bit set; never written otherwise
	arena arena
	pager *pager

	producers [][]*producer // by capture, number
	dests     []destCounts  // by destination
	published publishedInAll
	total     totals
	strays    []stray
	suspects  map[suspected]suspect
	turns     map[turnKey]*turn
	watch     map[watched][]*example
}

// totals are the counts that belong to no queue.
type totals struct {
	sent, notSent, acked, nacked, returned int64
	committed                              int64 // in a transaction whose commit was answered
	uncommitted                            int64 // of producers with transactions, never committed
	returnedWanted                         int64 // returned although the run's own topology leads to a queue
	unroutable                             int64
	unknownRoute                           int64 // sent where the queues are not known
	unconfirmed                            int64 // of producers with confirms, neither acked nor nacked
	nowhere                                int64 // of unknownRoute, received nowhere
	repeatedSends                          int64 // rows of sends for a message that had one
	contradictions                         int64 // answers to a message that had one
	doubt                                  result.Doubt
	otherQueue                             int64 // intact at a queue that the route does not lead to
	readAgain                              int64 // intact, by subscriptions of streams that were opened again
	repeated                               int64 // intact deliveries of messages that had one from the same place
	duplicateFirst, outOfOrderFirst        []*example
	corruptFirst, nackedFirst, returnFirst []*example
	lostFirst, unconfirmedFirst            []*example
	uncertainFirst, ruleFirst              []*example
}

// destCounts are the counts of one destination.
type destCounts struct {
	expected    int64 // sent here, neither refused nor left without a commit
	received    int64
	unique      int64 // messages, received intact at least once
	redelivered int64
	duplicates  int64
	corrupt     int64
	foreign     int64
	outOfOrder  int64
	ownIntact   int64
	first       int64 // when the first of ownIntact was received

	// What Finish finds.
	published  published
	attributed int64 // corrupt bodies that are missing messages
	neverSent  int64 // unique, but no row of sends tells of the message
	absent     absence
	fate       fate
	rule       string // that may explain absence; "" for none
	lossRule   string // the same, of what was sent until lossEnd
	lossEnd    int64
	removable  bool   // a rule may have removed messages, whether or not absence is judged
	spans      []span // of missing messages, the first few
	manySpans  bool   // there are more
	// purges are when the queue was purged, as marks say. explained are the messages that went with one of them, or with the loss of
	// a connection, by page; the counts are of both. They are not among absent.
	purges []int64
	// begun: what was sent later came into the queue behind a message that had been received from it; event.None: unknown.
	begun                  int64
	explained              map[*page][]uint64
	purgedCount, lossCount int64
}

// published is what producers did, and were answered, with messages whose route leads to a destination, whether they arrived
// there or not.
type published struct {
	sent, notSent, confirmed, committed, nacked, returned, unconfirmed, uncommitted int64
}

// stray is a corrupt body whose claimed message is in no page yet.
type stray struct {
	producer *producer
	dest     int32
	seq      uint64
}

// example is a message that a finding names.
type example struct {
	producer *producer // nil: none of the captures'
	claimed  uint16    // number of the producer, as the row has it
	seq      uint64
	dest     int32 // -1: none
	consumer int32 // -1: none
	received int64
	corrupt  bool
	// What lookUp finds: a row of sends tells of the message; a corrupt body is the message that it claims to be; times,
	// event.None where they are not known.
	known      bool
	attributed bool
	sent, due  int64
}

// NewLedger makes an empty ledger.
func NewLedger(x *Expected, answers Answers, o Options) *Ledger {
	l := &Ledger{x: x, answers: answers, o: o, turns: map[turnKey]*turn{}}
	// A page is what is kept or given up at once: with very many producers it must be small, or the last page of each
	// alone would fill the memory. It takes about 160 bytes itself, so that it should not be smaller than that.
	const least = 1 << 20
	l.shift = 9
	for l.shift > 6 && int64(o.Producers)<<l.shift*8 > max(o.MemoryBytes, least)/2 {
		l.shift--
	}
	l.size = 1 << l.shift
	l.words = l.size / 64
	l.full = slices.Repeat([]uint64{^uint64(0)}, l.words)
	l.pager = newPager(l.size, o.MemoryBytes, o.Tmp, o.Announce)
	l.producers = make([][]*producer, len(x.captures))
	return l
}

// Close gives up the temporary file and all that is known of single messages; what Judge and Watch need remains.
func (l *Ledger) Close() error {
	for _, ps := range l.producers {
		for _, p := range ps {
			if p != nil {
				p.pages, p.far, p.lanes, p.laneIndex = nil, nil, nil, nil
			}
		}
	}
	l.strays = nil
	return l.pager.close()
}

// Rest gives up the times of messages, and the temporary file. What happened to each message is still known: histories need it.
func (l *Ledger) Rest() error { return l.pager.close() }

// Err is the first failure of the temporary file; nothing found after it can be trusted.
func (l *Ledger) Err() error { return l.pager.err }

// SpilledBytes is the size that the temporary file has reached.
func (l *Ledger) SpilledBytes() int64 { return l.pager.spilled() }

// Repeated is how many intact deliveries were of messages that had been delivered from the same place before: only of these it
// matters which comes first.
func (l *Ledger) Repeated() int64 { return l.total.repeated }

// RoutesKnown tells whether it is known of every message that was sent which queues it should reach.
func (l *Ledger) RoutesKnown() bool { return l.total.unknownRoute == 0 }

// Sent is how many messages each producer of the captures sent, in their order.
func (l *Ledger) Sent() (sent []int64) {
	for c, ps := range l.producers {
		n := len(ps)
		if m := l.x.captures[c].manifest; m != nil {
			n = max(n, len(m.Producers))
		}
		for i := range n {
			if i < len(ps) && ps[i] != nil {
				sent = append(sent, ps[i].sent)
			} else {
				sent = append(sent, 0)
			}
		}
	}
	return sent
}
