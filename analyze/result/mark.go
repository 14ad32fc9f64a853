package result

// Mark is something that somebody saw or did while the run went on: a person, a program, or a hook of the run wrote it into the
// capture.
type Mark struct {
	AtNS  int64  `json:"at_ns"` // on the record's clock
	Text  string `json:"text"`
	Queue string `json:"queue,omitempty"` // that was purged then, or just before; "" for none
	From  string `json:"from"`            // mark, hook
}
