package result

// Limit is what limited a run, as far as the record tells.
type Limit string

const (
	LimitUnknown   Limit = ""
	LimitSchedule  Limit = "schedule"   // nothing did: the rate that was asked for was kept
	LimitWindow    Limit = "window"     // producers waited for confirms, or for the answers to their commits
	LimitBroker    Limit = "broker"     // it took no more from the socket, or sent connection.blocked
	LimitClientCPU Limit = "client_cpu" // the client was at work all the time
	LimitRecorder  Limit = "recorder"   // publishing, or reading, waited for the record
)

// Generator is what the load generator noticed of itself over the window: whether it was what was measured.
type Generator struct {
	Limit Limit `json:"limited_by"`
	// Batches are the messages of one write each; nil without writes.
	Batches *BatchSizes `json:"batches"`
	// Lateness is sent less due, of the messages due in the window; those that were not sent are censored. Nil in closed loop.
	Lateness *Distribution `json:"lateness"`
	// LostShare is how much of their time connections that publish were lost, 0 to 1; nil where none was, or where the window is a part
	// of the run. What producers wait for then counts as waiting for the socket.
	LostShare *float64 `json:"lost_connections_share,omitempty"`
	// Self is nil where the recording has no self-observation.
	Self *Self `json:"self"`
}

// BatchSizes are how many messages were written together, exact, over all writes of the run. A percentile is the value at
// nearest rank among the writes; nil above 65,536, which no leveret writes.
type BatchSizes struct {
	Writes int64   `json:"writes"`
	Mean   float64 `json:"mean_messages"`
	P50    *int64  `json:"p50_messages"`
	P99    *int64  `json:"p99_messages"`
	Max    int64   `json:"max_messages"`
}

// Self are the figures of one span, over all recording processes. Shares are of the time in which producers were at it: 1 is
// all producers all the time. Whatever they did not wait for they worked, or waited for a processor. Nil is unknown.
type Self struct {
	WindowShare   *float64 `json:"window_wait_share"`   // waiting for confirms
	SocketShare   *float64 `json:"socket_wait_share"`   // waiting for the socket to take more
	RecorderShare *float64 `json:"recorder_wait_share"` // waiting for room in the recorder
	ScheduleShare *float64 `json:"schedule_wait_share"` // waiting for the next message to be due
	WorkShare     *float64 `json:"work_share"`          // the rest

	LateMeanNS      *float64 `json:"late_mean_ns"` // sent less due, of the messages sent in the span
	LateMaxNS       *int64   `json:"late_max_ns"`
	ReadingPausedNS int64    `json:"reading_paused_ns"` // for the recorder, over all connections
	UnsentMaxBytes  *int64   `json:"unsent_max_bytes"`  // most in one socket at the end of an interval of the recording

	Writes          int64 `json:"writes"`
	WrittenMessages int64 `json:"written_messages"`
	LargestWrite    int64 `json:"largest_write_messages"`
	Reads           int64 `json:"reads"`
	ReadBytes       int64 `json:"read_bytes"`
	DeliveryReads   int64 `json:"delivery_reads"`
	Deliveries      int64 `json:"deliveries"`
	LargestRead     int64 `json:"largest_read_deliveries"`

	CPUCores  *float64 `json:"cpu_cores"` // processors kept busy, user and system
	GCCycles  int64    `json:"gc_cycles"`
	GCPauseNS int64    `json:"gc_pause_ns"`
	// SchedLatencyP99NS: the worst of the recording's intervals, each an upper bound of its 99th percentile.
	SchedLatencyP99NS *int64 `json:"sched_latency_p99_ns"`
	HeapBytes         int64  `json:"heap_max_bytes"` // at the end of an interval of the recording
	Goroutines        int64  `json:"goroutines_max"`
}
