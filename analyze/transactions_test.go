package analyze

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// transacting is a run whose producer commits every ten messages.
func transacting() *manifest.Manifest {
	m := plan(1, 1)
	m.Producers[0].Confirm, m.Producers[0].TxSize = 0, 10
	return m
}

// 25 messages in transactions of ten: two are committed, the last one is not, and of what was in it the broker keeps nothing.
func TestUncommittedIsNotMissing(t *testing.T) {
	r := record(t, transacting())
	r.send(0, 0, 10, 0)
	r.settle(event.Commit, 0, 0, 10, 4*ms)
	r.send(0, 10, 10, 10*ms)
	r.settle(event.Commit, 0, 10, 10, 18*ms)
	r.send(0, 20, 5, 20*ms)
	r.receive(0, 0, 0, 30*ms, seqs(0, 19)...)
	r.ackAll(0, 31*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass, "uncommitted_at_stop")
	want := result.Counts{Sent: 25, Committed: 20, Uncommitted: 5, Received: 20, ReceivedUnique: 20}
	checkCounts(t, got.Counts, want)
	checkCounts(t, got.Queues[0].Counts, want)
	if got.Latency.Confirm != (result.Latency{}) {
		t.Errorf("confirm latency without confirms: %+v", got.Latency.Confirm)
	}
	// ten of 4 ms, ten of 8 ms, five without an answer: ranks 13, 19 and 24 of 25
	if d := got.Latency.Commit.Service; d.Count != 20 || d.Censored != 5 || *d.P50NS != 8*ms || *d.P75NS != 8*ms || d.P95NS != nil || *d.MeanNS != 6*float64(ms) {
		t.Errorf("%+v", d)
	}
	if d := got.Latency.Delivery.Service; d.Count != 20 || d.Censored != 0 { // what was not committed belongs to no cohort of it
		t.Errorf("%+v", d)
	}
	if got.Rates.Confirmed != nil || *got.Rates.Committed != 20 {
		t.Errorf("%+v", got.Rates)
	}
	if b := got.Intervals[len(got.Intervals)-1].BacklogEnd; *b != 0 {
		t.Errorf("%d on the backlog", *b)
	}
	if got.Config.PublishTxSize != 10 || got.Config.DescribeConfirms() != "published in transactions of 10 messages" {
		t.Errorf("%+v", got.Config)
	}
	if strings.Contains(got.LatencyNote, "no confirm latency") || !strings.Contains(strings.Join(got.LatencyRemarks, " "), "transaction") {
		t.Errorf("%q %q", got.LatencyNote, got.LatencyRemarks)
	}
}

// The answer to a commit vouches for its messages: one that never arrives is lost. One that arrived without it is no trouble.
func TestCommitVouches(t *testing.T) {
	r := record(t, transacting())
	r.send(0, 0, 20, 0)
	r.settle(event.Commit, 0, 0, 10, 4*ms)
	r.receive(0, 0, 0, 5*ms, seqs(0, 6)...)
	r.receive(0, 0, 0, 6*ms, 8, 9, 10, 11)
	r.ackAll(0, 7*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "lost", "uncommitted_at_stop")
	checkCounts(t, got.Counts, result.Counts{Sent: 20, Committed: 10, Uncommitted: 10, Received: 11, ReceivedUnique: 11, Missing: 1, Lost: 1})
	if f := finding(t, got, "lost"); f.First[0].Sequence != 7 || !strings.Contains(f.Text, "committed by the broker") {
		t.Errorf("%+v", f)
	}
}

// A message of a transaction that reaches no queue comes back with the commit: returned and committed, not missing.
func TestReturnedInATransaction(t *testing.T) {
	m := transacting()
	m.Producers[0].Mandatory = true
	m.Topology.Routes = append(m.Topology.Routes, manifest.Route{Exchange: "amq.direct", RoutingKey: "nobody", Known: true})
	r := record(t, m)
	r.send(0, 0, 9, 0)
	r.sendTo(0, 9, 1, 0, 1)
	r.settle(event.Return, 0, 9, 1, 4*ms)
	r.settle(event.Commit, 0, 0, 10, 4*ms)
	r.receive(0, 0, 0, 5*ms, seqs(0, 8)...)
	r.ackAll(0, 6*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Fail, "returned", "unroutable")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Committed: 10, Returned: 1, Unroutable: 1, Received: 9, ReceivedUnique: 9})
}

// A record without a manifest tells by its rows that there were transactions.
func TestTransactionsWithoutManifest(t *testing.T) {
	r := record(t, transacting())
	r.send(0, 0, 10, 0)
	r.settle(event.Commit, 0, 0, 8, 4*ms)
	r.receive(0, 0, 0, 5*ms, seqs(0, 7)...)
	dir := r.close()
	for _, name := range []string{manifest.StartName, manifest.FinalName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := analyzed(t, dir)
	if c := got.Counts; c.Committed != 8 || c.Uncommitted != 2 || c.Confirmed+c.Unconfirmed != 0 || got.Latency.Commit.Service.Count != 8 {
		t.Errorf("%+v %+v", c, got.Latency)
	}
}
