package loadcore

// Progress gives the counters of a run while it goes on. The zero value is ready; safe for concurrent use.
type Progress struct{}

// Counts are counters of a run at one moment.
type Counts struct {
	Phase           Phase
	Connections     int // open ones, blocked ones included
	Blocked         int // of them, blocked by the broker
	ProducersActive int
	ConsumersActive int
	Sent            int64
	Confirmed       int64
	Nacked          int64
	Returned        int64
	Received        int64
	Acked           int64
}

// Phase is where a run stands.
type Phase int32

const (
	PhaseConnecting Phase = iota
	PhaseRunning
	PhaseConfirming // publishing has stopped, confirms are awaited
	PhaseDraining   // consumers empty the queues
	PhaseClosing
	PhaseDone
)

// Snapshot reads all counters. They are read one after the other: a message may be counted as received and not yet as sent.
func (p *Progress) Snapshot() Counts { return Counts{} }
