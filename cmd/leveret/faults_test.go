package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// What a real RabbitMQ, or somebody between, does to a run, in a pause of its load where numbers have to be exact: 50 messages in the
// first second, none for two, and then 500 a second.
const pausing = " --variable-rate 50:1 --variable-rate 0:2 --variable-rate 500:1 --confirm 100"

// ended waits for a run that ends by itself, and returns its result and manifest.
func (b *background) ended(t *testing.T) (*result.Result, *manifest.Manifest) {
	t.Helper()
	<-b.done
	m, err := readManifest(b.dir)
	r := new(result.Result)
	if err == nil {
		err = json.Unmarshal(b.out.Bytes(), r)
	}
	if err != nil {
		t.Fatalf("exit %d, %v\n%s", b.code, err, &b.err)
	}
	return r, m
}

// running waits until load is being offered.
func (b *background) running(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(b.dir, manifest.StartName)); err == nil {
			return
		}
	}
	t.Fatal("load has not begun within a minute")
}

// told are all findings, a line each.
func told(r *result.Result) string {
	var s strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&s, "%s %s: %s\n", f.Severity, f.Code, f.Text)
	}
	return s.String()
}

// saysAll checks that a text says all of that, however its lines are broken.
func saysAll(t *testing.T, text string, words ...string) {
	t.Helper()
	text = strings.Join(strings.Fields(text), " ")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not said in\n%s", w, text)
		}
	}
}

// The socket of a consumer is reset while it holds 50 messages that it has not acked: exactly these come again, flagged, and nothing
// else is out of the ordinary.
func TestConsumersSocketIsKilledWithFiftyUnacked(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Shared(t)
	r := startRelay(t, "127.0.0.1:0", node.Addr())
	b := inBackground(t, "--uri "+r.through(node.URI(t))+" --queue q --auto-delete false --qos 100 --multi-ack-every 100 --pmessages 550 --reconnect-delay 50ms-500ms --id killed"+pausing)
	r.awaitDelivered(t, "killed connection 1", 50) // connection 0 is the producer's
	if n := r.cut("killed connection 1"); n != 1 {
		t.Fatalf("%d sockets were cut", n)
	}
	got, m := b.ended(t)
	want := result.Counts{Sent: 550, Confirmed: 550, Received: 600, ReceivedUnique: 550, Redelivered: 50}
	if b.code != exitOK || got.Verdict != result.Pass || got.Counts != want || got.StopReason != "all messages sent" {
		t.Errorf("exit %d, %s, %q, %+v\n%s", b.code, got.Verdict, got.StopReason, got.Counts, told(got))
	}
	if o := m.Outcome; len(o.Recoveries) != 1 || o.Recoveries[0].Unacked != 50 || o.Recoveries[0].Connection != 1 || !o.Drained || len(o.Failures) > 0 {
		t.Errorf("%+v", o)
	}
	if d := got.Disruption; d == nil || d.Losses != 1 || d.Recovered != 1 || d.Doubt.Messages != 0 {
		t.Errorf("%+v", d)
	}
}

// Queues whose names the broker has given, exclusive ones and those that go with their last consumer are made again when all
// connections have been cut, and nothing is lost that was sent before or after. Without recovery the run ends with what it had.
func TestConnectionsAreCut(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Shared(t)
	r := startRelay(t, "127.0.0.1:0", node.Addr())
	uri := r.through(node.URI(t))
	pass := result.Counts{Sent: 150, Confirmed: 150, Received: 150, ReceivedUnique: 150}
	stopped := result.Counts{Sent: 50, Confirmed: 50, Received: 50, ReceivedUnique: 50}
	runs := []struct {
		name, args string
		code       int
		verdict    result.Verdict
		counts     result.Counts
		reason     string
	}{
		{"server-named", "", exitOK, result.Pass, pass, "all messages sent"},
		{"exclusive", "--queue own --exclusive", exitOK, result.Pass, pass, "all messages sent"},
		{"auto-delete", "--queue automatic --auto-delete true", exitOK, result.Pass, pass, "all messages sent"},
		{"stop", "--queue stop --auto-delete false --on-disconnect stop", exitFailed, result.Inconclusive, stopped, "all producers have ended, not all of them as planned"},
		{"fail", "--queue fail --auto-delete false --on-disconnect fail", exitFailed, result.Inconclusive, stopped, "disconnected: "},
	}
	going := make([]*background, len(runs))
	for i, c := range runs {
		going[i] = inBackground(t, "--uri "+uri+" --qos 100 --multi-ack-every 10 --pmessages 150 --reconnect-delay 50ms-500ms --id "+c.name+pausing+" "+c.args)
	}
	for _, c := range runs {
		r.awaitDelivered(t, c.name+" connection 1", 50)
	}
	r.cut("connection ")
	for i, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			got, m := going[i].ended(t)
			if going[i].code != c.code || got.Verdict != c.verdict || got.Counts != c.counts || !strings.HasPrefix(got.StopReason, c.reason) {
				t.Errorf("exit %d, %s, %q, %+v\n%s", going[i].code, got.Verdict, got.StopReason, got.Counts, told(got))
			}
			recovered := 0
			for _, x := range m.Outcome.Recoveries {
				if x.RecoveredNS >= x.OpenNS && x.OpenNS > x.LostNS && x.Unacked == 0 && x.InDoubt == 0 {
					recovered++
				}
			}
			if want := 2; c.code == exitOK && recovered != want || c.code != exitOK && len(m.Outcome.Failures) != want {
				t.Errorf("%+v", m.Outcome)
			}
		})
	}
}

// A queue is deleted while the run goes on: the broker cancels its consumer, which has the queue declared again. What was in it is lost,
// exactly that, and called so.
func TestQueueIsDeletedInTheMiddle(t *testing.T) {
	t.Parallel()
	uri := rabbitmqtest.Shared(t).URI(t)
	// 0.2 s of work on each message: of 50 that come in the first second most still wait when the load pauses.
	b := inBackground(t, "--uri "+uri+" --queue q --auto-delete false --qos 5 --consumer-latency 200000 --pmessages 60 --reconnect-delay 50ms-500ms"+pausing)
	connection, channel := filled(t, uri, "q", 30)
	defer connection.Close()
	time.Sleep(500 * time.Millisecond) // into the pause
	n, err := channel.QueueDelete("q", false, false, false)
	if err != nil {
		t.Fatal(err)
	}
	deleted := int64(n) // of those that were ready
	got, m := b.ended(t)
	want := result.Counts{Sent: 60, Confirmed: 60, Received: 60 - deleted, ReceivedUnique: 60 - deleted, Lost: deleted, Missing: deleted}
	if deleted < 30 || b.code != exitVerdict || got.Verdict != result.Fail || got.Counts != want || got.StopReason != "all messages sent" {
		t.Errorf("exit %d, %s, %q, %+v, want %+v\n%s", b.code, got.Verdict, got.StopReason, got.Counts, want, told(got))
	}
	if o := m.Outcome; len(o.Recoveries) != 1 || o.Recoveries[0].Consumer == nil || !o.Drained || len(o.Failures) > 0 {
		t.Errorf("%+v", o)
	}
	saysAll(t, told(got), "lost: ", "the broker cancelled a consumer of it ", "as it does when a queue is deleted")
}

// alarms has the node raise its memory alarm and then its disk alarm under a run, each for a moment.
func alarms(t *testing.T, node *rabbitmqtest.Node) {
	b := inBackground(t, "--uri "+node.URI(t)+" --queue q --rate 200 --confirm 100")
	b.running(t)
	for _, ctl := range [][]string{
		{"set_vm_memory_high_watermark", "0.000001"}, {"set_vm_memory_high_watermark", "0.4"},
		{"set_disk_free_limit", "1000000GB"}, {"set_disk_free_limit", "50MB"},
	} {
		time.Sleep(200 * time.Millisecond)
		node.Ctl(t, ctl...)
	}
	time.Sleep(200 * time.Millisecond)
	got, m := b.end(t)
	c := &got.Counts
	if n := c.Sent; n == 0 || *c != (result.Counts{Sent: n, Confirmed: n, Received: n, ReceivedUnique: n}) || got.Verdict != result.Pass || got.StopReason != "interrupted" {
		t.Errorf("%s, %q, %+v\n%s", got.Verdict, got.StopReason, *c, told(got))
	}
	if !m.Outcome.Drained || len(m.Outcome.Failures)+len(m.Outcome.Recoveries) > 0 {
		t.Errorf("%+v", m.Outcome)
	}
	var spans []string
	for _, s := range got.Spans {
		if s.Kind == "blocked" {
			spans = append(spans, s.Text)
			if s.ToNS-s.FromNS < 200e6 { // the sleep between two commands, which take time as well
				t.Errorf("blocked for %d ns", s.ToNS-s.FromNS)
			}
		}
	}
	if want := []string{"connection 0: low on memory", "connection 0: low on disk"}; !slices.Equal(spans, want) {
		t.Errorf("%q, want %q", spans, want)
	}
	_, report, _ := invoke(t, "analyze", b.dir, "--quiet")
	saysAll(t, report, "the broker blocked publishing 2 times (connection.blocked), ", "low on memory", "low on disk")
}

// C109: of two addresses the first is dead when the run starts; then it comes, and the other one dies. All connections go on at the first.
func TestC109ReconnectsGoToTheOtherAddress(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Shared(t)
	dead := nobody(t)
	first := startRelay(t, "127.0.0.1:0", node.Addr())
	uri := node.URI(t)
	b := inBackground(t, "--uris "+strings.Replace(uri, node.Addr(), dead, 1)+",amqp://"+first.listener.Addr().String()+
		" --queue q --auto-delete false --producers 3 --pmessages 150 --reconnect-delay 50ms-500ms --id moved"+pausing)
	first.awaitDelivered(t, "moved connection 3", 150)
	startRelay(t, dead, node.Addr())
	first.kill()
	got, m := b.ended(t)
	if want := (result.Counts{Sent: 450, Confirmed: 450, Received: 450, ReceivedUnique: 450}); b.code != exitOK || got.Verdict != result.Pass || got.Counts != want {
		t.Errorf("exit %d, %s, %+v\n%s", b.code, got.Verdict, got.Counts, told(got))
	}
	if n := got.Config.EndpointConnections; !slices.Equal(n, []int{4, 4}) || len(m.Outcome.Recoveries) != 4 {
		t.Errorf("connections by address %v, %+v", n, m.Outcome)
	}
	for _, x := range m.Outcome.Recoveries {
		if !strings.Contains(x.Endpoint, dead) {
			t.Errorf("%+v", x)
		}
	}
	_, report, _ := invoke(t, "analyze", b.dir, "--quiet")
	saysAll(t, report, dead+"/", "with 4 connections")
}

// C083 on RabbitMQ 3.10, whose quorum queues have a delivery limit on request: each of ten messages comes once, and again 20 times. Then
// it is gone, which is told from being lost.
func TestC083DeliveryLimitIsReached(t *testing.T) {
	t.Parallel()
	deliveryLimitIsReached(t, rabbitmqtest.Shared(t), "-qa x-delivery-limit=20")
}

func deliveryLimitIsReached(t *testing.T, node *rabbitmqtest.Node, args string) {
	t.Helper()
	line := "-qq -u q -na -re true -x 1 -C 10 -y 1 -z 30 -st 20 " + args
	r, m, code, stdout, stderr := perfTest(t, append([]string{"-h", node.URI(t)}, strings.Fields(line)...)...)
	want := result.Counts{Sent: 10, Received: 210, ReceivedUnique: 10, Redelivered: 200}
	if code != exitOK || r.Verdict != result.Pass || r.Counts != want || !m.Outcome.Drained {
		t.Errorf("exit %d, %s, %+v, %+v\n%s%s", code, r.Verdict, r.Counts, m.Outcome, stdout, stderr)
	}
	saysAll(t, told(r), "200 messages delivered with the redelivered flag set", "a quorum queue drops what exceeds its delivery limit (20 by default since RabbitMQ 4.0)")
}
