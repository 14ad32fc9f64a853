package management

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// The API's documents, as far as they are read. What is missing in one, or of another type than it should be, is unknown:
// figures differ between versions, and a broker without statistics leaves them out.

// number is a whole number, or unknown.
type number struct {
	v  int64
	ok bool
}

func (n *number) UnmarshalJSON(b []byte) error {
	*n = number{}
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*n = number{v, true}
	} else if f, err := strconv.ParseFloat(string(b), 64); err == nil && math.Abs(f) < 1<<62 {
		*n = number{int64(f), true}
	}
	return nil
}

func (n number) orNone() int64 {
	if n.ok {
		return n.v
	}
	return event.None
}

// flag is true or false, or unknown.
type flag struct{ v, ok bool }

func (f *flag) UnmarshalJSON(b []byte) error {
	*f = flag{v: string(b) == "true", ok: string(b) == "true" || string(b) == "false"}
	return nil
}

func (f flag) orNone() int64 {
	switch {
	case !f.ok:
		return event.None
	case f.v:
		return 1
	}
	return 0
}

// word is text, or "".
type word string

func (w *word) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*w = word(s)
	}
	return nil
}

// words is a list of text, or none.
type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	var s []string
	if json.Unmarshal(b, &s) == nil {
		*w = s
	}
	return nil
}

// object is a JSON object, or none.
type object map[string]json.RawMessage

func (o *object) UnmarshalJSON(b []byte) error {
	*o = nil
	if !isObject(b) {
		return nil
	}
	return json.Unmarshal(b, (*map[string]json.RawMessage)(o))
}

// mostValue bounds a value that is neither a number nor a truth, in bytes.
const mostValue = 200

// arguments are an object's members by key.
func (o object) arguments() []manifest.Arg {
	var args []manifest.Arg
	for _, key := range slices.Sorted(maps.Keys(o)) {
		args = append(args, manifest.Arg{Key: key, Value: argument(o[key])})
	}
	return args
}

func argument(raw json.RawMessage) any {
	var v any
	if n := (number{}); json.Unmarshal(raw, &n) == nil && n.ok {
		return n.v
	}
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v[:min(len(v), mostValue)]
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return fmt.Sprint(v)
	}
	return b.String()[:min(b.Len(), mostValue)]
}

type overview struct {
	Version    word `json:"rabbitmq_version"`
	Management word `json:"management_version"` // other brokers with this API have it, too
	Erlang     word `json:"erlang_version"`
	Cluster    word `json:"cluster_name"`
	RatesMode  word `json:"rates_mode"`
}

type node struct {
	Name        word   `json:"name"`
	Type        word   `json:"type"`
	PID         word   `json:"os_pid"`
	Uptime      number `json:"uptime"` // ms
	Processors  number `json:"processors"`
	Plugins     words  `json:"enabled_plugins"`
	Running     flag   `json:"running"`
	Memory      number `json:"mem_used"`
	MemoryLimit number `json:"mem_limit"`
	MemoryAlarm flag   `json:"mem_alarm"`
	DiskFree    number `json:"disk_free"`
	DiskLimit   number `json:"disk_free_limit"`
	DiskAlarm   flag   `json:"disk_free_alarm"`
	RunQueue    number `json:"run_queue"`
	Files       number `json:"fd_used"`
	Sockets     number `json:"sockets_used"`
	Processes   number `json:"proc_used"`
	Written     number `json:"io_write_bytes"`
	Read        number `json:"io_read_bytes"`
	Syncs       number `json:"io_sync_count"`
}

// nodeFacts and nodeFigures are the columns that are asked for.
const (
	nodeFacts   = "name,type,os_pid,processors,enabled_plugins,running"
	nodeFigures = "name,os_pid,uptime,running,mem_used,mem_limit,mem_alarm,disk_free,disk_free_limit,disk_free_alarm,run_queue,fd_used,sockets_used,proc_used,io_write_bytes,io_read_bytes,io_sync_count"
)

// counters are messages since some moment, of a queue or a virtual host.
type counters struct {
	Published      number `json:"publish"`
	Confirmed      number `json:"confirm"`
	Returned       number `json:"return_unroutable"`
	Dropped        number `json:"drop_unroutable"`
	Delivered      number `json:"deliver"`
	DeliveredNoAck number `json:"deliver_no_ack"`
	Got            number `json:"get"`
	GotNoAck       number `json:"get_no_ack"`
	Acked          number `json:"ack"`
	Redelivered    number `json:"redeliver"`
}

// isObject tells whether a document is an object. An empty one, such as the statistics of what has none yet, or a row whose
// columns are all unknown, is an empty list to RabbitMQ.
func isObject(b []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) }

func (c *counters) UnmarshalJSON(b []byte) error {
	type plain counters
	if *c = (counters{}); !isObject(b) {
		return nil
	}
	return json.Unmarshal(b, (*plain)(c))
}

func (q *queue) UnmarshalJSON(b []byte) error {
	type plain queue
	if *q = (queue{}); !isObject(b) {
		return nil
	}
	return json.Unmarshal(b, (*plain)(q))
}

func (n *node) UnmarshalJSON(b []byte) error {
	type plain node
	if *n = (node{}); !isObject(b) {
		return nil
	}
	return json.Unmarshal(b, (*plain)(n))
}

// connection is one of the virtual host's; a new one has no state yet.
type connection struct {
	State word `json:"state"`
}

func (c *connection) UnmarshalJSON(b []byte) error {
	type plain connection
	if *c = (connection{}); !isObject(b) {
		return nil
	}
	return json.Unmarshal(b, (*plain)(c))
}

const counterColumns = "message_stats.publish,message_stats.confirm,message_stats.return_unroutable,message_stats.drop_unroutable," +
	"message_stats.deliver,message_stats.deliver_no_ack,message_stats.get,message_stats.get_no_ack,message_stats.ack,message_stats.redeliver"

// queue is a queue, or a virtual host with what its queues have together.
type queue struct {
	Name      word     `json:"name"`
	State     word     `json:"state"`
	Ready     number   `json:"messages_ready"`
	Unacked   number   `json:"messages_unacknowledged"`
	Bytes     number   `json:"message_bytes"`
	Consumers number   `json:"consumers"`
	Memory    number   `json:"memory"`
	Counters  counters `json:"message_stats"`

	Type           word   `json:"type"`
	Durable        flag   `json:"durable"`
	AutoDelete     flag   `json:"auto_delete"`
	Exclusive      flag   `json:"exclusive"`
	Arguments      object `json:"arguments"`
	Policy         word   `json:"policy"`
	OperatorPolicy word   `json:"operator_policy"`
	Effective      object `json:"effective_policy_definition"`
}

const (
	queueFacts   = "name,type,durable,auto_delete,exclusive,arguments,policy,operator_policy,effective_policy_definition,consumers"
	queueFigures = "name,state,messages_ready,messages_unacknowledged,message_bytes,consumers,memory,policy,operator_policy,effective_policy_definition," + counterColumns
	vhostFigures = "name,messages_ready,messages_unacknowledged," + counterColumns
)

// found is a queue as the manifest has it.
func (q *queue) found() *manifest.FoundQueue {
	return &manifest.FoundQueue{
		Type: string(q.Type), Durable: q.Durable.v, AutoDelete: q.AutoDelete.v, Exclusive: q.Exclusive.v,
		Arguments: q.Arguments.arguments(), Policy: string(q.Policy), OperatorPolicy: string(q.OperatorPolicy),
		Rules: q.Effective.arguments(), Consumers: max(q.Consumers.v, 0),
	}
}

// figures are a queue's at a moment.
func (q *queue) figures(at, index int64) event.BrokerQueue {
	c := &q.Counters
	running := event.None
	if q.State != "" {
		running = 0
		if q.State == "running" || q.State == "flow" || q.State == "idle" {
			running = 1
		}
	}
	return event.BrokerQueue{
		At: at, Queue: index, Ready: q.Ready.orNone(), Unacked: q.Unacked.orNone(), Bytes: q.Bytes.orNone(), Consumers: q.Consumers.orNone(),
		MemoryBytes: q.Memory.orNone(), Published: c.Published.orNone(), Confirmed: c.Confirmed.orNone(), Returned: c.Returned.orNone(), Dropped: c.Dropped.orNone(),
		Delivered: c.Delivered.orNone(), DeliveredNoAck: c.DeliveredNoAck.orNone(), Got: c.Got.orNone(), GotNoAck: c.GotNoAck.orNone(),
		Acked: c.Acked.orNone(), Redelivered: c.Redelivered.orNone(), Running: running,
	}
}

func (n *node) facts() manifest.ManagedNode {
	return manifest.ManagedNode{Name: string(n.Name), Type: string(n.Type), Processors: int(n.Processors.v), Plugins: n.Plugins}
}

func (n *node) figures(at, index int64) event.BrokerNode {
	return event.BrokerNode{
		At: at, Node: index, Running: n.Running.orNone(), MemoryBytes: n.Memory.orNone(), MemoryLimitBytes: n.MemoryLimit.orNone(), MemoryAlarm: n.MemoryAlarm.orNone(),
		DiskFreeBytes: n.DiskFree.orNone(), DiskLimitBytes: n.DiskLimit.orNone(), DiskAlarm: n.DiskAlarm.orNone(), CPUNS: event.None,
		RunQueue: n.RunQueue.orNone(), FileDescriptors: n.Files.orNone(), Sockets: n.Sockets.orNone(), Processes: n.Processes.orNone(),
		WrittenBytes: n.Written.orNone(), ReadBytes: n.Read.orNone(), Syncs: n.Syncs.orNone(),
	}
}

// page is one of several pages of a list.
type page[T any] struct {
	Items []T    `json:"items"`
	Pages number `json:"page_count"`
	Total number `json:"filtered_count"`
}

// UnmarshalJSON takes a list for its only page: an API that knows no pages gives it as a whole.
func (p *page[T]) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		*p = page[T]{}
		err := json.Unmarshal(b, &p.Items)
		p.Total = number{int64(len(p.Items)), true}
		return err
	}
	type plain page[T]
	return json.Unmarshal(b, (*plain)(p))
}

type binding struct {
	Destination     word   `json:"destination"`
	DestinationType word   `json:"destination_type"`
	RoutingKey      word   `json:"routing_key"`
	Arguments       object `json:"arguments"`
}

type exchange struct {
	Type      word   `json:"type"`
	Arguments object `json:"arguments"`
	Effective object `json:"effective_policy_definition"` // of newer versions
	Policy    word   `json:"policy"`
}

type policy struct {
	Name       word   `json:"name"`
	Pattern    word   `json:"pattern"`
	ApplyTo    word   `json:"apply-to"`
	Priority   number `json:"priority"`
	Definition object `json:"definition"`
}
