package analyze

import (
	"leveret/analyze/assert"
	"leveret/analyze/quantile"
)

// DefaultMemoryBytes is the budget where none is given.
const DefaultMemoryBytes = 128 << 20

// MaxRows of one kind that can be analyzed together: counts in histograms have 32 bits.
const MaxRows = 1<<32 - 1

// Options of an analysis. The zero value is ready.
type Options struct {
	// IntervalNS is the length of the intervals; 0 leaves the choice: 1 s for runs of 10 s and more, finer for shorter ones.
	IntervalNS int64
	// FromNS and ToNS cut a part out of the run, in nanoseconds after its start (the barrier): rates are of the events in it,
	// latencies of the messages due (else sent) in it; counts, findings and verdict stay those of the whole run. ToNS 0: until
	// publishing stopped.
	FromNS, ToNS int64
	// Finer chooses, where IntervalNS is 0, intervals so short that there are 100 at least, and adds the latencies by interval
	// (result.Series): what it takes to resample a run.
	Finer bool
	// MemoryBytes is the budget for what grows with the messages under way, and again for the selection of percentiles;
	// 0 is DefaultMemoryBytes.
	MemoryBytes int64
	// By asks for latencies by ByQueue, ByProducer, ByConsumer, BySize or ByPriority, one or several of them, of the first MaxGroups
	// members of each.
	By []string
	// Percentiles are those that are looked for beside the ones that every distribution has, at most MostPercentiles; of the whole
	// window, of groups and of acks also how far each is known.
	Percentiles []quantile.Percent
	// Assertions are judged when all else is known.
	Assertions []*assert.Assertion
	// Findings is how many messages each finding names, at most MostFindings; 0 is DefaultFindings.
	Findings int
	// Tmp is the directory for temporary files; "" is the system's. They are gone when Run returns.
	Tmp string
	// Progress is told how many of how many bytes have been read, from one goroutine; total may grow. May be nil.
	Progress func(done, total int64)
	// Announce is told what the user should know before it is done: that a temporary file is written. May be nil.
	Announce func(text string)
}

// DefaultFindings is how many messages a finding names where nothing else is asked for, and MostFindings the most it can name.
const (
	DefaultFindings = 5
	MostFindings    = 100_000
)

// AskedError says that what was asked for cannot be: a mistake of whoever asked, not of the captures.
type AskedError struct {
	Option string // "" where it is about the captures that were given
	Text   string
}

func (e *AskedError) Error() string {
	if e.Option == "" {
		return e.Text
	}
	return e.Option + ": " + e.Text
}

// MostPercentiles can be asked for.
const MostPercentiles = 50
