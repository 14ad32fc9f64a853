package analyze

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// pair records producers and consumers apart; the consumers receive all but one message.
func pair(t *testing.T, change func(producers, consumers *manifest.Manifest)) *result.Result {
	t.Helper()
	a, b := plan(1, 0), plan(0, 1)
	a.ID, b.ID, b.Tag = "one", "two", 8
	for _, m := range []*manifest.Manifest{a, b} {
		m.ClockStart.BootID, m.ClockStart.MonotonicNS = "host", 1
		m.Broker.Node = "rabbit@one"
	}
	change(a, b)
	producers, consumers := record(t, a), record(t, b)
	producers.send(0, 0, 10, 0)
	producers.ack(0, 0, 10, ms)
	for i := range uint64(9) {
		consumers.deliver(0, 2*ms, event.Delivery{Seq: i, Tag: 7, Body: event.Intact, Size: 12, Due: event.None})
	}
	consumers.ackAll(0, 3*ms)
	return analyzed(t, producers.close(), consumers.close())
}

// What belongs together is judged together: the tenth message is lost.
func TestCapturesOfOneRun(t *testing.T) {
	for name, change := range map[string]func(a, b *manifest.Manifest){
		"as they are":                  func(a, b *manifest.Manifest) {},
		"two nodes of a cluster":       func(a, b *manifest.Manifest) { b.Broker.URI = "amqp://guest@other:5672/" },
		"names of this machine":        func(a, b *manifest.Manifest) { a.Broker.Node, b.Broker.URI = "", "amqp://guest@localhost/" },
		"another name of the vhost /":  func(a, b *manifest.Manifest) { b.Broker.URI = "amqp://guest@127.0.0.1/%2F" },
		"bound to the same route":      sharedRoute("direct", "direct", "k", "k"),
		"bound to an exchange of keys": sharedRoute("topic", "topic", "a.b", "a.*"),
	} {
		got := pair(t, change)
		if got.Verdict != result.Fail || finding(t, got, "lost").Count != 1 {
			t.Errorf("%s: %+v", name, got.Findings)
		}
	}
}

// sharedRoute has the producers publish to an exchange, and the consumers bind a queue to it of which the producers know.
func sharedRoute(exchange, kind, published, bound string) func(a, b *manifest.Manifest) {
	return func(a, b *manifest.Manifest) {
		for _, m := range []*manifest.Manifest{a, b} {
			m.Topology.Exchanges = []manifest.Exchange{{Name: exchange, Type: kind}}
		}
		a.Topology.Routes[0].Exchange, a.Topology.Routes[0].RoutingKey = exchange, published
		b.Topology.Routes = nil
		b.Topology.Bindings = []manifest.Binding{{Exchange: exchange, RoutingKey: bound}}
	}
}

// What does not is told apart, and loss is not judged.
func TestCapturesOfSeveralRuns(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(a, b *manifest.Manifest)
		text    string
		brokers int
	}{
		"embedded": {func(a, b *manifest.Manifest) {
			b.Broker = manifest.Broker{Embedded: true, URI: a.Broker.URI, Node: "embedded"}
		}, "the embedded broker at 127.0.0.1", 2},
		"another cluster": {func(a, b *manifest.Manifest) { b.Broker.Node = "rabbit@two" }, "RabbitMQ 3.10.8 rabbit@two at 127.0.0.1:5672, vhost /", 2},
		"another vhost":   {func(a, b *manifest.Manifest) { b.Broker.URI = "amqp://guest@127.0.0.1/other" }, "vhost other", 2},
		"another port": {func(a, b *manifest.Manifest) {
			a.Broker.Node, b.Broker.URI = "", "amqp://guest@127.0.0.1:5673/"
		}, "127.0.0.1:5673", 2},
		"another queue": {func(a, b *manifest.Manifest) {
			b.Topology.Queues[0].Name, b.Topology.Routes = "r", nil
		}, "no queue and no route in common with the others (queue r; queue q)", 1},
		"another key": {func(a, b *manifest.Manifest) {
			b.Topology.Queues[0].Name = "r"
			sharedRoute("direct", "direct", "k", "l")(a, b)
		}, "no queue and no route in common", 1},
		"consumed before": {func(a, b *manifest.Manifest) { a.ClockStart.MonotonicNS += 10_000 * ms }, "overlaps with none of the others in time", 1},
	} {
		got := pair(t, c.change)
		if f := finding(t, got, "not_one_run"); f.Severity != result.SeverityInconclusive || !strings.Contains(f.Text, c.text) {
			t.Errorf("%s: %+v", name, f)
		}
		if got.Verdict != result.Inconclusive || got.Counts.Lost != 0 {
			t.Errorf("%s: %s, %+v", name, got.Verdict, got.Counts)
		}
		if got.Rates != (result.Rates{}) {
			t.Errorf("%s: rates of several runs together: %+v", name, got.Rates)
		}
		describes := got.Broker.Describe()
		if merged := strings.HasPrefix(describes, "2 different brokers ("); merged != (c.brokers == 2) || got.Broker.Embedded {
			t.Errorf("%s: broker %q", name, describes)
		}
	}
}

// Two whole runs, one after the other.
func TestRunsOneAfterTheOther(t *testing.T) {
	var dirs []string
	for i := range 2 {
		m := plan(1, 1)
		m.ID, m.Tag = string(rune('a'+i)), uint16(7+i)
		m.ClockStart.BootID = "host"
		later := int64(i) * 10_000 * ms
		m.Outcome.BarrierNS, m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = epoch+later, epoch+later+1000*ms, epoch+later+1100*ms
		r := record(t, m)
		r.send(0, 0, 1, later)
		r.ack(0, 0, 1, later+ms)
		r.receive(0, 0, 0, later+2*ms, 0)
		r.ackAll(0, later+3*ms)
		dirs = append(dirs, r.close())
	}
	if f := finding(t, analyzed(t, dirs...), "not_one_run"); !strings.Contains(f.Text, "overlaps with none of the others in time") {
		t.Error(f.Text)
	}
}

// The same capture twice is a mistake, by whatever name.
func TestOneCaptureTwice(t *testing.T) {
	m := plan(1, 1)
	m.ClockStart.MonotonicNS, m.ClockStart.BootID = 1, "host"
	r := record(t, m)
	r.send(0, 0, 1, 0)
	dir := r.close()
	link, copied := filepath.Join(t.TempDir(), "link"), filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	twice := []string{dir, dir + "/.", copied}
	if os.Symlink(dir, link) == nil { // not every system lets everybody
		twice = append(twice, link)
	}
	for _, other := range twice {
		if _, err := Run(context.Background(), []string{dir, other}, Options{}); err == nil || !strings.Contains(err.Error(), "given twice") {
			t.Errorf("%s: %v", other, err)
		}
	}
}
