package result

// BrokerSide is what the broker's management API told while the run went on. Its figures are seconds old when they are told
// (RabbitMQ: as much as its collect_statistics_interval, 5 s by default), and a rate is of the time between two samples. Nil is
// unknown: the broker did not say.
type BrokerSide struct {
	URI        string `json:"uri"` // of the API
	IntervalNS int64  `json:"interval_ns"`
	// Samples is how often it was asked, Failed how often in vain or in part; FirstFailure says why, the first time.
	Samples      int64  `json:"samples"`
	Failed       int64  `json:"failed"`
	FirstFailure string `json:"first_failure,omitempty"`

	Cluster   string   `json:"cluster,omitempty"`
	Erlang    string   `json:"erlang,omitempty"`
	Plugins   []string `json:"plugins,omitempty"` // enabled on any node
	RatesMode string   `json:"rates_mode,omitempty"`
	// Policies are those that apply to queues of the run, "NAME: max-length=10, message-ttl=500", operator policies marked so.
	Policies []string `json:"policies,omitempty"`

	// Counters hold what the broker counted in the run's virtual host against what the client recorded.
	Counters []BrokerCounter `json:"counters"`
	// Total is the virtual host over time, with the states of its connections; Queues and Nodes are by themselves.
	Total       BrokerQueue             `json:"vhost"`
	Queues      []BrokerQueue           `json:"queues"` // those of the run that have rows, in the order of the topology
	Nodes       []BrokerNode            `json:"nodes"`
	Connections []BrokerConnectionState `json:"connections"`
	// FlowSamples of the connection samples had a connection in flow, AlarmSamples of the node samples an alarm.
	FlowSamples  int64 `json:"flow_samples"`
	AlarmSamples int64 `json:"alarm_samples"`
}

// BrokerCounter is one counter of the broker, from the first sample (before the load) to the last that has it, and what the
// client recorded of the same thing. The broker counts everybody in the virtual host, and up to some seconds before the last sample.
type BrokerCounter struct {
	Name   string `json:"name"`   // published, confirmed, delivered, acked, redelivered, returned
	Broker *int64 `json:"broker"` // nil: it kept no such counter
	Client *int64 `json:"client"` // nil: nothing of the kind is recorded
}

// BrokerQueue is a queue over time, or the virtual host as a whole.
type BrokerQueue struct {
	Name           string `json:"name"`
	Type           string `json:"type,omitempty"`
	Policy         string `json:"policy,omitempty"`
	MaxReady       *int64 `json:"max_ready"` // of all samples, also of those that Samples leaves out
	MaxUnacked     *int64 `json:"max_unacked"`
	MaxMemoryBytes *int64 `json:"max_memory_bytes"`
	// Samples by time, at most 1,000: of more every second one, or every fourth, ..., and the last.
	Samples []BrokerQueueSample `json:"samples"`
}

// BrokerQueueSample are the figures of one moment, and the rates since the sample before; none where that is less than half an
// interval ago.
type BrokerQueueSample struct {
	AtNS        int64    `json:"at_ns"` // on the record's clock
	Ready       *int64   `json:"ready"`
	Unacked     *int64   `json:"unacked"`
	Bytes       *int64   `json:"bytes"`
	Consumers   *int64   `json:"consumers"`
	Published   *float64 `json:"published_msgs_per_s"`
	Confirmed   *float64 `json:"confirmed_msgs_per_s"` // of the virtual host only
	Delivered   *float64 `json:"delivered_msgs_per_s"` // by basic.deliver and basic.get, acked or not
	Acked       *float64 `json:"acked_msgs_per_s"`
	Redelivered *float64 `json:"redelivered_msgs_per_s"`
}

// countersNS is how often RabbitMQ brings the counters of its management API up to date (collect_statistics_interval, 5 s unless set
// otherwise), each connection at a time of its own: between looks that are closer they stand still, and then leap.
const countersNS = 5e9

// MeanRate is the mean of one of the rates over the looks that end with the i-th, messages a second: over as many as it takes to see each
// counter brought up to date once, which is one where looks are 5 s apart or more. Nil where the i-th has no rate.
func (q *BrokerQueue) MeanRate(i int, of func(*BrokerQueueSample) *float64) *float64 {
	sum, ns := 0.0, 0.0
	for ; i > 0 && ns < countersNS; i-- {
		rate := of(&q.Samples[i])
		if rate == nil {
			break
		}
		length := float64(q.Samples[i].AtNS - q.Samples[i-1].AtNS)
		sum, ns = sum+*rate*length, ns+length
	}
	if !(ns > 0) {
		return nil
	}
	sum /= ns
	return &sum
}

// BrokerNode is a node over time.
type BrokerNode struct {
	Name               string `json:"name"`
	Processors         int    `json:"processors,omitempty"`
	MaxMemoryBytes     *int64 `json:"max_memory_bytes"`
	MemoryLimitBytes   *int64 `json:"memory_limit_bytes"`
	LeastDiskFreeBytes *int64 `json:"least_disk_free_bytes"`
	DiskLimitBytes     *int64 `json:"disk_limit_bytes"`
	MaxRunQueue        *int64 `json:"max_run_queue"`
	// CPUCores is how many processors its process kept busy over all samples; known where it runs on the recording host.
	CPUCores    *float64           `json:"cpu_cores"`
	MemoryAlarm bool               `json:"memory_alarm"` // in any sample
	DiskAlarm   bool               `json:"disk_alarm"`
	Down        bool               `json:"down"` // not running in any sample
	Samples     []BrokerNodeSample `json:"samples"`
}

// BrokerNodeSample are the figures of one moment, and the rates since the sample before.
type BrokerNodeSample struct {
	AtNS            int64    `json:"at_ns"`
	MemoryBytes     *int64   `json:"memory_bytes"`
	DiskFreeBytes   *int64   `json:"disk_free_bytes"`
	Alarm           bool     `json:"alarm"`
	RunQueue        *int64   `json:"run_queue"`
	CPUCores        *float64 `json:"cpu_cores"`
	WrittenBytes    *float64 `json:"written_bytes_per_s"`
	Sockets         *int64   `json:"sockets"`
	FileDescriptors *int64   `json:"file_descriptors"`
}

// BrokerConnectionState are the connections of the virtual host at one moment. Those in flow are throttled by credit flow: the
// broker reads no more from them until it has caught up, long before it sends connection.blocked.
type BrokerConnectionState struct {
	AtNS    int64  `json:"at_ns"`
	Total   *int64 `json:"total"`
	Looked  int64  `json:"looked_at"` // of them, whose states are counted
	Flow    int64  `json:"flow"`
	Blocked int64  `json:"blocked"` // blocking ones included
}
