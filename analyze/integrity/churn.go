package integrity

import (
	"fmt"

	"leveret/analyze/result"
)

// Codes of findings about operations that make and undo things at the broker. They are stable: scripts rely on them.
const (
	CodeChurnFailed    = "churn_failed"
	CodeChurnNotUndone = "churn_not_undone"
	CodeChurnLeft      = "churn_left"
	CodeChurnNotBegun  = "churn_not_begun"
	CodeChurnCleanedUp = "churn_cleaned_up"
)

// Churn are the operations of one capture.
type Churn struct {
	What                                       string // "connections"
	Made, Failed, NotBegun, Undone, UndoFailed int64
	// RowsMissing: rows of operations are missing in the record, or may be.
	RowsMissing bool
	// Failures says why they could not be made, UndoFailures why not undone, one line each, the most frequent first.
	Failures, UndoFailures []string
	// Left names what may still be at the broker, Why says why; CleanedUp was removed at the end only.
	Left                 []string
	LeftCount, CleanedUp int64
	Why                  string
}

// ChurnFailure says why steps failed: "queue.declare refused 3 times: NOT_FOUND - ... (404)".
func ChurnFailure(count int64, step, outcome string, code int, text string) string {
	became, why := result.DescribeFailure(step, outcome)
	s := step + " " + became
	if count > 1 {
		s += " " + result.Group(count) + " times"
	}
	if why != "" {
		s += ", " + why
	}
	if text != "" {
		s += ": " + text
	}
	if code != 0 {
		s += fmt.Sprintf(" (%d)", code)
	}
	return s
}

// churn are the findings about operations.
func (r *report) churn() {
	for i := range r.f.Churn {
		c := &r.f.Churn[i]
		of := c.What + ": "
		r.add(CodeChurnFailed, result.SeverityFail, c.Failed, nil, "%s%s of %s could not be made: %s", of, result.Group(c.Failed), result.Plural(c.Made+c.Failed, "operation"), few(c.Failures))
		r.add(CodeChurnNotUndone, result.SeverityFail, c.UndoFailed, nil, "%s%s of %s could not be undone: %s", of, result.Group(c.UndoFailed), result.Plural(c.Made, "operation"), few(c.UndoFailures))
		if open := c.Made - c.Undone - c.UndoFailed; open > 0 {
			r.add(CodeChurnNotUndone, result.SeverityInconclusive, open, nil, "%s%s made, and the record does not tell whether they were undone", of, result.Plural(open, "operation"))
		}
		why := ""
		if c.Why != "" {
			why = "; " + c.Why
		}
		r.add(CodeChurnLeft, result.SeverityFail, c.LeftCount, nil, "%s may still be at the broker: %s%s", result.Plural(c.LeftCount, "queue"), few(c.Left), why)
		r.add(CodeChurnCleanedUp, result.SeverityWarning, c.CleanedUp, nil, "%s that an operation could not undo, or did not know to be there, removed at the end", result.Plural(c.CleanedUp, "queue"))
		r.add(CodeChurnNotBegun, result.SeverityWarning, c.NotBegun, nil, "%s%s due and not begun when the load ended, as all of --concurrency were in work, or as many were there as --lifetime allows: the rate was more than was kept up with",
			of, result.Plural(c.NotBegun, "operation"))
		if c.Made+c.Failed == 0 {
			text := "no operation was begun"
			if c.RowsMissing {
				text = "no operation is in what can be read of the record"
			}
			r.add(CodeNothingToJudge, result.SeverityInconclusive, 1, nil, "nothing to judge: %s", text)
		}
	}
}

// onlyChurn tells whether operations are all that there is to judge.
func (r *report) onlyChurn() bool {
	return len(r.f.Churn) > 0 && r.l.x.producers == 0 && r.l.x.consumers == 0
}
