package capture

import (
	"leveret/capture/event"
	"leveret/capture/schema"
)

// Churn records one step of an operation; a text of more than schema.MaxTextBytes is cut. It waits for the disk where that cannot
// follow. It may be called only where the manifest that the recording began with has a Churn.
func (w *Writer) Churn(c *event.Churn) {
	text := fitting(c.Text)
	sh := &w.churn
	sh.Lock()
	defer sh.Unlock()
	b := w.roomFor(&sh.slot, text)
	if b == nil {
		w.lose(schema.Churn, 1)
		return
	}
	at := b.rows
	fill(b, schema.ChurnOp, at, 1, c.Op)
	fill(b, schema.ChurnStep, at, 1, uint8(c.Step))
	fill(b, schema.ChurnOutcome, at, 1, uint8(c.Outcome))
	fill(b, schema.ChurnLast, at, 1, flag(c.Last))
	fill(b, schema.ChurnDue, at, 1, c.Due)
	fill(b, schema.ChurnStarted, at, 1, c.Started)
	fill(b, schema.ChurnBegun, at, 1, c.Begun)
	fill(b, schema.ChurnEnded, at, 1, c.Ended)
	fill(b, schema.ChurnCode, at, 1, c.Code)
	b.put(schema.ChurnText, at, text)
	w.added(&sh.slot, 1)
}
