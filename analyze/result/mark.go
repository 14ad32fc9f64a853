package result

// Mark is an instant that somebody marked in a capture: a person, a program, or a hook of the run.
type Mark struct {
	AtNS  int64  `json:"at_ns"` // on the record's clock
	Text  string `json:"text"`
	Queue string `json:"queue,omitempty"` // that was purged then; "" for none
	From  string `json:"from"`            // mark, hook
}
