package loadcore

import (
	"fmt"
	"hash/crc32"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// content is a message that is arriving on a channel, delivered or returned: data plane.
type content struct {
	expects contentPart
	size    uint64 // of the whole body
	left    uint64 // body bytes still to come
	check   bodyCheck
	stamped bool // in a header
	stamp   [StampHeaderSize]byte
}

type contentPart uint8

const (
	contentNone contentPart = iota
	contentHeader
	contentBody
)

// header takes a content header with the properties as they came.
func (ch *channel) header(bodySize uint64, props []byte) error {
	c := &ch.content
	if c.expects != contentHeader {
		return fmt.Errorf("the broker sent a content header on channel %d without a message before it", ch.number)
	}
	c.size, c.left = bodySize, bodySize
	c.expects = contentBody
	c.stamped = wire.HasHeaders(props) && c.takeStamp(props)
	if bodySize == 0 {
		if c.stamped {
			return ch.complete(readHeaderStamp(c.stamp[:], 0))
		}
		return ch.complete(Stamp{Due: event.None}, event.Unstamped)
	}
	return nil
}

// takeStamp keeps the stamp that is among the headers; false if there is none.
func (c *content) takeStamp(props []byte) bool {
	value, ok := wire.FindHeader(props, StampHeaderName)
	return ok && len(value) == StampHeaderSize && copy(c.stamp[:], value) > 0
}

// body takes the payload of a body frame, or a piece of one.
func (ch *channel) body(piece []byte) error {
	c := &ch.content
	if c.expects != contentBody || uint64(len(piece)) > c.left {
		return bodyError(ch, len(piece))
	}
	if uint64(len(piece)) == c.size { // the usual case: all of it at once
		if c.stamped {
			return ch.complete(readHeaderStamp(c.stamp[:], crc32.Update(0, castagnoli, piece)))
		}
		return ch.complete(ReadStamp(piece))
	}
	if c.left == c.size {
		c.check.reset()
	}
	if c.stamped {
		c.check.sum = crc32.Update(c.check.sum, castagnoli, piece)
	} else {
		c.check.add(piece)
	}
	if c.left -= uint64(len(piece)); c.left > 0 {
		return nil
	}
	if c.stamped {
		return ch.complete(readHeaderStamp(c.stamp[:], c.check.sum))
	}
	return ch.complete(c.check.done())
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
