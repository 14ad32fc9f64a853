package analyze

import (
	"slices"
	"testing"

	"leveret/analyze/result"
)

// checkCounts compares all counts: what a test does not name must be 0.
func checkCounts(t *testing.T, got, want result.Counts) {
	t.Helper()
	if got != want {
		t.Errorf("counts\n got %+v\nwant %+v", got, want)
	}
}

func checkVerdict(t *testing.T, r *result.Result, v result.Verdict, findings ...string) {
	t.Helper()
	slices.Sort(findings)
	if r.Verdict != v || !slices.Equal(codes(r), findings) {
		t.Errorf("%s with findings %v, want %s with %v", r.Verdict, r.Findings, v, findings)
	}
}

func TestCleanRun(t *testing.T) {
	r := record(t, plan(2, 1))
	for p := range 2 {
		r.send(p, 0, 600, 10*ms)
		r.send(p, 600, 400, 20*ms)
		r.ack(p, 0, 1000, 30*ms)
		r.receive(0, 0, p, 40*ms, seqs(0, 999)...)
	}
	r.ackAll(0, 50*ms)
	got := analyzed(t, r.close())
	checkVerdict(t, got, result.Pass)
	checkCounts(t, got.Counts, result.Counts{Sent: 2000, Confirmed: 2000, Received: 2000, ReceivedUnique: 2000})
	if !got.Complete {
		t.Error("not complete")
	}
}
