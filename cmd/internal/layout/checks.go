package layout

import (
	"errors"
	"fmt"

	"leveret/capture/manifest"
)

// checkProducers refuses what no broker does with one channel.
func (b *builder) checkProducers() error {
	o := b.o
	switch {
	case o.PTxSize > 0 && o.Confirm >= 0:
		return fmt.Errorf("--ptxsize=%d and --confirm=%d: a channel has either transactions or confirms; give one of them", o.PTxSize, o.Confirm)
	case (len(o.Bodies) > 0 || o.JSONBody) && o.Stamp == manifest.StampBody:
		return errors.New("--stamp=body would overwrite the beginning of the bodies given: leave it out, then the stamp travels in a header")
	case o.Exclusive && b.Topology.Strict:
		return errors.New("--exclusive and --predeclared=strict contradict each other: an exclusive queue cannot be there before the connection that uses it")
	}
	return nil
}

// checkConsumers refuses what RabbitMQ refuses of consumers by the type of their queues. The type is what this run
// declares: what is used as it is may be of another one.
func (b *builder) checkConsumers() error {
	if len(b.Consumers) == 0 {
		return nil
	}
	o, c := b.o, &b.Consumers[0]
	kind := b.Topology.Queues[c.Queues[0]].Type
	switch {
	case c.GlobalPrefetch > 0 && (kind == "quorum" || kind == "stream"):
		return fmt.Errorf("--global-qos=%d: a %s queue has no prefetch for a whole channel; give --qos, which is of each consumer", c.GlobalPrefetch, kind)
	case kind != "stream":
		return nil
	case c.Polling:
		return errors.New("--polling: a stream cannot be asked with basic.get; leave it out, and the stream is subscribed to")
	case o.AutoAck:
		return errors.New("--autoack: a stream has no automatic acks; leave it out, and give a prefetch such as --qos 200")
	case o.Nack:
		return errors.New("--nack: nothing can be refused of a stream; leave it out")
	case c.Prefetch == 0:
		return errors.New("--qos: a stream is sent only with a prefetch; give one, such as --qos 200, or --stream-queue, which does")
	}
	return nil
}

// remarks say what has no effect beside something else, and what the broker's flow means for what is measured.
func (b *builder) remarks() {
	o := b.o
	if len(b.Consumers) > 0 {
		c := &b.Consumers[0]
		b.remark(o.AutoAck && o.Nack, "--nack has no effect with --autoack: there is nothing to answer")
		b.remark(o.AutoAck && o.MultiAckEvery > 0, "--multi-ack-every has no effect with --autoack: there is nothing to ack")
		b.remark(!o.Nack && b.given("requeue"), "--requeue has no effect without --nack")
		b.remark(!o.Polling && o.PollingInterval > 0, "--polling-interval has no effect without --polling")
		b.remark(o.Polling && (c.Prefetch > 0 || c.GlobalPrefetch > 0), "--qos and --global-qos have no effect with --polling: basic.get brings one message at a time")
		b.remark(o.Polling && len(c.Arguments) > 0, "--consumer-args and --stream-consumer-offset have no effect with --polling: basic.get takes no arguments")
		b.remark(len(o.VariableLatency) > 0 && o.ConsumerLatency > 0, "--consumer-latency has no effect beside --variable-latency")
		b.remark((c.Rate.Messages > 0 || len(c.Work) > 0) && !o.AutoAck && !o.Polling && c.Prefetch == 0 && c.GlobalPrefetch == 0,
			"slow consumers without a prefetch: the broker sends all that it has at once, and messages wait in this client, not in the queue; give --qos")
	}
	if len(b.Producers) > 0 {
		p := &b.Producers[0]
		b.remark(p.PooledBodies && len(o.VariableSize) > 0, "--variable-size has no effect: the bodies given have sizes of their own")
		b.remark(len(o.VariableSize) > 0 && b.given("size") && !p.PooledBodies, "--size has no effect beside --variable-size")
		b.remark(len(o.Bodies) > 0 && o.JSONBody, "--json-body has no effect beside --body")
		b.remark(o.BodyContentType != "" && len(o.Bodies) == 0, "--body-content-type has no effect without --body")
		b.remark(o.RandomRoutingKey && o.RoutingKeyCacheSize > 0, "--random-routing-key has no effect beside --routing-key-cache-size, whose keys are random, too")
	}
}

func (b *builder) remark(applies bool, text string) {
	if applies {
		b.note("%s", text)
	}
}
