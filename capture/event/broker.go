package event

// What the broker said of itself through its management API. A figure that it did not give is None. Counters count up from
// some moment before the run: only differences mean something, and a smaller value than before means that the broker began
// anew. The API's own figures are seconds old (RabbitMQ: collect_statistics_interval, 5 s by default).

// BrokerNode is one node of the broker at one moment.
type BrokerNode struct {
	At   int64 // clock when the answer had been read
	Node int64 // index into the manifest's management.nodes

	Running          int64 // 1: it is up; 0: the others know it, and it is not
	MemoryBytes      int64
	MemoryLimitBytes int64 // above it the memory alarm is raised
	MemoryAlarm      int64 // 1: raised, so that nobody can publish to the cluster
	DiskFreeBytes    int64
	DiskLimitBytes   int64 // below it the disk alarm is raised
	DiskAlarm        int64 // likewise
	CPUNS            int64 // counter: user plus system time of the node's process; known where it runs on this host
	RunQueue         int64 // Erlang processes that are ready to run and wait for a scheduler
	FileDescriptors  int64 // in use
	Sockets          int64 // in use
	Processes        int64 // of Erlang
	WrittenBytes     int64 // counter: to disk
	ReadBytes        int64 // counter: from disk
	Syncs            int64 // counter: fsync calls
}

// BrokerQueue is one queue at one moment, or its virtual host as a whole.
type BrokerQueue struct {
	At    int64
	Queue int64 // index into the manifest's topology.queues; None: the virtual host, with the queues and messages of everybody

	Ready       int64 // messages that wait for a consumer
	Unacked     int64 // messages that were delivered and not acked
	Bytes       int64 // bodies of both
	Consumers   int64
	MemoryBytes int64 // that the queue takes

	// Counters of messages. Of a queue: Published came to it; Confirmed, Returned and Dropped are None. Of a virtual host:
	// Published came to its exchanges, each message once.
	Published      int64
	Confirmed      int64
	Returned       int64 // mandatory, and no queue to go to
	Dropped        int64 // not mandatory, and no queue to go to
	Delivered      int64 // to consumers that ack
	DeliveredNoAck int64 // to consumers that do not
	Got            int64 // by basic.get, to be acked
	GotNoAck       int64 // by basic.get, not to be acked
	Acked          int64
	Redelivered    int64 // contained in those that were delivered or got

	Running int64 // 1; 0: the queue is down, or has no majority. Of the virtual host None
}

// BrokerConnections are the connections of the virtual host at one moment, by their states. Of very many only the first
// are looked at.
type BrokerConnections struct {
	At int64

	Total    int64
	Looked   int64 // of them, whose state was asked for; the others are in none of the following
	Running  int64
	Flow     int64 // throttled by credit flow: the broker reads no more from them until it has caught up
	Blocking int64 // an alarm is raised, and they have not published since
	Blocked  int64 // an alarm is raised, and they have been kept from publishing
	Other    int64
}
