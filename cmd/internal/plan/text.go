package plan

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"leveret/analyze/result"
)

// Write writes the plan for people: a few lines, whatever the number of queues.
func (p *Plan) Write(w io.Writer) error {
	var b strings.Builder
	line := func(head, text string) { fmt.Fprintf(&b, "%-12s%s\n", head, text) }
	line("broker", p.Broker)
	line("connections", p.connectionsText())
	line("exchange", p.exchangeText())
	if len(p.Queues) == 0 {
		line("queues", "none")
	}
	for i := range p.Queues {
		line(first(i, "queues"), p.Queues[i].text())
		line("", p.Queues[i].loadText())
	}
	for i, text := range p.producersText() {
		line(first(i, "producers"), text)
	}
	for i, text := range p.consumersText() {
		line(first(i, "consumers"), text)
	}
	for i, text := range p.totalsText() {
		line(first(i, "expected"), text)
	}
	line("until", p.untilText())
	for _, note := range p.Notes {
		line("note", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// first is the head of the first of several lines.
func first(i int, head string) string {
	if i > 0 {
		return ""
	}
	return head
}

func plural(n int, noun string) string { return result.Plural(int64(n), noun) }

func (p *Plan) connectionsText() string {
	c, o := p.Connections, p.r.Options
	return fmt.Sprintf("%s with %s: %s of producers (%s each), %s of consumers (%s in all)", result.Group(int64(c.Total)), plural(c.Channels, "channel"),
		result.Group(int64(c.Producers)), plural(o.ProducerChannelCount, "channel"), result.Group(int64(c.Consumers)), plural(len(p.r.Plan.Consumers), "channel"))
}

func (p *Plan) exchangeText() string {
	if p.Exchange.Name == "" {
		return "the default exchange, " + p.Exchange.How
	}
	return fmt.Sprintf("%s: %s, durable, %s", p.Exchange.Name, p.Exchange.Type, p.Exchange.How)
}

func (q *Queues) text() string {
	var name string
	switch {
	case q.First == "":
		name = plural(q.Count, "queue") + ", named by the broker"
	case q.Count == 1:
		name = q.First
	default:
		name = fmt.Sprintf("%s ... %s (%s)", q.First, q.Last, result.Group(int64(q.Count)))
	}
	words := []string{q.Type, q.durability()}
	if q.AutoDelete {
		words = append(words, "auto-delete")
	}
	if q.Exclusive {
		words = append(words, "exclusive")
	}
	words = append(words, q.How)
	for _, a := range q.Arguments {
		words = append(words, fmt.Sprintf("%s=%v", a.Key, a.Value))
	}
	return name + ": " + strings.Join(words, ", ")
}

func (q *Queues) durability() string {
	switch {
	case q.Durable:
		return "durable"
	case q.Exclusive:
		return "transient"
	}
	return "transient (durable on RabbitMQ from 4.3 on)"
}

// loadText is what goes through each of the queues.
func (q *Queues) loadText() string {
	bound := "not bound"
	switch {
	case q.ByName:
		bound = "bound by name"
	case q.RoutingKey != nil:
		bound = "bound with key " + strconv.Quote(*q.RoutingKey)
	case q.ByRandomKey:
		bound = "bound with a random key, made for the run"
	}
	each := ""
	if q.Count > 1 {
		each = " each"
	}
	text := fmt.Sprintf("  %s; %s and %s%s", bound, plural(q.Producers, "producer"), plural(q.Consumers, "consumer"), each)
	if q.Producers > 0 {
		text += "; " + amount(q.Messages, q.PerSecond) + each
	}
	return text
}

// amount is "1,000 messages, 100 a second", as far as it is known.
func amount(messages, rate *float64) string {
	var parts []string
	if messages != nil {
		parts = append(parts, messagesText(*messages))
	}
	if rate != nil {
		parts = append(parts, numeral(*rate)+" a second")
	}
	if len(parts) == 0 {
		return "as many messages as come"
	}
	return strings.Join(parts, ", ")
}

func messagesText(f float64) string {
	if f == 1 {
		return "1 message"
	}
	return numeral(f) + " messages"
}

func numeral(f float64) string {
	if math.Abs(f) < 1e15 && (f == math.Trunc(f) || math.Abs(f) >= 1000) {
		return result.Group(int64(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

func (p *Plan) producersText() []string {
	if len(p.Producers) == 0 {
		return []string{"none"}
	}
	lines := []string{sends(&p.r.Plan.Producers[0]) + "; " + p.keyText()}
	for _, g := range p.Producers {
		lines = append(lines, fmt.Sprintf("%s: %s; %s", plural(g.Count, "producer"), producerAmount(g, p.r.Options.Idle), reachText(g.Queues)))
	}
	return lines
}

func reachText(queues *int) string {
	switch {
	case queues == nil:
		return "which queues a message reaches is not known beforehand, or differs"
	case *queues == 0:
		return "no message reaches a queue"
	}
	return "each message reaches " + plural(*queues, "queue")
}

func producerAmount(g Producers, idle bool) string {
	each := ""
	if g.Count > 1 {
		each = " each"
	}
	switch {
	case idle:
		return "no message, the connections stand idle"
	case g.PerSecond == nil && g.Messages == nil:
		return "as many messages as the broker takes"
	case g.PerSecond == nil:
		return messagesText(*g.Messages) + each + ", as fast as the broker takes them"
	}
	return amount(g.Messages, g.PerSecond) + each
}

// keyText is what producers publish with.
func (p *Plan) keyText() string {
	routes := p.r.Plan.Topology.Routes
	switch {
	case routes[0].Random:
		return "a fresh random key for each message"
	case p.r.Plan.Producers[0].Routes > 1:
		return fmt.Sprintf("%s in turn", plural(len(routes), "random key"))
	case p.r.Layout.RandomKey:
		return "a random key, made for the run"
	case len(routes) > 1:
		return fmt.Sprintf("keys %s ... %s, one a producer, in turn", strconv.Quote(routes[0].RoutingKey), strconv.Quote(routes[len(routes)-1].RoutingKey))
	}
	return "key " + strconv.Quote(routes[0].RoutingKey)
}

func (p *Plan) consumersText() []string {
	if len(p.Consumers) == 0 {
		return []string{"none"}
	}
	lines := []string{takes(&p.r.Plan.Consumers[0])}
	for _, g := range p.Consumers {
		each := ""
		if g.Count > 1 {
			each = " each"
		}
		text := fmt.Sprintf("%s: %s%s", plural(g.Count, "consumer"), plural(g.Queues, "queue"), each)
		if g.Queues > 1 {
			text += ", all of them"
		}
		if g.Messages != nil {
			text += "; " + messagesText(*g.Messages) + each
			if g.Shared {
				text += " where consumers of one queue share evenly"
			}
		}
		lines = append(lines, text)
	}
	return lines
}

func (p *Plan) totalsText() []string {
	e := p.Expected
	sent := "sent: " + totalText(e.Sent, e.SentPerSecond, "as many as the broker takes")
	received := "received: " + totalText(e.Received, e.ReceivedPerSecond, "what is sent")
	switch {
	case len(p.Producers) == 0:
		sent, received = "sent: nothing", "received: what is in the queues"
	case len(p.Consumers) == 0:
		received = "received: nothing, there is no consumer"
	case e.FanOut == nil:
		received = "received: not known beforehand"
	case e.Received == nil && p.r.Plan.Consumers[0].Nack && p.r.Plan.Consumers[0].Requeue:
		received = "received: without end, as what is refused comes again"
	default:
		received += "; " + numeral(*e.FanOut) + " a message"
	}
	return []string{sent, received}
}

func totalText(total, rate *float64, otherwise string) string {
	if total == nil && rate == nil {
		return otherwise
	}
	text := amount(total, rate)
	if total == nil {
		text += ", without end"
	}
	return text
}

func (p *Plan) untilText() string {
	o, plan := p.r.Options, p.r.Plan
	var ends []string
	if plan.Time > 0 {
		ends = append(ends, fmt.Sprintf("%v have passed", plan.Time))
	}
	if o.PMessages > 0 && len(plan.Producers) > 0 {
		text := "every producer has sent " + result.Group(o.PMessages)
		if rate := plan.Producers[0].MeanRate(); rate > 0 {
			text += fmt.Sprintf(" (about %v)", time.Duration(float64(o.PMessages)/rate*1e9).Round(time.Second/10))
		}
		ends = append(ends, text)
	}
	if o.CMessages > 0 && len(plan.Consumers) > 0 {
		ends = append(ends, "every consumer has received "+result.Group(o.CMessages))
	}
	if o.ExitWhen != "" && len(plan.Consumers) > 0 {
		ends = append(ends, "every consumer finds nothing more (--exit-when "+o.ExitWhen+")")
	}
	if len(ends) == 0 {
		return "Ctrl-C"
	}
	return strings.Join(ends, ", or ") + "; then what is queued is received"
}
