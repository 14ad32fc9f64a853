// Package event says what a recorded event is, and carries the one clock that every event is timed with.
//
// The load core fills these batches and hands them to a recorder; the recorder copies what it needs before the call
// returns, so the caller owns every batch and every slice in it again at once. All times are nanoseconds since the Unix
// epoch on the process's Clock; a time that does not exist is None, never 0.
package event

import "math"

// None is the missing time. Arrow files hold it as null.
const None int64 = math.MinInt64

// Bounds of the identity that a message carries in its stamp (see loadcore/stamp.go): they bound the columns too.
const (
	TagBits      = 12
	ProducerBits = 16
	SequenceBits = 36

	MaxTag       = 1<<TagBits - 1
	MaxProducers = 1 << ProducerBits
	MaxSequence  = 1<<SequenceBits - 1
)

// Sends is one written batch of one producer: messages First to First+N-1, in order.
type Sends struct {
	Producer uint16
	First    uint64 // sequence of the first message, from 0
	N        int

	// Due holds N times at which the schedule wanted each message sent; nil in closed loop.
	Due []int64
	// Sent is the clock read just before the write call that carries the first byte of the batch; None where the slots
	// were not sent (catch-up bound reached), and then Written is None too.
	Sent int64
	// Written is the clock read after that write call returned.
	Written int64
	// Bytes handed to the socket for this batch, framing included.
	Bytes int

	// Size is the body size in bytes of every message, unless Sizes (N values) is set.
	Size  uint32
	Sizes []uint32
	// Route is the index of every message's route in the manifest's topology, unless Routes (N values) is set.
	Route  uint16
	Routes []uint16
}

// SettlementKind says how the broker answered a message.
type SettlementKind uint8

// Part of the format: the numbers are written to the settlements files.
const (
	Ack SettlementKind = iota + 1
	Nack
	Return // basic.return; the message is acked as well, in a settlement of its own
	Commit // tx.commit-ok, for each message of the transaction; one that was returned has a settlement for that as well
	// InDoubt is no answer: the channel was lost before there was one, so that nobody knows whether the broker has the message.
	// It may be published once more under the same identity, and then have an answer after this.
	InDoubt
)

// SettledRun is a run of consecutive messages of one producer that one frame settled: First to First+N-1.
type SettledRun struct {
	First uint64
	N     uint32
	Kind  SettlementKind
	// FrameMessages counts all messages that the frame settled (a multiple ack may settle several runs; a commit settles those of
	// the transaction); 0 for a return.
	FrameMessages uint32
}

// Settlements is what one read call brought for one producer: confirms, returns, or the answer to a commit; or what the loss of
// its channel left in doubt.
type Settlements struct {
	Producer uint16
	At       int64 // clock read after the read call that delivered the frames, or when the channel had ended
	Runs     []SettledRun
}

// Body says what the consumer found when it checked a message's stamp.
type Body uint8

// Part of the format: the numbers are written to the deliveries files.
const (
	Intact    Body = iota + 1 // the checksum holds; the identity is the message's own
	Corrupt                   // long enough for a stamp, the checksum does not hold; the identity is only claimed
	Unstamped                 // shorter than a stamp: no identity, Tag, Producer and Seq are 0
)

// Delivery is one message as a consumer received it.
type Delivery struct {
	Seq         uint64
	DeliveryTag uint64
	Due         int64 // due time that the stamp carries; None where it carries none
	Size        uint32
	Tag         uint16 // run tag that the stamp carries
	Producer    uint16
	Queue       uint16 // index of the queue in the manifest's topology
	Body        Body
	Redelivered bool
}

// Deliveries is what one read call brought for one consumer, by basic.deliver or as answers to basic.get.
type Deliveries struct {
	Consumer uint16
	At       int64 // clock read after the read call that delivered the last frame of these messages
	Rows     []Delivery
}

// Acks is what a consumer acknowledged after one read: Messages deliveries up to and including DeliveryTag, by one frame
// where Multiple is set, else by a frame each. Of a consumer with Nack in the plan they were refused with basic.nack. In a
// transaction they hold only once it is committed.
type Acks struct {
	Consumer    uint16
	At          int64
	DeliveryTag uint64
	Messages    uint32
	Multiple    bool
}

// ConnectionState is where a connection stands.
type ConnectionState uint8

// Part of the format: the numbers are written to the connections files.
const (
	Connecting ConnectionState = iota + 1
	Open
	Blocked // the broker sent connection.blocked
	Closing
	Closed
	Lost
	// The following are no states of the connection but belong to its history.
	ChannelClosed     // the broker closed a channel
	ConsumerCancelled // the broker cancelled a consumer
	// Recovered: after a loss all that the connection carries works again, or, where a lane is named, that lane.
	Recovered
)

var stateNames = [...]string{"", "connecting", "open", "blocked", "closing", "closed", "lost", "channel closed", "consumer cancelled", "recovered"}

func (s ConnectionState) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// NoLane marks a connection event that concerns the connection as a whole.
const NoLane uint32 = math.MaxUint32

// Connection is one change of a connection's state, or of a channel on it.
type Connection struct {
	At         int64
	Connection uint32 // numbered from 0 over the run, producers' connections first
	State      ConnectionState
	// Producer and Consumer are the lane it concerns, NoLane where it is none.
	Producer uint32
	Consumer uint32
	Code     uint16 // AMQP reply code, 0 where there is none
	Text     string // the broker's text or the cause; never holds a password
}
