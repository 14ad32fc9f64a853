package analyze

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// said is a row of the virtual host with its counters; what is not named is unknown.
func said(at, queue, ready, published, confirmed, delivered, noAck, acked int64) *event.BrokerQueue {
	const none = event.None
	return &event.BrokerQueue{At: epoch + at, Queue: queue, Ready: ready, Unacked: none, Bytes: none, Consumers: none, MemoryBytes: none,
		Published: published, Confirmed: confirmed, Returned: none, Dropped: none, Delivered: delivered, DeliveredNoAck: noAck, Got: none, GotNoAck: none,
		Acked: acked, Redelivered: none, Running: none}
}

// managed is a plan whose broker was asked.
func managed(p, c int) *manifest.Manifest {
	m := plan(p, c)
	m.Management = &manifest.Management{URI: "http://guest@127.0.0.1:15672", IntervalNS: 1000 * ms, Cluster: "c", Erlang: "25",
		Nodes: []manifest.ManagedNode{{Name: "n0", Processors: 2, Plugins: []string{"b", "a"}}}, Samples: 4}
	return m
}

// Counters count from the first row on: 1,000 before the load, 40 of the run, and a broker that began anew at 7.
func TestBrokerSide(t *testing.T) {
	const none = event.None
	r := record(t, managed(1, 1))
	r.send(0, 0, 2, 0)
	r.ack(0, 0, 2, ms)
	r.receive(0, 0, 0, 2*ms, 0, 1)
	r.ackAll(0, 3*ms)
	for _, q := range []*event.BrokerQueue{
		said(-100*ms, none, 5, 1000, 900, 10, none, 10),
		said(900*ms, none, 25, 1040, 940, 30, 20, 10), // 40 published, 40 confirmed, 20 + 20 delivered in 1 s
		said(1900*ms, none, none, 7, none, 30, 20, 15),
		said(-100*ms, 0, 0, none, none, none, none, none), // a queue that nobody had used
		said(900*ms, 0, 3, 40, none, 40, none, 40),
		said(900*ms, 77, 3, 40, none, 40, none, 40), // of no queue that the manifest knows
	} {
		r.w.BrokerQueue(q)
	}
	node := event.BrokerNode{At: epoch, Running: 1, MemoryBytes: 100, MemoryLimitBytes: 200, MemoryAlarm: 0, DiskFreeBytes: 900, DiskLimitBytes: 50, DiskAlarm: 0,
		CPUNS: 5000 * ms, RunQueue: 1, FileDescriptors: none, Sockets: 3, Processes: 9, WrittenBytes: 1000, ReadBytes: none, Syncs: none}
	r.w.BrokerNode(&node)
	node.At, node.MemoryBytes, node.MemoryAlarm, node.DiskFreeBytes, node.CPUNS, node.RunQueue, node.WrittenBytes = epoch+2000*ms, 300, 1, 800, 6000*ms, 4, 3000
	r.w.BrokerNode(&node) // one second of CPU time in two
	r.w.BrokerConnections(&event.BrokerConnections{At: epoch, Total: 3, Looked: 3, Running: 3})
	r.w.BrokerConnections(&event.BrokerConnections{At: epoch + 1000*ms, Total: 3, Looked: 3, Running: 1, Flow: 2})
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass, "broker_alarm", "broker_flow")
	b := got.BrokerSide
	if b == nil || b.Samples != 4 || b.FlowSamples != 1 || b.AlarmSamples != 1 || strings.Join(b.Plugins, " ") != "a b" || b.Cluster != "c" {
		t.Fatalf("%+v", b)
	}
	want := map[string][2]any{"published": {int64(47), int64(2)}, "confirmed": {int64(40), int64(2)}, "returned": {nil, int64(0)},
		"delivered": {int64(40), int64(2)}, "acked": {int64(5), int64(2)}, "redelivered": {nil, int64(0)}}
	for _, c := range b.Counters {
		if w := want[c.Name]; value(c.Broker) != w[0] || value(c.Client) != w[1] {
			t.Errorf("%s: %v and %v, want %v", c.Name, value(c.Broker), value(c.Client), w)
		}
	}
	v := b.Total
	if value(v.MaxReady) != int64(25) || len(v.Samples) != 3 || value(v.Samples[0].Published) != nil || value(v.Samples[1].Published) != 40.0 ||
		value(v.Samples[1].Delivered) != 40.0 || value(v.Samples[2].Published) != nil || value(v.Samples[2].Acked) != 5.0 || value(v.Samples[2].Ready) != nil {
		t.Errorf("%+v", v)
	}
	if len(b.Queues) != 2 || b.Queues[0].Name != "q" || value(b.Queues[0].Samples[1].Published) != 40.0 || b.Queues[1].Name != "queue 77" {
		t.Errorf("%+v", b.Queues)
	}
	n := b.Nodes[0]
	if n.Name != "n0" || value(n.MaxMemoryBytes) != int64(300) || value(n.LeastDiskFreeBytes) != int64(800) || value(n.MaxRunQueue) != int64(4) ||
		value(n.CPUCores) != 0.5 || !n.MemoryAlarm || n.DiskAlarm || n.Down || value(n.Samples[1].WrittenBytes) != 1000.0 || value(n.Samples[1].CPUCores) != 0.5 {
		t.Errorf("%+v", n)
	}
	if f := finding(t, got, "broker_alarm"); f.Severity != result.SeverityWarning || !strings.HasSuffix(f.Text, ": memory of n0") {
		t.Errorf("%+v", f)
	}
	if f := finding(t, got, "broker_flow"); f.Severity != result.SeverityNote || !strings.Contains(f.Text, "1 of 2 times") {
		t.Errorf("%+v", f)
	}
}

// The last look may come just after another: there is no rate between them.
func TestLooksTooCloseForARate(t *testing.T) {
	r := record(t, managed(1, 0))
	for _, at := range []int64{0, 1000, 1499, 1999} { // the interval is 1 s
		r.w.BrokerQueue(said(at*ms, event.None, 0, at, 0, 0, 0, 0))
	}
	s := analyzed(t, r.close()).BrokerSide.Total.Samples
	if value(s[1].Published) != 1000.0 || value(s[2].Published) != nil || value(s[3].Published) != 1000.0 {
		t.Errorf("%v %v %v", value(s[1].Published), value(s[2].Published), value(s[3].Published))
	}
}

// Of long runs some samples are kept, first and last among them; peaks and counters are of all.
func TestBrokerSideIsBounded(t *testing.T) {
	m := managed(1, 0)
	m.Management.IntervalNS = ms
	r := record(t, m)
	r.send(0, 0, 1, 0)
	r.ack(0, 0, 1, ms)
	const rows = 2345
	for i := range int64(rows) {
		ready := int64(0)
		if i == 1233 { // an odd one, which is not kept
			ready = 99
		}
		for !r.w.BrokerQueue(said(i*ms, event.None, ready, i, event.None, event.None, event.None, event.None)) {
		}
	}
	b := analyzed(t, r.close()).BrokerSide
	s := b.Total.Samples
	if len(s) > mostSamples || len(s) < mostSamples/2 || s[0].AtNS != epoch || s[len(s)-1].AtNS != epoch+(rows-1)*ms || value(b.Total.MaxReady) != int64(99) || value(b.Counters[0].Broker) != int64(rows-1) {
		t.Errorf("%d samples to %d, %v, %v", len(s), s[len(s)-1].AtNS-epoch, value(b.Total.MaxReady), value(b.Counters[0].Broker))
	}
	near(t, "rate", s[1].Published, 1000)
}

// A damaged file of the broker's side is a reason to call the capture incomplete, and no more: messages are judged as before.
func TestBrokerSideDamaged(t *testing.T) {
	r := record(t, managed(1, 1))
	r.send(0, 0, 2, 0)
	r.ack(0, 0, 2, ms)
	r.receive(0, 0, 0, 2*ms, 0, 1)
	r.ackAll(0, 3*ms)
	r.w.BrokerQueue(said(0, event.None, 1, 1, 1, 1, 1, 1))
	dir := r.close()
	for name, change := range map[string]func(string, []byte) []byte{
		"missing": without("broker-queues-00.arrow"),
		"flipped": func(name string, b []byte) []byte {
			if name == "broker-queues-00.arrow" {
				b[len(b)*2/3] ^= 4
			}
			return b
		},
	} {
		got := analyzed(t, damaged(t, dir, change))
		if got.Complete || got.Counts.Received != 2 || got.Counts.Lost != 0 || got.BrokerSide == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Rules of policies explain what is missing from a queue that the run found, and consumers of others do.
func TestPoliciesExplain(t *testing.T) {
	for _, c := range []struct {
		name  string
		found manifest.FoundQueue
		want  string // finding; with the words of its text behind it
		words string
	}{
		{"nothing", manifest.FoundQueue{}, "lost", "the management API tells of no policy and no other consumer"},
		{"argument", manifest.FoundQueue{Arguments: []manifest.Arg{{Key: "x-max-length", Value: int64(1)}}}, "removed_by_rule", "x-max-length=1"},
		{"policy", manifest.FoundQueue{Policy: "short", Rules: []manifest.Arg{{Key: "max-length", Value: int64(1)}, {Key: "message-ttl", Value: int64(5)}}}, "removed_by_rule", "policy short: max-length=1, message-ttl=5"},
		{"operator", manifest.FoundQueue{OperatorPolicy: "ops", Rules: []manifest.Arg{{Key: "message-ttl", Value: int64(9)}}}, "removed_by_rule", "policy ops: message-ttl=9"},
		{"rejects", manifest.FoundQueue{Policy: "p", Rules: []manifest.Arg{{Key: "max-length", Value: int64(1)}, {Key: "overflow", Value: "reject-publish"}}}, "lost", ""},
		{"lazy", manifest.FoundQueue{Policy: "p", Rules: []manifest.Arg{{Key: "queue-mode", Value: "lazy"}}}, "lost", ""},
		{"others", manifest.FoundQueue{Consumers: 2}, "removed_by_rule", "another consumer: the queue had 2 consumers of other programs when the run began"},
	} {
		m := managed(1, 1)
		m.Topology.Predeclared = true
		m.Topology.Queues[0].Declare, m.Topology.Queues[0].Found, m.Topology.Queues[0].Arguments = false, &c.found, c.found.Arguments
		r := record(t, m)
		r.send(0, 0, 2, 0)
		r.ack(0, 0, 2, ms)
		r.receive(0, 0, 0, 2*ms, 1)
		r.ackAll(0, 3*ms)
		got := analyzed(t, r.close())
		if f := finding(t, got, c.want); f.Count != 1 || !strings.Contains(f.Text, c.words) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// Exported rows have the names of what they are about.
func TestBrokerRowsExport(t *testing.T) {
	r := record(t, managed(1, 0))
	r.w.BrokerQueue(said(0, 0, 1, 1, 1, 1, 1, 1))
	r.w.BrokerQueue(said(0, event.None, 1, 1, 1, 1, 1, 1))
	r.w.BrokerNode(&event.BrokerNode{At: epoch})
	dir := r.close()
	if got, _ := exportedCSV(t, All("broker-queues"), dir); !strings.Contains(got, ",0,q,1,") || !strings.Contains(got, ",,,1,") {
		t.Error(got)
	}
	if got, _ := exportedCSV(t, All("broker-nodes"), dir); !strings.Contains(got, ",0,n0,") {
		t.Error(got)
	}
}
