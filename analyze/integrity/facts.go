package integrity

import (
	"strings"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// Facts are what the analysis learned beside the rows that the ledger joins.
type Facts struct {
	// Incomplete says why the captures do not prove to be whole, one line a reason; empty if they do.
	Incomplete []string
	// Strangers are files in the captures' directories that their manifests do not know; they were left out.
	Strangers []string
	// DeliveriesWhole and SendsWhole: every row of the kind is there, in every capture. Without the former loss is not
	// judged; without the latter a message that no row of sends tells of is not held to be foreign.
	DeliveriesWhole bool
	SendsWhole      bool
	// Mismatch are the engine's own counters that the rows do not agree with, though the captures are whole.
	Mismatch     []string
	MismatchRows int64

	// Lost are rows that the recorder had to give up, as it says itself.
	Lost     []string
	LostRows int64

	ContradictoryConfirms int64 // answers that the engine got for messages that had one
	UnattributedReturns   int64 // returned messages that the engine could not tell

	StartNS       int64 // of the run: times in texts count from it
	PublishStopNS int64 // of the last producer, over all captures
	WindowNS      int64 // span of the rates
	// ArrivedNS is how long after the start it was proved that the broker had taken all that was published without confirms; nil
	// where messages had confirms, or that was not proved, NotArrived then says why.
	ArrivedNS  *int64
	NotArrived string

	// Ended are the connections, channels, producers and consumers that ended before they should.
	Ended           []Ended
	Cancelled       []Cancelled
	ConnectionsLost int64
	// LossesEndNS is when the last of what was lost was back: no message that was sent later went with a loss. MaxInt64 where
	// something was lost for good, and event.None where nothing was lost. See lossesEnd, too.
	LossesEndNS int64
	// Recovered are losses that were made good, LongestOutageNS how long that took at most, Recoveries what to say of each.
	Recovered       int64
	LongestOutageNS int64
	Recoveries      []string
	// Away are consumers whose channel was lost, or cancelled, for a time or for good.
	Away            []Away
	BlockedNS       int64    // connection.blocked, over all connections
	Blocked         int64    // times
	BlockedFor      []string // the broker's reasons, each once
	StallNS         int64    // publishing waited for the recorder
	Stalls          int64
	ClientStalls    []string // when a recording process did not run itself, one line each
	ClientStalledNS int64    // for how long at least, over all
	Spans           []result.Span

	// Purges are when queues were purged, by their names, as marks say; rising. MarkDamage names the marks that could not be used.
	Purges     map[string][]int64
	MarkDamage []string

	// Churn are the operations of the captures that have some.
	Churn []Churn

	NegativeLatencies int64
	// NotOneRun says in what the captures differ though they should be of one run, one line each: then loss is not judged.
	NotOneRun      []string
	SeveralBrokers bool
	// ClocksDiffer says how the clocks of several hosts were joined, and what latencies between them are worth; empty of one host.
	ClocksDiffer []string
	// ClockErrorNS is by how much times of different captures may be off; MaxInt64 where that is not known.
	ClockErrorNS int64
	// TargetRate and SentRate are offered and achieved messages a second over all producers; nil in closed loop.
	TargetRate, SentRate *float64
	// Limit is what limited the run, LimitedBy the same in words with its evidence; empty if unknown.
	Limit     result.Limit
	LimitedBy string
	// BrokerAlarms are alarms that the broker told of, one line each. FlowSamples is how often a connection was in flow when
	// it was asked, FlowText "3 of 12".
	BrokerAlarms []string
	FlowSamples  int64
	FlowText     string
	// Backlog is what was sent and not yet received when publishing stopped; nil if unknown. BacklogBefore is the same in the
	// middle of the window. BacklogStood: there was a middle, and it has not grown by half since then.
	Backlog       *int64
	BacklogBefore int64
	BacklogStood  bool

	byConsumer map[consumerKey]*consumerFacts // nil until it is wanted; see of
}

// Away is a consumer that was not there for a time. UntilNS is when it was back, MaxInt64 where it never was.
type Away struct {
	Capture, Consumer int
	UntilNS           int64
}

type consumerKey struct{ capture, number int }

// Ended is one thing that ended early.
type Ended struct {
	AtNS     int64
	Capture  int
	Consumer int // -1: none
	Text     string
}

// Cancelled is a consumer that the broker cancelled, as it does when the queue is deleted. Text ends with the queue's name.
type Cancelled struct {
	AtNS              int64 // after the start
	Capture, Consumer int
	Text              string
}

// consumerFacts are what happened to one consumer. There may be as many consumers as things that happened to them: they are looked up.
type consumerFacts struct {
	away      int   // times
	back      int64 // from the last of them
	ended     bool
	cancelled []*Cancelled
}

// nothingHappened is shared, and never written.
var nothingHappened consumerFacts

// of is what happened to a consumer. Away, Ended and Cancelled must not change any more.
func (f *Facts) of(capture, consumer int) *consumerFacts {
	if f.byConsumer == nil {
		f.index()
	}
	if x := f.byConsumer[consumerKey{capture, consumer}]; x != nil {
		return x
	}
	return &nothingHappened
}

func (f *Facts) index() {
	f.byConsumer = map[consumerKey]*consumerFacts{}
	of := func(capture, consumer int) *consumerFacts {
		k := consumerKey{capture, consumer}
		if f.byConsumer[k] == nil {
			f.byConsumer[k] = &consumerFacts{}
		}
		return f.byConsumer[k]
	}
	for _, a := range f.Away {
		x := of(a.Capture, a.Consumer)
		x.back = max(x.back, a.UntilNS)
		x.away++
	}
	for _, e := range f.Ended {
		of(e.Capture, e.Consumer).ended = true
	}
	for i := range f.Cancelled {
		c := &f.Cancelled[i]
		x := of(c.Capture, c.Consumer)
		x.cancelled = append(x.cancelled, c)
	}
}

// away counts the consumers of a queue that were not there for a time, and tells whether one of them acks automatically.
func (f *Facts) away(q *queue) (n int, automatic bool) {
	for _, c := range q.consumers {
		if f.of(c.capture, c.number).away > 0 {
			n++
			automatic = automatic || c.AutoAck
		}
	}
	return n, automatic
}

// lossesEnd is until when what was sent to a queue can have gone with a loss: until all of its consumers were back that were away. Where
// none was, or one may have left before the last loss, that of others counts.
func (f *Facts) lossesEnd(q *queue) int64 {
	end := event.None
	for i := range q.consumers {
		c := &q.consumers[i]
		if c.leaves() {
			return f.LossesEndNS
		}
		if x := f.of(c.capture, c.number); x.away > 0 {
			end = max(end, x.back)
		}
	}
	if end == event.None {
		return f.LossesEndNS
	}
	return end
}

// cancelled is when the broker first cancelled a consumer of the queue.
func (f *Facts) cancelled(q *queue) (atNS int64, ok bool) {
	for _, consumer := range q.consumers {
		for _, c := range f.of(consumer.capture, consumer.number).cancelled {
			if strings.HasSuffix(c.Text, " "+q.name) && (!ok || c.AtNS < atNS) {
				atNS, ok = c.AtNS, true
			}
		}
	}
	return atNS, ok
}

// consumersEnded counts the consumers of a queue that ended early.
func (f *Facts) consumersEnded(q *queue) int {
	n := 0
	for _, c := range q.consumers {
		if f.consumerEnded(c) {
			n++
		}
	}
	return n
}

func (f *Facts) consumerEnded(c consumerOf) bool { return f.of(c.capture, c.number).ended }
