package schema

import "leveret/capture/event"

// Positions of the columns of Self; part of the format.
const (
	SelfAt = iota
	SelfSpan
	SelfPublishing
	SelfLateMessages
	SelfLateSum
	SelfLateMax
	SelfWindowSum
	SelfWindowMax
	SelfSocketSum
	SelfSocketMax
	SelfRecorderSum
	SelfRecorderMax
	SelfScheduleSum
	SelfScheduleMax
	SelfPaused
	SelfUnsentMax
	SelfWrites
	SelfWrittenMessages
	SelfLargestWrite
	SelfReads
	SelfReadBytes
	SelfDeliveryReads
	SelfDeliveries
	SelfLargestRead
	SelfGCCycles
	SelfGCPause
	SelfCPU
	SelfSchedLatencyP99
	SelfHeap
	SelfGoroutines
)

var selfColumns = []Column{
	SelfAt:              {Name: "at_ns", Type: I64},
	SelfSpan:            {Name: "span_ns", Type: I64, Amount: true},
	SelfPublishing:      {Name: "publishing_sum_ns", Type: I64, Amount: true},
	SelfLateMessages:    {Name: "late_messages", Type: U64},
	SelfLateSum:         {Name: "late_sum_ns", Type: I64, Amount: true},
	SelfLateMax:         {Name: "late_max_ns", Type: I64, Nullable: true, Amount: true},
	SelfWindowSum:       {Name: "window_sum_ns", Type: I64, Amount: true},
	SelfWindowMax:       {Name: "window_max_ns", Type: I64, Amount: true},
	SelfSocketSum:       {Name: "socket_sum_ns", Type: I64, Amount: true},
	SelfSocketMax:       {Name: "socket_max_ns", Type: I64, Amount: true},
	SelfRecorderSum:     {Name: "recorder_sum_ns", Type: I64, Amount: true},
	SelfRecorderMax:     {Name: "recorder_max_ns", Type: I64, Amount: true},
	SelfScheduleSum:     {Name: "schedule_sum_ns", Type: I64, Amount: true},
	SelfScheduleMax:     {Name: "schedule_max_ns", Type: I64, Amount: true},
	SelfPaused:          {Name: "reading_paused_ns", Type: I64, Amount: true},
	SelfUnsentMax:       {Name: "unsent_max_bytes", Type: I64, Nullable: true, Amount: true},
	SelfWrites:          {Name: "writes", Type: U64},
	SelfWrittenMessages: {Name: "written_messages", Type: U64},
	SelfLargestWrite:    {Name: "largest_write_messages", Type: U64},
	SelfReads:           {Name: "reads", Type: U64},
	SelfReadBytes:       {Name: "read_bytes", Type: U64},
	SelfDeliveryReads:   {Name: "delivery_reads", Type: U64},
	SelfDeliveries:      {Name: "deliveries", Type: U64},
	SelfLargestRead:     {Name: "largest_read_deliveries", Type: U64},
	SelfGCCycles:        {Name: "gc_cycles", Type: U64},
	SelfGCPause:         {Name: "gc_pause_ns", Type: I64, Amount: true},
	SelfCPU:             {Name: "cpu_ns", Type: I64, Nullable: true, Amount: true},
	SelfSchedLatencyP99: {Name: "sched_latency_p99_ns", Type: I64, Nullable: true, Amount: true},
	SelfHeap:            {Name: "heap_bytes", Type: U64},
	SelfGoroutines:      {Name: "goroutines", Type: U64},
}

// SelfFields are the fields of s in the order of the columns of Self. An unsigned column holds them as they are: none is
// negative.
func SelfFields(s *event.Self) [SelfGoroutines + 1]*int64 {
	return [...]*int64{
		SelfAt:              &s.At,
		SelfSpan:            &s.SpanNS,
		SelfPublishing:      &s.PublishingNS,
		SelfLateMessages:    &s.LateMessages,
		SelfLateSum:         &s.LateSumNS,
		SelfLateMax:         &s.LateMaxNS,
		SelfWindowSum:       &s.Window.SumNS,
		SelfWindowMax:       &s.Window.MaxNS,
		SelfSocketSum:       &s.Socket.SumNS,
		SelfSocketMax:       &s.Socket.MaxNS,
		SelfRecorderSum:     &s.Recorder.SumNS,
		SelfRecorderMax:     &s.Recorder.MaxNS,
		SelfScheduleSum:     &s.Schedule.SumNS,
		SelfScheduleMax:     &s.Schedule.MaxNS,
		SelfPaused:          &s.PausedNS,
		SelfUnsentMax:       &s.UnsentMaxBytes,
		SelfWrites:          &s.Writes,
		SelfWrittenMessages: &s.WrittenMessages,
		SelfLargestWrite:    &s.LargestWrite,
		SelfReads:           &s.Reads,
		SelfReadBytes:       &s.ReadBytes,
		SelfDeliveryReads:   &s.DeliveryReads,
		SelfDeliveries:      &s.Deliveries,
		SelfLargestRead:     &s.LargestRead,
		SelfGCCycles:        &s.GCCycles,
		SelfGCPause:         &s.GCPauseNS,
		SelfCPU:             &s.CPUNS,
		SelfSchedLatencyP99: &s.SchedLatencyP99NS,
		SelfHeap:            &s.HeapBytes,
		SelfGoroutines:      &s.Goroutines,
	}
}
