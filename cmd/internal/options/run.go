package options

import (
	"time"

	"leveret/capture/manifest"
)

// Run holds the options of `leveret run`. Zero times and counts mean none unless said otherwise.
type Run struct {
	URI string // "" : the embedded broker
	// URIs, where given, replace URI: the first gives user, vhost and scheme, the others host and port.
	URIs                  []string
	ConnectionAllocation  string        // random, round-robin
	ServersStartupTimeout time.Duration // 0: a broker that is not there ends the run at once
	ServersUpLimit        int           // how many of the URIs must answer; 0: all
	TCPSendBuffer         int64         // bytes; 0: the system's
	TCPReceiveBuffer      int64         // bytes; 0: the system's
	TCPNoDelay            bool
	OAuth2                OAuth2
	ManagementURI         string // "": the broker's side is not recorded
	ManagementInterval    time.Duration
	CACert                string
	Cert                  string
	Key                   string
	ServerName            string
	Insecure              bool
	SASLExternal          bool
	ConnectTimeout        time.Duration
	DeclareTimeout        time.Duration
	Heartbeat             time.Duration // 0: the broker's value
	FrameMax              int64         // bytes; 0: the broker's value
	ConnectRate           int           // connections a second; 0: no limit
	SourceAddress         []string
	Drive                 string // auto, dedicated, shared
	Pin                   string // off, thread, cpu

	Coalesce time.Duration

	Queues                           []string
	QueueFile                        string
	QueuePattern                     string // printf, "" : none
	QueuePatternFrom, QueuePatternTo int    // inclusive
	Exchange                         string // "" : the name of the type, as in PerfTest
	Type                             string
	RoutingKey                       string // "" : one made for the run; the queue's name where queues come from a pattern or a file
	RandomRoutingKey                 bool   // a fresh one for each message
	RoutingKeyCacheSize              int    // 0: none; else so many random keys, used in turn
	SkipBindingQueues                bool
	Predeclared                      string // "", PredeclaredMissing, PredeclaredStrict
	Exclusive                        bool
	StreamQueue                      bool
	MaxLengthBytes                   int64         // -1: not given; 0: no such argument
	StreamMaxSegmentSizeBytes        int64         // 0: not given
	MaxAge                           time.Duration // 0: not given
	LeaderLocator                    string        // "", client-local, balanced
	AutoDelete                       bool
	QuorumQueue                      bool
	QueueArgs                        []manifest.Arg

	Producers            int
	ProducerChannelCount int
	Size                 int
	Schedule
	VariableSize      []manifest.SizeStage
	Bodies            []string // files
	BodyContentType   string
	JSONBody          bool // random JSON of at least Size bytes
	BodyFieldCount    int
	BodyCount         int
	MessageProperties MessageProperties
	PTxSize           int    // 0: no transactions
	Stamp             string // body, header, perftest; "" : body, or header where the body is given
	UseMillis         bool   // times in bodies that PerfTest reads are wall clock milliseconds
	Confirm           int    // window; -1: no confirms; 0 stands for ConfirmAnyNumber
	Flags             []string
	Batch             int // most messages in one write
	PMessages         int64

	Consumers            int
	ConsumerChannelCount int
	AutoAck              bool
	MultiAckEvery        int // 0: single acks
	QoS                  int
	GlobalQoS            int
	CMessages            int64
	CTxSize              int // 0: no transactions
	Nack                 bool
	Requeue              bool
	Polling              bool
	PollingInterval      time.Duration
	ConsumerArgs         []manifest.Arg
	StreamConsumerOffset string        // "", first, last, next, a number, a time
	ConsumerRate         manifest.Rate // Messages 0: no limit
	ConsumerLatency      time.Duration
	VariableLatency      []manifest.WorkStage
	SlowStart            bool
	ConsumerStartDelay   time.Duration
	ExitWhen             string // "", idle, empty

	Recovery
	Hooks []Hook

	Time            time.Duration
	ConfirmTimeout  time.Duration
	WriteTimeout    time.Duration
	BlockedTimeout  time.Duration
	DrainTimeout    time.Duration
	ShutdownTimeout time.Duration
	EndTimeout      time.Duration // of both together; 0: no bound but theirs
	// UntilEOF stops the run with its standard input, too.
	UntilEOF bool

	ID                 string
	Capture            string
	Compression        string
	RecordMemory       int64 // bytes
	RecordStallTimeout time.Duration
	Fsync              bool

	Interval      time.Duration // of the lines of progress
	MetricsFormat string        // default, compact
	OutputFile    string        // CSV of the lines; "" : none
	Verbose       string        // "", VerboseEvents, VerboseFull
	Prometheus    Prometheus

	// Instances of one test that begin together; 0 and 1: this one begins by itself.
	ExpectedInstances     int
	InstanceSyncTimeout   time.Duration
	InstanceSyncNamespace string // tests of other namespaces don't count

	Repeat   int       // runs of each configuration; 0: one, which is no directory of runs
	Variants []Variant // configurations that are run in turn; none: the one of the command line

	NoAnalyze bool
	Report    Report
	Quiet     bool

	Faults string
}

// Values of Run.Predeclared.
const (
	PredeclaredMissing = "missing" // only what is not there is declared; queues are bound
	PredeclaredStrict  = "strict"  // nothing is declared or bound
)

// ConfirmAnyNumber is the window of --confirm 0, which asks for confirms and sets no limit: a bound that no broker lets
// a producer feel, and a ring of it costs little memory.
const ConfirmAnyNumber = 1 << 16

// Values of Run.Verbose.
const (
	VerboseEvents = "events" // a line for each publish, confirm, receive and ack
	VerboseFull   = "full"   // with the properties and the size of the message
)

// Window is the confirm window of a producer; 0: no confirms.
func (r *Run) Window() int {
	switch {
	case r.Confirm < 0:
		return 0
	case r.Confirm == 0:
		return ConfirmAnyNumber
	}
	return r.Confirm
}

// OAuth2 is where tokens come from; no TokenEndpoint: user and password.
type OAuth2 struct {
	TokenEndpoint string
	ClientID      string
	ClientSecret  string
	GrantType     string
	Parameters    []string // KEY=VALUE
}

// MessageProperties are properties of every message; those that PerfTest does not know are headers.
type MessageProperties struct {
	manifest.Properties
	Persistent *bool // deliveryMode was given
}

// Prometheus is the endpoint that a run can be watched at.
type Prometheus struct {
	On       bool
	Port     int
	Endpoint string
	Tags     []string // KEY=VALUE
	Prefix   string
	// CommandLine adds a gauge that has the command line, without secrets, as a label.
	CommandLine bool
	Exposed     []ExposedMetric
}

// ExposedMetric is a gauge of constant value.
type ExposedMetric struct {
	Name  string
	Value float64
}

// redactor removes secrets from a value. Those of NewRun and NewPerfTest remove passwords from a URI; the caller gives them, so
// that this package needs to know nothing of URIs.
type redactor = func(string) string

// dialect is what differs between the commands that share the table: `leveret run` and PerfTest's.
type dialect struct {
	command    string
	perfTest   bool
	uri        string // default
	buffer     int64  // default of both TCP buffers, bytes
	leastSize  int    // smaller ones are a mistake
	leastDelay time.Duration
}

var native = dialect{command: "run", leastSize: 0, leastDelay: time.Millisecond}

// NewRun returns the set of `leveret run` and the struct that it fills. redactURI removes the password from a URI.
func NewRun(redactURI redactor) (*Set, *Run) {
	r := &Run{}
	return newSet(native.command, r.rows(native, redactURI)), r
}

// rows are the options that both dialects have, in the order of the help.
func (r *Run) rows(d dialect, redactURI redactor) []*Option {
	var rows []*Option
	for _, more := range [][]*Option{
		r.brokerOptions(d, redactURI), r.transportOptions(d), r.Recovery.options(d), r.oauth2Options(), r.managementOptions(), r.topologyOptions(), r.queueOptions(),
		r.producerOptions(d), r.bodyOptions(d), r.Schedule.options(d), r.consumerOptions(d), r.ackOptions(), r.workOptions(),
		r.limitOptions(d), r.instanceOptions(d), r.outputOptions(d), r.metricsOptions(), r.recordOptions(d), r.reportOptions(),
	} {
		rows = append(rows, more...)
	}
	return append(rows, faultsOption(&r.Faults, "what the embedded broker does wrong on purpose, by message number; leveret broker --help lists the faults"))
}
