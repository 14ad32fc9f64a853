package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// A node of the tests' own, which goes through one thing after the other.
func TestFaultsOfANode(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{})
	t.Run("alarms", func(t *testing.T) { alarms(t, node) })
	t.Run("killed under a transient queue", func(t *testing.T) { killedUnderATransientQueue(t, node) })
}

// The only node is killed and started again while its transient queue holds messages: exactly those are missing, and the report says
// why; nothing is called lost, the run goes on where it was, and the outage is in the result.
func killedUnderATransientQueue(t *testing.T, node *rabbitmqtest.Node) {
	dir := filepath.Join(t.TempDir(), "capture")
	args := []string{"run", "--quiet", "--uri", node.URI(t), "--queue", "q", "--auto-delete", "false", "--rate", "1000", "--consumer-rate", "500", "--qos", "20", "--confirm", "100",
		"--pmessages", "1500", "--republish", "--reconnect-delay", "50ms-500ms", "--capture", dir}
	done := make(chan int, 1)
	var stderr string
	go func() {
		code, _, said := invoke(t, args...)
		stderr = said
		done <- code
	}()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, manifest.StartName)); err == nil {
			break
		}
	}
	time.Sleep(800 * time.Millisecond)
	node.Kill(t)
	node.Restart(t)
	if code := <-done; code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	r := analyzedCapture(t, dir)
	c, d := &r.Counts, r.Disruption
	if r.Verdict != result.Pass || c.Sent != 1500 || c.Confirmed != 1500 || c.Lost != 0 || c.RemovedByRule == 0 || c.RemovedByRule != 1500-c.ReceivedUnique {
		t.Errorf("%s, %+v", r.Verdict, *c)
	}
	var told string
	for _, f := range r.Findings {
		told += f.Code + ": " + f.Text + "\n"
	}
	if !strings.Contains(told, "removed_by_rule: ") || !strings.Contains(told, "not durable: connections were lost") || !strings.Contains(told, "reconnected: ") {
		t.Error(told)
	}
	if d == nil || d.Losses != 2 || d.Recovered != 2 || d.StandstillNS == nil || *d.StandstillNS < 500e6 || d.CaughtUpNS == nil || *d.CaughtUpNS < d.FirstNS {
		t.Errorf("%+v", d)
	}
	everyMessageIsAccountedFor(t, dir, r)
	_, report, _ := invoke(t, "analyze", dir)
	if !strings.Contains(report, "\nLost connections (seconds after the start)\n") || !strings.Contains(report, "limited by    lost connections: ") {
		t.Error(report)
	}
}
