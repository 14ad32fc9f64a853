package options

import (
	"errors"
	"math"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// leastBody is what the identity and the checksum of a message take, in bytes.
const leastBody = 12

func (r *Run) producerOptions(d dialect) []*Option {
	return []*Option{
		{Name: "producers", PerfTest: []string{"x"}, Arg: "N", Group: groupProduce, value: integer(&r.Producers, 1, 0, event.MaxProducers), Help: "producer connections"},
		{Name: "producer-channel-count", PerfTest: []string{"X"}, Arg: "N", Group: groupProduce, value: integer(&r.ProducerChannelCount, 1, 1, math.MaxUint16), Help: "channels per producer connection; each is a producer with its own rate, window and limit"},
		{Name: "flag", PerfTest: []string{"f"}, Arg: "FLAG,...", Many: true, Group: groupProduce, value: flags(&r.Flags), Help: "persistent (queues are then durable) and/or mandatory"},
		{Name: "confirm", PerfTest: []string{"c"}, Arg: "N", Group: groupProduce, value: integer(&r.Confirm, -1, -1, 1<<20), Help: "publisher confirms with at most N unconfirmed per producer channel; 0: confirms without a limit worth the name (65536); -1: no confirms"},
		{Name: "ptxsize", PerfTest: []string{"m"}, Arg: "N", Group: groupProduce, value: d.lenient(integer(&r.PTxSize, 0, 0, math.MaxInt32)), Help: "publish in transactions of N messages; 0: none"},
		{Name: "pmessages", PerfTest: []string{"C"}, Arg: "N", Group: groupProduce, value: d.lenient(integer[int64](&r.PMessages, 0, 0, event.MaxSequence)), Help: "messages of each producer channel; 0: no limit"},
		{Name: "message-properties", PerfTest: []string{"mp"}, Arg: "KEY=VALUE,...", Group: groupProduce, value: messageProperties(&r.MessageProperties), Help: "properties of every message: contentType, contentEncoding, deliveryMode, priority, correlationId, replyTo, expiration, messageId, timestamp, type, userId, appId, clusterId; any other key is a header"},
		{Name: "stamp", Arg: "WHERE", Group: groupProduce, value: choice(&r.Stamp, "", manifest.StampBody, manifest.StampHeader, manifest.StampPerfTest), Help: "where the identity of a message travels: body, header, or perftest: in a header, the body beginning as PerfTest writes it; without it body, or header where the body is given"},
		{Name: "use-millis", PerfTest: []string{"ms"}, Group: groupProduce, value: toggle(&r.UseMillis, false), Help: "latencies in milliseconds on the lines; with --stamp perftest the times in the bodies are wall clock milliseconds, which PerfTest needs between machines"},
		{Name: "batch", Arg: "N", Group: groupProduce, value: integer(&r.Batch, 256, 1, 1<<16), Help: "most messages in one write; batches never wait for messages that are not due"},
	}
}

func (r *Run) bodyOptions(d dialect) []*Option {
	about := "body size; 12 is the least, it holds the message's identity and checksum; with --stamp header any size will do"
	if d.perfTest {
		about = "body size; 12 is the least, smaller ones are raised to it"
	}
	return []*Option{
		{Name: "size", PerfTest: []string{"s"}, Arg: "BYTES", Group: groupProduce, value: integer(&r.Size, leastBody, d.leastSize, math.MaxInt32), Help: about},
		{Name: "variable-size", PerfTest: []string{"vs"}, Arg: "BYTES:SECONDS", Many: true, Group: groupProduce, value: sizeStages(&r.VariableSize, max(1, d.leastSize)), Help: "a body size for a time; repeatable: one after the other, for ever"},
		{Name: "body", PerfTest: []string{"B"}, Arg: "FILE,...", Group: groupProduce, value: plainList(&r.Bodies), Help: "files to send as bodies, in turn"},
		{Name: "body-content-type", PerfTest: []string{"T"}, Arg: "TYPE", Group: groupProduce, value: text(&r.BodyContentType, ""), Help: "content type of --body"},
		{Name: "json-body", PerfTest: []string{"jb"}, Group: groupProduce, value: toggle(&r.JSONBody, false), Help: "random JSON documents of at least --size bytes as bodies"},
		{Name: "body-field-count", PerfTest: []string{"bfc"}, Arg: "N", Group: groupProduce, value: integer(&r.BodyFieldCount, 1000, 1, 1<<24), Help: "how many names and values of fields --json-body takes from"},
		{Name: "body-count", PerfTest: []string{"bc"}, Arg: "N", Group: groupProduce, value: integer(&r.BodyCount, 100, 1, 1<<24), Help: "how many bodies --json-body makes beforehand"},
	}
}

// flags adds to a set: a flag that comes twice is set once.
func flags(p *[]string) value {
	var more []string
	v := choices(&more, "", "persistent", "mandatory")
	return value{list(p).get, func(s string) error {
		for item := range splitList(s) {
			if err := v.set(item); err != nil {
				return err
			}
			if !contains(*p, item) {
				*p = append(*p, item)
			}
		}
		if len(*p) == 0 {
			return errors.New("names no flag: persistent, mandatory")
		}
		return nil
	}, "flags"}
}
