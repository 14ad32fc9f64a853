package topology

import (
	"fmt"
	"strings"

	"leveret/capture/manifest"
)

// maxName is the protocol's limit of a name in bytes (shortstr, AMQP 0-9-1 section 4.2.5.3).
const maxName = 255

// Validate refuses, before anything is connected, what a broker would refuse or what could not mean what it says. It also
// makes t explicit: built-in exchanges lose their Declare and have their own type, a Strict topology declares nothing, a
// queue's Type and its x-queue-type become the same.
func Validate(t *manifest.Topology) error {
	for i := range t.Exchanges {
		e := &t.Exchanges[i]
		if builtIn(e.Name) || t.Strict {
			e.Declare = false
		}
		if kind := builtInTypes[e.Name]; kind != "" {
			e.Type = kind
		}
		if err := checkName("exchange", e.Name); err != nil {
			return err
		}
		if e.Declare && e.Type == "" {
			return fmt.Errorf("exchange %q: no type given: --type direct, fanout, topic or headers", e.Name)
		}
	}
	for i := range t.Queues {
		if err := validateQueue(&t.Queues[i], t); err != nil {
			return err
		}
	}
	for _, b := range t.Bindings {
		if b.Queue < 0 || b.Queue >= len(t.Queues) {
			return fmt.Errorf("binding to exchange %q: queue index %d, but there are %d queues", b.Exchange, b.Queue, len(t.Queues))
		}
		if b.Exchange == "" {
			return fmt.Errorf("binding of queue %q: the default exchange takes no bindings, it reaches every queue by its name",
				t.Queues[b.Queue].Name)
		}
		if err := checkName("routing key", b.RoutingKey); err != nil {
			return err
		}
		if _, err := table(fmt.Sprintf("binding of queue %q", t.Queues[b.Queue].Name), b.Arguments); err != nil {
			return err
		}
	}
	for _, r := range t.Routes {
		if err := checkName("routing key", r.RoutingKey); err != nil {
			return err
		}
	}
	return nil
}

// builtIn reports whether every broker has the exchange by itself. Names that begin with "amq." are reserved (AMQP 0-9-1,
// exchange.declare), so that declaring such an exchange can only fail.
func builtIn(exchange string) bool { return exchange == "" || strings.HasPrefix(exchange, "amq.") }

func checkName(what, name string) error {
	if len(name) > maxName {
		return fmt.Errorf("%s %.40q...: %d bytes, at most %d fit", what, name, len(name), maxName)
	}
	return nil
}

func validateQueue(q *manifest.Queue, t *manifest.Topology) error {
	if err := checkName("queue", q.Name); err != nil {
		return err
	}
	if t.Strict && q.Exclusive {
		return fmt.Errorf("queue %q: an exclusive queue cannot be there before the connection that uses it: leave --exclusive out, or --predeclared=strict", q.Name)
	}
	if t.Strict {
		q.Declare = false
	}
	if q.Exclusive && (q.Name == "" || !q.Declare) {
		return fmt.Errorf("queue %q: an exclusive queue is declared by the connection of its consumers, and needs a name before", q.Name)
	}
	if q.Name == "" && (!q.Declare || t.Predeclared) {
		return fmt.Errorf("a queue that is used as it is needs a name: give --queue")
	}
	if !q.Declare {
		return nil
	}
	if strings.HasPrefix(q.Name, "amq.") && !t.Predeclared {
		return fmt.Errorf("queue %q: names that begin with \"amq.\" are the broker's own: choose another --queue, or use it as it is with --predeclared", q.Name)
	}
	if err := settleType(q); err != nil {
		return err
	}
	if _, err := table(describeQueue(q), q.Arguments); err != nil {
		return err
	}
	if q.Type != "quorum" && q.Type != "stream" {
		return nil
	}
	// RabbitMQ refuses these one by one with 406 or 540; together and beforehand they are easier to put right.
	var wrong []string
	if q.Name == "" {
		wrong = append(wrong, "needs a name (--queue)")
	}
	if !q.Durable {
		wrong = append(wrong, "must be durable (--flag persistent)")
	}
	if q.AutoDelete {
		wrong = append(wrong, "cannot be auto-delete (--auto-delete=false)")
	}
	if q.Exclusive {
		wrong = append(wrong, "cannot be exclusive (leave --exclusive out)")
	}
	if len(wrong) > 0 {
		return fmt.Errorf("queue %q: a %s queue %s", q.Name, q.Type, strings.Join(wrong, ", "))
	}
	return nil
}

const queueTypeArgument = "x-queue-type"

// settleType brings Type and the argument x-queue-type together. A classic queue needs no argument: brokers from before
// queue types would not know it.
func settleType(q *manifest.Queue) error {
	for _, a := range q.Arguments {
		if a.Key != queueTypeArgument {
			continue
		}
		kind, ok := a.Value.(string)
		if !ok {
			return fmt.Errorf("queue %q: argument %s=%v: want a string such as quorum", q.Name, a.Key, a.Value)
		}
		if q.Type != "" && q.Type != kind {
			return fmt.Errorf("queue %q: type %s, but %s=%s: leave one of them out", q.Name, q.Type, a.Key, kind)
		}
		q.Type = kind
		return nil
	}
	switch q.Type {
	case "":
		q.Type = "classic"
	case "classic":
	default:
		q.Arguments = append(q.Arguments, manifest.Arg{Key: queueTypeArgument, Value: q.Type})
	}
	return nil
}
