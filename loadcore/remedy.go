package loadcore

import (
	"slices"
	"strings"

	"leveret/loadcore/wire"
)

// Remedy says what can be done about a refusal of the broker, from its reply code and text; "" where nothing is known. It is the
// one place for what holds whatever was being done; who knows what was being done may know better (topology.Error).
func Remedy(code uint16, text string) string {
	for i := range remedies {
		r := &remedies[i]
		if uint16(r.code) == code && (r.part == "" || strings.Contains(text, r.part)) {
			return r.advice
		}
	}
	return ""
}

// remedies by reply code and a part of the text, as RabbitMQ 3.8 to 4.3 word it; the first that fits counts, so that those
// without a part come last.
var remedies = []struct {
	code   wire.ReplyCode
	part   string
	advice string
}{
	{wire.ReplyContentTooLarge, "", "the message is larger than the broker takes: a smaller --size, or raise the broker's max_message_size"},
	{wire.ReplyConnectionForced, "shutdown", "the node was being stopped"},
	{wire.ReplyConnectionForced, "", "an operator or the node itself closed it; the node's log says why"},
	{wire.ReplyAccessRefused, "Login was refused", hintLogin},
	{wire.ReplyAccessRefused, "", "the user's permissions in this vhost do not allow it: rabbitmqctl set_permissions"},
	{wire.ReplyNotFound, "", "check the name, and the vhost in the URI"},
	{wire.ReplyResourceLocked, "", "it is the exclusive queue of another connection, or not exclusive where it was declared: choose another name, or end that connection"},
	{wire.ReplyPreconditionFailed, "inequivalent arg", "it exists with other properties: --predeclared uses it as it is"},
	{wire.ReplyPreconditionFailed, "delivery acknowledgement on channel", "the consumer held a message for longer than the broker's consumer_timeout: a smaller --qos or --consumer-latency, or raise consumer_timeout"},
	{wire.ReplyPreconditionFailed, "message size", "a smaller --size, or raise the broker's max_message_size"},
	{wire.ReplyPreconditionFailed, "prefetch count is not set", "a stream needs a prefetch: --qos 200"},
	{wire.ReplyFrameError, "", "the broker did not take a frame as it came: --framemax says how long frames may be, and RabbitMQ from 4.1 on wants at least 8192"},
	{wire.ReplyNotAllowed, "connection limit cannot be queried", "the node is not ready yet: try again, or wait for it with --servers-startup-timeout"},
	{wire.ReplyNotAllowed, "user connection limit", "this user may open no more connections: rabbitmqctl set_user_limits raises it"},
	{wire.ReplyNotAllowed, "node connection limit", "this node takes no more connections (connection_max of its configuration): open fewer, or spread them over more nodes (--uris)"},
	{wire.ReplyNotAllowed, "connection limit", "the vhost takes no more connections: rabbitmqctl set_vhost_limits raises it"},
	{wire.ReplyNotAllowed, "not found", "there is no such vhost: rabbitmqctl add_vhost makes it; " + hintVHost},
	{wire.ReplyNotAllowed, "access to vhost", "the user has no permissions in the vhost: rabbitmqctl set_permissions -p VHOST USER '.*' '.*' '.*'; " + hintVHost},
	{wire.ReplyNotAllowed, "negotiated frame_max", hintFrameMax},
	{wire.ReplyNotAllowed, "negotiated channel_max", "ask for fewer channels on a connection: channel_max in the URI, --producer-channel-count, --consumer-channel-count"},
	{wire.ReplyNotAllowed, "number of channels opened", "ask for fewer channels (--producer-channel-count, --consumer-channel-count), or raise the broker's limit"},
	{wire.ReplyNotAllowed, "ecret", "the broker did not accept the renewed token: it must be for the same user, and its audience and scopes must fit as the first one's did"},
	{wire.ReplyNotAllowed, "", "a limit or rule of the vhost forbids it"},
	{wire.ReplyNotImplemented, "global qos", "use --qos in place of --global-qos: this type of queue has no prefetch for a whole channel"},
	{wire.ReplyInternalError, "transient_nonexcl_queues", "RabbitMQ from 4.3 on refuses queues that are neither durable nor exclusive: --flag persistent makes them durable, --exclusive makes them exclusive"},
	{wire.ReplyInternalError, "global_qos", "use --qos in place of --global-qos, which newer RabbitMQ refuses"},
	{wire.ReplyInternalError, "is down", "the vhost has failed on this node: rabbitmqctl restart_vhost"},
}

// refusals are parts of the texts with which RabbitMQ (3.8 to 4.3) and LavinMQ close a channel for what a message is: too large, or
// with a property that they don't take.
var refusals = []string{"message size", "xpiration", "user_id", "eply consumer"}

// refusesMessage reports whether the broker has closed a producer's channel for what a message is. The next one is the same, and
// would be refused as well, so that it is of no use to open the channel again. LavinMQ gives the same code, 406, to whoever publishes
// while its disk is full; that passes.
func refusesMessage(why loss) bool {
	switch wire.ReplyCode(why.code) {
	case wire.ReplyContentTooLarge:
		return true
	case wire.ReplyPreconditionFailed:
		return slices.ContainsFunc(refusals, func(part string) bool { return strings.Contains(why.text, part) })
	}
	return false
}

// queueTypes are those of RabbitMQ 3.10 to 4.3 without plugins.
var queueTypes = []string{"classic", "quorum", "stream"}

// QueueTypeRemedy says what can be done where a queue of the given x-queue-type is refused, which RabbitMQ may do without a reason
// for a type that it does not know; "" where the type is one that every RabbitMQ has.
func QueueTypeRemedy(kind string) string {
	if kind == "" || slices.Contains(queueTypes, kind) {
		return ""
	}
	return "does the broker have the type of queue x-queue-type=" + kind + "? RabbitMQ has " + strings.Join(queueTypes, ", ") +
		": --queue-args x-queue-type=quorum for instance, or leave it out"
}

const (
	hintLogin    = "user or password is wrong, or this user may not log in from here (guest may only on localhost)"
	hintVHost    = "the vhost is the URI's path: /%2F or nothing for the vhost \"/\""
	hintFrameMax = "RabbitMQ from 4.1 on wants a frame_max of at least 8192: leave --framemax (frame_max in the URI) out, or ask for 8192 or more"
)

// oneLine is a text of the broker as it fits into a line: RabbitMQ breaks some into several.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// withRemedy is a text of the broker with what can be done about it.
func (l loss) withRemedy() string {
	text := oneLine(l.text)
	if advice := Remedy(l.code, l.text); advice != "" {
		text += "; " + advice
	}
	return text
}
