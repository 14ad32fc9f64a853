package result

import "strings"

// Churn is a load of operations, each of which made something at the broker, held it for a time and undid it. Counts and failures are
// of all that was recorded; rates and latencies are of the window of the result.
type Churn struct {
	Capture string `json:"capture"`
	What    string `json:"what"` // connection, channel, queue, consumer, binding
	// Description is in words what was done: "connections, 100 a second due, each with 1 channel, undone at once, at most 100 in work".
	Description string `json:"description"`
	OpenLoop    bool   `json:"open_loop"`
	// TargetPerS is the mean rate of the schedule; nil in closed loop.
	TargetPerS *float64 `json:"target_ops_per_s"`

	// RowsMissing: the record is not proved to hold all rows of operations. Counts, rates and latencies are of those that can be read, and
	// an interval without any says nothing.
	RowsMissing bool `json:"rows_missing"`

	Made       int64 `json:"made"`
	Failed     int64 `json:"failed"`    // could not be made
	NotBegun   int64 `json:"not_begun"` // due, and the load ended before their turn came
	Undone     int64 `json:"undone"`
	UndoFailed int64 `json:"undo_failed"`
	// CleanedUp were removed at the end only, Left may still be at the broker; nil where the record does not tell.
	CleanedUp *int64 `json:"cleaned_up"`
	Left      *int64 `json:"left"`
	MostAlive *int64 `json:"most_alive"` // made, held or undone at the same time

	// MadePerS and UndonePerS are over StartNS to EndNS, the part of the window in which operations were offered; nil where that has no
	// length.
	StartNS    int64    `json:"start_ns"`
	EndNS      int64    `json:"end_ns"`
	MadePerS   *float64 `json:"made_ops_per_s"`
	UndonePerS *float64 `json:"undone_ops_per_s"`

	// Make is from due (response), and from when it began (service), to when all was made; of operations due (else begun) in the
	// window. Operations that failed for want of an answer, and those that never began, are censored; those that the broker refused have no latency.
	Make Latency `json:"make"`
	Undo Latency `json:"undo"` // service only: nothing says when it is due
	// Steps in their order, service latency each: from before the request to its answer.
	Steps []ChurnStep `json:"steps"`
	// Failures by step, outcome, code and text, the most frequent first.
	Failures []ChurnFailure `json:"failures"`
	// Intervals are those of the result, in the same order.
	Intervals []ChurnInterval `json:"intervals"`
}

// ChurnStep is one kind of step.
type ChurnStep struct {
	Step    string        `json:"step"`
	Undoes  bool          `json:"undoes"`
	Done    int64         `json:"done"`
	Failed  int64         `json:"failed"`
	Service *Distribution `json:"service"`
}

// ChurnFailure is why steps failed.
type ChurnFailure struct {
	Step    string `json:"step"`
	Outcome string `json:"outcome"` // refused, lost, timed out
	Code    int    `json:"code"`    // AMQP reply code; 0: none
	Text    string `json:"text"`    // the broker's, or the cause
	Count   int64  `json:"count"`
}

// ChurnInterval counts each event at its own time; latency is of the operations that were due (else begun) in it: from due, in
// closed loop from when they began.
type ChurnInterval struct {
	StartNS int64  `json:"start_ns"`
	EndNS   int64  `json:"end_ns"`
	Phase   string `json:"phase"`
	Due     int64  `json:"due"`
	Made    int64  `json:"made"`
	Failed  int64  `json:"failed"` // could not be made, or not be undone
	Undone  int64  `json:"undone"`
	// UndoFailed are those of Failed that could not be undone.
	UndoFailed int64         `json:"undo_failed"`
	Latency    *Distribution `json:"latency"`
}

// Tells says whether an interval has something to tell: nothing happened in those that lie for the most part before operations were
// offered, or after, where others went on.
func (c *Churn) Tells(in *ChurnInterval) bool {
	offered := min(in.EndNS, c.EndNS) - max(in.StartNS, c.StartNS)
	return in.Due+in.Made+in.Failed+in.Undone > 0 || offered > 0 && offered >= (in.EndNS-in.StartNS)/2
}

// DescribeFailure says what became of a step: "refused", "timed out", "failed"; why is what caused it, in a few words, "" where the text
// says all.
func DescribeFailure(step, outcome string) (became, why string) {
	switch {
	case outcome != "lost":
		return outcome, ""
	case strings.Contains(step, "."): // a request on a connection
		return "failed", "connection lost"
	}
	return "failed", ""
}

// Unknown tells whether the record says nothing of an interval: it has no row of it, and rows are missing.
func (c *Churn) Unknown(in *ChurnInterval) bool {
	return c.RowsMissing && in.Due+in.Made+in.Failed+in.Undone == 0
}

// Latency is the one that stands for the operations: response latency, in closed loop service latency. from names it.
func (c *Churn) Latency() (d *Distribution, from string) {
	if c.OpenLoop {
		return c.Make.Response, "response"
	}
	return c.Make.Service, "service"
}

// OnlyChurn tells whether operations were all the load: there are no producers and no consumers.
func (r *Result) OnlyChurn() bool {
	return len(r.Churn) > 0 && r.Config.Producers == 0 && r.Config.Consumers == 0
}

// DescribeLoad says in words what the load was: producers, consumers and queues, or operations where there were no others.
func (r *Result) DescribeLoad() string {
	if r.OnlyChurn() {
		return r.Churn[0].Description
	}
	return r.Config.DescribeTopology()
}
