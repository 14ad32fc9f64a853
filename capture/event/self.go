package event

// Self is what a recording process noticed of itself in one interval: with it the analysis tells a broker that is slow
// from a client that is. Sums are over all producers (or connections) of the process, so that the share of their time is
// Sum / PublishingNS; Max is the most that a single one of them had in the interval. What goes on when an interval
// ends is counted up to there. A figure that the system does not tell, or that has no message behind it, is None.
type Self struct {
	At     int64 // end of the interval
	SpanNS int64 // its length
	// PublishingNS is the time that producers were at it, over all: SpanNS for each that had not ended.
	PublishingNS int64

	// How late messages were: sent less due, of the messages sent in the interval that had a due time.
	LateMessages int64
	LateSumNS    int64
	LateMaxNS    int64 // None where LateMessages is 0

	// What producers waited for. What is left of their time they worked, or waited for a processor.
	Window   Wait // for room in the confirm window
	Socket   Wait // for the socket to take more, for another producer of the connection, by channel.flow
	Recorder Wait // in Recorder.Reserve
	Schedule Wait // for the next message to be due
	// PausedNS is the time that connections did not read because deliveries outran the recorder, over all connections.
	PausedNS int64

	// UnsentMaxBytes is the most that one connection had in its socket and the peer's system had not taken, when the
	// interval ended.
	UnsentMaxBytes int64

	Writes          int64 // batches of messages handed to sockets
	WrittenMessages int64 // in them
	LargestWrite    int64 // messages in the largest
	Reads           int64 // read calls that brought something, all connections
	ReadBytes       int64
	DeliveryReads   int64 // of Reads, those that brought deliveries
	Deliveries      int64 // in them
	LargestRead     int64 // deliveries in the largest

	// Of the whole process.
	GCCycles          int64
	GCPauseNS         int64 // in which all of it stood still
	CPUNS             int64 // user plus system; None if unknown
	SchedLatencyP99NS int64 // 99th percentile of how long goroutines that could run waited to; upper bound; None if none did
	HeapBytes         int64 // in use, at the end of the interval
	Goroutines        int64 // likewise
}

// How often a process looks at itself, in nanoseconds. The finer step is for short runs, and only while there are so few
// producers and connections that looking at all of them costs nothing.
const (
	selfStep      = 1e9
	selfStepFine  = 1e8
	selfFineFor   = 1e10
	selfFineLanes = 1000
)

// SelfStepNS is how long after an observation, made so many nanoseconds after the barrier, the next one is due at most.
func SelfStepNS(sinceBarrierNS int64, producers, connections int) int64 {
	if sinceBarrierNS < selfFineFor && producers+connections <= selfFineLanes {
		return selfStepFine
	}
	return selfStep
}

// Wait is time spent waiting in one interval.
type Wait struct {
	SumNS int64
	MaxNS int64 // of a single producer
}

// Merge makes s the interval of both: later follows it, or is of another process. Times and counts add up; of the largest
// of something the larger stays, so that a Wait's MaxNS is the most within one of the intervals.
func (s *Self) Merge(later *Self) {
	s.At = max(s.At, later.At)
	for _, p := range [...]struct{ to, from *int64 }{
		{&s.SpanNS, &later.SpanNS}, {&s.PublishingNS, &later.PublishingNS},
		{&s.LateMessages, &later.LateMessages}, {&s.LateSumNS, &later.LateSumNS},
		{&s.Window.SumNS, &later.Window.SumNS}, {&s.Socket.SumNS, &later.Socket.SumNS},
		{&s.Recorder.SumNS, &later.Recorder.SumNS}, {&s.Schedule.SumNS, &later.Schedule.SumNS}, {&s.PausedNS, &later.PausedNS},
		{&s.Writes, &later.Writes}, {&s.WrittenMessages, &later.WrittenMessages}, {&s.Reads, &later.Reads}, {&s.ReadBytes, &later.ReadBytes},
		{&s.DeliveryReads, &later.DeliveryReads}, {&s.Deliveries, &later.Deliveries},
		{&s.GCCycles, &later.GCCycles}, {&s.GCPauseNS, &later.GCPauseNS},
	} {
		*p.to += *p.from
	}
	for _, p := range [...]struct{ to, from *int64 }{ // None is the least there is
		{&s.LateMaxNS, &later.LateMaxNS}, {&s.Window.MaxNS, &later.Window.MaxNS}, {&s.Socket.MaxNS, &later.Socket.MaxNS},
		{&s.Recorder.MaxNS, &later.Recorder.MaxNS}, {&s.Schedule.MaxNS, &later.Schedule.MaxNS},
		{&s.UnsentMaxBytes, &later.UnsentMaxBytes}, {&s.LargestWrite, &later.LargestWrite}, {&s.LargestRead, &later.LargestRead},
		{&s.SchedLatencyP99NS, &later.SchedLatencyP99NS}, {&s.HeapBytes, &later.HeapBytes}, {&s.Goroutines, &later.Goroutines},
	} {
		*p.to = max(*p.to, *p.from)
	}
	if s.CPUNS == None || later.CPUNS == None {
		s.CPUNS = None
	} else {
		s.CPUNS += later.CPUNS
	}
}
