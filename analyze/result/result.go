// Package result holds what an analysis found: plain values with their units in the names. It is all that reports and
// charts know, and its JSON form is the contract that scripts rely on: fields are added, never renamed or reused.
//
// A value that could not be measured is nil (null), never 0.
package result

import "encoding/json"

// SchemaVersion of the JSON form.
const SchemaVersion = 1

// Verdict is the judgement over a run.
type Verdict string

const (
	Pass         Verdict = "PASS"
	Fail         Verdict = "FAIL"
	Inconclusive Verdict = "INCONCLUSIVE"
)

// Severity is what a finding does to the verdict: fail, inconclusive, or nothing (warning, note).
type Severity string

const (
	SeverityFail         Severity = "fail"
	SeverityInconclusive Severity = "inconclusive"
	SeverityWarning      Severity = "warning"
	SeverityNote         Severity = "note"
)

// Result of analyzing one run.
type Result struct {
	SchemaVersion int       `json:"schema_version"`
	Verdict       Verdict   `json:"verdict"`
	Findings      []Finding `json:"findings"` // never nil; worst first
	// Assertions are those that were made about the run, in their order; one that is not met is a finding, too.
	Assertions []Assertion `json:"assertions,omitempty"`
	Complete   bool        `json:"complete"`
	// Growing: a capture was still being written when it was read, and so is not complete yet.
	Growing    bool   `json:"growing,omitempty"`
	StopReason string `json:"stop_reason"`
	// Ends counts the producers and consumers that stopped by themselves, as they were asked to, by why: "consumer limit", ...
	Ends map[string]int `json:"ends,omitempty"`

	Captures []string `json:"captures"` // directories, as given
	ID       string   `json:"id"`
	Broker   Broker   `json:"broker"`
	Config   Config   `json:"config"`
	Host     Host     `json:"host"`
	// Topology is nil where no capture tells it.
	Topology *Topology `json:"topology,omitempty"`

	Counts Counts `json:"counts"`
	// Queues are the counts by queue, in the order of the topology.
	Queues []QueueCounts `json:"queues"`

	Rates Rates `json:"rates"`
	// Window is the span over which rates were counted; both ends on the record's clock.
	Window Window `json:"window"`
	// Latency by what was measured; null where there is none, and then LatencyNote says why.
	Latency     Latencies `json:"latency"`
	LatencyNote string    `json:"latency_note,omitempty"`
	// AckLatency is from when a message was received to when its ack (or nack) was handed to the socket, of all deliveries of the run
	// to consumers that ack; those never acked are censored. Nil where no ack was recorded.
	AckLatency *Distribution `json:"ack_latency"`
	// ConfirmFrames are the frames with which the broker acked and nacked; nil without confirms.
	ConfirmFrames *FrameSizes `json:"confirm_frames"`
	// LatencyRemarks are sentences on what of the latencies is the plan's doing: rates and work of consumers, polling, transactions.
	LatencyRemarks []string `json:"latency_remarks,omitempty"`

	// Clocks are those of the hosts beside the first one's; none where all captures are of one host.
	Clocks []Clock `json:"clocks,omitempty"`

	// Steadiness says when rates and latency had settled; nil for a window of few intervals.
	Steadiness *Steadiness `json:"steadiness,omitempty"`
	// Fairness of producers, queues and consumers, where there are several.
	Fairness []Fairness `json:"fairness,omitempty"`
	// Waiting is Little's law beside the latency; nil where no backlog worth a finding was left.
	Waiting *Waiting `json:"waiting,omitempty"`

	// Groupings are those that were asked for.
	Groupings []Grouping `json:"groupings,omitempty"`

	IntervalNS int64      `json:"interval_ns"`
	Intervals  []Interval `json:"intervals"`
	Curves     []Curve    `json:"curves"` // percentile curves for charts, same numbers as Latency where they meet
	// Histograms and HeatMaps are of the latencies that there are.
	Histograms []Histogram `json:"histograms,omitempty"`
	HeatMaps   []HeatMap   `json:"heat_maps,omitempty"`
	Spans      []Span      `json:"spans"` // blocked, stalled and lost spans, for charts and text
	// Marks are what was written into the captures by hand or by hooks, in the order of time.
	Marks []Mark `json:"marks,omitempty"`

	// BrokerSide is what the broker said of itself; nil where its management API was not asked.
	BrokerSide *BrokerSide `json:"broker_side,omitempty"`
	// Series are the latencies by interval in narrow buckets, where they were asked for, to compare runs with.
	Series []Series `json:"-"`
	// Disruption is what losses of connections did; nil where there were none.
	Disruption *Disruption `json:"disruption,omitempty"`

	// Churn are the operations of each capture that has some.
	Churn []Churn `json:"churn,omitempty"`

	// LimitedBy is what limited the run, as far as the record tells; "" if unknown.
	LimitedBy string `json:"limited_by,omitempty"`
	// Generator has the evidence for it; nil without producers and without self-observation.
	Generator   *Generator `json:"generator"`
	ClientCPUNS *int64     `json:"client_cpu_ns"`
	// Calibration of the host that recorded; nil where there is none.
	Calibration *Calibration `json:"calibration,omitempty"`
	Rows        int64        `json:"rows"` // rows analyzed
	Notes       []string     `json:"notes,omitempty"`
}

// Finding is one thing the reader of the report must know.
type Finding struct {
	Code     string    `json:"code"` // stable, lower_snake_case
	Severity Severity  `json:"severity"`
	Count    int64     `json:"count"`
	Text     string    `json:"text"`            // one line, with its numbers
	First    []Message `json:"first,omitempty"` // the first few messages it concerns
}

// Message names one message. Times are nil where there is none.
type Message struct {
	Producer   int    `json:"producer"`
	Sequence   int64  `json:"sequence"`
	Queue      string `json:"queue,omitempty"`
	Consumer   *int   `json:"consumer,omitempty"`
	DueNS      *int64 `json:"due_ns"`
	SentNS     *int64 `json:"sent_ns"`
	ReceivedNS *int64 `json:"received_ns"`
	// Claimed: producer and sequence are only what a damaged body claims, and no missing message fits them.
	Claimed bool `json:"claimed,omitempty"`
}

// Broker is the peer.
type Broker struct {
	Embedded bool   `json:"embedded"`
	Product  string `json:"product"`
	Version  string `json:"version"`
	URI      string `json:"uri"`
	SameHost *bool  `json:"same_host"`
}

// Host is the machine that recorded.
type Host struct {
	Name string `json:"name"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	// CPUModel as the system names it; "" where it does not.
	CPUModel string `json:"cpu_model,omitempty"`
}

// Calibration is what the latest calibration of the recording host says of the tool itself there. Analysis leaves it nil.
// What that calibration did not measure is nil or 0.
type Calibration struct {
	AtNS               int64    `json:"at_ns"` // nanoseconds since the Unix epoch
	Tool               string   `json:"tool"`
	Quick              bool     `json:"quick"`
	ClockReadNS        *float64 `json:"clock_read_ns"`
	PublishMsgsPerS    *float64 `json:"publish_msgs_per_s"` // ceiling, 12 bytes, window 1000, recorded
	ConsumeMsgsPerS    *float64 `json:"consume_msgs_per_s"` // ceiling, 12 bytes, automatic acks, recorded
	PacingRateMsgsPerS int64    `json:"pacing_rate_msgs_per_s"`
	PacingP99NS        int64    `json:"pacing_p99_ns"` // sent minus due at that rate
	LatencyErrorP50NS  int64    `json:"latency_error_p50_ns"`
	LatencyErrorP99NS  int64    `json:"latency_error_p99_ns"`
}

// Counts over the run, each of messages unless it says otherwise.
//
// Committed and Uncommitted are of messages published in transactions: those whose commit the broker answered, and those whose
// commit it did not. The broker keeps no message of a transaction that was not committed, so that these are expected nowhere;
// one that arrived nevertheless is received as any other. Nacked, Returned and Uncommitted messages are never Missing.
// QueuedAtStop are messages that were never received; what consumers gave back and left in a queue is not among them.
// DiscardedAtStop were handed out with automatic acks and came to nothing: never received, or (only these are Received, too) not
// worked on by consumers with a rate or work.
//
// Received counts all deliveries, whoever sent what they carry. Missing takes in Lost, RemovedByRule, MissingUnconfirmed
// and what is missing without confirms. Corrupt takes in CorruptUnattributed; a corrupt message that is told which it was
// is not missing.
type Counts struct {
	Sent                int64 `json:"sent"`
	Confirmed           int64 `json:"confirmed"`
	Committed           int64 `json:"committed"`
	Nacked              int64 `json:"nacked"`
	Returned            int64 `json:"returned"`
	Unconfirmed         int64 `json:"unconfirmed"`
	Uncommitted         int64 `json:"uncommitted"`
	NotSent             int64 `json:"not_sent"`
	Received            int64 `json:"received"`
	ReceivedUnique      int64 `json:"received_unique"`
	Redelivered         int64 `json:"redelivered"`
	Lost                int64 `json:"lost"`
	Missing             int64 `json:"missing"`
	MissingUnconfirmed  int64 `json:"missing_unconfirmed"`
	RemovedByRule       int64 `json:"removed_by_rule"`
	Unroutable          int64 `json:"unroutable"`
	QueuedAtStop        int64 `json:"queued_at_stop"`
	UnackedAtStop       int64 `json:"unacked_at_stop"`
	DiscardedAtStop     int64 `json:"discarded_at_stop"`
	Duplicates          int64 `json:"duplicates"`
	Corrupt             int64 `json:"corrupt"`
	CorruptUnattributed int64 `json:"corrupt_unattributed"`
	OutOfOrder          int64 `json:"out_of_order"`
	Foreign             int64 `json:"foreign"`
}

// QueueCounts are the counts of one queue. What producers did (sent, confirmed, nacked, ...) is of the messages whose route leads
// to the queue, so that over several queues a message counts several times.
type QueueCounts struct {
	Queue  string `json:"queue"`
	Type   string `json:"type"`
	Counts Counts `json:"counts"`
	// RoutesUnknown: some messages may have gone to the queue or not. In JSON the counts of what producers did are null then.
	RoutesUnknown bool `json:"routes_unknown,omitempty"`
}

// MarshalJSON writes null for what is not known.
func (q QueueCounts) MarshalJSON() ([]byte, error) {
	type plain QueueCounts
	if !q.RoutesUnknown {
		return json.Marshal(plain(q))
	}
	type published struct {
		Counts
		Sent        *int64 `json:"sent"`
		Confirmed   *int64 `json:"confirmed"`
		Committed   *int64 `json:"committed"`
		Nacked      *int64 `json:"nacked"`
		Returned    *int64 `json:"returned"`
		Unconfirmed *int64 `json:"unconfirmed"`
		Uncommitted *int64 `json:"uncommitted"`
		NotSent     *int64 `json:"not_sent"`
		Unroutable  *int64 `json:"unroutable"`
	}
	return json.Marshal(struct {
		plain
		Counts published `json:"counts"`
	}{plain(q), published{Counts: q.Counts}})
}

// Window in which rates were counted.
type Window struct {
	StartNS int64  `json:"start_ns"`
	EndNS   int64  `json:"end_ns"`
	Text    string `json:"text"` // what the ends are
	// Part is set where the window is a part of the run that was asked for. Counts, findings and verdict are of the whole run.
	Part *Part `json:"part,omitempty"`
	// ReceivedBefore are messages received before the window began: counted, but in no interval and no rate.
	ReceivedBefore int64 `json:"received_before"`
	// ScheduleEndNS is when the schedules ended, at most the window's end; nil in closed loop. Nothing was due after it.
	ScheduleEndNS *int64 `json:"schedule_end_ns"`
	// DrainEndNS is when waiting for what was still on its way ended; nil if unknown.
	DrainEndNS *int64 `json:"drain_end_ns"`
}

// Part of a run, in nanoseconds after its start; what happened at ToNS belongs to it only where that is the run's end. The
// counts are of events in it; they are what the rates divide, and what the intervals of phase "run" add up to.
type Part struct {
	FromNS    int64 `json:"from_ns"`
	ToNS      int64 `json:"to_ns"`
	RunNS     int64 `json:"run_ns"` // length of the run
	Sent      int64 `json:"sent"`
	Confirmed int64 `json:"confirmed"`
	Committed int64 `json:"committed,omitempty"`
	Nacked    int64 `json:"nacked"`
	Returned  int64 `json:"returned"`
	Received  int64 `json:"received"`
	// Cohort are the messages due (else sent) in it: those whose latency counts, whenever they were answered.
	Cohort int64 `json:"cohort"`
}

// Rates over the window; the drain has its own. Nil where nothing of the kind was expected, and all of them where captures
// of several runs are looked at together.
type Rates struct {
	Sent *float64 `json:"sent_msgs_per_s"` // messages, each the first time
	// Republished are copies of messages that were sent again; nil where there were none.
	Republished *float64 `json:"republished_msgs_per_s,omitempty"`
	Confirmed   *float64 `json:"confirmed_msgs_per_s"`
	Committed   *float64 `json:"committed_msgs_per_s"`
	Received    *float64 `json:"received_msgs_per_s"`
	SentBytes   *float64 `json:"sent_body_bytes_per_s"`
	// Arrived is what was sent over ArrivedNS, from the start to the proof that the broker had taken all of it; nil where messages had
	// confirms, which tell the same better, where it was not proved, and of a part of a run. Without confirms a message counts as sent
	// once it is written to a socket, and a broker may be far behind.
	Arrived   *float64 `json:"arrived_msgs_per_s,omitempty"`
	ArrivedNS *int64   `json:"arrived_ns,omitempty"`
	// Drain is over DrainNS, from the stop of publishing to the last message received; nil where that is under 10 ms or of
	// fewer than 100 messages.
	Drain   *float64 `json:"drain_received_msgs_per_s"`
	DrainNS *int64   `json:"drain_ns"`
}

// Grouping is a run by producer, consumer, queue, body size or priority. Messages are those sent by a producer, received by a
// consumer, received from a queue, or sent with a size or a priority (of a size received, where no producer was recorded); the least, the (lower) median and the most tell of all members.
type Grouping struct {
	By             string   `json:"by"` // producer, consumer, queue, size, priority
	Total          int      `json:"total"`
	LeastMessages  int64    `json:"least_messages"`
	MedianMessages int64    `json:"median_messages"`
	MostMessages   int64    `json:"most_messages"`
	Members        []Member `json:"members"` // the first 256 of Total
}

// Member is one member of a grouping, with the latencies of the window's messages. A message without an answer has no consumer, and
// is with none of them.
type Member struct {
	Name     string    `json:"name"`
	Messages int64     `json:"messages"`
	Latency  Latencies `json:"latency"`
}

// FrameSizes are how many messages a frame settled, exact, over all frames. A percentile is the value at nearest rank among the frames.
type FrameSizes struct {
	Frames int64   `json:"frames"`
	Mean   float64 `json:"mean_messages"`
	P50    int64   `json:"p50_messages"`
	P99    int64   `json:"p99_messages"`
	Max    int64   `json:"max_messages"`
	// Buckets by rising size, those that hold frames; at most 170.
	Buckets []FrameBucket `json:"buckets,omitempty"`
}

// Interval of the run. Rates count each event in the interval of its own time; latency belongs to the interval of the
// message's due (else sent) time. Confirm and Delivery are response latency where due times exist, else service.
type Interval struct {
	StartNS int64 `json:"start_ns"`
	EndNS   int64 `json:"end_ns"`
	Due     int64 `json:"due"`  // 0 in closed loop
	Sent    int64 `json:"sent"` // messages, each the first time
	// Republished are copies of messages that were sent again after their connection was lost; InDoubt those that lost it before
	// the broker's answer.
	Republished int64     `json:"republished,omitempty"`
	InDoubt     int64     `json:"in_doubt,omitempty"`
	Confirmed   int64     `json:"confirmed"`
	Committed   int64     `json:"committed,omitempty"` // 0 without transactions
	Nacked      int64     `json:"nacked"`
	Returned    int64     `json:"returned"`
	Received    int64     `json:"received"`
	Latency     Latencies `json:"latency"`
	// BacklogEnd is sent x fan-out minus received, at the end of the interval; nil where expected queues are unknown.
	BacklogEnd *int64 `json:"backlog_end"`
	// InFlightEnd is sent and republished minus confirmed and nacked (with transactions: minus committed) and minus in doubt, at the end
	// of the interval: what producers await answers for. Nil where not all of them do.
	InFlightEnd *int64 `json:"in_flight_end"`
	// Self is what the recording processes noticed of themselves; nil where no interval of theirs has its middle in this one.
	Self *Self `json:"self"`
	// Phase is "run" in the window and "drain" when publishing had stopped; where a part of the run was asked for, "before" and
	// "after" it. Latency is of the window alone.
	Phase string `json:"phase"`
}

// Curve is a percentile curve: points by rising percentile, exact at each.
type Curve struct {
	What   string       `json:"what"`  // "confirm", "delivery" or "commit"
	From   string       `json:"from"`  // "service" or "response"
	Count  int64        `json:"count"` // messages behind it, censored ones included
	Points []CurvePoint `json:"points"`
}

// CurvePoint: Percent of the messages had at most ValueNS.
type CurvePoint struct {
	Percent float64 `json:"percent"`
	ValueNS int64   `json:"value_ns"`
	Above   int64   `json:"above"` // messages above this rank
}

// Span is a stretch of time that charts mark.
type Span struct {
	FromNS int64  `json:"from_ns"`
	ToNS   int64  `json:"to_ns"`
	Kind   string `json:"kind"` // blocked, recorder_stall, lost, ...
	Text   string `json:"text"`
}
