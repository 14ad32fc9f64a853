package analyze

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// describeBrokerSide is what the broker said of itself, beside what the client recorded; nil where nobody asked it.
func (a *analysis) describeBrokerSide(counts *result.Counts) *result.BrokerSide {
	c, m := a.management()
	if m == nil {
		return nil
	}
	b := &a.brokerSide
	r := &result.BrokerSide{
		URI: m.URI, IntervalNS: m.IntervalNS, Samples: m.Samples, Failed: m.Failed, FirstFailure: m.FirstFailure,
		Cluster: m.Cluster, Erlang: m.Erlang, RatesMode: m.RatesMode, Plugins: plugins(m), Policies: policies(c.manifest),
		Counters: a.brokerCounters(counts), Total: b.vhost.result(m.IntervalNS), Queues: []result.BrokerQueue{}, Nodes: []result.BrokerNode{},
		Connections: []result.BrokerConnectionState{}, FlowSamples: b.flow, AlarmSamples: b.alarms,
	}
	if r.Samples == 0 { // the manifest that would say so was not written
		r.Samples = b.looked
	}
	for _, i := range slices.Sorted(maps.Keys(b.queues)) {
		q := b.queues[i].result(m.IntervalNS)
		q.Name = fmt.Sprintf("queue %d", i)
		if i < int64(len(c.manifest.Topology.Queues)) {
			of := &c.manifest.Topology.Queues[i]
			q.Name, q.Type = of.Name, of.Type
			if of.Found != nil {
				q.Policy = of.Found.Policy
			}
		}
		r.Queues = append(r.Queues, q)
	}
	for _, i := range slices.Sorted(maps.Keys(b.nodes)) {
		n := b.nodes[i].result(m.IntervalNS)
		n.Name = fmt.Sprintf("node %d", i)
		if i < int64(len(m.Nodes)) {
			n.Name, n.Processors = m.Nodes[i].Name, m.Nodes[i].Processors
		}
		r.Nodes = append(r.Nodes, n)
	}
	for _, x := range b.connections.all(func(x *event.BrokerConnections) int64 { return x.At }) {
		r.Connections = append(r.Connections, result.BrokerConnectionState{AtNS: x.At, Total: known(x.Total), Looked: max(x.Looked, 0),
			Flow: max(x.Flow, 0), Blocked: max(x.Blocked, 0) + max(x.Blocking, 0)})
	}
	return r
}

// brokerCounters are those of the virtual host beside what the client recorded.
func (a *analysis) brokerCounters(n *result.Counts) []result.BrokerCounter {
	v := &a.brokerSide.vhost
	var acked int64
	publishes, consumes, acks := false, false, false
	for _, c := range a.captures {
		acked += c.counts.acked
		publishes, consumes = publishes || c.publishes(), consumes || c.consumes()
		acks = acks || c.manifest != nil && slices.ContainsFunc(c.manifest.Consumers, func(x manifest.Consumer) bool { return !x.AutoAck && !x.Nack })
	}
	client := func(is bool, n int64) *int64 {
		if !is {
			return nil
		}
		return &n
	}
	return []result.BrokerCounter{
		{Name: "published", Broker: v.published.value(), Client: client(publishes, n.Sent)},
		{Name: "confirmed", Broker: v.confirmed.value(), Client: client(a.confirms(), n.Confirmed)},
		{Name: "returned", Broker: v.returned.value(), Client: client(publishes, n.Returned)},
		{Name: "delivered", Broker: v.delivered.value(), Client: client(consumes, n.Received)},
		{Name: "acked", Broker: v.acked.value(), Client: client(acks, acked)},
		{Name: "redelivered", Broker: v.redelivered.value(), Client: client(consumes, n.Redelivered)},
	}
}

// plugins are those that any node has enabled.
func plugins(m *manifest.Management) []string {
	var all []string
	for _, n := range m.Nodes {
		all = append(all, n.Plugins...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// policies are those that apply to queues of the run, with what they set. Where the list of policies is not known the queues tell
// names and what they set.
func policies(m *manifest.Manifest) []string {
	applied := map[string]string{}
	for i := range m.Topology.Queues {
		f := m.Topology.Queues[i].Found
		if f == nil {
			continue
		}
		var rules []string
		for _, r := range f.Rules {
			rules = append(rules, describeArg(r))
		}
		for _, name := range []string{f.Policy, f.OperatorPolicy} {
			if name != "" {
				applied[name] = strings.Join(rules, ", ")
			}
		}
	}
	for _, p := range m.Management.Policies {
		if _, ok := applied[p.Name]; !ok {
			continue
		}
		var rules []string
		for _, key := range slices.Sorted(maps.Keys(p.Definition)) {
			rules = append(rules, shortened(fmt.Sprintf("%s=%s", key, p.Definition[key])))
		}
		applied[p.Name] = strings.Join(rules, ", ")
		if p.Operator {
			applied[p.Name] += " (operator policy)"
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(applied)) {
		all = append(all, shortened(name)+": "+applied[name])
	}
	return all
}

// apart tells whether two looks are far enough apart for a rate: the last one comes when the run ends, perhaps just after another.
// Figures that the broker brings up to date in steps would make a peak of it.
func apart(before, at, interval int64) bool { return at-before >= interval/2 }

func (x *queueCourse) result(interval int64) result.BrokerQueue {
	r := result.BrokerQueue{MaxReady: x.ready.int64, MaxUnacked: x.unacked.int64, MaxMemoryBytes: x.memory.int64, Samples: []result.BrokerQueueSample{}}
	samples := x.samples.all(func(q *event.BrokerQueue) int64 { return q.At })
	for i := range samples {
		q := &samples[i]
		s := result.BrokerQueueSample{AtNS: q.At, Ready: known(q.Ready), Unacked: known(q.Unacked), Bytes: known(q.Bytes), Consumers: known(q.Consumers)}
		if i > 0 && apart(samples[i-1].At, q.At, interval) {
			before := &samples[i-1]
			rate := func(of func(*event.BrokerQueue) int64) *float64 {
				from := of(before)
				if from == event.None { // nobody had used the queue
					from = 0
				}
				return grown(from, of(q), q.At-before.At)
			}
			s.Published = rate(func(q *event.BrokerQueue) int64 { return q.Published })
			s.Confirmed = rate(func(q *event.BrokerQueue) int64 { return q.Confirmed })
			s.Delivered = rate(delivered)
			s.Acked = rate(func(q *event.BrokerQueue) int64 { return q.Acked })
			s.Redelivered = rate(func(q *event.BrokerQueue) int64 { return q.Redelivered })
		}
		r.Samples = append(r.Samples, s)
	}
	return r
}

func (x *nodeCourse) result(interval int64) result.BrokerNode {
	r := result.BrokerNode{
		MaxMemoryBytes: x.memory.int64, MemoryLimitBytes: x.limit.int64, LeastDiskFreeBytes: x.diskFree.int64, DiskLimitBytes: x.diskLimit.int64,
		MaxRunQueue: x.runQueue.int64, CPUCores: x.cores(), MemoryAlarm: x.memoryAlarm, DiskAlarm: x.diskAlarm, Down: x.down, Samples: []result.BrokerNodeSample{},
	}
	samples := x.samples.all(func(n *event.BrokerNode) int64 { return n.At })
	for i := range samples {
		n := &samples[i]
		s := result.BrokerNodeSample{AtNS: n.At, MemoryBytes: known(n.MemoryBytes), DiskFreeBytes: known(n.DiskFreeBytes), Alarm: n.MemoryAlarm == 1 || n.DiskAlarm == 1,
			RunQueue: known(n.RunQueue), Sockets: known(n.Sockets), FileDescriptors: known(n.FileDescriptors)}
		if i > 0 && apart(samples[i-1].At, n.At, interval) {
			before := &samples[i-1]
			if s.CPUCores = grown(before.CPUNS, n.CPUNS, n.At-before.At); s.CPUCores != nil {
				*s.CPUCores /= 1e9
			}
			s.WrittenBytes = grown(before.WrittenBytes, n.WrittenBytes, n.At-before.At)
		}
		r.Samples = append(r.Samples, s)
	}
	return r
}

// grown is how much a counter grew a second; nil where it is not known, or began anew.
func grown(before, now, ns int64) *float64 {
	if before == event.None || now == event.None || now < before {
		return nil
	}
	return perSecond(now-before, ns)
}
