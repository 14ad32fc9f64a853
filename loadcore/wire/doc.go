// Package wire is a codec for AMQP 0-9-1 as RabbitMQ speaks it, for both ends of a connection. It does no I/O and keeps
// no state: bytes in, values out, and back.
//
// # Reading
//
// The caller fills a buffer from its connection and takes frames from its front:
//
//	for {
//		f, n, err := wire.NextFrame(buf, frameMax)
//		if err != nil { ... }      // the stream is lost: close with code 501
//		if n == 0 { break }        // incomplete: read more behind what is left
//		switch f.Type {
//		case wire.FrameMethod:
//			id, args, err := wire.PeekMethod(f.Payload)
//			switch id {
//			case wire.BasicDeliverID:  // the data plane: parsed in place, nothing allocated
//				d, err := wire.ParseDeliver(args)
//			default:                   // the control plane: a structure that owns its memory
//				m, err := wire.ParseMethod(f.Payload)
//			}
//		case wire.FrameHeader:
//			h, err := wire.ParseHeader(f.Payload)
//		...
//		}
//		buf = buf[n:]
//	}
//
// The buffer stays the caller's. Frames, and whatever PeekMethod, ParseHeader and the data plane's parsers return, alias
// it with capped capacity and are valid until the caller moves or overwrites those bytes. ParseMethod, ParseProperties
// and ParseTable copy. No length that a peer claims is believed before the bytes are there.
//
// # Writing
//
// All encoders are named Append, take the slice to append to and return it grown, like the append built in; they allocate
// only to grow it. A publish is
//
//	buf = wire.AppendPublish(buf, channel, exchange, routingKey, mandatory)
//	buf = wire.AppendHeader(buf, channel, uint64(len(body)), &properties)
//	buf = wire.AppendBody(buf, channel, body, frameMax)
//
// and the same input always gives the same bytes, so it can be encoded once and patched often.
//
// Encoders return no errors. What they cannot encode (a short string over 255 bytes, a table value of a type that AMQP
// does not have) is never cut or left out but panics, so what comes from outside passes CheckMethod, CheckProperties,
// CheckTable or CheckShortString first, once. Only texts for people are cut to fit, see ReplyText.
//
// # Sources
//
// Layouts follow the AMQP 0-9-1 specification and RabbitMQ's published extensions and errata. The tests compare them
// with what github.com/rabbitmq/amqp091-go reads and writes and with recorded sessions of RabbitMQ.
package wire
