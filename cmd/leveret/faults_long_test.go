//go:build long

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// A node stands still for ten seconds. A run that is patient goes on afterwards with nothing lost or sent twice; one with short
// heartbeats takes its connections for lost, and connects again when the node answers; one whose time is over meanwhile ends within its
// deadlines, at a node that answers nothing.
func TestNodeStandsStillForTenSeconds(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{})
	load := "--uri " + node.URI(t) + " --rate 200 --confirm 100 --auto-delete false --qos 50 --reconnect-delay 50ms-500ms"
	patient := inBackground(t, load+" --queue patient --pmessages 3000")
	quick := inBackground(t, load+" --queue quick --pmessages 3000 --heartbeat 2 --connect-timeout 2 --republish")
	ending := inBackground(t, load+" --queue ending --time 3 --drain-timeout 2 --shutdown-timeout 2")
	for _, b := range []*background{patient, quick, ending} {
		b.running(t)
	}
	began := time.Now()
	time.Sleep(2 * time.Second)
	node.Pause(t)
	paused := time.Now()
	<-ending.done
	// Its time, drain, closing; the connection that declared has 5 s for its end. 2 s are for a machine that does something else, too.
	if took := time.Since(began); took > 3*time.Second+2*time.Second+2*time.Second+5*time.Second+2*time.Second {
		t.Errorf("it ended after %v", took)
	}
	time.Sleep(time.Until(paused.Add(10 * time.Second)))
	node.Resume(t)

	r, m := ending.ended(t)
	c := &r.Counts // of 600 in three seconds those are not sent that did not fit into the window any more
	if ending.code != exitOK || r.Verdict != result.Inconclusive || r.StopReason != "time limit reached" || c.Unconfirmed != 100 || c.Sent != c.Confirmed+100 || c.Sent+c.NotSent != 600 || c.Received < c.Confirmed || c.Lost+c.Missing > 0 {
		t.Errorf("exit %d, %s, %q, %+v\n%s", ending.code, r.Verdict, r.StopReason, *c, told(r))
	}
	if m.Outcome.Drained || len(m.Outcome.Failures) > 0 {
		t.Errorf("%+v", m.Outcome)
	}
	saysAll(t, told(r), "not drained, so that loss is not judged: producer 0: 100 messages unconfirmed")
	for name, b := range map[string]*background{"patient": patient, "quick": quick} {
		r, m := b.ended(t)
		c := &r.Counts
		if b.code != exitOK || r.Verdict != result.Pass || r.StopReason != "all messages sent" || c.Sent != 3000 || c.Confirmed != 3000 || c.ReceivedUnique != 3000 || c.Lost+c.Missing > 0 {
			t.Errorf("%s: exit %d, %s, %q, %+v\n%s", name, b.code, r.Verdict, r.StopReason, *c, told(r))
		}
		t.Logf("%s: %+v, %+v", name, *c, r.Disruption)
		if name == "patient" {
			if len(m.Outcome.Recoveries) > 0 || c.Received != 3000 {
				t.Errorf("%s: %+v", name, m.Outcome)
			}
			continue
		}
		if d := r.Disruption; d == nil || d.Losses != 2 || d.Recovered != 2 || d.StandstillNS == nil || *d.StandstillNS < 9e9 || *d.StandstillNS > 20e9 {
			t.Errorf("%s: %+v", name, d)
		}
		saysAll(t, told(r), "nothing came from the broker for two heartbeat intervals (4 s)")
	}
}

// C033: a memory alarm, and the broker reads no more from ten producers that publish without confirms. The run ends in its time all the
// same, the blocked spans are in the record, and a second Ctrl-C ends it at once.
func TestC033BlockedToTheEnd(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{})
	uri := node.URI(t)
	dir := filepath.Join(t.TempDir(), "capture")
	perf := func(dir string) *process {
		return launch(t, "", "perf-test", "-h", uri, "-u", "q", "-x", "10", "-y", "0", "-z", "30", "-st", "5", "--capture", dir)
	}
	p := perf(dir)
	began := time.Now()
	other := filepath.Join(t.TempDir(), "interrupted")
	interrupted := perf(other)
	time.Sleep(4 * time.Second)
	node.Ctl(t, "set_vm_memory_high_watermark", "0")
	time.Sleep(5 * time.Second)
	interrupted.Process.Signal(os.Interrupt)
	time.Sleep(500 * time.Millisecond)
	interrupted.Process.Signal(os.Interrupt)
	select {
	case <-interrupted.ended:
	case <-time.After(2 * time.Second):
		t.Errorf("not ended by the second Ctrl-C: %s", interrupted.said())
	}
	if code := interrupted.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d after two Ctrl-C", code)
	}
	code := p.await(t)
	took := time.Since(began)
	r := analyzedCapture(t, dir)
	t.Logf("ended after %v with exit %d; %d sent; %d spans\n%s\n%s", took, code, r.Counts.Sent, len(r.Spans), told(r), p.said())
	if took > 30*time.Second+5*time.Second+3*time.Second { // the last are for start and analysis
		t.Errorf("it ended after %v", took)
	}
	blocked := map[string]int64{}
	for _, s := range r.Spans {
		if s.Kind == "blocked" {
			blocked[s.Text] += s.ToNS - s.FromNS
		}
	}
	for text, ns := range blocked {
		if ns < 20e9 || !strings.Contains(text, "low on memory") {
			t.Errorf("%s: blocked for %d ns", text, ns)
		}
	}
	// Ten connections that were blocked at the same time are one span.
	times := slices.IndexFunc(r.Findings, func(f result.Finding) bool { return f.Code == "blocked" && f.Count == 10 })
	if len(blocked) != 1 || times < 0 || code != exitFailed || r.Verdict != result.Inconclusive || r.StopReason != "time limit reached" {
		t.Errorf("exit %d, %s, %q, blocked %v", code, r.Verdict, r.StopReason, blocked)
	}
}

// C083 on RabbitMQ 4, whose quorum queues have the limit of themselves.
func TestC083DeliveryLimitOfRabbitMQ4(t *testing.T) {
	t.Parallel()
	deliveryLimitIsReached(t, rabbitmqtest.Start(t, rabbitmqtest.Options{RabbitMQ4: true}), "")
}

// C109: of two nodes of a cluster the first address is dead when the run starts; then the node that the run is on is killed.
func TestC109NodeIsKilled(t *testing.T) {
	t.Parallel()
	nodes := rabbitmqtest.StartCluster(t, 2, rabbitmqtest.Options{})
	vhost := nodes[0].VHost(t)
	dead := nobody(t)
	uris := strings.Replace(nodes[0].URIFor(vhost), nodes[0].Addr(), dead, 1) + ",amqp://" + nodes[0].Addr()
	b := inBackground(t, "--uris "+uris+" --queue q --auto-delete false --producers 3 --rate 100 --pmessages 800 --confirm 100 --republish --reconnect-delay 50ms-500ms")
	b.running(t)
	relay := startRelay(t, dead, nodes[1].Addr()) // the first address comes back: another node
	time.Sleep(2 * time.Second)
	nodes[0].Kill(t)
	r, m := b.ended(t)
	c := &r.Counts
	// The queue was the killed node's, and transient: what it held went with it.
	if b.code != exitOK || r.Verdict != result.Pass || c.Sent != 2400 || c.Confirmed != 2400 || c.Lost > 0 || c.ReceivedUnique+c.RemovedByRule != 2400 {
		t.Errorf("exit %d, %s, %+v\n%s", b.code, r.Verdict, *c, told(r))
	}
	if n := r.Config.EndpointConnections; len(n) != 2 || n[0] != 4 || n[1] != 4 || len(m.Outcome.Recoveries) != 4 {
		t.Errorf("connections by address %v, %+v", n, m.Outcome)
	}
	_, report, _ := invoke(t, "analyze", b.dir, "--quiet")
	saysAll(t, report, relay.listener.Addr().String(), "with 4 connections")
	t.Logf("%+v", *c)
}
