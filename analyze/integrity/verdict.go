package integrity

import (
	"slices"

	"leveret/analyze/result"
)

// Judgement is what the analysis takes over into its result.
type Judgement struct {
	Verdict  result.Verdict
	Findings []result.Finding // worst first, never nil
	Counts   result.Counts
	Queues   []result.QueueCounts
	Doubt    result.Doubt
}

// rank orders severities, the worst first.
var rank = map[result.Severity]int{
	result.SeverityFail: 0, result.SeverityInconclusive: 1, result.SeverityWarning: 2, result.SeverityNote: 3,
}

// Judge gives counts, findings and verdict. Finish must have been called with the same facts.
func (l *Ledger) Judge(f *Facts) Judgement {
	ts := l.tallies(f)
	j := Judgement{Verdict: result.Pass, Findings: []result.Finding{}, Counts: l.sum(ts), Doubt: l.total.doubt}
	for i := range ts {
		j.Queues = append(j.Queues, result.QueueCounts{Queue: ts[i].queue.name, Type: ts[i].queue.kind, Counts: ts[i].Counts, RoutesUnknown: !l.RoutesKnown()})
	}
	r := &report{l: l, f: f, ts: ts, c: j.Counts}
	r.messages()
	r.recording()
	r.losses()
	r.readAgain()
	r.course()
	r.churn()
	r.brokerSide()
	r.notes()
	slices.SortStableFunc(r.findings, func(a, b result.Finding) int { return rank[a.Severity] - rank[b.Severity] })
	for _, x := range r.findings {
		switch {
		case x.Severity == result.SeverityFail:
			j.Verdict = result.Fail
		case x.Severity == result.SeverityInconclusive && j.Verdict != result.Fail:
			j.Verdict = result.Inconclusive
		}
	}
	j.Findings = append(j.Findings, r.findings...)
	return j
}
