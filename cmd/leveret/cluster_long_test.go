//go:build long

package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/reports/chart"
)

// Three nodes with a quorum queue under a steady load: kill -9 of the leader's node, its return, and a restart of one node after the
// other. No message that was confirmed is lost, what was in doubt is listed and resolved, every message is accounted for; outages and
// times to recover are in the result, in the reports and in every chart over time. With -artifacts report and charts are kept.
func TestClusterThatFails(t *testing.T) {
	nodes := rabbitmqtest.StartCluster(t, 3, rabbitmqtest.Options{})
	vhost := nodes[0].VHost(t)
	addMember(t, nodes, vhost) // with a queue, so that its leader is known before the run
	dead := leaderOf(t, nodes, vhost)
	var uris []string
	for _, n := range nodes {
		uris = append(uris, n.URIFor(vhost))
	}
	b := inBackgroundFor(t, 10*time.Minute, "--uris", strings.Join(uris, ","), "--queue", "q", "--quorum-queue", "--flag", "persistent", "--confirm", "200",
		"--producers", "4", "--consumers", "4", "--qos", "100", "--multi-ack-every", "10", "--rate", "250", "--republish", "--reconnect-delay", "50ms-1s", "--drain-timeout", "60",
		"--management-uri", nodes[(slices.Index(nodes, dead)+1)%3].ManagementURL(), "--management-interval", "1", "--hook", fmt.Sprintf("10: kill -9 %d", dead.PID(t)))
	dir := b.dir
	select {
	case <-dead.Done():
	case <-b.done:
		t.Fatalf("the run ended before the hook: exit %d\n%s", b.code, &b.err)
	case <-time.After(time.Minute):
		t.Fatal("the hook has not killed the node")
	}
	time.Sleep(5 * time.Second)
	mark(t, dir, "the killed node is started again")
	dead.Restart(t)
	awaitMembers(t, nodes, vhost)
	mark(t, dir, "the killed node is back")
	for i, n := range nodes {
		time.Sleep(3 * time.Second)
		mark(t, dir, fmt.Sprintf("restart of node %d", i))
		n.Restart(t)
		awaitMembers(t, nodes, vhost)
	}
	mark(t, dir, "all nodes are back")
	time.Sleep(5 * time.Second)
	r, _ := b.end(t)
	everyMessageIsAccountedFor(t, dir, r)
	outagesAreTold(t, dir, r)
	c, d := &r.Counts, r.Disruption
	if r.Verdict != result.Pass || c.Lost != 0 || c.Missing != 0 || c.Duplicates != 0 || c.Confirmed+c.Nacked != c.Sent || c.Sent < 30_000 {
		t.Errorf("%s %+v\n%+v", r.Verdict, *c, r.Findings)
	}
	if d.Losses < 4 || d.Recovered != d.Losses || len(d.Episodes) < 2 || d.Doubt.Messages == 0 || d.Doubt.Missing+d.Doubt.Unknown != 0 {
		t.Errorf("%+v", *d)
	}
	for _, e := range d.Episodes {
		if !e.RecoveredAll || e.RecoverNS <= 0 || e.StandstillNS == nil || e.LastEffectNS < e.LastNS || e.FirstEffectNS > e.FirstNS {
			t.Errorf("%+v", e)
		}
	}
	var marks []string
	for _, m := range r.Marks {
		marks = append(marks, m.From+": "+m.Text)
	}
	if all := strings.Join(marks, "\n"); len(marks) != 8 || !strings.Contains(all, "hook: began: kill -9") || !strings.Contains(all, "exit code 0") || !strings.Contains(all, "mark: all nodes are back") {
		t.Errorf("%d marks\n%s", len(marks), all)
	}
	t.Logf("%+v\n%+v", *c, *d)
}

// addMember declares the queue as the run will, so that all three nodes have a member of it.
func addMember(t *testing.T, nodes []*rabbitmqtest.Node, vhost string) {
	t.Helper()
	if code, _, stderr := invoke(t, "run", "--quiet", "--uri", nodes[0].URIFor(vhost), "--queue", "q", "--quorum-queue", "--flag", "persistent", "--confirm", "10", "--pmessages", "10",
		"--capture", filepath.Join(t.TempDir(), "first")); code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	awaitMembers(t, nodes, vhost)
}

// member of a quorum queue, as the management API tells of it.
type quorumQueue struct {
	Leader string   `json:"leader"`
	Online []string `json:"online"`
}

func askQueue(t *testing.T, n *rabbitmqtest.Node, vhost string) (q quorumQueue) {
	t.Helper()
	n.ManagementGet(t, "queues/"+url.PathEscape(vhost)+"/q", &q)
	return q
}

func leaderOf(t *testing.T, nodes []*rabbitmqtest.Node, vhost string) *rabbitmqtest.Node {
	t.Helper()
	q := askQueue(t, nodes[0], vhost)
	i := slices.IndexFunc(nodes, func(n *rabbitmqtest.Node) bool { return n.Name() == q.Leader })
	if i < 0 {
		t.Fatalf("%+v", q)
	}
	return nodes[i]
}

// awaitMembers waits until all three members of the queue are there: before that no further node may go.
func awaitMembers(t *testing.T, nodes []*rabbitmqtest.Node, vhost string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		q := askQueue(t, nodes[0], vhost)
		if len(q.Online) == len(nodes) && q.Leader != "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", q)
		}
	}
}

// outagesAreTold looks for the losses in the reports, and in every chart over time.
func outagesAreTold(t *testing.T, dir string, r *result.Result) {
	t.Helper()
	out := t.ArtifactDir()
	for _, form := range []string{"text", "html"} {
		file := filepath.Join(out, "report."+form)
		if code, _, stderr := invoke(t, "analyze", dir, "--quiet", "--format", form, "--output", file, "--charts", out, "--chart-format", "png,svg"); code != exitOK {
			t.Fatalf("exit %d\n%s", code, stderr)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Lost connections", "standstill", "recovered", "in doubt", "confirmed and lost", "Marks"} {
			if !strings.Contains(string(b), want) {
				t.Errorf("the %s report does not say %q", form, want)
			}
		}
	}
	for _, s := range chart.Specs(r, chart.Options{}) {
		overTime := strings.HasPrefix(s.X.Label, "time since start")
		if lost := slices.ContainsFunc(s.Spans, func(p chart.Span) bool { return p.Kind == "lost" }); lost != overTime {
			t.Errorf("chart %s: lost connections are drawn: %v", s.Name, lost)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, manifest.MarksName)); err != nil {
		t.Error(err)
	}
}
