package manifest

import "encoding/json"

// Management is what the broker's management API told about the broker, beside the rows of its figures.
type Management struct {
	URI        string `json:"uri"` // without the password
	IntervalNS int64  `json:"interval_ns"`
	Cluster    string `json:"cluster,omitempty"`
	Erlang     string `json:"erlang,omitempty"`
	// RatesMode is how the broker keeps statistics: basic, detailed, or none, and then there are no counters.
	RatesMode string `json:"rates_mode,omitempty"`
	// Nodes are those of the cluster; rows name them by index. In manifest.json there may be more than in start.json.
	Nodes []ManagedNode `json:"nodes,omitempty"`
	// Policies and operator policies of the virtual host. PoliciesUnknown: the user may not see them.
	Policies        []Policy `json:"policies,omitempty"`
	PoliciesUnknown bool     `json:"policies_unknown,omitempty"`
	// Exchanges and Bindings are those that routes were followed through where the run had not made all of them itself.
	Exchanges []FoundExchange `json:"exchanges,omitempty"`
	Bindings  []FoundBinding  `json:"bindings,omitempty"`
	// SampledQueues is how many of the topology's queues have rows: the first ones. More are in the virtual host's rows only.
	SampledQueues int `json:"sampled_queues"`

	// The following are in manifest.json only. Samples is how often the API was looked at during the run, Failed how often in
	// vain, or in part; FirstFailure says why, the first time.
	Samples      int64  `json:"samples,omitempty"`
	Failed       int64  `json:"failed,omitempty"`
	FirstFailure string `json:"first_failure,omitempty"`
}

// ManagedNode is one node of the broker.
type ManagedNode struct {
	Name       string   `json:"name"`
	Type       string   `json:"type,omitempty"` // disc, ram
	Processors int      `json:"processors,omitempty"`
	Plugins    []string `json:"plugins,omitempty"` // enabled ones
	// SameHost: its process was found on the recording host, so that its CPU time is known.
	SameHost bool `json:"same_host,omitempty"`
}

// Policy of the virtual host.
type Policy struct {
	Name     string `json:"name"`
	Pattern  string `json:"pattern"`
	ApplyTo  string `json:"apply_to"` // queues, exchanges, all, classic_queues, ...
	Priority int64  `json:"priority"`
	// Definition by key, as JSON.
	Definition map[string]json.RawMessage `json:"definition"`
	Operator   bool                       `json:"operator,omitempty"`
}

// FoundQueue is a queue as the broker has it.
type FoundQueue struct {
	Type       string `json:"type"`
	Durable    bool   `json:"durable"`
	AutoDelete bool   `json:"auto_delete"`
	Exclusive  bool   `json:"exclusive"`
	Arguments  []Arg  `json:"arguments,omitempty"`
	// Policy and OperatorPolicy are the names of those that apply; Rules what they set together, by the policies' keys
	// (max-length, message-ttl, ...), everything that was in force at any time of the run.
	Policy         string `json:"policy,omitempty"`
	OperatorPolicy string `json:"operator_policy,omitempty"`
	Rules          []Arg  `json:"rules,omitempty"`
	// Consumers are those that it had before the run's own, and so of other programs.
	Consumers int64 `json:"consumers,omitempty"`
}

// FoundExchange is an exchange as the broker has it.
type FoundExchange struct {
	Name string `json:"name"`
	Type string `json:"type"` // "": there is none of that name, and what comes to it is dropped
	// Alternate is where messages go that no binding takes; "": nowhere.
	Alternate string `json:"alternate,omitempty"`
}

// FoundBinding leads from an exchange to a queue or a further exchange.
type FoundBinding struct {
	Exchange    string `json:"exchange"`
	Destination string `json:"destination"`
	ToExchange  bool   `json:"to_exchange,omitempty"`
	RoutingKey  string `json:"routing_key"`
	Arguments   []Arg  `json:"arguments,omitempty"`
}
