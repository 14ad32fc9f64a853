package result

// Topology is what messages went through, for drawing. Lists hold the first TopologyKept of what they are of; totals count all.
type Topology struct {
	Producers []Publishers  `json:"producers"`
	Exchanges []Exchange    `json:"exchanges"`
	Queues    []QueueNode   `json:"queues"`
	Bindings  []Binding     `json:"bindings"`
	Consumers []Subscribers `json:"consumers"`

	ProducersTotal int `json:"producer_groups_total"`
	QueuesTotal    int `json:"queues_total"`
	BindingsTotal  int `json:"bindings_total"`
	ConsumersTotal int `json:"consumer_groups_total"`
}

// TopologyKept bounds each list of a Topology.
const TopologyKept = 256

// Publishers are the producers that publish to one exchange with the same routing keys.
type Publishers struct {
	Count      int    `json:"count"`
	Exchange   string `json:"exchange"`
	RoutingKey string `json:"routing_key"`
	// Keys is how many routing keys they take in turn, RoutingKey the first of them.
	Keys int `json:"routing_keys"`
	// Unknown: it is not known which queues their messages reach.
	Unknown bool `json:"unknown,omitempty"`
}

// QueueNode is a queue by name; one without a name was named by the broker, which the record does not tell.
type QueueNode struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Binding from an exchange to a queue; Queue is a place in Queues. Those of the default exchange are where producers use it.
type Binding struct {
	Exchange   string `json:"exchange"`
	Queue      int    `json:"queue"`
	RoutingKey string `json:"routing_key"`
}

// Subscribers are the consumers of the same queues, which are places in Topology.Queues.
type Subscribers struct {
	Count  int   `json:"count"`
	Queues []int `json:"queues"`
	// QueuesTotal counts also those that are not in Topology.Queues.
	QueuesTotal int `json:"queues_total"`
}
