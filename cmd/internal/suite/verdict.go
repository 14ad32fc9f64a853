package suite

import (
	"fmt"
	"strings"

	"leveret/analyze/result"
)

// outcome counts the lines of a table by what became of them.
type outcome struct {
	lines, passed, failed, unrun int // the rest proved nothing, or was left out
	chosen, rows                 int // rows of the table that were asked for, of all that it has
}

func outcomeOf(lines []*line) outcome {
	o := outcome{lines: len(lines)}
	seen := map[*Row]bool{}
	for _, l := range lines {
		switch {
		case l.passed():
			o.passed++
		case l.failed():
			o.failed++
		case l.unfinished():
			o.unrun++
		}
		if seen[l.row] = true; o.rows < l.row.Of {
			o.rows = l.row.Of
		}
	}
	o.chosen = len(seen)
	return o
}

// tableVerdict is PASS where every row has passed, FAIL where one has failed, and INCONCLUSIVE where that is not known: rows were
// not run yet, were left out, or proved nothing. What the table is about is said only of all of its rows, never of some that were
// chosen.
func tableVerdict(t *Table, lines []*line) (v result.Verdict, text string) {
	o := outcomeOf(lines)
	some := ""
	if o.chosen < o.rows {
		some = fmt.Sprintf("%d of %d rows, chosen with --only", o.chosen, o.rows)
	}
	if o.passed == o.lines {
		text = fmt.Sprintf("%s: %d of %d rows have passed", t.Verdict, o.passed, o.lines)
		if some != "" {
			text = fmt.Sprintf("%s, have passed; only all %d could show that %s", some, o.rows, t.Verdict)
		}
		return result.Pass, fmt.Sprintf("%s: %s", result.Pass, text)
	}
	v = result.Inconclusive
	if o.failed > 0 {
		v = result.Fail
	}
	parts := []string{fmt.Sprintf("%d of %d rows have passed", o.passed, o.lines)}
	for _, x := range []struct {
		n    int
		what string
	}{{o.failed, "failed"}, {o.unrun, "not run"}, {o.lines - o.passed - o.failed - o.unrun, "left out or not proved"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	text = "it is not shown that " + t.Verdict + ": " + strings.Join(parts, ", ")
	if o.unrun > 0 {
		text = "not finished: " + text
	}
	if some != "" {
		text += " (" + some + ")"
	}
	return v, fmt.Sprintf("%s: %s", v, text)
}

// Unproved say, a line each, which tables have a verdict that is not PASS. Attach has been called.
func (r *Record) Unproved(rows []*Row, from Source) (texts []string, err error) {
	for _, set := range byTable(rows) {
		t := set[0].Table
		if t.Verdict == "" {
			continue
		}
		lines, err := r.lines(set, from)
		if err != nil {
			return nil, err
		}
		if v, text := tableVerdict(t, lines); v != result.Pass {
			texts = append(texts, t.Heading()+": "+text)
		}
	}
	return texts, nil
}

// passed: every run of the row was run, and proved that all is well.
func (l *line) passed() bool {
	for _, x := range l.results {
		if x[0].Verdict != result.Pass {
			return false
		}
	}
	return len(l.results) > 0 && len(l.results) == len(l.runs)
}

// failed: a run of the row could not run, or has shown that something is wrong.
func (l *line) failed() bool {
	for _, run := range l.runs {
		if run.State == Failed {
			return true
		}
	}
	for _, x := range l.results {
		if x[0].Verdict == result.Fail {
			return true
		}
	}
	return false
}

// unfinished: a run of the row is still to be run.
func (l *line) unfinished() bool {
	for _, run := range l.runs {
		if run.State == Planned || run.State == Running {
			return true
		}
	}
	return len(l.runs) == 0
}
