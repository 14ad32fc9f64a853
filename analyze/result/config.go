package result

// Config is what was run, for titles and captions.
type Config struct {
	StartedNS   int64    `json:"started_ns"` // barrier
	Tool        string   `json:"tool"`       // "leveret VERSION"
	Connections int      `json:"connections"`
	Producers   int      `json:"producers"`
	Consumers   int      `json:"consumers"`
	Queues      int      `json:"queues"`
	QueueTypes  []string `json:"queue_types"`
	// QueueNames are the first few of Queues.
	QueueNames []string `json:"queue_names"`
	// Predeclared: "missing" where the run declared only what it did not find, "strict" where it declared and bound nothing.
	Predeclared string `json:"predeclared,omitempty"`
	// Endpoints are the brokers that connections were given to, Allocation how; empty where there was one.
	Endpoints  []string `json:"endpoints,omitempty"`
	Allocation string   `json:"allocation,omitempty"`
	// EndpointConnections are the connections that were opened to each of Endpoints.
	EndpointConnections []int `json:"endpoint_connections,omitempty"`
	// Command is the command line of the first capture, Options are its resolved options in the order of their names; both without secrets.
	Command []string `json:"command,omitempty"`
	Options []Option `json:"options,omitempty"`
	// Environment are the variables that changed an option of the run.
	Environment []string `json:"environment,omitempty"`
	// Exchanges are those that producers publish to, RoutingKeys the first few keys of RoutingKeysTotal.
	Exchanges        []Exchange `json:"exchanges"`
	RoutingKeys      []string   `json:"routing_keys"`
	RoutingKeysTotal int        `json:"routing_keys_total"`
	// FanOut is the most queues that a message reaches, 0 where that is unknown for any.
	FanOut     int  `json:"fan_out"`
	Durable    bool `json:"durable"`
	Persistent bool `json:"persistent"`
	// SizesBytes are the body sizes that were sent; of very many the least, the greatest and some others.
	SizesBytes []int64 `json:"sizes_bytes"`
	// Publishing is what else is special about the messages: stamp, properties, bodies; "" for nothing.
	Publishing    string `json:"publishing,omitempty"`
	Confirm       int    `json:"confirm"`                   // window, 0: none
	PublishTxSize int    `json:"publish_tx_size,omitempty"` // messages of a transaction, 0: none
	// AckMode: "automatic", "manual, single", "manual, multiple every 10", "nack, single, requeue", "mixed", "none" without consumers.
	AckMode        string `json:"ack_mode"`
	Prefetch       int    `json:"prefetch"`                  // 0: none
	GlobalPrefetch int    `json:"global_prefetch,omitempty"` // of a channel
	ConsumeTxSize  int    `json:"consume_tx_size,omitempty"` // acks of a transaction, 0: none
	// Polling: consumers ask with basic.get, and wait so long after each answer.
	Polling        bool  `json:"polling,omitempty"`
	PollIntervalNS int64 `json:"poll_interval_ns,omitempty"`
	// Consuming is what else is special about the consumers: work, rate, start, end, arguments; "" for nothing.
	Consuming   string   `json:"consuming,omitempty"`
	RateTotal   *float64 `json:"rate_msgs_per_s"` // offered, all producers; null in closed loop
	OpenLoop    bool     `json:"open_loop"`       // a rate was set
	Schedule    string   `json:"schedule"`        // what the rate alone doesn't say, "" where there is nothing of the kind
	CoalesceNS  int64    `json:"coalesce_ns"`     // by how much the client's reads may have come late, on purpose; 0: read at once
	ReadyStart  *int64   `json:"ready_at_start"`  // messages in the queues before the run
	TLS         bool     `json:"tls"`
	TLSVerified bool     `json:"tls_verified"`
}

// Option is an option of the run as it was resolved.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Exchange that producers publish to. The default exchange has no name.
type Exchange struct {
	Name string `json:"name"`
	Type string `json:"type"` // "" if unknown
}
