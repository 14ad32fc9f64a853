package wire

import "encoding/binary"

// The methods that come once a message. Nothing here allocates when dst has room. The append functions write whole
// method frames; their strings fit short strings (CheckShortString), else they panic. The parse functions take the
// arguments that PeekMethod returns; the slices in their results alias these arguments, capped, and are valid as long
// as the buffer that the frame was found in. Errors are *SyntaxError, and the result is then zero.

// Publish is basic.publish.
type Publish struct {
	Exchange, RoutingKey []byte
	Mandatory            bool // return it if it reaches no queue
	Immediate            bool // RabbitMQ refuses it
}

// ParsePublish reads the arguments of basic.publish.
func ParsePublish(args []byte) (Publish, error) {
	r := reader{buf: args}
	r.u16() // reserved
	p := Publish{Exchange: r.short(), RoutingKey: r.short()}
	flags := r.u8()
	p.Mandatory, p.Immediate = flags&1 != 0, flags&2 != 0
	if !r.whole() {
		return Publish{}, r.newSyntaxError(BasicPublishID.String())
	}
	return p, nil
}

// AppendPublish appends a basic.publish frame. Content header and body frames have to follow it on the channel.
func AppendPublish(dst []byte, channel uint16, exchange, routingKey string, mandatory bool) []byte {
	dst, start := beginMethod(dst, channel, BasicPublishID)
	dst = append(dst, 0, 0) // reserved
	dst = appendShort(dst, exchange)
	dst = appendShort(dst, routingKey)
	dst = append(dst, bit(mandatory, 0))
	return endFrame(dst, start)
}

// Deliver is basic.deliver.
type Deliver struct {
	ConsumerTag          []byte
	DeliveryTag          uint64
	Redelivered          bool
	Exchange, RoutingKey []byte
}

// ParseDeliver reads the arguments of basic.deliver.
func ParseDeliver(args []byte) (Deliver, error) {
	r := reader{buf: args}
	d := Deliver{ConsumerTag: r.short(), DeliveryTag: r.u64(), Redelivered: r.u8()&1 != 0, Exchange: r.short(), RoutingKey: r.short()}
	if !r.whole() {
		return Deliver{}, r.newSyntaxError(BasicDeliverID.String())
	}
	return d, nil
}

// AppendDeliver appends a basic.deliver frame. Content header and body frames have to follow it on the channel.
func AppendDeliver(dst []byte, channel uint16, consumerTag string, deliveryTag uint64, redelivered bool, exchange, routingKey []byte) []byte {
	dst, start := beginMethod(dst, channel, BasicDeliverID)
	dst = appendShort(dst, consumerTag)
	dst = binary.BigEndian.AppendUint64(dst, deliveryTag)
	dst = append(dst, bit(redelivered, 0))
	dst = appendShort(dst, exchange)
	dst = appendShort(dst, routingKey)
	return endFrame(dst, start)
}

// Return is basic.return.
type Return struct {
	Code                       ReplyCode
	Text, Exchange, RoutingKey []byte
}

// ParseReturn reads the arguments of basic.return.
func ParseReturn(args []byte) (Return, error) {
	r := reader{buf: args}
	v := Return{Code: ReplyCode(r.u16()), Text: r.short(), Exchange: r.short(), RoutingKey: r.short()}
	if !r.whole() {
		return Return{}, r.newSyntaxError(BasicReturnID.String())
	}
	return v, nil
}

// AppendReturn appends a basic.return frame; text is cut to fit, see ReplyText. Content header and body frames have to
// follow it on the channel.
func AppendReturn(dst []byte, channel uint16, code ReplyCode, text string, exchange, routingKey []byte) []byte {
	dst, start := beginMethod(dst, channel, BasicReturnID)
	dst = binary.BigEndian.AppendUint16(dst, uint16(code))
	dst = appendShort(dst, ReplyText(text))
	dst = appendShort(dst, exchange)
	dst = appendShort(dst, routingKey)
	return endFrame(dst, start)
}

// GetOk is basic.get-ok.
type GetOk struct {
	DeliveryTag          uint64
	Redelivered          bool
	Exchange, RoutingKey []byte
	MessageCount         uint32 // still ready in the queue
}

// ParseGetOk reads the arguments of basic.get-ok.
func ParseGetOk(args []byte) (GetOk, error) {
	r := reader{buf: args}
	g := GetOk{DeliveryTag: r.u64(), Redelivered: r.u8()&1 != 0, Exchange: r.short(), RoutingKey: r.short(), MessageCount: r.u32()}
	if !r.whole() {
		return GetOk{}, r.newSyntaxError(BasicGetOkID.String())
	}
	return g, nil
}

// AppendGetOk appends a basic.get-ok frame. Content header and body frames have to follow it on the channel.
func AppendGetOk(dst []byte, channel uint16, deliveryTag uint64, redelivered bool, exchange, routingKey []byte, messageCount uint32) []byte {
	dst, start := beginMethod(dst, channel, BasicGetOkID)
	dst = binary.BigEndian.AppendUint64(dst, deliveryTag)
	dst = append(dst, bit(redelivered, 0))
	dst = appendShort(dst, exchange)
	dst = appendShort(dst, routingKey)
	dst = binary.BigEndian.AppendUint32(dst, messageCount)
	return endFrame(dst, start)
}

// Settle is basic.ack, basic.nack or basic.reject. With Multiple it settles all outstanding tags up to and including
// DeliveryTag, and tag 0 then means all outstanding.
type Settle struct {
	DeliveryTag uint64
	Multiple    bool // never for reject
	Requeue     bool // never for ack
}

// settleArgs is the length of the arguments of ack, nack and reject: a tag and an octet of flags.
const settleArgs = 9

// ParseAck reads the arguments of basic.ack.
func ParseAck(args []byte) (Settle, error) {
	if len(args) != settleArgs {
		return Settle{}, settleError(args, BasicAckID)
	}
	return Settle{DeliveryTag: binary.BigEndian.Uint64(args), Multiple: args[8]&1 != 0}, nil
}

// ParseNack reads the arguments of basic.nack.
func ParseNack(args []byte) (Settle, error) {
	if len(args) != settleArgs {
		return Settle{}, settleError(args, BasicNackID)
	}
	return Settle{DeliveryTag: binary.BigEndian.Uint64(args), Multiple: args[8]&1 != 0, Requeue: args[8]&2 != 0}, nil
}

// ParseReject reads the arguments of basic.reject.
func ParseReject(args []byte) (Settle, error) {
	if len(args) != settleArgs {
		return Settle{}, settleError(args, BasicRejectID)
	}
	return Settle{DeliveryTag: binary.BigEndian.Uint64(args), Requeue: args[8]&1 != 0}, nil
}

//go:noinline
func settleError(args []byte, id MethodID) error {
	r := reader{buf: args}
	r.u64()
	r.u8()
	return r.newSyntaxError(id.String())
}

// AppendAck appends a basic.ack frame: a client acknowledges deliveries with it, a server confirms publishes.
func AppendAck(dst []byte, channel uint16, tag uint64, multiple bool) []byte {
	return appendSettle(dst, channel, BasicAckID, tag, bit(multiple, 0))
}

// AppendNack appends a basic.nack frame.
func AppendNack(dst []byte, channel uint16, tag uint64, multiple, requeue bool) []byte {
	return appendSettle(dst, channel, BasicNackID, tag, bit(multiple, 0)|bit(requeue, 1))
}

// AppendReject appends a basic.reject frame.
func AppendReject(dst []byte, channel uint16, tag uint64, requeue bool) []byte {
	return appendSettle(dst, channel, BasicRejectID, tag, bit(requeue, 0))
}

func appendSettle(dst []byte, channel uint16, id MethodID, tag uint64, flags byte) []byte {
	dst, start := beginMethod(dst, channel, id)
	dst = binary.BigEndian.AppendUint64(dst, tag)
	dst = append(dst, flags)
	return endFrame(dst, start)
}

// beginMethod appends the head of a method frame and the method's id; endFrame(dst, start) closes it.
func beginMethod(dst []byte, channel uint16, id MethodID) (buf []byte, start int) {
	dst = beginFrame(dst, FrameMethod, channel)
	return binary.BigEndian.AppendUint32(dst, uint32(id)), len(dst)
}
