package result

import (
	"fmt"
	"strings"
)

// Disruption is what losses of connections did to a run. Times are on the record's clock.
type Disruption struct {
	// Losses of connections, and of single channels and subscriptions; Recovered of them before the run ended.
	Losses    int64 `json:"losses"`
	Recovered int64 `json:"recovered"`
	Attempts  int64 `json:"attempts"` // to connect again
	// FirstNS is the first loss, LastNS the last recovery, or the end of the run where something was never recovered.
	FirstNS int64 `json:"first_ns"`
	LastNS  int64 `json:"last_ns"`
	// DownNS is the time in which at least one was lost.
	DownNS int64 `json:"down_ns"`
	// StandstillNS is the longest time without any confirm, refusal or delivery that touches a loss, to the millisecond, or to the
	// 16,777,216th part of a run of more than four hours; nil where nothing ever moved. StandstillFromNS is its beginning.
	StandstillNS     *int64 `json:"standstill_ns"`
	StandstillFromNS *int64 `json:"standstill_from_ns"`
	// CaughtUpNS is that of the last episode that has one.
	CaughtUpNS *int64 `json:"caught_up_ns"`
	Doubt      Doubt  `json:"in_doubt"`
	// FirstEffectNS is when the first of the episodes began to tell, LastEffectNS when the last of them was over.
	FirstEffectNS int64 `json:"first_effect_ns"`
	LastEffectNS  int64 `json:"last_effect_ns"`
	// Episodes in order of time: losses that belong together; the first MostOutages of EpisodesTotal.
	EpisodesTotal int       `json:"episodes_total"`
	Episodes      []Episode `json:"episodes"`
	// Outages in order of time, those that came together, within 10 ms, in that of their connections; the first MostOutages.
	Outages []Outage `json:"outages"`
}

// Episode is what one failure did to the run: losses that overlap, or follow each other before the run had caught up with its
// schedule.
type Episode struct {
	Losses int64  `json:"losses"`
	Text   string `json:"text"` // of the first of them
	// FirstNS is the first loss; LastNS the last recovery, or the end of the run where RecoveredAll is false; RecoverNS is between.
	FirstNS      int64 `json:"first_ns"`
	LastNS       int64 `json:"last_ns"`
	RecoverNS    int64 `json:"recover_ns"`
	RecoveredAll bool  `json:"recovered_all"`
	// Of the run: see Disruption.
	StandstillNS     *int64 `json:"standstill_ns"`
	StandstillFromNS *int64 `json:"standstill_from_ns"`
	// CaughtUpNS is when the last message was sent over CatchUpNS late, before the next episode and the first second after LastNS in
	// which none was; CatchUpNS how long after LastNS. Nil in closed loop, and where none was.
	CaughtUpNS *int64 `json:"caught_up_ns"`
	CatchUpNS  *int64 `json:"catch_up_ns"`
	// FirstEffectNS is the first loss, or the beginning of the standstill before it; LastEffectNS the end of all of the above.
	FirstEffectNS int64 `json:"first_effect_ns"`
	LastEffectNS  int64 `json:"last_effect_ns"`
}

// MostOutages bounds the lists of outages and of episodes.
const MostOutages = 1000

// CatchUpNS is how late a message has to be sent for the run not to have caught up with its schedule.
const CatchUpNS = 100_000_000

// Outage is one loss.
type Outage struct {
	Capture    int   `json:"capture"` // index in the captures
	Connection int   `json:"connection"`
	Producer   *int  `json:"producer,omitempty"` // of a single channel
	Consumer   *int  `json:"consumer,omitempty"`
	LostNS     int64 `json:"lost_ns"`
	// RecoveredNS is when all that it carries worked again; nil: not before the run ended. DurationNS counts to there.
	RecoveredNS *int64 `json:"recovered_ns"`
	DurationNS  int64  `json:"duration_ns"`
	Attempts    int    `json:"attempts"`
	Code        int    `json:"code,omitempty"`     // AMQP reply code; 0: none
	Text        string `json:"text"`               // the broker's, or the cause
	Recovery    string `json:"recovery,omitempty"` // how it was recovered, as recorded

	// The following are nil where the record does not tell: of a capture that was not closed, and of what was recovered with its
	// connection. FirstEffectNS is when the broker answered or delivered something on it for the last time before the loss, MovedNS
	// when for the first time after it. CaughtUpNS is when its producers sent the last message over CatchUpNS late, before its next
	// loss and a second in which none was, CatchUpNS how long after RecoveredNS; LastEffectNS is the latest of MovedNS, RecoveredNS and CaughtUpNS.
	FirstEffectNS *int64 `json:"first_effect_ns"`
	MovedNS       *int64 `json:"moved_ns"`
	CaughtUpNS    *int64 `json:"caught_up_ns"`
	CatchUpNS     *int64 `json:"catch_up_ns"`
	LastEffectNS  *int64 `json:"last_effect_ns"`
	// InDoubt messages the loss left without an answer, Republished of them were sent again with the recovery, each time; Unacked
	// deliveries went back to the broker.
	InDoubt     *int64 `json:"in_doubt"`
	Republished *int64 `json:"republished"`
	Unacked     *int64 `json:"unacked"`
}

// Where says what was lost: "connection 3", "producer 2".
func (o *Outage) Where() string {
	switch {
	case o.Producer != nil:
		return fmt.Sprintf("producer %d", *o.Producer)
	case o.Consumer != nil:
		return fmt.Sprintf("consumer %d", *o.Consumer)
	}
	return fmt.Sprintf("connection %d", o.Connection)
}

// Doubt counts messages that had no answer when their channel was lost, and what became of them: Republished were sent again (and
// are among the others, too); Confirmed and Refused had an answer then, and RefusedReceived of the latter arrived all the same: one of
// two copies was taken. Of those that never had an answer Received arrived nevertheless, Missing did not, and of Unknown it is not known, as their queues were not drained. DuplicatedByRepublishing are deliveries
// of messages that had arrived already.
type Doubt struct {
	Messages                 int64 `json:"messages"`
	Republished              int64 `json:"republished"`
	Confirmed                int64 `json:"confirmed"`
	Refused                  int64 `json:"refused"`
	RefusedReceived          int64 `json:"refused_received"`
	Received                 int64 `json:"received"`
	Missing                  int64 `json:"missing"`
	Unknown                  int64 `json:"unknown"`
	DuplicatedByRepublishing int64 `json:"duplicated_by_republishing"`
}

// Describe says what became of them: "9 sent again, 8 then confirmed, 1 then refused and yet received".
func (d *Doubt) Describe() string {
	var parts []string
	for _, n := range []struct {
		count int64
		what  string
	}{
		{d.Republished, "sent again"}, {d.Confirmed, "then confirmed"}, {d.Refused - d.RefusedReceived, "then refused"}, {d.RefusedReceived, "then refused and yet received"},
		{d.Received, "never confirmed and yet received"}, {d.Missing, "never confirmed nor received"}, {d.Unknown, "of which it is not known whether they arrived"},
	} {
		if n.count > 0 {
			parts = append(parts, Group(n.count)+" "+n.what)
		}
	}
	return strings.Join(parts, ", ")
}
