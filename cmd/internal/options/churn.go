package options

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"leveret/capture/manifest"
)

// Churn holds the options of `leveret churn`: of those of a run the ones that make sense without messages, and its own.
type Churn struct {
	Run
	Operations       int64 // 0: no limit
	Lifetime         time.Duration
	Concurrency      int
	Connections      int // that operations share
	Channels         int // on each connection of connection churn
	Durable          bool
	OperationTimeout time.Duration
}

// Options of a run that a churn has, too.
var (
	churnBroker   = []string{"uri", "uris", "connection-allocation", "servers-startup-timeout", "servers-up-limit", "cacert", "cert", "key", "server-name-indication", "insecure", "sasl-external"}
	churnTCP      = []string{"connect-timeout", "heartbeat", "framemax", "tcp-send-buffer-size", "tcp-receive-buffer-size", "tcp-no-delay", "source-address"}
	churnSchedule = []string{"variable-rate", "ramp", "arrivals", "seed"}
	churnQueue    = []string{"quorum-queue", "stream-queue", "queue-args", "exclusive"}
	churnLimits   = []string{"time", "until-eof"}
	churnRecord   = []string{"id", "capture", "compression", "record-memory", "record-stall-timeout", "fsync"}
	churnOutput   = []string{"interval", "quiet"}
)

// NewChurn returns the set of `leveret churn` and the struct that it fills. redactURI removes the password from a URI.
func NewChurn(redactURI redactor) (*Set, *Churn) {
	c := &Churn{}
	r := &c.Run
	var rows []*Option
	for _, more := range [][]*Option{
		c.loadOptions(), pick(r.Schedule.options(native), groupChurn, churnSchedule), c.kindOptions(), pick(r.queueOptions(), groupChurn, churnQueue),
		pick(r.brokerOptions(native, redactURI), "", churnBroker), pick(r.transportOptions(native), "", churnTCP), r.oauth2Options(), r.managementOptions(),
		pick(r.limitOptions(native), "", churnLimits), c.deadlineOptions(), pick(r.outputOptions(native), "", churnOutput),
		pick(r.recordOptions(native), "", churnRecord), r.reportOptions(),
	} {
		rows = append(rows, more...)
	}
	for _, o := range rows {
		switch o.Name {
		case "time":
			o.Help = "stop beginning operations after this long; 0: no limit"
		case "variable-rate", "ramp":
			o.Help, o.value = "in place of --rate, operations per second: "+o.Help, inOperations(o.value, "")
		case "arrivals":
			o.Help = "even: operations are evenly spaced; poisson: they come at random, independent of each other"
		case "stream-queue":
			o.Help = "streams: durable, not exclusive"
		case "quorum-queue":
			o.Help = "quorum queues: durable, not exclusive"
		case "exclusive":
			o.Help = "exclusive queues, of the connection that declares them"
		}
	}
	rows = append(rows, faultsOption(&r.Faults, "what the embedded broker does wrong on purpose; leveret broker --help lists the faults"))
	letters(rows)
	return newSet("churn", rows), c
}

// pick takes some of the rows, in their order, into another group unless that is "".
func pick(rows []*Option, group string, names []string) (picked []*Option) {
	for _, o := range rows {
		if slices.Contains(names, o.Name) {
			if group != "" {
				o.Group = group
			}
			picked = append(picked, o)
		}
	}
	return picked
}

func (c *Churn) loadOptions() []*Option {
	perSecond := operationRate(&c.Rate)
	if err := perSecond.set("100"); err != nil {
		panic(err) // it is a rate
	}
	return []*Option{
		{Name: "rate", Arg: "OPS/S", Group: groupChurn, value: perSecond, Help: "operations per second, all together, evenly spaced; -1: the next one begins when one of --concurrency has ended"},
		{Name: "operations", Arg: "N", Group: groupChurn, value: integer(&c.Operations, 0, 0, math.MaxInt64), Help: "stop after so many operations; 0: no limit"},
		{Name: "lifetime", Arg: "SECONDS", Group: groupChurn, value: seconds(&c.Lifetime, 0, 0), Help: "how long what was made is held before it is undone; 0: not at all"},
		{Name: "concurrency", Arg: "N", Group: groupChurn, value: integer(&c.Concurrency, 100, 1, mostConcurrency), Help: "most operations that are being made or undone at the same time; what is due meanwhile waits, and is late by that in the response latency"},
	}
}

// operationRate is rate in the words of operations, which are always offered.
func operationRate(p *manifest.Rate) value {
	const otherwise = "; -1: the next one begins when one of --concurrency has ended"
	v := inOperations(rate(p, nil), otherwise)
	plain := v.set
	v.set = func(s string) error {
		if f, err := strconv.ParseFloat(s, 64); err == nil && f == 0 {
			return errors.New("0 is no rate: give operations per second, such as 100 or 0.5" + otherwise)
		}
		return plain(s)
	}
	v.kind = "ops/s"
	return v
}

// inOperations is a value of rates that speaks of operations.
func inOperations(v pflag.Value, otherwise string) value {
	return value{v.String, func(s string) error {
		err := v.Set(s)
		if errors.Is(err, errRateForm) {
			return errors.New("must be operations per second, from 0.000001 to 1000000000, written out, such as 100 or 0.5" + otherwise)
		}
		return err
	}, v.Type()}
}

// mostConcurrency bounds goroutines, and channels.
const mostConcurrency = 100_000

func (c *Churn) kindOptions() []*Option {
	return []*Option{
		{Name: "connections", Arg: "N", Group: groupChurn, value: integer(&c.Connections, 10, 1, math.MaxUint16), Help: "connections that operations share, in turn; connection churn opens its own"},
		{Name: "channels", Arg: "N", Group: groupChurn, value: integer(&c.Channels, 0, 0, 2047), Help: "connection churn: channels to open on each connection"},
		{Name: "exchange", Arg: "NAME", Group: groupChurn, value: text(&c.Exchange, ""), Help: "an exchange that is there: binding churn binds to it (without it amq.direct), queue churn binds each queue to it (without it none)"},
		{Name: "durable", Arg: "true|false", Group: groupChurn, value: toggle(&c.Durable, true), Help: "durable queues, which the broker writes to disk"},
	}
}

func (c *Churn) deadlineOptions() []*Option {
	return []*Option{
		{Name: "operation-timeout", Arg: "SECONDS", Group: groupLimits, value: seconds(&c.OperationTimeout, 10*time.Second, time.Millisecond), Help: "how long a request may wait for its answer; after it the operation has failed"},
		{Name: "shutdown-timeout", Arg: "SECONDS", Group: groupLimits, value: seconds(&c.ShutdownTimeout, 30*time.Second, 0), Help: "time allowed at the end to undo what is still there, and to close"},
	}
}

// Plan says what is done, of one of manifest.ChurnKinds. prefix begins the names of what is made. The errors name the option.
func (c *Churn) Plan(what, prefix string, given func(name string) bool) (manifest.Churn, error) {
	m := manifest.Churn{
		What: what, Rate: c.Rate, Stages: c.Stages, Limit: c.Operations, LifetimeNS: int64(c.Lifetime),
		Concurrency: c.Concurrency, Connections: c.Connections, Channels: c.Channels, TimeoutNS: int64(c.OperationTimeout),
	}
	if len(m.Stages) > 0 {
		m.Rate = manifest.Rate{}
	}
	if c.Arrivals == "poisson" {
		m.Arrivals, m.Seed = manifest.ArrivalsPoisson, c.Seed
	}
	if err := errors.Join(c.Schedule.Check(given), checkChurnKind(what, given)); err != nil {
		return m, err
	}
	switch what {
	case manifest.ChurnConnection:
		m.Connections = 0
	case manifest.ChurnQueue:
		m.Exchange = c.Exchange
	case manifest.ChurnBinding:
		if m.Exchange = c.Exchange; m.Exchange == "" {
			m.Exchange = "amq.direct"
		}
		if m.Exchange == "amq.default" {
			return m, fmt.Errorf("--exchange=amq.default: nothing can be bound to the default exchange; name another, such as amq.direct")
		}
	}
	var err error
	if what == manifest.ChurnQueue || what == manifest.ChurnConsumer || what == manifest.ChurnBinding {
		m.Queue, err = c.queue(what, prefix)
	}
	if err != nil {
		return m, err
	}
	m.Alive, err = c.alive(&m)
	return m, err
}

// alive bounds the operations that are there at the same time: those of a lifetime, and those in work.
func (c *Churn) alive(m *manifest.Churn) (int, error) {
	most := m.Rate.PerSecond()
	for _, s := range m.Stages {
		most = max(most, s.From.PerSecond(), s.To.PerSecond())
	}
	lifetime := c.Lifetime
	if c.Time > 0 {
		lifetime = min(lifetime, c.Time)
	}
	held := math.Ceil(most * lifetime.Seconds())
	if m.Limit > 0 {
		held = min(held, float64(m.Limit))
	}
	if held > mostAlive {
		return 0, fmt.Errorf("--lifetime=%v: at %g a second some %.0f would be there at the same time, and at most %d are possible: a shorter one, or a lower rate", c.Lifetime.Seconds(), most, held, mostAlive)
	}
	return int(held) + c.Concurrency, nil
}

// mostAlive bounds what one process holds.
const mostAlive = 1_000_000

// queue is what is declared.
func (c *Churn) queue(what, prefix string) (*manifest.Queue, error) {
	q := &manifest.Queue{Name: prefix, Type: "classic", Durable: c.Durable, Exclusive: c.Exclusive, Declare: true, Arguments: slices.Clone(c.QueueArgs)}
	for _, t := range []struct {
		wanted bool
		kind   string
	}{{c.QuorumQueue, "quorum"}, {c.StreamQueue, "stream"}} {
		if t.wanted {
			q.Arguments = append(q.Arguments, manifest.Arg{Key: "x-queue-type", Value: t.kind})
		}
	}
	types := 0
	for _, a := range q.Arguments {
		if a.Key == "x-queue-type" {
			q.Type = fmt.Sprint(a.Value)
			types++
		}
	}
	switch {
	case types > 1:
		return nil, fmt.Errorf("--quorum-queue, --stream-queue and --queue-args x-queue-type say what type the queues have: give one of them")
	case q.Type != "classic" && (!q.Durable || q.Exclusive):
		var wrong []string // what was given: neither is so without its option
		if !q.Durable {
			wrong = append(wrong, "--durable=false")
		}
		if q.Exclusive {
			wrong = append(wrong, "--exclusive")
		}
		given := strings.Join(wrong, " and ")
		return nil, fmt.Errorf("%s: a %s queue is durable and never exclusive; leave out %s, or take classic queues", given, q.Type, given)
	case q.Type == "stream" && what == manifest.ChurnConsumer:
		return nil, fmt.Errorf("--stream-queue: consumer churn consumes with automatic acks, which streams do not have; take classic or quorum queues")
	}
	return q, nil
}

// checkChurnKind refuses options that mean nothing for what is made.
func checkChurnKind(what string, given func(name string) bool) error {
	only := map[string][]string{
		"channels":    {manifest.ChurnConnection},
		"connections": {manifest.ChurnChannel, manifest.ChurnQueue, manifest.ChurnConsumer, manifest.ChurnBinding},
		"exchange":    {manifest.ChurnQueue, manifest.ChurnBinding},
		"exclusive":   {manifest.ChurnQueue},
	}
	for _, name := range []string{"durable", "queue-args", "quorum-queue", "stream-queue"} {
		only[name] = []string{manifest.ChurnQueue, manifest.ChurnConsumer, manifest.ChurnBinding}
	}
	for _, name := range []string{"channels", "connections", "exchange", "exclusive", "durable", "queue-args", "quorum-queue", "stream-queue"} {
		if given(name) && !slices.Contains(only[name], what) {
			return fmt.Errorf("--%s: means nothing for %s churn; leave it out", name, what)
		}
	}
	return nil
}
