package wire

// Methods of class exchange. A plain name is the client's request, ...Ok the answer, which NoWait asks to omit.

// ExchangeDeclare creates an exchange, or with Passive only asks whether it exists.
type ExchangeDeclare struct {
	Exchange, Type                                 string
	Passive, Durable, AutoDelete, Internal, NoWait bool
	Arguments                                      Table
}

func (*ExchangeDeclare) ID() MethodID { return ExchangeDeclareID }
func (m *ExchangeDeclare) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("exchange", &m.Exchange)
	a.shortstr("type", &m.Type)
	a.bits("flags", &m.Passive, &m.Durable, &m.AutoDelete, &m.Internal, &m.NoWait)
	a.table("arguments", &m.Arguments)
}

// ExchangeDeclareOk answers ExchangeDeclare.
type ExchangeDeclareOk struct{ noArgs }

func (*ExchangeDeclareOk) ID() MethodID { return ExchangeDeclareOkID }

// ExchangeDelete deletes an exchange.
type ExchangeDelete struct {
	Exchange         string
	IfUnused, NoWait bool
}

func (*ExchangeDelete) ID() MethodID { return ExchangeDeleteID }
func (m *ExchangeDelete) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("exchange", &m.Exchange)
	a.bits("flags", &m.IfUnused, &m.NoWait)
}

// ExchangeDeleteOk answers ExchangeDelete.
type ExchangeDeleteOk struct{ noArgs }

func (*ExchangeDeleteOk) ID() MethodID { return ExchangeDeleteOkID }

// ExchangeBind routes from the exchange Source to the exchange Destination: RabbitMQ's extension, capability
// exchange_exchange_bindings.
type ExchangeBind struct {
	Destination, Source, RoutingKey string
	NoWait                          bool
	Arguments                       Table
}

func (*ExchangeBind) ID() MethodID { return ExchangeBindID }
func (m *ExchangeBind) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("destination", &m.Destination)
	a.shortstr("source", &m.Source)
	a.shortstr("routing-key", &m.RoutingKey)
	a.bits("no-wait", &m.NoWait)
	a.table("arguments", &m.Arguments)
}

// ExchangeBindOk answers ExchangeBind.
type ExchangeBindOk struct{ noArgs }

func (*ExchangeBindOk) ID() MethodID { return ExchangeBindOkID }

// ExchangeUnbind undoes ExchangeBind.
type ExchangeUnbind struct {
	Destination, Source, RoutingKey string
	NoWait                          bool
	Arguments                       Table
}

func (*ExchangeUnbind) ID() MethodID { return ExchangeUnbindID }
func (m *ExchangeUnbind) visit(a *arguments) {
	a.reservedShort()
	a.shortstr("destination", &m.Destination)
	a.shortstr("source", &m.Source)
	a.shortstr("routing-key", &m.RoutingKey)
	a.bits("no-wait", &m.NoWait)
	a.table("arguments", &m.Arguments)
}

// ExchangeUnbindOk answers ExchangeUnbind.
type ExchangeUnbindOk struct{ noArgs }

func (*ExchangeUnbindOk) ID() MethodID { return ExchangeUnbindOkID }
