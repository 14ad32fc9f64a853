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
	for i, v := range [...]int64{ // all columns are of 64 bits
		schema.SelfAt:              s.At,
		schema.SelfSpan:            s.SpanNS,
		schema.SelfPublishing:      s.PublishingNS,
		schema.SelfLateMessages:    s.LateMessages,
		schema.SelfLateSum:         s.LateSumNS,
		schema.SelfLateMax:         s.LateMaxNS,
		schema.SelfWindowSum:       s.Window.SumNS,
		schema.SelfWindowMax:       s.Window.MaxNS,
		schema.SelfSocketSum:       s.Socket.SumNS,
		schema.SelfSocketMax:       s.Socket.MaxNS,
		schema.SelfRecorderSum:     s.Recorder.SumNS,
		schema.SelfRecorderMax:     s.Recorder.MaxNS,
		schema.SelfScheduleSum:     s.Schedule.SumNS,
		schema.SelfScheduleMax:     s.Schedule.MaxNS,
		schema.SelfPaused:          s.PausedNS,
		schema.SelfUnsentMax:       s.UnsentMaxBytes,
		schema.SelfWrites:          s.Writes,
		schema.SelfWrittenMessages: s.WrittenMessages,
		schema.SelfLargestWrite:    s.LargestWrite,
		schema.SelfReads:           s.Reads,
		schema.SelfReadBytes:       s.ReadBytes,
		schema.SelfDeliveryReads:   s.DeliveryReads,
		schema.SelfDeliveries:      s.Deliveries,
		schema.SelfLargestRead:     s.LargestRead,
		schema.SelfGCCycles:        s.GCCycles,
		schema.SelfGCPause:         s.GCPauseNS,
		schema.SelfCPU:             s.CPUNS,
		schema.SelfSchedLatencyP99: s.SchedLatencyP99NS,
		schema.SelfHeap:            s.HeapBytes,
		schema.SelfGoroutines:      s.Goroutines,
	} {
		fill(b, i, b.rows, 1, v)
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
