package wire

// Methods of class connection, all on channel 0. Server to client unless said otherwise.

// ConnectionStart opens the negotiation. Mechanisms and Locales are separated by spaces.
type ConnectionStart struct {
	VersionMajor, VersionMinor byte
	ServerProperties           Table
	Mechanisms, Locales        string
}

func (*ConnectionStart) ID() MethodID { return ConnectionStartID }
func (m *ConnectionStart) visit(a *arguments) {
	a.octet("version-major", &m.VersionMajor)
	a.octet("version-minor", &m.VersionMinor)
	a.table("server-properties", &m.ServerProperties)
	a.longstr("mechanisms", &m.Mechanisms)
	a.longstr("locales", &m.Locales)
}

// ConnectionStartOk is the client's answer. Response holds credentials; the structure prints without it.
type ConnectionStartOk struct {
	ClientProperties            Table
	Mechanism, Response, Locale string
}

func (*ConnectionStartOk) ID() MethodID { return ConnectionStartOkID }
func (m *ConnectionStartOk) visit(a *arguments) {
	a.table("client-properties", &m.ClientProperties)
	a.shortstr("mechanism", &m.Mechanism)
	a.longstr("response", &m.Response)
	a.shortstr("locale", &m.Locale)
}

// ConnectionSecure asks for another round of authentication.
type ConnectionSecure struct{ Challenge string }

func (*ConnectionSecure) ID() MethodID         { return ConnectionSecureID }
func (m *ConnectionSecure) visit(a *arguments) { a.longstr("challenge", &m.Challenge) }

// ConnectionSecureOk is the client's answer. Response holds credentials; the structure prints without it.
type ConnectionSecureOk struct{ Response string }

func (*ConnectionSecureOk) ID() MethodID         { return ConnectionSecureOkID }
func (m *ConnectionSecureOk) visit(a *arguments) { a.longstr("response", &m.Response) }

// ConnectionTune proposes limits; 0 means none (heartbeat: off).
type ConnectionTune struct{ Limits }

func (*ConnectionTune) ID() MethodID         { return ConnectionTuneID }
func (m *ConnectionTune) visit(a *arguments) { m.Limits.visit(a) }

// ConnectionTuneOk is the client's answer: the limits that hold from now on. See Negotiate and AcceptTune.
type ConnectionTuneOk struct{ Limits }

func (*ConnectionTuneOk) ID() MethodID         { return ConnectionTuneOkID }
func (m *ConnectionTuneOk) visit(a *arguments) { m.Limits.visit(a) }

func (l *Limits) visit(a *arguments) {
	a.short("channel-max", &l.ChannelMax)
	a.long("frame-max", &l.FrameMax)
	a.short("heartbeat", &l.Heartbeat)
}

// ConnectionOpen is the client's choice of a virtual host.
type ConnectionOpen struct{ VirtualHost string }

func (*ConnectionOpen) ID() MethodID { return ConnectionOpenID }
func (m *ConnectionOpen) visit(a *arguments) {
	a.shortstr("virtual-host", &m.VirtualHost)
	a.reservedShortstr()
	a.bits("reserved", new(bool))
}

// ConnectionOpenOk completes the handshake.
type ConnectionOpenOk struct{}

func (*ConnectionOpenOk) ID() MethodID         { return ConnectionOpenOkID }
func (m *ConnectionOpenOk) visit(a *arguments) { a.reservedShortstr() }

// ConnectionClose, from either side, says why: Class and Method are those of the method that caused it, else 0.
type ConnectionClose struct {
	ReplyCode     ReplyCode
	ReplyText     string // cut when written, see ReplyText
	Class, Method uint16
}

func (*ConnectionClose) ID() MethodID { return ConnectionCloseID }
func (m *ConnectionClose) visit(a *arguments) {
	a.code(&m.ReplyCode)
	a.text("reply-text", &m.ReplyText)
	a.short("class-id", &m.Class)
	a.short("method-id", &m.Method)
}

// ConnectionCloseOk, from either side, is the last frame of a connection.
type ConnectionCloseOk struct{ noArgs }

func (*ConnectionCloseOk) ID() MethodID { return ConnectionCloseOkID }

// ConnectionBlocked tells a client with the capability connection.blocked that its publishes are not read for now.
type ConnectionBlocked struct {
	Reason string // cut when written, see ReplyText
}

func (*ConnectionBlocked) ID() MethodID         { return ConnectionBlockedID }
func (m *ConnectionBlocked) visit(a *arguments) { a.text("reason", &m.Reason) }

// ConnectionUnblocked ends what ConnectionBlocked began.
type ConnectionUnblocked struct{ noArgs }

func (*ConnectionUnblocked) ID() MethodID { return ConnectionUnblockedID }

// ConnectionUpdateSecret, from the client, replaces an expiring credential; the structure prints without it.
type ConnectionUpdateSecret struct{ NewSecret, Reason string }

func (*ConnectionUpdateSecret) ID() MethodID { return ConnectionUpdateSecretID }
func (m *ConnectionUpdateSecret) visit(a *arguments) {
	a.longstr("new-secret", &m.NewSecret)
	a.shortstr("reason", &m.Reason)
}

// ConnectionUpdateSecretOk says that the new secret is in use.
type ConnectionUpdateSecretOk struct{ noArgs }

func (*ConnectionUpdateSecretOk) ID() MethodID { return ConnectionUpdateSecretOkID }
