package wire

// Methods of class queue. A plain name is the client's request, ...Ok the answer, which NoWait asks to omit.

// QueueDeclare creates a queue, or with Passive only asks for its state. An empty name lets the server choose one.
type QueueDeclare struct {
	Queue                                           string
	Passive, Durable, Exclusive, AutoDelete, NoWait bool
	Arguments                                       Table
}

func (*QueueDeclare) ID() MethodID { return QueueDeclareID }
func (m *QueueDeclare) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("queue", &m.Queue)
	a.bits("flags", &m.Passive, &m.Durable, &m.Exclusive, &m.AutoDelete, &m.NoWait)
	a.table("arguments", &m.Arguments)
}

// QueueDeclareOk answers QueueDeclare. MessageCount counts ready messages only, not those with a consumer and unacked.
type QueueDeclareOk struct {
	Queue                       string
	MessageCount, ConsumerCount uint32
}

func (*QueueDeclareOk) ID() MethodID { return QueueDeclareOkID }
func (m *QueueDeclareOk) visit(a *arguments) {
	a.shortstr("queue", &m.Queue)
	a.long("message-count", &m.MessageCount)
	a.long("consumer-count", &m.ConsumerCount)
}

// QueueBind routes from an exchange to a queue.
type QueueBind struct {
	Queue, Exchange, RoutingKey string
	NoWait                      bool
	Arguments                   Table
}

func (*QueueBind) ID() MethodID { return QueueBindID }
func (m *QueueBind) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("queue", &m.Queue)
	a.shortstr("exchange", &m.Exchange)
	a.shortstr("routing-key", &m.RoutingKey)
	a.bits("no-wait", &m.NoWait)
	a.table("arguments", &m.Arguments)
}

// QueueBindOk answers QueueBind.
type QueueBindOk struct{ noArgs }

func (*QueueBindOk) ID() MethodID { return QueueBindOkID }

// QueueUnbind undoes QueueBind. It is the one request without NoWait.
type QueueUnbind struct {
	Queue, Exchange, RoutingKey string
	Arguments                   Table
}

func (*QueueUnbind) ID() MethodID { return QueueUnbindID }
func (m *QueueUnbind) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("queue", &m.Queue)
	a.shortstr("exchange", &m.Exchange)
	a.shortstr("routing-key", &m.RoutingKey)
	a.table("arguments", &m.Arguments)
}

// QueueUnbindOk answers QueueUnbind.
type QueueUnbindOk struct{ noArgs }

func (*QueueUnbindOk) ID() MethodID { return QueueUnbindOkID }

// QueuePurge drops the ready messages of a queue.
type QueuePurge struct {
	Queue  string
	NoWait bool
}

func (*QueuePurge) ID() MethodID { return QueuePurgeID }
func (m *QueuePurge) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("queue", &m.Queue)
	a.bits("no-wait", &m.NoWait)
}

// QueuePurgeOk answers QueuePurge with the number of messages dropped.
type QueuePurgeOk struct{ MessageCount uint32 }

func (*QueuePurgeOk) ID() MethodID         { return QueuePurgeOkID }
func (m *QueuePurgeOk) visit(a *arguments) { a.long("message-count", &m.MessageCount) }

// QueueDelete deletes a queue.
type QueueDelete struct {
	Queue                     string
	IfUnused, IfEmpty, NoWait bool
}

func (*QueueDelete) ID() MethodID { return QueueDeleteID }
func (m *QueueDelete) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("queue", &m.Queue)
	a.bits("flags", &m.IfUnused, &m.IfEmpty, &m.NoWait)
}

// QueueDeleteOk answers QueueDelete with the number of messages deleted.
type QueueDeleteOk struct{ MessageCount uint32 }

func (*QueueDeleteOk) ID() MethodID         { return QueueDeleteOkID }
func (m *QueueDeleteOk) visit(a *arguments) { a.long("message-count", &m.MessageCount) }
