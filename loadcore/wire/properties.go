package wire

import "encoding/binary"

// Property flags: bit 15 is the first property of the list, and the list is in this order. Bit 0 would announce another
// word of flags, which class basic does not need.
const (
	FlagContentType     uint16 = 1 << 15
	FlagContentEncoding uint16 = 1 << 14
	FlagHeaders         uint16 = 1 << 13
	FlagDeliveryMode    uint16 = 1 << 12
	FlagPriority        uint16 = 1 << 11
	FlagCorrelationID   uint16 = 1 << 10
	FlagReplyTo         uint16 = 1 << 9
	FlagExpiration      uint16 = 1 << 8
	FlagMessageID       uint16 = 1 << 7
	FlagTimestamp       uint16 = 1 << 6
	FlagType            uint16 = 1 << 5
	FlagUserID          uint16 = 1 << 4
	FlagAppID           uint16 = 1 << 3
	FlagClusterID       uint16 = 1 << 2

	flagsUnused uint16 = 1<<1 | 1<<0
)

// Delivery modes. RabbitMQ keeps a message over a restart only if its mode is persistent and its queue durable.
const (
	Transient  uint8 = 1
	Persistent uint8 = 2
)

// Properties are all 14 of class basic. A property is sent if it is not zero or if its flag is set in Flags, so Flags is
// needed only to send an empty string, a priority of 0 and the like. Read from the wire, Flags says exactly which were
// there.
type Properties struct {
	ContentType, ContentEncoding string
	Headers                      Table
	DeliveryMode                 uint8 // Transient, Persistent
	Priority                     uint8
	CorrelationID, ReplyTo       string
	Expiration                   string // milliseconds as decimal digits
	MessageID                    string
	Timestamp                    uint64 // seconds since the Unix epoch
	Type                         string
	UserID                       string // RabbitMQ refuses any but the connection's own user
	AppID, ClusterID             string
	Flags                        uint16
}

// Present returns the flags of the properties that are sent.
func (p *Properties) Present() uint16 {
	flags := p.Flags &^ flagsUnused
	if len(p.Headers) > 0 {
		flags |= FlagHeaders
	}
	if p.DeliveryMode != 0 {
		flags |= FlagDeliveryMode
	}
	if p.Priority != 0 {
		flags |= FlagPriority
	}
	if p.Timestamp != 0 {
		flags |= FlagTimestamp
	}
	for _, s := range p.strings() {
		if *s.value != "" {
			flags |= s.flag
		}
	}
	return flags
}

type stringProperty struct {
	flag  uint16
	name  string
	value *string
}

// strings lists the properties that are short strings, in the order of the wire.
func (p *Properties) strings() [10]stringProperty {
	return [10]stringProperty{
		{FlagContentType, "content-type", &p.ContentType},
		{FlagContentEncoding, "content-encoding", &p.ContentEncoding},
		{FlagCorrelationID, "correlation-id", &p.CorrelationID},
		{FlagReplyTo, "reply-to", &p.ReplyTo},
		{FlagExpiration, "expiration", &p.Expiration},
		{FlagMessageID, "message-id", &p.MessageID},
		{FlagType, "type", &p.Type},
		{FlagUserID, "user-id", &p.UserID},
		{FlagAppID, "app-id", &p.AppID},
		{FlagClusterID, "cluster-id", &p.ClusterID},
	}
}

// visit walks the list in the order of the wire, reading or writing those whose flags are set.
func (p *Properties) visit(a *arguments, flags uint16) {
	s := p.strings()
	text := func(list []stringProperty) {
		for _, s := range list {
			if flags&s.flag != 0 {
				a.shortstr(s.name, s.value)
			}
		}
	}
	text(s[:2])
	if flags&FlagHeaders != 0 {
		a.table("headers", &p.Headers)
	}
	if flags&FlagDeliveryMode != 0 {
		a.octet("delivery-mode", &p.DeliveryMode)
	}
	if flags&FlagPriority != 0 {
		a.octet("priority", &p.Priority)
	}
	text(s[2:6])
	if flags&FlagTimestamp != 0 {
		a.longlong("timestamp", &p.Timestamp)
	}
	text(s[6:])
}

func appendProperties(dst []byte, p *Properties) []byte {
	flags := p.Present()
	a := arguments{mode: writing, dst: binary.BigEndian.AppendUint16(dst, flags)}
	p.visit(&a, flags)
	return a.dst
}

// ParseProperties reads property flags and list (Header.RawProperties). The result owns its memory. The error is a
// *SyntaxError; flags of properties that class basic does not have, and bytes behind the list, are errors, too.
func ParseProperties(raw []byte) (Properties, error) {
	a := arguments{mode: reading, r: reader{buf: raw, field: "flags"}}
	p := Properties{Flags: a.r.u16()}
	if p.Flags&flagsUnused != 0 {
		a.r.off = 0
		a.r.missBecause("class basic has 14 properties, bits 1 and 0 must be 0")
	} else {
		p.visit(&a, p.Flags)
	}
	if !a.r.whole() {
		return Properties{}, a.r.newSyntaxError("properties")
	}
	return p, nil
}

// CheckProperties returns an error if p cannot be sent: a string over 255 bytes or a header that does not fit into one
// frame of frameMax bytes (*LengthError; headers cannot be split; 0: no limit), or a value in Headers of a type that
// AMQP does not have (*ValueError). nil is fine.
func CheckProperties(p *Properties, frameMax uint32) error {
	if p == nil {
		return nil
	}
	a := arguments{mode: checking, where: "properties"}
	p.visit(&a, p.Present())
	if len(a.errs) > 0 {
		return a.errs[0]
	}
	size := headerFixed + len(appendProperties(nil, p)) + FrameOverhead
	if limit := max(frameMax, FrameMinSize); frameMax != 0 && uint64(size) > uint64(limit) {
		return &LengthError{What: "content header as one frame", Bytes: size, Limit: int(limit)}
	}
	return nil
}
