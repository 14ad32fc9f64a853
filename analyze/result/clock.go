package result

// Clock is how the clock of one host's captures stood to that of the first host's, at every moment of the run.
type Clock struct {
	Captures []string `json:"captures"`
	// AheadNS is how much it was ahead, wrong by at most ErrorNS; the times of its captures were moved by that. Nil where it
	// is not known: nothing was moved, and there are no latencies between the two.
	AheadNS *int64 `json:"ahead_ns"`
	ErrorNS *int64 `json:"error_ns"`
	// AtLeastNS and AtMostNS bound it; nil where nothing does.
	AtLeastNS *int64 `json:"at_least_ns"`
	AtMostNS  *int64 `json:"at_most_ns"`
	// DriftNS is by how much the two ran apart during the run, at least.
	DriftNS int64 `json:"drift_ns"`
	// By says what tells it; "" where nothing does.
	By string `json:"by,omitempty"`
}
