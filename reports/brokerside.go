package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"leveret/analyze/result"
)

// brokerLines is the most lines of the broker's figures over time.
const brokerLines = 12

// brokerNodesShown and brokerQueuesShown bound what is said of each by itself; JSON has all.
const (
	brokerNodesShown  = 5
	brokerQueuesShown = 5
	pluginsShown      = 12
)

// brokerSide prints what the broker said of itself, beside what the client recorded.
func (p *page) brokerSide(r *result.Result) {
	b := r.BrokerSide
	if b == nil {
		return
	}
	head := fmt.Sprintf("Broker's side: %s of its management API", result.Plural(b.Samples, "look"))
	if b.IntervalNS > 0 {
		head += ", every " + duration(float64(b.IntervalNS), p.ascii)
	}
	p.heading(head)
	add := func(name, text string) {
		if text != "" {
			p.field(elide(p.clean(name), fieldColumn), fieldColumn, p.clean(text))
		}
	}
	if b.Failed > 0 {
		add("failed", fmt.Sprintf("%s in vain or in part, the first: %s", result.Plural(b.Failed, "look"), b.FirstFailure))
	}
	add("broker", brokerIs(b))
	add("policies", strings.Join(b.Policies, "; "))
	add("counted", countedLine(b))
	queues := slices.Clone(b.Queues)
	slices.SortStableFunc(queues, func(a, b result.BrokerQueue) int { return -compareKnown(a.MaxReady, b.MaxReady) })
	for i := range queues[:min(len(queues), brokerQueuesShown)] {
		add("queue", queueLine(&queues[i]))
	}
	if n := len(queues) - brokerQueuesShown; n > 0 {
		add("", fmt.Sprintf("and %d more queues, which held less", n))
	}
	add("connections", connectionsLine(b))
	for i := range b.Nodes[:min(len(b.Nodes), brokerNodesShown)] {
		add("node", nodeLine(&b.Nodes[i]))
	}
	p.brokerTable(r)
}

func compareKnown(a, b *int64) int {
	value := func(v *int64) int64 {
		if v == nil {
			return math.MinInt64
		}
		return *v
	}
	switch x, y := value(a), value(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func brokerIs(b *result.BrokerSide) string {
	cluster, erlang, plugins := "", "", ""
	if b.Cluster != "" {
		cluster = "cluster " + b.Cluster
	}
	if b.Erlang != "" {
		erlang = "Erlang " + b.Erlang
	}
	if n := len(b.Plugins); n > 0 {
		plugins = "plugins " + strings.Join(b.Plugins[:min(n, pluginsShown)], ", ")
		if n > pluginsShown {
			plugins += fmt.Sprintf(" and %d more", n-pluginsShown)
		}
	}
	return join("; ", cluster, erlang, plugins, "API at "+b.URI)
}

// countedLine: "published 10,000 (client 10,000), confirmed 9,990 (client 10,000)"; what neither knows of is left out, and what
// both have none of.
func countedLine(b *result.BrokerSide) string {
	var parts []string
	for _, c := range b.Counters {
		broker, client := notAvailable, ""
		if c.Broker != nil {
			broker = result.Group(*c.Broker)
		}
		if c.Client != nil {
			client = " (client " + result.Group(*c.Client) + ")"
		}
		if (c.Broker == nil || *c.Broker == 0) && (c.Client == nil || *c.Client == 0) {
			continue
		}
		parts = append(parts, c.Name+" "+broker+client)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "; the broker's as of the last look that has them, seconds old"
}

func queueLine(q *result.BrokerQueue) string {
	var figures []string
	for _, f := range []struct {
		what string
		v    *int64
		text func(int64) string
	}{{"ready", q.MaxReady, result.Group}, {"unacked", q.MaxUnacked, result.Group}, {"memory", q.MaxMemoryBytes, byteCount}} {
		if f.v != nil {
			figures = append(figures, f.what+" "+f.text(*f.v))
		}
	}
	policy := ""
	if q.Policy != "" {
		policy = "policy " + q.Policy
	}
	text := elide(q.Name, 60) + ": "
	if len(figures) == 0 {
		return text + "nothing was told"
	}
	return join("; ", text+"at most "+strings.Join(figures, ", "), q.Type, policy)
}

func connectionsLine(b *result.BrokerSide) string {
	if len(b.Connections) == 0 {
		return ""
	}
	most, blocked := (*int64)(nil), int64(0)
	for i := range b.Connections {
		if c := &b.Connections[i]; compareKnown(c.Total, most) > 0 {
			most = c.Total
		}
		if b.Connections[i].Blocked > 0 {
			blocked++
		}
	}
	text := "number unknown"
	if most != nil {
		text = "at most " + result.Group(*most)
	}
	text += "; throttled by credit flow in " + lookCount(b.FlowSamples, b.Samples)
	return text + "; blocked by an alarm in " + lookCount(blocked, b.Samples)
}

func lookCount(n, of int64) string {
	if n == 0 {
		return "no look"
	}
	return result.Group(n) + " of " + result.Plural(of, "look")
}

func nodeLine(n *result.BrokerNode) string {
	var parts []string
	of := func(v, limit *int64, what, word string) {
		if v == nil {
			return
		}
		text := what + " " + byteCount(*v)
		if limit != nil {
			text += fmt.Sprintf(" (%s %s)", word, byteCount(*limit))
		}
		parts = append(parts, text)
	}
	of(n.MaxMemoryBytes, n.MemoryLimitBytes, "memory at most", "alarm above")
	of(n.LeastDiskFreeBytes, n.DiskLimitBytes, "disk free at least", "alarm below")
	if n.CPUCores != nil && isFinite(*n.CPUCores) {
		text := significant(*n.CPUCores, 2) + " cores busy"
		if n.Processors > 0 {
			text += fmt.Sprintf(" of %d", n.Processors)
		}
		parts = append(parts, text)
	}
	if n.MaxRunQueue != nil {
		parts = append(parts, "run queue at most "+result.Group(*n.MaxRunQueue))
	}
	for _, s := range []struct {
		is   bool
		text string
	}{{n.MemoryAlarm, "MEMORY ALARM"}, {n.DiskAlarm, "DISK ALARM"}, {n.Down, "was down"}} {
		if s.is {
			parts = append(parts, s.text)
		}
	}
	if len(parts) == 0 {
		return elide(n.Name, 60) + ": nothing was told"
	}
	return elide(n.Name, 60) + ": " + strings.Join(parts, "; ")
}

// brokerTable prints the virtual host over time, and the client's rates of the same time beside it.
func (p *page) brokerTable(r *result.Result) {
	b := r.BrokerSide
	samples := b.Total.Samples
	if len(samples) < 2 {
		return
	}
	step := (len(samples) - 2 + brokerLines) / brokerLines
	t := &table{keys: 1, columns: []column{
		{head: "at (s)"}, {head: "ready"}, {head: "unacked", drop: 2},
		{group: "broker: msg/s", head: "published"}, {group: "broker: msg/s", head: "confirmed", drop: 1}, {group: "broker: msg/s", head: "delivered"},
		{group: "client: msg/s", head: "sent"}, {group: "client: msg/s", head: "received"},
	}}
	for i := 1; i < len(samples); i += step {
		s := &samples[i]
		sent, received := clientRates(r, samples[i-1].AtNS, s.AtNS)
		mean := func(of func(*result.BrokerQueueSample) *float64) string { return rateOr(b.Total.MeanRate(i, of)) }
		for c, text := range []string{
			fmt.Sprintf("%.1f", float64(span(r.Config.StartedNS, s.AtNS))/1e9), countOr(s.Ready), countOr(s.Unacked),
			mean(func(s *result.BrokerQueueSample) *float64 { return s.Published }), mean(func(s *result.BrokerQueueSample) *float64 { return s.Confirmed }),
			mean(func(s *result.BrokerQueueSample) *float64 { return s.Delivered }), rateOr(sent), rateOr(received),
		} {
			t.columns[c].cells = append(t.columns[c].cells, text)
		}
	}
	p.gap()
	p.table(t)
	note := "The broker's figures are of everybody in the virtual host, and seconds old when they are told; its rates are means of 5 s at least."
	if step > 1 {
		note += fmt.Sprintf(" One look in %d is shown, JSON has more.", step)
	}
	p.remark(note)
}

func countOr(v *int64) string {
	if v == nil {
		return "-"
	}
	return result.Group(*v)
}

func rateOr(v *float64) string {
	if v == nil || !isFinite(*v) {
		return "-"
	}
	return rate(*v)
}

// clientRates are what the client sent and received a second in a span, taking events as even within an interval; nil where
// no interval has a part in it.
func clientRates(r *result.Result, from, to int64) (sent, received *float64) {
	var ns, sentN, receivedN float64
	for i := range r.Intervals {
		in := &r.Intervals[i]
		length, part := float64(span(in.StartNS, in.EndNS)), float64(span(max(in.StartNS, from), min(in.EndNS, to)))
		if length <= 0 || part <= 0 {
			continue
		}
		ns += part
		sentN += float64(in.Sent) * part / length
		receivedN += float64(in.Received) * part / length
	}
	if ns <= 0 {
		return nil, nil
	}
	s, v := sentN/(ns/1e9), receivedN/(ns/1e9)
	return &s, &v
}

// plainBrokerSide is a copy that JSON can hold.
func plainBrokerSide(b *result.BrokerSide) *result.BrokerSide {
	if b == nil {
		return nil
	}
	c := *b
	c.Counters, c.Connections = listed(c.Counters), listed(c.Connections)
	c.Total = plainBrokerQueue(c.Total)
	c.Queues = append([]result.BrokerQueue{}, c.Queues...)
	for i := range c.Queues {
		c.Queues[i] = plainBrokerQueue(c.Queues[i])
	}
	c.Nodes = append([]result.BrokerNode{}, c.Nodes...)
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.CPUCores = finite(n.CPUCores)
		n.Samples = append([]result.BrokerNodeSample{}, n.Samples...)
		for k := range n.Samples {
			n.Samples[k].CPUCores, n.Samples[k].WrittenBytes = finite(n.Samples[k].CPUCores), finite(n.Samples[k].WrittenBytes)
		}
	}
	return &c
}

func plainBrokerQueue(q result.BrokerQueue) result.BrokerQueue {
	q.Samples = append([]result.BrokerQueueSample{}, q.Samples...)
	for i := range q.Samples {
		s := &q.Samples[i]
		for _, v := range []**float64{&s.Published, &s.Confirmed, &s.Delivered, &s.Acked, &s.Redelivered} {
			*v = finite(*v)
		}
	}
	return q
}
