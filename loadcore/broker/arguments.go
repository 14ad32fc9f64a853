package broker

import (
	"strings"

	"leveret/loadcore/wire"
)

// queueArguments are those that RabbitMQ 3.10 compares when a classic queue is declared again.
var queueArguments = []string{
	"x-expires", "x-message-ttl", "x-dead-letter-exchange", "x-dead-letter-routing-key", "x-max-length", "x-max-length-bytes",
	"x-max-priority", "x-overflow", "x-queue-mode", "x-queue-version", "x-single-active-consumer", "x-queue-type",
	"x-queue-master-locator",
}

// applyArguments takes over what a new queue implements and refuses the rest: every argument whose name begins with x-,
// as those are the ones that change what a broker does. Others are labels of the application, as on RabbitMQ.
func (q *queue) applyArguments(args wire.Table) *amqpError {
	for _, a := range args {
		var reason string
		switch a.Key {
		case "x-queue-type":
			reason = q.applyType(a.Value)
		case "x-max-length":
			reason = q.applyMaxLength(a.Value)
		case "x-overflow":
			reason = q.applyOverflow(a.Value)
		default:
			if strings.HasPrefix(a.Key, "x-") {
				return unsupportedArgument(q.rs(), a.Key)
			}
		}
		if reason != "" {
			return soft(wire.ReplyPreconditionFailed, "invalid arg '%s' for %s: %s", a.Key, q.rs(), reason)
		}
	}
	return nil
}

// unsupportedArgument is RabbitMQ's text for an argument that the queue's type does not have.
func unsupportedArgument(what, key string) *amqpError {
	return soft(wire.ReplyPreconditionFailed, "invalid arg '%s' for %s of queue type rabbit_classic_queue", key, what)
}

func (q *queue) applyType(v any) (reason string) {
	switch s, ok := v.(string); {
	case !ok:
		return "{unacceptable_type," + typeName(v) + "}"
	case s != "classic":
		return `"unsupported queue type '` + s + `'"`
	}
	return ""
}

func (q *queue) applyMaxLength(v any) (reason string) {
	n, ok := wire.Integer(v)
	switch {
	case !ok:
		return `"expected integer, got ` + typeName(v) + `"`
	case n < 0:
		return "{value_negative," + termText(v) + "}"
	}
	q.maxLength = int(min(n, 1<<31-1)) // more never fit: the memory bound is far below
	return ""
}

func (q *queue) applyOverflow(v any) (reason string) {
	switch s, ok := v.(string); {
	case !ok:
		return "{unacceptable_type," + typeName(v) + "}"
	case s == "drop-head":
	case s == "reject-publish":
		q.rejectPublish = true
	default:
		return "invalid_overflow"
	}
	return ""
}

// checkConsumeArguments refuses every argument of basic.consume that changes what a broker does.
func (q *queue) checkConsumeArguments(args wire.Table) *amqpError {
	for _, a := range args {
		if strings.HasPrefix(a.Key, "x-") {
			return unsupportedArgument(q.rs(), a.Key)
		}
	}
	return nil
}

// checkExchangeArguments refuses the arguments that change what an exchange does.
func checkExchangeArguments(name string, args wire.Table) *amqpError {
	for _, a := range args {
		if a.Key == "alternate-exchange" || strings.HasPrefix(a.Key, "x-") {
			return hard(wire.ReplyNotImplemented, "argument '%s' of exchange '%s'", a.Key, name)
		}
	}
	return nil
}

// sameArgument compares one argument of what is there with that of a new declaration, as RabbitMQ does: integers by value,
// whatever their width.
func sameArgument(what, key string, have, want wire.Table) *amqpError {
	old, hadOld := have.Get(key)
	now, hasNow := want.Get(key)
	switch {
	case !hadOld && !hasNow:
		return nil
	case hadOld && hasNow:
		if sameValue(old, now) {
			return nil
		}
		return inequivalent(key, what, valueText(now), valueText(old))
	case key == "x-queue-type":
		if v := firstString(old, now); v == "classic" {
			return nil
		}
	}
	return inequivalent(key, what, typedText(now, hasNow), typedText(old, hadOld))
}

func firstString(a, b any) string {
	if s, ok := a.(string); ok {
		return s
	}
	s, _ := b.(string)
	return s
}

func sameValue(a, b any) bool {
	if m, ok := wire.Integer(a); ok {
		n, ok := wire.Integer(b)
		return ok && m == n
	}
	return typeName(a) == typeName(b) && termText(a) == termText(b)
}

func inequivalent(key, what, received, current string) *amqpError {
	return soft(wire.ReplyPreconditionFailed, "inequivalent arg '%s' for %s: received %s but current is %s", key, what, received, current)
}
