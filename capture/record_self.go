package capture

import (
	"leveret/capture/event"
	"leveret/capture/schema"
)

// Self records one interval of the process's observation of itself. It never waits for the disk: where there is no room it
// is false, nothing is recorded, and the caller makes the interval a part of the next one.
func (w *Writer) Self(s *event.Self) bool {
	sh := &w.self
	sh.Lock()
	defer sh.Unlock()
	if sh.cur == nil && !w.free(schema.Self) {
		return false
	}
	b := w.room(&sh.slot)
	if b == nil {
		return false
	}
	for i, v := range schema.SelfFields(s) { // all columns are of 64 bits
		fill(b, i, b.rows, 1, *v)
	}
	w.added(&sh.slot, 1)
	return true
}

// free tells whether a block of a kind can be had without waiting.
func (w *Writer) free(k schema.Kind) bool {
	w.pools.mu.Lock()
	defer w.pools.mu.Unlock()
	return w.pools.available(k) > 0
}
