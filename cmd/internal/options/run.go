package options

import (
	"math"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
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
	CACert                string
	Cert                  string
	Key                   string
	ServerName            string
	Insecure              bool
	SASLExternal          bool
	ConnectTimeout        time.Duration
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
	Confirm           int    // window; -1: no confirms
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

	DisableConnectionRecovery  bool
	ConnectionRecoveryInterval string // N or MIN-MAX seconds

	Time            time.Duration
	ConfirmTimeout  time.Duration
	DrainTimeout    time.Duration
	ShutdownTimeout time.Duration

	ID                 string
	Capture            string
	Compression        string
	RecordMemory       int64 // bytes
	RecordStallTimeout time.Duration
	Fsync              bool

	Interval      time.Duration // of the lines of progress
	MetricsFormat string        // default, compact
	OutputFile    string        // CSV of the lines; "" : none
	Prometheus    Prometheus

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
}

// redactURI is set by NewRun's caller, so that this package needs to know nothing of URIs.
type redactor = func(string) string

// NewRun returns the set of `leveret run` and the struct that it fills. redactURI removes the password from a URI.
func NewRun(redactURI redactor) (*Set, *Run) {
	r := &Run{}
	var rows []*Option
	rows = append(rows, r.connectionOptions(redactURI)...)
	rows = append(rows, r.topologyOptions()...)
	rows = append(rows, r.producerOptions()...)
	rows = append(rows, r.Schedule.options()...)
	rows = append(rows, r.consumerOptions()...)
	rows = append(rows, r.limitOptions()...)
	rows = append(rows, r.recordOptions()...)
	rows = append(rows, &Option{Name: "no-analyze", Group: groupReport, value: toggle(&r.NoAnalyze, false),
		Help: "record only; leveret analyze makes the report later"})
	rows = append(rows, r.Report.options()...)
	rows = append(rows, &Option{Name: "quiet", Group: groupReport, value: toggle(&r.Quiet, false),
		Help: "no progress lines"})
	rows = append(rows, faultsOption(&r.Faults, "what the embedded broker does wrong on purpose, by message number; leveret broker --help lists the faults"))
	return newSet("run", rows), r
}

func (r *Run) connectionOptions(redact redactor) []*Option {
	return []*Option{
		{Name: "uri", PerfTest: []string{"h"}, Arg: "URI", Group: groupBroker, Redact: redact, value: text(&r.URI, ""),
			Help: "amqp:// or amqps:// URI of the broker; without it the run goes through the embedded broker and measures leveret, not RabbitMQ"},
		{Name: "cacert", Arg: "FILE", Group: groupBroker, value: text(&r.CACert, ""), Help: "PEM file of the authorities to trust instead of the system's (amqps)"},
		{Name: "cert", Arg: "FILE", Group: groupBroker, value: text(&r.Cert, ""), Help: "PEM file of the client's certificate (amqps)"},
		{Name: "key", Arg: "FILE", Group: groupBroker, value: text(&r.Key, ""), Help: "PEM file of the client's private key (amqps)"},
		{Name: "server-name", PerfTest: []string{"sni"}, Arg: "NAME", Group: groupBroker, value: text(&r.ServerName, ""), Help: "name to ask for (SNI) and to check the certificate against, instead of the URI's host"},
		{Name: "insecure", Group: groupBroker, value: toggle(&r.Insecure, false), Help: "accept any certificate; warned about, and recorded"},
		{Name: "sasl-external", PerfTest: []string{"se"}, Group: groupBroker, value: toggle(&r.SASLExternal, false), Help: "log in by the client's certificate (EXTERNAL) instead of user and password"},
		{Name: "connect-timeout", Arg: "SECONDS", Group: groupBroker, value: seconds(&r.ConnectTimeout, 10*time.Second, time.Millisecond), Help: "time allowed for one connection to open, handshakes included"},
		{Name: "heartbeat", PerfTest: []string{"b"}, Arg: "SECONDS", Group: groupBroker, value: wholeSeconds(&r.Heartbeat, 0, 0), Help: "heartbeat to ask for, whole seconds; 0 takes the broker's"},
		{Name: "framemax", PerfTest: []string{"M"}, Arg: "BYTES", Group: groupBroker, value: size(&r.FrameMax, 0, 0), Help: "largest frame to ask for; 0 takes the broker's"},
		{Name: "connect-rate", Arg: "N", Group: groupBroker, value: integer(&r.ConnectRate, 1000, 0, math.MaxInt32), Help: "connections to begin a second, at most 32 at the same time; 0: as many as the broker takes"},
		{Name: "source-address", Arg: "IP,...", Group: groupBroker, value: list(&r.SourceAddress), Help: "addresses of this host to connect from, in turn; each has local ports of its own (a broker on loopback gets more addresses by itself where one is too few)"},
		{Name: "coalesce", Arg: "TIME", Group: groupBroker, value: brief(&r.Coalesce, loadcore.DefaultCoalesce, loadcore.MaxCoalesce), Help: "in closed loop, leave what the broker sends in small pieces unread for at most so long, to read more at once; part of the latencies; 0: off, as it is whenever a rate is set"},
		{Name: "drive", Arg: "DRIVE", Group: groupBroker, value: choice(&r.Drive, "auto", "auto", "dedicated", "shared"), Help: "dedicated: each connection has goroutines of its own; shared: a few schedulers own all connections, made for tens of thousands of slow ones; auto: shared above 256 connections or 4096 channels"},
		{Name: "pin", Arg: "WHERE", Group: groupBroker, value: choice(&r.Pin, "off", "off", "thread", "cpu"), Help: "give each goroutine of a connection a thread of its own (thread), kept on one processor (cpu, Linux); dedicated drive only; usually slower"},
	}
}

func (r *Run) topologyOptions() []*Option {
	return []*Option{
		{Name: "queue", PerfTest: []string{"u"}, Arg: "NAME,...", Group: groupTopology, value: list(&r.Queues), Help: "queues to declare and bind, all with the routing key; without it each consumer has a server-named queue of its own"},
		{Name: "exchange", PerfTest: []string{"e"}, Arg: "NAME", Group: groupTopology, value: text(&r.Exchange, ""), Help: "exchange to publish to; amq.default is the default exchange; without it the name of the type"},
		{Name: "type", PerfTest: []string{"t"}, Arg: "TYPE", Group: groupTopology, value: choice(&r.Type, "direct", "direct", "fanout", "topic", "headers"), Help: "type of the exchange: direct, fanout, topic or headers"},
		{Name: "routing-key", PerfTest: []string{"k"}, Arg: "KEY", Group: groupTopology, value: text(&r.RoutingKey, ""), Help: "routing key for binding and publishing; without it one made for the run (the queue's name on the default exchange)"},
		{Name: "auto-delete", PerfTest: []string{"ad"}, Arg: "true|false", Group: groupTopology, value: toggle(&r.AutoDelete, true), Help: "queues vanish with their last consumer"},
		{Name: "quorum-queue", PerfTest: []string{"qq"}, Group: groupTopology, value: toggle(&r.QuorumQueue, false), Help: "quorum queues: persistent messages, not auto-delete, named"},
		{Name: "queue-args", PerfTest: []string{"qa"}, Arg: "KEY=VALUE,...", Group: groupTopology, value: queueArgs(&r.QueueArgs), Help: "arguments of the queues, such as x-max-length=1000,x-queue-type=quorum"},
	}
}

func (r *Run) producerOptions() []*Option {
	return []*Option{
		{Name: "producers", PerfTest: []string{"x"}, Arg: "N", Group: groupProduce, value: integer(&r.Producers, 1, 0, event.MaxProducers), Help: "producer connections"},
		{Name: "producer-channel-count", PerfTest: []string{"X"}, Arg: "N", Group: groupProduce, value: integer(&r.ProducerChannelCount, 1, 1, math.MaxUint16), Help: "channels per producer connection; each is a producer with its own rate, window and limit"},
		{Name: "size", PerfTest: []string{"s"}, Arg: "BYTES", Group: groupProduce, value: integer(&r.Size, 12, 12, math.MaxInt32), Help: "body size; 12 is the least, it holds the message's identity and checksum"},
		{Name: "confirm", PerfTest: []string{"c"}, Arg: "N", Group: groupProduce, value: integer(&r.Confirm, -1, -1, 1<<20), Help: "publisher confirms with at most N unconfirmed per producer channel; -1 or 0: no confirms"},
		{Name: "flag", PerfTest: []string{"f"}, Arg: "FLAG,...", Group: groupProduce, value: choices(&r.Flags, "", "persistent", "mandatory"), Help: "persistent (queues are then durable) and/or mandatory"},
		{Name: "batch", Arg: "N", Group: groupProduce, value: integer(&r.Batch, 256, 1, 1<<16), Help: "most messages in one write; batches never wait for messages that are not due"},
		{Name: "pmessages", PerfTest: []string{"C"}, Arg: "N", Group: groupProduce, value: integer[int64](&r.PMessages, 0, 0, event.MaxSequence), Help: "messages per producer channel; 0: no limit"},
	}
}

func (r *Run) consumerOptions() []*Option {
	return []*Option{
		{Name: "consumers", PerfTest: []string{"y"}, Arg: "N", Group: groupConsume, value: integer(&r.Consumers, 1, 0, event.MaxProducers), Help: "consumer connections"},
		{Name: "consumer-channel-count", PerfTest: []string{"Y"}, Arg: "N", Group: groupConsume, value: integer(&r.ConsumerChannelCount, 1, 1, math.MaxUint16), Help: "channels per consumer connection; each is a consumer"},
		{Name: "autoack", PerfTest: []string{"a"}, Group: groupConsume, value: toggle(&r.AutoAck, false), Help: "automatic acks"},
		{Name: "multi-ack-every", PerfTest: []string{"A"}, Arg: "N", Group: groupConsume, value: integer(&r.MultiAckEvery, 0, 0, math.MaxUint16), Help: "one multiple ack every N messages; 0: one ack a message"},
		{Name: "qos", PerfTest: []string{"q"}, Arg: "N", Group: groupConsume, value: integer(&r.QoS, 0, 0, math.MaxUint16), Help: "prefetch of each consumer; 0: no limit"},
		{Name: "cmessages", PerfTest: []string{"D"}, Arg: "N", Group: groupConsume, value: integer[int64](&r.CMessages, 0, 0, math.MaxInt64), Help: "messages per consumer channel; 0: no limit"},
	}
}

func (r *Run) limitOptions() []*Option {
	return []*Option{
		{Name: "time", PerfTest: []string{"z"}, Arg: "SECONDS", Group: groupLimits, value: seconds(&r.Time, 0, 0), Help: "stop publishing after this long; 0: no limit"},
		{Name: "confirm-timeout", PerfTest: []string{"ct"}, Arg: "SECONDS", Group: groupLimits, value: seconds(&r.ConfirmTimeout, 30*time.Second, time.Millisecond), Help: "how long a producer may wait for a confirm"},
		{Name: "drain-timeout", Arg: "SECONDS", Group: groupLimits, value: seconds(&r.DrainTimeout, 30*time.Second, 0), Help: "time allowed, after publishing has stopped, to receive what is still queued"},
		{Name: "shutdown-timeout", PerfTest: []string{"st"}, Arg: "SECONDS", Group: groupLimits, value: seconds(&r.ShutdownTimeout, 5*time.Second, 0), Help: "time allowed for an orderly close; 0 skips it"},
	}
}

func (r *Run) recordOptions() []*Option {
	return []*Option{
		{Name: "id", PerfTest: []string{"d"}, Arg: "ID", Group: groupRecord, value: fileName(&r.ID), Help: "name of the run; without it one made of date and time"},
		{Name: "capture", Arg: "DIR", Group: groupRecord, value: text(&r.Capture, ""), Help: "directory to record into, refused if it holds something; without it captures/ID"},
		{Name: "compression", Arg: "CODEC", Group: groupRecord, value: choice(&r.Compression, "lz4", "none", "lz4", "zstd"), Help: "compression of the record: none, lz4 or zstd"},
		{Name: "record-memory", Arg: "BYTES", Group: groupRecord, value: size(&r.RecordMemory, 64<<20, 1<<20), Help: "most memory for rows that are not on disk yet"},
		{Name: "record-stall-timeout", Arg: "SECONDS", Group: groupRecord, value: seconds(&r.RecordStallTimeout, 30*time.Second, time.Millisecond), Help: "stop the run when the disk has not taken rows for this long"},
		{Name: "fsync", Group: groupRecord, value: toggle(&r.Fsync, false), Help: "force each batch to the disk, so that the record survives a power loss"},
	}
}

func faultsOption(p *string, help string) *Option {
	return &Option{Name: "faults", Arg: "FAULT,...", Group: groupEmbedded, value: text(p, ""), Help: help}
}
