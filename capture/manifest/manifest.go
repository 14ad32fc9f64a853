// Package manifest holds what a capture says about itself besides its rows: the plan and topology of the run, the host
// and broker, the clocks, the outcome. They are plain types, written as JSON: start.json when the recording begins (so
// that a recording that was killed can still be judged), manifest.json, the same and complete, when it has been closed.
//
// Nothing here ever holds a password: a URI is stored without its user's secret.
package manifest

import (
	"fmt"
	"strings"
	"time"

	"leveret/capture/event"
)

// FormatVersion is part of the format: it is raised when a reader of the old one would misread the new one.
const FormatVersion = 1

// File names inside a capture directory; part of the format.
const (
	StartName    = "start.json"
	FinalName    = "manifest.json"
	JournalName  = "journal"
	FilePattern  = "%s-%02d.arrow" // kind, shard
	DefaultsRoot = "captures"
)

// Manifest describes one capture.
type Manifest struct {
	FormatVersion int    `json:"format_version"`
	ID            string `json:"id"`
	Tool          Tool   `json:"tool"`
	// Tag is the run tag (12 bits) that this process stamps into its messages.
	Tag     uint16   `json:"tag"`
	Command []string `json:"command"` // arguments as given, secrets removed
	// Options are the resolved options of the run by long name, secrets removed.
	Options map[string]string `json:"options"`
	// Notes are warnings of the run that every report repeats (certificate not verified, clamped option, ...).
	Notes []string `json:"notes,omitempty"`

	Host     Host     `json:"host"`
	Broker   Broker   `json:"broker"`
	Topology Topology `json:"topology"`

	Connections int `json:"connections"`
	// Drive is how the connections were kept going: dedicated or shared. Pin: thread or cpu where goroutines were fixed to them.
	Drive string `json:"drive"`
	Pin   string `json:"pin,omitempty"`
	// SourceAddresses are the local addresses that the connections came from in turn; absent: the system's choice.
	SourceAddresses []string   `json:"source_addresses,omitempty"`
	Producers       []Producer `json:"producers"`
	Consumers       []Consumer `json:"consumers"`
	// Bodies are the bodies of producers with PooledBodies.
	Bodies []Body `json:"bodies,omitempty"`
	// Endpoints are the brokers that connections go to, without passwords, where there are several; Allocation says how
	// connections are given to them: random or round-robin.
	Endpoints  []string `json:"endpoints,omitempty"`
	Allocation string   `json:"allocation,omitempty"`
	// Environment are the variables that changed an option of the run, by name; values are among Options.
	Environment []string `json:"environment,omitempty"`

	// CoalesceNS bounds how long the run's readers left unread what had come, to read more at once; 0: not at all. It is part
	// of the latencies.
	CoalesceNS int64 `json:"coalesce_ns,omitempty"`

	// Churn is a load of operations, recorded in rows of their own; nil where there is none.
	Churn *Churn `json:"churn,omitempty"`

	// Management is what the broker's management API told; nil where it was not asked.
	Management *Management `json:"management,omitempty"`

	// PID is the process that records, on the host and since the boot that ClockStart names: whether it is still there tells a
	// recording that goes on from one that was killed. 0 if unknown.
	PID int `json:"pid,omitempty"`

	ClockStart event.Snapshot  `json:"clock_start"`
	ClockEnd   *event.Snapshot `json:"clock_end,omitempty"`

	// Outcome is nil in start.json.
	Outcome *Outcome `json:"outcome,omitempty"`
	// Recording is nil in start.json.
	Recording *Recording `json:"recording,omitempty"`
}

// Tool names the program that recorded.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

// Host is the machine that recorded.
type Host struct {
	Name        string `json:"name"`
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	CPUs        int    `json:"cpus"`
	CPUModel    string `json:"cpu_model,omitempty"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// Broker is the peer, as far as it told.
type Broker struct {
	Embedded bool   `json:"embedded"`
	Product  string `json:"product"`
	Version  string `json:"version"`
	Node     string `json:"node,omitempty"` // cluster or node name
	URI      string `json:"uri"`            // without the password
	// SameHost: client and broker ran on one machine; nil if unknown.
	SameHost *bool `json:"same_host"`
	// TLSVerified is nil without TLS, false with --insecure.
	TLSVerified *bool `json:"tls_verified"`
	// Negotiated limits.
	FrameMaxBytes    uint32 `json:"frame_max_bytes"`
	ChannelMax       uint16 `json:"channel_max"`
	HeartbeatSeconds uint16 `json:"heartbeat_s"`
	// Socket is of a connection like those of the run; nil where the system does not tell.
	Socket *Socket `json:"socket,omitempty"`
}

// Socket holds options of a TCP connection as the system says that they are, which need not be what was asked for: Linux
// doubles a buffer size for its own use, and bounds it (net.core.wmem_max, rmem_max). Where none was asked for it is the size
// at the start, which may grow.
type Socket struct {
	SendBufferBytes    int  `json:"send_buffer_bytes"`
	ReceiveBufferBytes int  `json:"receive_buffer_bytes"`
	NoDelay            bool `json:"no_delay"`
}

// Topology is what the run declared, bound, or found. Indexes into Queues and Routes are the ones in the rows.
type Topology struct {
	Exchanges []Exchange `json:"exchanges"`
	Queues    []Queue    `json:"queues"`
	Bindings  []Binding  `json:"bindings"`
	Routes    []Route    `json:"routes"`
	// Predeclared: the run declared only what it did not find (Strict: nothing at all, and bound nothing); other bindings may
	// exist.
	Predeclared bool `json:"predeclared"`
	Strict      bool `json:"strict,omitempty"`
}

// Exchange as declared; an empty Name is the default exchange.
type Exchange struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Durable    bool   `json:"durable"`
	AutoDelete bool   `json:"auto_delete"`
	Declare    bool   `json:"declare"` // false: used as it is
}

// Queue as declared.
type Queue struct {
	Name       string `json:"name"` // "" until the broker has named it
	Type       string `json:"type"` // classic, quorum, stream
	Durable    bool   `json:"durable"`
	Exclusive  bool   `json:"exclusive"`
	AutoDelete bool   `json:"auto_delete"`
	// Declare: made by the run; if not, it was there, and the other fields are what the options say of it.
	Declare bool `json:"declare"`
	// ServerNamed: the run asked the broker for a name.
	ServerNamed bool  `json:"server_named"`
	Arguments   []Arg `json:"arguments,omitempty"`
	// ReadyAtStart is the count of ready messages before the run; nil if it could not be learned.
	ReadyAtStart *int64 `json:"ready_at_start"`
	// Found is the queue as the broker has it; nil where its management API was not asked, or did not know the queue.
	Found *FoundQueue `json:"found,omitempty"`
}

// Arg is one argument of a queue, a binding or a consumer, or a header. Value is string, bool, int64 (JSON number without
// fraction), or Timestamp.
type Arg struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// Timestamp is a value that travels as an AMQP timestamp, in seconds since the Unix epoch; in JSON it is text (RFC 3339).
type Timestamp int64

func (t Timestamp) String() string { return time.Unix(int64(t), 0).UTC().Format(time.RFC3339) }

// MarshalText makes the JSON text.
func (t Timestamp) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Binding of a queue to an exchange.
type Binding struct {
	Exchange   string `json:"exchange"`
	Queue      int    `json:"queue"`
	RoutingKey string `json:"routing_key"`
	Arguments  []Arg  `json:"arguments,omitempty"`
}

// Route is one (exchange, routing key) that producers publish to, and the queues it reaches.
type Route struct {
	Exchange   string `json:"exchange"`
	RoutingKey string `json:"routing_key"`
	Queues     []int  `json:"queues"`
	// Random: each message has a fresh key of the form of RoutingKey (a random UUID).
	Random bool `json:"random,omitempty"`
	// Known: Queues is complete. Where it is false, what is missing may have gone elsewhere, and loss is not judged.
	Known bool `json:"known"`
	// QueuesAs is of the text only, and nil otherwise: Queues and Known are those of this route, which stands before.
	QueuesAs *int `json:"queues_as,omitempty"`
}

// Producer is one publishing channel.
type Producer struct {
	Connection int   `json:"connection"` // 0.. over the run, producers' connections first
	Route      int   `json:"route"`
	Size       int   `json:"size_bytes"`
	Persistent bool  `json:"persistent"`
	Mandatory  bool  `json:"mandatory"`
	Confirm    int   `json:"confirm"` // window; 0: no confirms
	Limit      int64 `json:"limit"`   // messages; 0: none
	Batch      int   `json:"batch"`   // most messages in one write
	Rate       Rate  `json:"rate"`    // Messages 0 and no Stages: closed loop
	// Stages is a rate that varies; Rate is then unused.
	Stages []Stage `json:"stages,omitempty"`
	// PhaseNS is how long after the barrier the schedule (in closed loop: the sending) begins.
	PhaseNS int64 `json:"phase_ns"`
	// PhasePart shifts the messages of a varying rate by PhasePart/2^32 of a message, so that producers don't send in step
	// and yet change their rates together.
	PhasePart uint32 `json:"phase_part,omitempty"`
	// Arrivals is ArrivalsEven or ArrivalsPoisson; Seed and the producer's number determine the latter.
	Arrivals string `json:"arrivals,omitempty"`
	Seed     uint64 `json:"seed,omitempty"`
	// CatchUp is the most late slots that are sent nevertheless; nil: all.
	CatchUp *int64 `json:"catch_up,omitempty"`
	// Stamp is where the identity of a message travels: StampBody, StampHeader or StampPerfTest.
	Stamp string `json:"stamp"`
	// StampMillis: the time that StampPerfTest writes is in wall clock milliseconds, else in nanoseconds.
	StampMillis bool `json:"stamp_millis,omitempty"`
	// Routes is how many routes, from Route on, the messages take in turn: message s takes Route + s mod Routes. 0 and 1: Route alone.
	Routes int `json:"routes,omitempty"`
	// Sizes is a body size that changes with the time since the barrier, one stage after the other, for ever; Size is then the largest.
	Sizes []SizeStage `json:"sizes,omitempty"`
	// PooledBodies: message s has body s mod N of the N bodies of the manifest; Size is then the largest.
	PooledBodies bool `json:"pooled_bodies,omitempty"`
	// Properties of every message; nil: none but the delivery mode, where Persistent.
	Properties *Properties `json:"properties,omitempty"`
	// TxSize publishes in transactions, with a commit every so many messages; 0: none. It excludes Confirm.
	TxSize int `json:"tx_size,omitempty"`
}

// Stamps; part of the format.
const (
	StampBody     = "body"     // in the first bytes of the body
	StampHeader   = "header"   // in a header; the body stays as it is
	StampPerfTest = "perftest" // in a header; the first 12 bytes of the body are as PerfTest writes them
)

// SizeStage is a body size for a time.
type SizeStage struct {
	Bytes int   `json:"bytes"`
	ForNS int64 `json:"for_ns"`
}

// Properties are message properties that are the same for every message of a producer. An empty text, and a nil number, is
// not sent. The delivery mode is the producer's Persistent.
type Properties struct {
	ContentType     string `json:"content_type,omitempty"`
	ContentEncoding string `json:"content_encoding,omitempty"`
	Priority        *uint8 `json:"priority,omitempty"`
	CorrelationID   string `json:"correlation_id,omitempty"`
	ReplyTo         string `json:"reply_to,omitempty"`
	Expiration      string `json:"expiration,omitempty"` // milliseconds, decimal
	MessageID       string `json:"message_id,omitempty"`
	Timestamp       *int64 `json:"timestamp_s,omitempty"` // seconds since the Unix epoch
	Type            string `json:"type,omitempty"`
	UserID          string `json:"user_id,omitempty"`
	AppID           string `json:"app_id,omitempty"`
	ClusterID       string `json:"cluster_id,omitempty"`
	Headers         []Arg  `json:"headers,omitempty"`
}

// Body is one body of a pool that producers take in turn.
type Body struct {
	Name      string `json:"name"` // file, or what it was made from
	SizeBytes int    `json:"size_bytes"`
}

// Rate is an exact number of messages in a number of nanoseconds.
type Rate struct {
	Messages int64 `json:"messages"`
	PerNS    int64 `json:"per_ns"`
}

// Consumer is one consuming channel.
type Consumer struct {
	Connection int   `json:"connection"`
	Queues     []int `json:"queues"`
	AutoAck    bool  `json:"auto_ack"`
	AckEvery   int   `json:"ack_every"` // 1: single acks; N: one multiple ack for N deliveries
	Prefetch   int   `json:"prefetch"`  // of each subscription; 0: no limit
	Limit      int64 `json:"limit"`     // messages; 0: none
	// GlobalPrefetch is of the channel, over all its subscriptions; 0: no limit.
	GlobalPrefetch int `json:"global_prefetch,omitempty"`
	// Nack answers with basic.nack instead of basic.ack; Requeue is its flag.
	Nack    bool `json:"nack,omitempty"`
	Requeue bool `json:"requeue,omitempty"`
	// TxSize commits the acks every so many messages; 0: no transactions.
	TxSize int `json:"tx_size,omitempty"`
	// Polling asks with basic.get instead of subscribing, and waits PollIntervalNS after each answer.
	Polling        bool  `json:"polling,omitempty"`
	PollIntervalNS int64 `json:"poll_interval_ns,omitempty"`
	// Arguments of basic.consume.
	Arguments []Arg `json:"arguments,omitempty"`
	// StartDelayNS is how long after the barrier the consumer begins to consume.
	StartDelayNS int64 `json:"start_delay_ns,omitempty"`
	// Work is what the consumer does with each message, one stage after the other by the time since the barrier, for ever; a
	// single stage without a time is constant. A message counts as received before it.
	Work []WorkStage `json:"work,omitempty"`
	// Rate is the most messages that the consumer takes; Messages 0: no limit.
	Rate Rate `json:"rate,omitzero"`
	// ExitWhen is when the consumer stops by itself: ExitIdle, ExitEmpty, or "" for never.
	ExitWhen string `json:"exit_when,omitempty"`
}

// When a consumer stops by itself.
const (
	ExitIdle  = "idle"  // nothing has come for over a second
	ExitEmpty = "empty" // likewise, and a queue of it has nothing ready
)

// WorkStage is simulated work per message, for a time.
type WorkStage struct {
	WorkNS int64 `json:"work_ns"`
	ForNS  int64 `json:"for_ns"` // 0: constant
}

// Outcome is how the run went; all times on the record's clock, event.None where it was not reached.
type Outcome struct {
	BarrierNS     int64 `json:"barrier_ns"`      // every lane ready: load begins, schedules count from here
	PublishStopNS int64 `json:"publish_stop_ns"` // last producer stopped publishing
	DrainEndNS    int64 `json:"drain_end_ns"`    // consumers cancelled
	// ArrivedNS is when it was proved that the broker had taken all that was published without confirms: its channels had handed it on to
	// the queues, which may come to it later. Nil where that was not proved, or all producers had confirms or transactions.
	ArrivedNS *int64 `json:"arrived_ns,omitempty"`
	// StopReason is one line: "time limit reached", "all messages sent", "interrupted", ...
	StopReason string `json:"stop_reason"`
	// Ends counts the lanes that ended by themselves before the drain, by why (EndProducerLimit, ...).
	Ends map[string]int `json:"ends,omitempty"`
	// Interrupted by the user.
	Interrupted bool `json:"interrupted"`
	// Failures are the errors that ended lanes or connections early.
	Failures []Failure `json:"failures,omitempty"`
	// Recoveries are losses of connections, channels and subscriptions that were recovered, or could not be (and are then among
	// the failures); at most the first 10,000 of them. InDoubt are messages that they left without an answer, Republished those
	// that were sent again.
	Recoveries  []Recovery `json:"recoveries,omitempty"`
	InDoubt     int64      `json:"in_doubt,omitempty"`
	Republished int64      `json:"republished,omitempty"`
	// Drained is proved, not guessed (loadcore/drain.go says how); DrainNote says why it is not.
	Drained   bool   `json:"drained"`
	DrainNote string `json:"drain_note,omitempty"`
	// Unanswered is what the broker did not answer in time when consumers were cancelled and channels and connections closed: the
	// first of it, a line each.
	Unanswered []string `json:"unanswered,omitempty"`
	// Queues is what was left, by queue index.
	Queues []QueueEnd `json:"queues"`
	// Counters of the engine itself: the rows of the capture must agree with them.
	Sent      int64 `json:"sent"`
	Confirmed int64 `json:"confirmed"`
	// Committed are messages in transactions whose commit was answered.
	Committed int64 `json:"committed,omitempty"`
	Nacked    int64 `json:"nacked"`
	Returned  int64 `json:"returned"`
	Received  int64 `json:"received"`
	Acked     int64 `json:"acked"`
	// NotSent are slots of a rate that were due before the end and stayed unsent: rows without a sent time.
	NotSent int64 `json:"not_sent"`
	// ContradictoryConfirms are acks and nacks of messages that were settled already.
	ContradictoryConfirms int64 `json:"contradictory_confirms"`
	// UnattributedReturns are returned messages that carry no intact stamp of the producer they came back to.
	UnattributedReturns int64 `json:"unattributed_returns"`
	// Churn has the engine's counters of operations; nil where there were none.
	Churn *ChurnOutcome `json:"churn,omitempty"`
	// CPUNS is the user plus system time of the process from barrier to the end of the drain.
	CPUNS int64 `json:"cpu_ns"`
}

// QueueEnd is a queue at the end of the drain.
type QueueEnd struct {
	Queue int `json:"queue"`
	// Ready as a passive declare answered last, before the consumers were cancelled; nil if it could not be asked.
	Ready *int64 `json:"ready"`
	// Consumed: the run had a consumer on it.
	Consumed bool `json:"consumed"`
	Drained  bool `json:"drained"`
	// UnackedAtStop counts deliveries that the run's consumers never acked (manual acks).
	UnackedAtStop int64 `json:"unacked_at_stop"`
	// UnworkedAtStop counts deliveries with automatic acks that had come to consumers whose simulated work, or rate, had not
	// got to them: received, and discarded at the stop.
	UnworkedAtStop int64 `json:"unworked_at_stop,omitempty"`
}

// Why a lane ended as it was asked to; part of the format.
const (
	EndProducerLimit = "producer limit"
	EndConsumerLimit = "consumer limit"
	EndConsumerIdle  = "consumer idle"  // ExitIdle
	EndConsumerEmpty = "consumer empty" // ExitEmpty
)

// Failure is one lane or connection that ended before it should.
type Failure struct {
	AtNS       int64  `json:"at_ns"`
	Connection int    `json:"connection"`
	Producer   *int   `json:"producer,omitempty"`
	Consumer   *int   `json:"consumer,omitempty"`
	Code       int    `json:"code,omitempty"`
	Text       string `json:"text"`
}

// Recovery is one loss of a connection, or of a single lane where one is named, and what was done about it.
type Recovery struct {
	Connection int   `json:"connection"`
	Producer   *int  `json:"producer,omitempty"`
	Consumer   *int  `json:"consumer,omitempty"`
	LostNS     int64 `json:"lost_ns"`
	// OpenNS is when the connection was open again, RecoveredNS when all that it carries worked again; event.None: it never was.
	OpenNS      int64  `json:"open_ns"`
	RecoveredNS int64  `json:"recovered_ns"`
	Attempts    int    `json:"attempts"`
	Endpoint    string `json:"endpoint,omitempty"` // where it was opened
	Code        int    `json:"code,omitempty"`
	Text        string `json:"text"`
	// InDoubt and Republished count messages, Unacked deliveries that went back to the broker.
	InDoubt     int64 `json:"in_doubt"`
	Republished int64 `json:"republished,omitempty"`
	Unacked     int64 `json:"unacked"`
}

// Describe says how it went, without what was lost.
func (r *Recovery) Describe() string {
	text := fmt.Sprintf("after %.3f s, %d attempts", float64(r.RecoveredNS-r.LostNS)/1e9, r.Attempts)
	if r.Attempts == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	if r.Endpoint != "" {
		text += ", at " + r.Endpoint
	}
	for _, n := range []struct {
		count     int64
		what, one string
	}{{r.InDoubt, "messages in doubt", "message in doubt"}, {r.Republished, "sent again", "sent again"}, {r.Unacked, "deliveries unacked", "delivery unacked"}} {
		if n.count > 0 {
			if n.count == 1 {
				n.what = n.one
			}
			text += fmt.Sprintf(", %d %s", n.count, n.what)
		}
	}
	return text
}

// Recording is what the recorder wrote.
type Recording struct {
	Compression string           `json:"compression"`
	Rows        map[string]int64 `json:"rows"`  // by kind
	Files       map[string]int64 `json:"files"` // name to size in bytes
	Stalls      []Stall          `json:"stalls,omitempty"`
	StallNS     int64            `json:"stall_ns"` // total time that publishing, or at the last a reader, waited for the disk
	// Lost are rows that could not be recorded, by kind; absent where all were.
	Lost map[string]int64 `json:"lost,omitempty"`
}

// Stall is a span in which the recorder could not follow.
type Stall struct {
	FromNS int64 `json:"from_ns"`
	ToNS   int64 `json:"to_ns"`
}

// PerSecond is the rate in messages per second, for people; 0 in closed loop.
func (r Rate) PerSecond() float64 {
	if r.PerNS == 0 {
		return 0
	}
	return float64(r.Messages) / float64(r.PerNS) * 1e9
}
