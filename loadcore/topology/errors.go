package topology

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

// Error is a refusal of the broker, or something that is not there.
type Error struct {
	Action string // "declaring queue", "binding queue", ...
	Name   string
	Code   int    // the broker's reply code
	Text   string // the broker's own text, which names both values of an argument that differs
	Remedy string // what to do about it; may be empty
}

func (e *Error) Error() string {
	// RabbitMQ breaks some texts into lines.
	s := fmt.Sprintf("%s %q: %d %s", e.Action, e.Name, e.Code, strings.Join(strings.Fields(e.Text), " "))
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// adviser knows what was being done, for remedies that name the options of it.
type adviser interface {
	advise(refusal *amqp.Error) string
}

// refused explains the error of one call; nil for none.
func refused(action, name string, a adviser, err error) error {
	var refusal *amqp.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refusal) || !refusal.Server:
		return fmt.Errorf("%s %q: %w", action, name, err)
	}
	e := &Error{Action: action, Name: name, Code: refusal.Code, Text: refusal.Reason}
	if a != nil {
		e.Remedy = a.advise(refusal)
	}
	if e.Remedy == "" {
		e.Remedy = loadcore.Remedy(uint16(refusal.Code), refusal.Reason)
	}
	return e
}

// asItIs is for what the run uses and does not declare.
type asItIs struct{}

func (asItIs) advise(refusal *amqp.Error) string {
	if refusal.Code != amqp.NotFound {
		return ""
	}
	return "this run does not declare it: check the name, and the vhost in the URI, or create it first; --predeclared declares what is missing, --predeclared=strict nothing"
}

// inequivalent is the text of RabbitMQ's 406 for something that exists with another value.
var inequivalent = regexp.MustCompile(`inequivalent arg '([^']*)' for (\w+) .*: received (.*) but current is (.*)$`)

// difference returns which argument differs and the value that the broker has, without type and quotes.
func difference(refusal *amqp.Error) (argument, current string, ok bool) {
	m := inequivalent.FindStringSubmatch(refusal.Reason)
	if refusal.Code != amqp.PreconditionFailed || m == nil {
		return "", "", false
	}
	return m[1], plainValue(m[4]), true
}

// foreignArgument is the text of RabbitMQ's 406 for an argument that the type of queue does not have.
var foreignArgument = regexp.MustCompile(`invalid arg '([^']*)' for queue`)

var unsupportedType = regexp.MustCompile(`invalid arg 'x-queue-type' for queue .*unsupported queue type`)

// typeRefused: the type of the queue may be what is refused. RabbitMQ 3.10 fails with a bare
// 541 for it where the queue was to get its name from the broker.
func typeRefused(refusal *amqp.Error) bool {
	switch refusal.Code {
	case amqp.InternalError:
		return loadcore.Remedy(uint16(refusal.Code), refusal.Reason) == ""
	case amqp.PreconditionFailed:
		return unsupportedType.MatchString(refusal.Reason)
	}
	return false
}

var quoted = regexp.MustCompile(`'([^']*)'`)

// plainValue takes 'x' out of "the value 'x' of type 'longstr'"; "none" is what RabbitMQ says of an absent argument.
func plainValue(text string) string {
	if m := quoted.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

// orElse ends the remedies for something that exists and is not the same.
const orElse = ", or use it as it is with --predeclared, or choose another name, or delete it"

type exchangeContext struct{ e *manifest.Exchange }

func (c exchangeContext) advise(refusal *amqp.Error) string {
	argument, current, ok := difference(refusal)
	switch {
	case ok && argument == "type":
		return "it exists: --type " + current + orElse
	case ok:
		return "it exists with another " + argument + ": use it as it is with --predeclared, or choose another --exchange, or delete it"
	case refusal.Code == amqp.CommandInvalid || refusal.Code == amqp.PreconditionFailed:
		return fmt.Sprintf("does the broker have the type %q? --type direct, fanout, topic and headers are everywhere", c.e.Type)
	}
	return ""
}

type queueContext struct{ q *manifest.Queue }

func (c queueContext) advise(refusal *amqp.Error) string {
	argument, current, ok := difference(refusal)
	switch {
	case ok && argument == "durable" && current == "true":
		return "it exists: --flag persistent makes the queue durable" + orElse
	case ok && argument == "durable":
		return "it exists: without --flag persistent the queue is not durable" + orElse
	case ok && argument == "auto_delete":
		return "it exists: --auto-delete=" + current + orElse
	case ok && argument == queueTypeArgument && current == "none":
		return "it exists as a classic queue: leave --quorum-queue and x-queue-type out" + orElse
	case ok && current == "none":
		return "it exists without that argument: leave " + argument + " out of --queue-args" + orElse
	case ok:
		return "it exists: --queue-args " + argument + "=" + current + orElse
	case typeRefused(refusal) && loadcore.QueueTypeRemedy(c.q.Type) != "":
		return loadcore.QueueTypeRemedy(c.q.Type)
	case refusal.Code == amqp.PreconditionFailed && foreignArgument.MatchString(refusal.Reason):
		return "this broker's " + c.q.Type + " queues have no such argument, or not that value: leave it out, or take another type (--quorum-queue, --stream-queue)"
	}
	return ""
}

type bindingContext struct{ b manifest.Binding }

func (c bindingContext) advise(refusal *amqp.Error) string {
	switch refusal.Code {
	case amqp.NotFound:
		return fmt.Sprintf("is there an exchange %q in this vhost?", c.b.Exchange)
	case amqp.AccessRefused:
		return fmt.Sprintf("binding needs the permission to write to the queue and to read from exchange %q: rabbitmqctl set_permissions", c.b.Exchange)
	}
	return ""
}
