package loadcore

import (
	"fmt"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// control handles the methods that do not come once a message. The reader calls it; it must not wait for the broker.
func (c *conn) control(ch *channel, payload []byte) error {
	m, err := wire.ParseMethod(payload)
	if err != nil {
		return err
	}
	if ch.number == 0 {
		return c.connectionMethod(ch, m)
	}
	switch m := m.(type) {
	case *wire.ChannelClose:
		if ch.shuts {
			return fmt.Errorf("the broker sent channel.close on channel %d, which it has closed before", ch.number)
		}
		ch.shuts = true
		why := loss{code: uint16(m.ReplyCode), text: m.ReplyText}
		ch.content.expects = contentNone
		c.eng.channelClosed(ch, m, why) // before anybody can act on it
		ch.shut(why)
		c.eng.wakeMain()
		return nil
	case *wire.ChannelFlow:
		if ch.producer != nil {
			ch.producer.pause(!m.Active)
		}
		c.out.send(wire.AppendMethod(nil, ch.number, &wire.ChannelFlowOk{Active: m.Active}))
		return nil
	case *wire.BasicCancel:
		if ch.consumer == nil {
			return fmt.Errorf("basic.cancel from the broker on channel %d, which consumes nothing", ch.number)
		}
		if !m.NoWait {
			c.out.send(wire.AppendMethod(nil, ch.number, &wire.BasicCancelOk{ConsumerTag: m.ConsumerTag}))
		}
		return ch.consumer.cancelledByBroker(m.ConsumerTag)
	case *wire.BasicCancelOk:
		if ch.consumer != nil && ch.consumer.cancelConfirmed(m.ConsumerTag) {
			return nil
		}
	}
	c.answers = append(c.answers, answer{ch, m})
	return nil
}

// handOver gives the answers of this read call to those who asked.
func (c *conn) handOver() error {
	var err error
	for _, a := range c.answers {
		if a.ch.open.Add(-1) >= 0 {
			a.ch.replies <- a.m // there is room for as many as may be open
		} else {
			err = fmt.Errorf("the broker sent %s on channel %d, where nothing had asked for it", a.m.ID(), a.ch.number)
		}
	}
	c.answers = c.answers[:0]
	return err
}

func (c *conn) connectionMethod(ch *channel, m wire.Method) error {
	switch m := m.(type) {
	case *wire.ConnectionBlocked:
		c.enter(event.Blocked, loss{text: m.Reason})
	case *wire.ConnectionUnblocked:
		c.enter(event.Open, loss{})
	case *wire.ConnectionUpdateSecretOk:
		return c.secretUpdated()
	case *wire.ConnectionClose:
		why := loss{code: uint16(m.ReplyCode), text: m.ReplyText}
		c.closedBy(why)
		c.out.send(wire.AppendMethod(nil, 0, &wire.ConnectionCloseOk{}))
		return why
	case *wire.ConnectionCloseOk:
		if !c.enter(event.Closed, loss{}) {
			return fmt.Errorf("the broker sent connection.close-ok unasked")
		}
		c.answers = append(c.answers, answer{ch, m})
		return errClosed
	default:
		return fmt.Errorf("the broker sent %s, which is out of place on an open connection", m.ID())
	}
	return nil
}

// errClosed ends the reader after connection.close-ok.
var errClosed = fmt.Errorf("connection closed")
