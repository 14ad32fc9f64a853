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

func analyzedBy(t *testing.T, by []string, dirs ...string) *result.Result {
	t.Helper()
	r, err := Run(t.Context(), dirs, Options{Tmp: t.TempDir(), By: by})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Of more members than are kept apart, the spread of the messages is of all, and latencies are of the first.
func TestManyMembers(t *testing.T) {
	r := record(t, plan(300, 0))
	for p := range 300 {
		r.send(p, 0, 1+p, 0)
		r.ack(p, 0, 1+p, int64(1+p)*ms)
	}
	got := analyzedBy(t, []string{ByProducer, ByProducer}, r.close())
	if len(got.Groupings) != 1 {
		t.Fatalf("%d groupings", len(got.Groupings))
	}
	g := got.Groupings[0]
	if g.Total != 300 || len(g.Members) != 256 || g.LeastMessages != 1 || g.MedianMessages != 150 || g.MostMessages != 300 {
		t.Errorf("%d of %d, %d to %d to %d", len(g.Members), g.Total, g.LeastMessages, g.MedianMessages, g.MostMessages)
	}
	if m := g.Members[63]; m.Name != "producer 63" || m.Messages != 64 || *m.Latency.Confirm.Service.P50NS != 64*ms || m.Latency.Confirm.Service.Count != 64 {
		t.Errorf("%+v", m)
	}
}

// Members of several captures are named after them; a queue that both know is one.
func TestMembersOfSeveralCaptures(t *testing.T) {
	first, second := plan(2, 0), plan(1, 2)
	second.ID, second.Tag = "other", 8
	first.ClockStart.BootID, second.ClockStart.BootID = "host", "host"
	first.ClockStart.MonotonicNS, second.ClockStart.MonotonicNS = 5, 5
	a, b := record(t, first), record(t, second)
	a.send(1, 0, 3, 0)
	a.ack(1, 0, 3, 5*ms)
	b.send(0, 0, 2, 0)
	b.ack(0, 0, 2, 7*ms)
	for i := range uint64(3) {
		b.deliver(1, 9*ms, event.Delivery{Tag: 7, Producer: 1, Seq: i, Body: event.Intact, Due: event.None})
	}
	b.receive(0, 0, 0, 8*ms, 0, 1)
	b.ackAll(0, 10*ms)
	b.ackAll(1, 10*ms)
	got := analyzedBy(t, []string{ByProducer, ByConsumer, ByQueue}, a.close(), b.close())
	checkVerdict(t, got, result.Pass)
	p, c, q := got.Groupings[0].Members, got.Groupings[1].Members, got.Groupings[2].Members
	if len(p) != 3 || p[0].Messages != 0 || p[0].Latency != (result.Latencies{}) || p[1].Name != "producer 1 of test" || *p[1].Latency.Confirm.Service.MaxNS != 5*ms ||
		p[2].Name != "producer 0 of other" || *p[2].Latency.Delivery.Service.MaxNS != 8*ms {
		t.Errorf("%+v", p)
	}
	if len(c) != 2 || c[1].Name != "consumer 1 of other" || c[1].Messages != 3 || *c[1].Latency.Delivery.Service.MinNS != 9*ms || c[1].Latency.Confirm.Service != nil {
		t.Errorf("%+v", c)
	}
	if len(q) != 1 || q[0].Name != "q" || q[0].Messages != 5 || q[0].Latency.Delivery.Service.Count != 5 {
		t.Errorf("%+v", q)
	}
}

// Of consumers alone, the due times in the stamps make latencies, by consumer and queue too.
func TestMembersByStamps(t *testing.T) {
	m := plan(0, 2)
	m.Outcome.PublishStopNS = event.None
	r := record(t, m)
	for i := range 4 {
		r.deliver(i%2, 10*ms, event.Delivery{Tag: 9, Seq: uint64(i), Body: event.Intact, Due: epoch + int64(i)*ms})
	}
	r.ackAll(0, 11*ms)
	r.ackAll(1, 11*ms)
	got := analyzedBy(t, []string{ByConsumer, ByQueue}, r.close())
	if c := got.Groupings[0].Members; *c[0].Latency.Delivery.Response.MaxNS != 10*ms || *c[1].Latency.Delivery.Response.MinNS != 7*ms || c[1].Messages != 2 {
		t.Errorf("%+v", c)
	}
	if q := got.Groupings[1].Members; q[0].Latency.Delivery.Response.Count != 4 {
		t.Errorf("%+v", q)
	}
}

// What cannot be is said: a word that is none, and captures that don't tell their members.
func TestGroupingsThatCannotBe(t *testing.T) {
	r := record(t, plan(1, 1))
	r.send(0, 0, 1, 0)
	dir := r.close()
	if _, err := Run(t.Context(), []string{dir}, Options{By: []string{"colour"}}); err == nil || !strings.Contains(err.Error(), `"colour"`) {
		t.Error(err)
	}
	for _, name := range []string{manifest.StartName, manifest.FinalName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := analyzedBy(t, []string{ByProducer}, dir)
	if len(got.Groupings) != 0 || !strings.Contains(strings.Join(got.Notes, " "), "not by producer: a capture without a manifest") {
		t.Errorf("%+v %q", got.Groupings, got.Notes)
	}
}
