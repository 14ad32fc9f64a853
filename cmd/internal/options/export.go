package options

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"leveret/capture/event"
)

// Export holds the options of `leveret export`.
type Export struct {
	Format   string // "": by the name of Output
	Rows     string
	Where    []string
	Producer int // -1: all
	Sequence Span
	From, To time.Duration // since the barrier; NoTime where not given
	Output   string        // "": stdout
	Force    bool
	Strict   bool
	Quiet    bool
	Memory   int64
	Tmp      string
}

// Span is a range of sequences, both ends included; the zero value is none. Given tells whether there is one.
type Span struct {
	Given       bool
	First, Last int64
}

// NoTime stands for a time that was not given.
const NoTime = time.Duration(math.MinInt64)

// NewExport returns the set of `leveret export` and the struct that it fills. What rows and where can be, the analysis knows.
func NewExport() (*Set, *Export) {
	e := &Export{From: NoTime, To: NoTime}
	rows := []*Option{
		{Name: "rows", Arg: "KIND", Group: groupRows, value: text(&e.Rows, "messages"), Help: "messages: one row a message and queue, joined; or one row an event as recorded: sends, writes, settlements, deliveries, acks, connections, self, broker-nodes, broker-queues, broker-connections, churn"},
		{Name: "where", Arg: "WHAT,...", Group: groupRows, value: list(&e.Where), Help: "only messages of which one of these is true; listed below"},
		{Name: "producer", Arg: "N", Group: groupRows, value: integer(&e.Producer, -1, -1, event.MaxProducers-1), Help: "only messages or events of this producer, from 0 on; -1: of all"},
		{Name: "sequence", Arg: "FIRST-LAST", Group: groupRows, value: span(&e.Sequence), Help: "only messages with these numbers, both ends included"},
		{Name: "from", Arg: "SECONDS", Group: groupRows, value: ifGiven(seconds(&e.From, NoTime, 0)), Help: "only what was due (else sent, else received), or happened, from so long after the barrier on"},
		{Name: "to", Arg: "SECONDS", Group: groupRows, value: ifGiven(seconds(&e.To, NoTime, 0)), Help: "and before this"},
		{Name: "format", Arg: "FORMAT", Group: groupOutput, value: choice(&e.Format, "", "csv", "jsonl", "parquet"), Help: "csv (RFC 4180), jsonl (one object a line) or parquet; without it by the ending of --output, else csv"},
		{Name: "output", Arg: "FILE", Group: groupOutput, value: text(&e.Output, ""), Help: "file to write, complete or not at all; without it standard output"},
		{Name: "force", Group: groupOutput, value: toggle(&e.Force, false), Help: "replace the file where there is one"},
		{Name: "strict", Group: groupOutput, value: toggle(&e.Strict, false), Help: "exit with 3 when rows are missing from the captures"},
		{Name: "quiet", Group: groupOutput, value: toggle(&e.Quiet, false), Help: "no progress bar"},
		{Name: "memory", Arg: "BYTES", Group: groupOutput, value: size(&e.Memory, 128<<20, 16<<20), Help: "working memory; what outgrows it goes to a temporary file"},
		{Name: "tmp", Arg: "DIR", Group: groupOutput, value: text(&e.Tmp, ""), Help: "directory for that temporary file; without it the system's"},
	}
	letters(rows)
	return newSet("export", rows), e
}

// span reads one sequence, or two with a dash between.
func span(p *Span) value {
	given := ""
	return value{func() string { return given }, func(s string) error {
		first, last, two := strings.Cut(s, "-")
		if !two {
			last = first
		}
		a, errA := strconv.ParseInt(first, 10, 64)
		b, errB := strconv.ParseInt(last, 10, 64)
		if errA != nil || errB != nil || a < 0 || b < a || b > event.MaxSequence {
			return errors.New("must be a sequence from 0 on, or two such as 100-199, the smaller one first")
		}
		*p, given = Span{true, a, b}, s
		return nil
	}, "range"}
}
