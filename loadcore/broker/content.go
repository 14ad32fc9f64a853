package broker

import (
	"bytes"
	"encoding/binary"
	"strings"

	"leveret/loadcore/wire"
)

// content is a message that comes in pieces: its frames did not arrive in one read, or its body needs several.
type content struct {
	stage     contentStage
	mandatory bool
	exchange  []byte
	key       []byte
	props     []byte
	body      []byte
	left      uint64 // bytes of the body still to come
	size      uint64 // of the body; over the server's limit it is not kept
}

type contentStage uint8

const (
	contentNone contentStage = iota
	contentHeader
	contentBody
)

func (t *content) begin(p wire.Publish) {
	t.stage = contentHeader
	t.mandatory = p.Mandatory
	t.exchange = append(t.exchange[:0], p.Exchange...)
	t.key = append(t.key[:0], p.RoutingKey...)
}

// unexpected is the error for a method frame where a header or body frame is due.
func (t *content) unexpected() *amqpError {
	if t.stage == contentHeader {
		return hard(wire.ReplyUnexpectedFrame, "expected content header for class 60, got non content header frame instead").by(wire.BasicPublishID)
	}
	return hard(wire.ReplyUnexpectedFrame, "expected content body, got non content body frame instead").by(wire.BasicPublishID)
}

// contentFrame processes a header or body frame.
func (c *conn) contentFrame(ch *channel, f wire.Frame) *amqpError {
	t := &ch.content
	switch {
	case !ch.opened, t.stage == contentNone:
		return hard(wire.ReplyUnexpectedFrame, "expected method frame, got non method frame instead")
	case t.stage == contentHeader && f.Type == wire.FrameHeader:
		if err := t.header(f); err != nil {
			return err
		}
	case t.stage == contentBody && f.Type == wire.FrameBody:
		if err := c.bodyPart(t, f.Payload); err != nil {
			return err
		}
	default:
		return t.unexpected()
	}
	if t.left > 0 || t.stage == contentHeader {
		return nil
	}
	return c.complete(ch, t)
}

func (t *content) header(f wire.Frame) *amqpError {
	if len(f.Payload) >= 2 {
		if class := binary.BigEndian.Uint16(f.Payload); class != wire.ClassBasic {
			return hard(wire.ReplyUnexpectedFrame, "expected content header for class 60, got one for class %d instead", class).by(wire.BasicPublishID)
		}
	}
	h, err := wire.ParseHeader(f.Payload)
	if err != nil {
		return hard(wire.ReplySyntaxError, "%v", err).by(wire.BasicPublishID)
	}
	t.stage = contentBody
	t.props = append(t.props[:0], h.RawProperties...)
	t.body = t.body[:0]
	t.size, t.left = h.BodySize, h.BodySize
	return nil
}

// bodyPart adds a body frame. What all channels of the connection hold in parts is bounded by the largest message, so a
// client gets no more memory from many unfinished messages than from one.
func (c *conn) bodyPart(t *content, part []byte) *amqpError {
	if uint64(len(part)) > t.left {
		return hard(wire.ReplyUnexpectedFrame, "content body of %d bytes where %d were left", len(part), t.left).by(wire.BasicPublishID)
	}
	t.left -= uint64(len(part))
	if t.size > uint64(c.srv.opts.MaxMessageSize) {
		return nil
	}
	if c.partial += len(part); c.partial > c.srv.opts.MaxMessageSize {
		return hard(wire.ReplyResourceError, "unfinished messages on this connection hold more than %d bytes", c.srv.opts.MaxMessageSize).by(wire.BasicPublishID)
	}
	t.body = append(t.body, part...)
	return nil
}

// complete publishes the collected message.
func (c *conn) complete(ch *channel, t *content) *amqpError {
	t.stage = contentNone
	c.partial -= len(t.body)
	defer t.shrink()
	if t.size > uint64(c.srv.opts.MaxMessageSize) {
		return c.tooLarge(int(t.size))
	}
	return c.publish(ch, wire.Publish{Exchange: t.exchange, RoutingKey: t.key, Mandatory: t.mandatory}, t.props, t.body)
}

// keepBody is how large a body buffer a channel keeps for the next message.
const keepBody = 256 << 10

func (t *content) shrink() {
	t.body = t.body[:0]
	if cap(t.body) > keepBody {
		t.body = nil
	}
}

// abandon forgets an unfinished message.
func (c *conn) abandon(ch *channel) {
	if ch.content.stage == contentBody {
		c.partial -= len(ch.content.body)
	}
	ch.content = content{}
}

// checkProperties refuses properties that cannot be read, and those that ask for what this broker does not do. Most
// messages have the properties of the one before, so the last good ones are remembered.
func (c *conn) checkProperties(raw []byte) *amqpError {
	if bytes.Equal(raw, c.goodProps) {
		return nil
	}
	p, err := wire.ParseProperties(raw)
	if err != nil {
		return hard(wire.ReplySyntaxError, "%v", err)
	}
	switch {
	case p.ReplyTo == directReplyTo:
		return soft(wire.ReplyPreconditionFailed, "fast reply consumer does not exist")
	case p.Flags&wire.FlagUserID != 0 && p.UserID != c.user:
		return soft(wire.ReplyPreconditionFailed, "user_id property set to '%s' but authenticated user was '%s'", p.UserID, c.user)
	case p.Flags&wire.FlagExpiration != 0:
		return hard(wire.ReplyNotImplemented, "message property 'expiration'")
	}
	for _, key := range []string{"CC", "BCC"} {
		if _, there := p.Headers.Get(key); there {
			return hard(wire.ReplyNotImplemented, "message header '%s'", key)
		}
	}
	c.goodProps = append(c.goodProps[:0], raw...)
	return nil
}

// directReplyTo is the pseudo queue of RabbitMQ's direct reply-to.
const directReplyTo = "amq.rabbitmq.reply-to"

func isDirectReplyTo(queue string) bool { return strings.HasPrefix(queue, directReplyTo) }
