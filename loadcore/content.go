package loadcore

import (
	"fmt"

	"leveret/capture/event"
)

// content is a message that is arriving on a channel, delivered or returned: data plane.
type content struct {
	expects contentPart
	size    uint64 // of the whole body
	left    uint64 // body bytes still to come
	check   bodyCheck
}

type contentPart uint8

const (
	contentNone contentPart = iota
	contentHeader
	contentBody
)

// header takes a content header.
func (ch *channel) header(bodySize uint64) error {
	c := &ch.content
	if c.expects != contentHeader {
		return fmt.Errorf("the broker sent a content header on channel %d without a message before it", ch.number)
	}
	c.size, c.left = bodySize, bodySize
	c.expects = contentBody
	if bodySize == 0 {
		return ch.complete(Stamp{Due: event.None}, event.Unstamped)
	}
	return nil
}

// body takes the payload of a body frame, or a piece of one.
func (ch *channel) body(piece []byte) error {
	c := &ch.content
	if c.expects != contentBody || uint64(len(piece)) > c.left {
		return bodyError(ch, len(piece))
	}
	if uint64(len(piece)) == c.size { // the usual case: all of it at once
		return ch.complete(ReadStamp(piece))
	}
	if c.left == c.size {
		c.check.reset()
	}
	c.check.add(piece)
	if c.left -= uint64(len(piece)); c.left == 0 {
		return ch.complete(c.check.done())
	}
	return nil
}

func (ch *channel) complete(s Stamp, b event.Body) error {
	ch.content.expects = contentNone
	if ch.consumer != nil {
		ch.consumer.received(s, b)
	} else {
		ch.producer.gotBack(s, b)
	}
	return nil
}

func bodyError(ch *channel, n int) error {
	if ch.content.expects != contentBody {
		return fmt.Errorf("the broker sent a body frame on channel %d without a content header before it", ch.number)
	}
	return fmt.Errorf("the broker sent %d body bytes on channel %d where %d were left of the message", n, ch.number, ch.content.left)
}
