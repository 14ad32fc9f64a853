// Package schema is the file format of a capture: the kinds of rows and their columns, the messages of the Arrow IPC
// files that hold them, and the journal that proves which of these messages are whole. FORMAT.md beside this file is
// its document, complete enough to write a reader in another language from.
//
// What flows in are column buffers (from the recorder) and bytes of files (from the analysis); what flows out are
// encapsulated Arrow messages and arrow.Records. Nothing here opens, reads or writes a file.
//
// A writer puts Head at the start of a file, then batch after batch (BatchEncoder), then Foot, and one Record into the
// journal for each batch once the batch is written. A reader checks each batch before Arrow sees a byte of it:
//
//	head, n, err := schema.ParseHead(start)           // which kind of rows, of which capture; batches begin at n
//	d := schema.NewDecoder(head, memory.DefaultAllocator)
//	rec, err := d.Decode(file[r.Offset : r.Offset+int64(r.Length)]) // r from the journal, or found with Measure
package schema

import "fmt"

// Kind is a kind of rows; each file holds one.
type Kind uint8

// Part of the format: the numbers are written to the journal.
const (
	Sends       Kind = iota + 1 // one row a message that was due: written, or not sent
	Writes                      // one row a batch that was written to a socket
	Settlements                 // one row a message and answer of the broker
	Deliveries                  // one row a message received
	Acks                        // one row an acknowledgement that a consumer sent
	Connections                 // one row a change of a connection's state
	Self                        // one row an interval of the recording process's observation of itself
	// The following are recorded where the broker's management API is looked at, and have no file elsewhere.
	BrokerNodes       // one row a look at a node of the broker
	BrokerQueues      // one row a look at a queue, or at the virtual host
	BrokerConnections // one row a look at the states of the connections
	// Churn has a file only where operations were the load.
	Churn // one row a step of an operation that makes something at the broker and undoes it

	lastKind = Churn

	// maxColumns is the most that a kind has.
	maxColumns = 30
)

// Kinds are all kinds, in the order of their numbers.
var Kinds = [...]Kind{Sends, Writes, Settlements, Deliveries, Acks, Connections, Self, BrokerNodes, BrokerQueues, BrokerConnections, Churn}

// Part of the format: the names stand in file names, in the schema of the files and in the manifest.
var kindNames = [...]string{"", "sends", "writes", "settlements", "deliveries", "acks", "connections", "self",
	"broker-nodes", "broker-queues", "broker-connections", "churn"}

// String returns the kind's name, which is part of the format.
func (k Kind) String() string {
	if k.Valid() {
		return kindNames[k]
	}
	return fmt.Sprintf("unknown kind %d", uint8(k))
}

// Valid tells whether this version of the format knows the kind.
func (k Kind) Valid() bool { return k >= Sends && k <= lastKind }

// KindNamed finds a kind by its name.
func KindNamed(name string) (Kind, bool) {
	for _, k := range Kinds {
		if kindNames[k] == name {
			return k, true
		}
	}
	return 0, false
}

// Type is the type of a column.
type Type uint8

// The types that columns have. All but Text are of fixed width, little endian.
const (
	U8 Type = iota + 1
	U16
	U32
	U64
	I64
	Text // UTF-8 with 32-bit offsets
)

// Width is the size of one value in bytes; 0 for Text.
func (t Type) Width() int {
	switch t {
	case U8:
		return 1
	case U16:
		return 2
	case U32:
		return 4
	case U64, I64:
		return 8
	}
	return 0
}

// Column of a kind. In a nullable I64 column the slot of a null holds event.None, in a nullable U32 column
// event.NoLane, so that whoever reads the values alone sees what is missing.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	// Amount: an I64 that is no point in time but a span or a size, which stays what it is on another clock.
	Amount bool
}

// Positions of the columns of each kind; part of the format. A later version may append columns, never move them.
const (
	SendsProducer = iota
	SendsSeq
	SendsDue
	SendsSent
	SendsSize
	SendsRoute
)

const (
	WritesProducer = iota
	WritesFirstSeq
	WritesMessages
	WritesSent
	WritesWritten
	WritesBytes
)

const (
	SettlementsProducer = iota
	SettlementsSeq
	SettlementsKind
	SettlementsAt
	SettlementsFrameMessages
)

const (
	DeliveriesConsumer = iota
	DeliveriesQueue
	DeliveriesTag
	DeliveriesProducer
	DeliveriesSeq
	DeliveriesReceived
	DeliveriesDeliveryTag
	DeliveriesDue
	DeliveriesSize
	DeliveriesBody
	DeliveriesRedelivered
)

const (
	AcksConsumer = iota
	AcksAt
	AcksDeliveryTag
	AcksMessages
	AcksMultiple
)

const (
	ConnectionsAt = iota
	ConnectionsConnection
	ConnectionsState
	ConnectionsProducer
	ConnectionsConsumer
	ConnectionsCode
	ConnectionsText
)

// Part of the format: names, types, order. Times are nanoseconds since the Unix epoch on the recording process's clock.
var columns = [lastKind + 1][]Column{
	Sends: {
		SendsProducer: {Name: "producer", Type: U16},
		SendsSeq:      {Name: "seq", Type: U64},
		SendsDue:      {Name: "due_ns", Type: I64, Nullable: true},
		SendsSent:     {Name: "sent_ns", Type: I64, Nullable: true},
		SendsSize:     {Name: "size_bytes", Type: U32},
		SendsRoute:    {Name: "route", Type: U16},
	},
	Writes: {
		WritesProducer: {Name: "producer", Type: U16},
		WritesFirstSeq: {Name: "first_seq", Type: U64},
		WritesMessages: {Name: "messages", Type: U32},
		WritesSent:     {Name: "sent_ns", Type: I64},
		WritesWritten:  {Name: "written_ns", Type: I64},
		WritesBytes:    {Name: "bytes", Type: U32},
	},
	Settlements: {
		SettlementsProducer:      {Name: "producer", Type: U16},
		SettlementsSeq:           {Name: "seq", Type: U64},
		SettlementsKind:          {Name: "kind", Type: U8},
		SettlementsAt:            {Name: "at_ns", Type: I64},
		SettlementsFrameMessages: {Name: "frame_messages", Type: U32},
	},
	Deliveries: {
		DeliveriesConsumer:    {Name: "consumer", Type: U16},
		DeliveriesQueue:       {Name: "queue", Type: U16},
		DeliveriesTag:         {Name: "tag", Type: U16},
		DeliveriesProducer:    {Name: "producer", Type: U16},
		DeliveriesSeq:         {Name: "seq", Type: U64},
		DeliveriesReceived:    {Name: "received_ns", Type: I64},
		DeliveriesDeliveryTag: {Name: "delivery_tag", Type: U64},
		DeliveriesDue:         {Name: "due_ns", Type: I64, Nullable: true},
		DeliveriesSize:        {Name: "size_bytes", Type: U32},
		DeliveriesBody:        {Name: "body", Type: U8},
		DeliveriesRedelivered: {Name: "redelivered", Type: U8},
	},
	Acks: {
		AcksConsumer:    {Name: "consumer", Type: U16},
		AcksAt:          {Name: "at_ns", Type: I64},
		AcksDeliveryTag: {Name: "delivery_tag", Type: U64},
		AcksMessages:    {Name: "messages", Type: U32},
		AcksMultiple:    {Name: "multiple", Type: U8},
	},
	Connections: {
		ConnectionsAt:         {Name: "at_ns", Type: I64},
		ConnectionsConnection: {Name: "connection", Type: U32},
		ConnectionsState:      {Name: "state", Type: U8},
		ConnectionsProducer:   {Name: "producer", Type: U32, Nullable: true},
		ConnectionsConsumer:   {Name: "consumer", Type: U32, Nullable: true},
		ConnectionsCode:       {Name: "code", Type: U16},
		ConnectionsText:       {Name: "text", Type: Text},
	},
	Self:              selfColumns,
	BrokerNodes:       brokerNodesColumns,
	BrokerQueues:      brokerQueuesColumns,
	BrokerConnections: brokerConnectionsColumns,
	Churn:             churnColumns,
}

// OfBroker tells whether the kind's rows are what the broker said of itself; such a kind has files only where it was asked.
func (k Kind) OfBroker() bool { return k >= BrokerNodes && k <= BrokerConnections }

// Columns of a valid kind, in their order. The slice is shared: it must not be changed.
func (k Kind) Columns() []Column { return columns[k] }

// RowBytes is what one row takes in memory and in an uncompressed file, without text and bits for nulls.
func (k Kind) RowBytes() int {
	n := 0
	for _, c := range columns[k] {
		n += c.Type.Width()
	}
	return n
}

// timeColumns give each row the time that the journal's ranges are about; -1: none.
var timeColumns = [lastKind + 1][2]int{
	Sends:       {SendsSent, SendsDue},
	Writes:      {WritesSent, -1},
	Settlements: {SettlementsAt, -1},
	Deliveries:  {DeliveriesReceived, -1},
	Acks:        {AcksAt, -1},
	Connections: {ConnectionsAt, -1},
	Self:        {SelfAt, -1},

	BrokerNodes:       {BrokerNodesAt, -1},
	BrokerQueues:      {BrokerQueuesAt, -1},
	BrokerConnections: {BrokerConnectionsAt, -1},

	Churn: {ChurnEnded, -1},
}

// TimeColumn is the column that holds a row's time; otherwise is the one that is taken where that one is null, -1 if it
// cannot be. They define the time range of a batch in the journal; part of the format.
func (k Kind) TimeColumn() (column, otherwise int) { return timeColumns[k][0], timeColumns[k][1] }
