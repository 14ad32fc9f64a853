package wire

// Methods of class basic as structures, for the control plane. Those that come once a message (publish, deliver, return,
// get-ok, ack, nack, reject) have allocation-free functions as well, see dataplane.go.

// BasicQos sets the prefetch. With Global false RabbitMQ applies it to each later consumer of the channel, with true to
// the channel as a whole.
type BasicQos struct {
	PrefetchSize  uint32 // bytes; RabbitMQ refuses any but 0
	PrefetchCount uint16 // messages; 0: no limit
	Global        bool
}

func (*BasicQos) ID() MethodID { return BasicQosID }
func (m *BasicQos) visit(a *arguments) {
	a.long("prefetch-size", &m.PrefetchSize)
	a.short("prefetch-count", &m.PrefetchCount)
	a.bits("global", &m.Global)
}

// BasicQosOk answers BasicQos.
type BasicQosOk struct{ noArgs }

func (*BasicQosOk) ID() MethodID { return BasicQosOkID }

// BasicConsume starts a consumer. An empty tag lets the server choose one.
type BasicConsume struct {
	Queue, ConsumerTag                string
	NoLocal, NoAck, Exclusive, NoWait bool
	Arguments                         Table
}

func (*BasicConsume) ID() MethodID { return BasicConsumeID }
func (m *BasicConsume) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("queue", &m.Queue)
	a.shortstr("consumer-tag", &m.ConsumerTag)
	a.bits("flags", &m.NoLocal, &m.NoAck, &m.Exclusive, &m.NoWait)
	a.table("arguments", &m.Arguments)
}

// BasicConsumeOk answers BasicConsume.
type BasicConsumeOk struct{ ConsumerTag string }

func (*BasicConsumeOk) ID() MethodID         { return BasicConsumeOkID }
func (m *BasicConsumeOk) visit(a *arguments) { a.shortstr("consumer-tag", &m.ConsumerTag) }

// BasicCancel ends a consumer; from the server (capability consumer_cancel_notify) it says that the queue is gone.
type BasicCancel struct {
	ConsumerTag string
	NoWait      bool
}

func (*BasicCancel) ID() MethodID { return BasicCancelID }
func (m *BasicCancel) visit(a *arguments) {
	a.shortstr("consumer-tag", &m.ConsumerTag)
	a.bits("no-wait", &m.NoWait)
}

// BasicCancelOk answers BasicCancel; no delivery for the tag comes after it.
type BasicCancelOk struct{ ConsumerTag string }

func (*BasicCancelOk) ID() MethodID         { return BasicCancelOkID }
func (m *BasicCancelOk) visit(a *arguments) { a.shortstr("consumer-tag", &m.ConsumerTag) }

// BasicPublish precedes a message from the client. See AppendPublish, ParsePublish.
type BasicPublish struct {
	Exchange, RoutingKey string
	Mandatory            bool // return it if it reaches no queue
	Immediate            bool // RabbitMQ refuses it
}

func (*BasicPublish) ID() MethodID { return BasicPublishID }
func (m *BasicPublish) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("exchange", &m.Exchange)
	a.shortstr("routing-key", &m.RoutingKey)
	a.bits("flags", &m.Mandatory, &m.Immediate)
}

// BasicReturn precedes a message that comes back. See AppendReturn, ParseReturn.
type BasicReturn struct {
	ReplyCode            ReplyCode
	ReplyText            string // cut when written, see ReplyText
	Exchange, RoutingKey string
}

func (*BasicReturn) ID() MethodID { return BasicReturnID }
func (m *BasicReturn) visit(a *arguments) {
	a.code(&m.ReplyCode)
	a.text("reply-text", &m.ReplyText)
	a.shortstr("exchange", &m.Exchange)
	a.shortstr("routing-key", &m.RoutingKey)
}

// BasicDeliver precedes a message to a consumer. See AppendDeliver, ParseDeliver.
type BasicDeliver struct {
	ConsumerTag          string
	DeliveryTag          uint64
	Redelivered          bool
	Exchange, RoutingKey string
}

func (*BasicDeliver) ID() MethodID { return BasicDeliverID }
func (m *BasicDeliver) visit(a *arguments) {
	a.shortstr("consumer-tag", &m.ConsumerTag)
	a.longlong("delivery-tag", &m.DeliveryTag)
	a.bits("redelivered", &m.Redelivered)
	a.shortstr("exchange", &m.Exchange)
	a.shortstr("routing-key", &m.RoutingKey)
}

// BasicGet asks for one message.
type BasicGet struct {
	Queue string
	NoAck bool
}

func (*BasicGet) ID() MethodID { return BasicGetID }
func (m *BasicGet) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("queue", &m.Queue)
	a.bits("no-ack", &m.NoAck)
}

// BasicGetOk precedes the message that BasicGet asked for; MessageCount are those still ready. See AppendGetOk, ParseGetOk.
type BasicGetOk struct {
	DeliveryTag          uint64
	Redelivered          bool
	Exchange, RoutingKey string
	MessageCount         uint32
}

func (*BasicGetOk) ID() MethodID { return BasicGetOkID }
func (m *BasicGetOk) visit(a *arguments) {
	a.longlong("delivery-tag", &m.DeliveryTag)
	a.bits("redelivered", &m.Redelivered)
	a.shortstr("exchange", &m.Exchange)
	a.shortstr("routing-key", &m.RoutingKey)
	a.long("message-count", &m.MessageCount)
}

// BasicGetEmpty says that no message is ready.
type BasicGetEmpty struct{}

func (*BasicGetEmpty) ID() MethodID         { return BasicGetEmptyID }
func (m *BasicGetEmpty) visit(a *arguments) { a.reservedShortstr() }

// BasicAck acknowledges a delivery to the server or confirms a publish to the client; Multiple: all up to the tag.
type BasicAck struct {
	DeliveryTag uint64
	Multiple    bool
}

func (*BasicAck) ID() MethodID { return BasicAckID }
func (m *BasicAck) visit(a *arguments) {
	a.longlong("delivery-tag", &m.DeliveryTag)
	a.bits("multiple", &m.Multiple)
}

// BasicReject refuses one delivery.
type BasicReject struct {
	DeliveryTag uint64
	Requeue     bool
}

func (*BasicReject) ID() MethodID { return BasicRejectID }
func (m *BasicReject) visit(a *arguments) {
	a.longlong("delivery-tag", &m.DeliveryTag)
	a.bits("requeue", &m.Requeue)
}

// BasicRecoverAsync is the deprecated form of BasicRecover, without an answer.
type BasicRecoverAsync struct{ Requeue bool }

func (*BasicRecoverAsync) ID() MethodID         { return BasicRecoverAsyncID }
func (m *BasicRecoverAsync) visit(a *arguments) { a.bits("requeue", &m.Requeue) }

// BasicRecover asks for all unacknowledged deliveries of the channel again.
type BasicRecover struct{ Requeue bool }

func (*BasicRecover) ID() MethodID         { return BasicRecoverID }
func (m *BasicRecover) visit(a *arguments) { a.bits("requeue", &m.Requeue) }

// BasicRecoverOk answers BasicRecover.
type BasicRecoverOk struct{ noArgs }

func (*BasicRecoverOk) ID() MethodID { return BasicRecoverOkID }

// BasicNack refuses deliveries to the server, or publishes to the client: RabbitMQ's extension, capability basic.nack.
type BasicNack struct {
	DeliveryTag       uint64
	Multiple, Requeue bool
}

func (*BasicNack) ID() MethodID { return BasicNackID }
func (m *BasicNack) visit(a *arguments) {
	a.longlong("delivery-tag", &m.DeliveryTag)
	a.bits("flags", &m.Multiple, &m.Requeue)
}
