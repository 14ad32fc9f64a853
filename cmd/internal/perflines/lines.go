// Package perflines makes what perf-test prints out of a run. The options, live figures of a run and the result of its analysis
// flow in; lines, rows of a CSV file and, where they are asked for, a line for each event flow out. How they look is
// cmd/internal/perftest's.
package perflines

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/perftest"
	"leveret/loadcore"
)

// Lines prints what PerfTest prints while a run goes on and when it has ended, and writes its CSV file.
//
//	Announce   Start          begun                       Stop             Summary    Close
//	lines of   (before Run)   (the barrier) a line        "test stopped"   averages   the CSV file
//	lanes                     and a row each interval
type Lines struct {
	out, err io.Writer // the lines; what has to be said of them
	format   perftest.Format
	compact  bool
	every    time.Duration
	options  *options.Run

	csv    *os.File // nil: none
	csvErr error    // the first that writing it met

	producers   int
	live        *loadcore.Live
	watch       *loadcore.LiveWatch
	begun       chan int64 // has the barrier's time once load has begun
	done, ended chan struct{}
	barrier     int64 // 0: load has not begun; for the ticker's goroutine, and once it has ended
	// startedAt is when the last producer began, and before what passed until then: the averages count from there.
	startedAt int64
	before    loadcore.LiveFigures
	headed    bool // the compact format's header is printed
	stuck     bool // the reader of the lines takes no more of them
}

// New prepares the lines of a run, which go to out, and opens its CSV file, if there is to be one. What has to be said of the
// lines goes to problems; ascii: whoever reads them may not know UTF-8.
func New(o *options.Run, out, problems io.Writer, ascii bool) (*Lines, error) {
	l := &Lines{
		out: out, err: problems, options: o, every: o.Interval, compact: o.MetricsFormat == "compact",
		format: perftest.Format{ID: o.ID, Millis: o.UseMillis, ASCII: ascii},
	}
	if l.every <= 0 {
		l.every = time.Second
	}
	if o.OutputFile == "" {
		return l, nil
	}
	var err error
	if l.csv, err = os.Create(o.OutputFile); err != nil {
		return nil, fmt.Errorf("--output-file=%s: %w", o.OutputFile, err)
	}
	l.row(l.format.CSVHeader())
	return l, nil
}

// Announce prints the lines that name connections and channels, consumers' first.
func (l *Lines) Announce() {
	for _, lanes := range []struct {
		what                  string
		connections, channels int
	}{{"consumer", l.options.Consumers, l.options.ConsumerChannelCount}, {"producer", l.options.Producers, l.options.ProducerChannelCount}} {
		for i := range lanes.connections {
			fmt.Fprintln(l.out, l.format.StartingConnection(lanes.what, i))
			for j := range lanes.channels {
				fmt.Fprintln(l.out, l.format.StartingChannel(lanes.what, i, j))
			}
		}
	}
}

// Start begins the intervals, as soon as load begins. It is called before loadcore.Run.
func (l *Lines) Start(plan *loadcore.Plan, live *loadcore.Live) {
	l.live, l.watch, l.producers = live, live.Watch(), len(plan.Producers)
	l.begun, l.done, l.ended = make(chan int64, 1), make(chan struct{}), make(chan struct{})
	l.format.Shown = shownOf(plan)
	if live.Origin() == loadcore.FromDue && len(plan.Consumers) > 0 {
		fmt.Fprintln(l.err, "consumer latency counts from the time in the messages, by the clocks of both hosts; they have one where their producers have a rate and --size 24 or more, or --stamp perftest")
	}
	before := plan.Started
	plan.Started = func() {
		if before != nil {
			before()
		}
		l.begun <- plan.Progress.Snapshot().BarrierNS
	}
	go l.tick(lastStart(plan))
}

// lastStart is how long after the barrier the last producer begins.
func lastStart(p *loadcore.Plan) (ns int64) {
	for i := range p.Producers {
		ns = max(ns, p.Producers[i].PhaseNS)
	}
	return ns
}

// shownOf is what a run can have at all.
func shownOf(p *loadcore.Plan) (s perftest.Shown) {
	s.Producers, s.Consumers = len(p.Producers) > 0, len(p.Consumers) > 0
	if s.Producers {
		s.Mandatory, s.Confirms = p.Producers[0].Mandatory, p.Producers[0].Confirm > 0
	}
	return s
}

// tick prints a line at the end of each interval since the barrier. What the line says is of the time that it names, also
// where the system let the goroutine wait. The last producer begins lastStart after the barrier.
func (l *Lines) tick(lastStart int64) {
	defer close(l.ended)
	select {
	case <-l.done:
		return
	case l.barrier = <-l.begun:
	}
	next := l.barrier + int64(l.every)
	timer := time.NewTimer(l.every)
	defer timer.Stop()
	var started <-chan time.Time
	if lastStart > 0 {
		timer := time.NewTimer(time.Duration(lastStart))
		defer timer.Stop()
		started = timer.C
	}
	for first := true; ; {
		select {
		case <-l.done:
			return
		case <-started:
			l.before = l.live.Total()
			l.startedAt = l.before.AtNS
			continue
		case <-timer.C:
		}
		f := l.watch.Interval()
		if first { // what consumers got before the barrier belongs to it
			f.SpanNS, first = f.AtNS-l.barrier, false
		}
		l.print(&f)
		for next <= f.AtNS {
			next += int64(l.every)
		}
		timer.Reset(time.Duration(next - f.AtNS))
	}
}

func (l *Lines) print(f *loadcore.LiveFigures) {
	s := l.sample(f)
	if !l.compact {
		fmt.Fprintln(l.out, l.format.Line(&s))
	} else {
		if !l.headed {
			l.headed = true
			fmt.Fprintln(l.out, l.format.CompactHeader())
		}
		fmt.Fprintln(l.out, l.format.CompactLine(&s))
	}
	l.row(l.format.CSVRow(&s))
}

func (l *Lines) sample(f *loadcore.LiveFigures) perftest.Sample {
	per := func(n int64) float64 { return float64(n) / (float64(max(f.SpanNS, 1)) / 1e9) }
	return perftest.Sample{
		Elapsed: time.Duration(f.AtNS - l.barrier), Wall: time.Unix(0, f.AtNS),
		Sent: per(f.Sent), Returned: per(f.Returned), Confirmed: per(f.Confirmed), Nacked: per(f.Nacked), Received: per(f.Received),
		Delivery: latencyFrom(&f.Delivery, f.Received), Confirm: latencyFrom(&f.Confirm, f.Confirmed),
	}
}

// latencyFrom turns a live latency into what is printed: not known where messages are missing among it, or where messages
// came and none had a time.
func latencyFrom(q *loadcore.LiveLatency, messages int64) perftest.Latency {
	switch {
	case q.Missed > 0:
		return perftest.Latency{Unknown: "n/a (backlog)"}
	case q.Skewed > 0:
		return perftest.Latency{Unknown: unknownSkew}
	case q.Count == 0 && messages > 0:
		return perftest.Latency{Unknown: unknownTime}
	}
	var p perftest.Latency
	for i, ns := range []int64{q.MinNS, q.P50NS, q.P75NS, q.P95NS, q.P99NS, q.MaxNS} {
		p.Values[i] = time.Duration(ns)
	}
	return p
}

const (
	unknownTime = "n/a (no timestamp)"
	unknownSkew = "n/a (clock skew)"
)

// Stop ends the intervals and prints why the test stopped. It is called when loadcore.Run has returned.
func (l *Lines) Stop(outcome *manifest.Outcome) {
	if l.done == nil {
		return
	}
	close(l.done)
	select {
	case <-l.ended:
	case <-time.After(outputPatience):
		l.stuck = true
		return
	}
	if l.barrier != 0 && outcome != nil {
		fmt.Fprintln(l.out, perftest.StopLine(stopReasons(outcome, l.producers)))
	}
}

// outputPatience is how long a reader of the lines may keep them waiting when the run is over.
const outputPatience = 5 * time.Second

// Summary prints the averages: of the record's analysis, or of what was seen live where r is nil.
func (l *Lines) Summary(outcome *manifest.Outcome, r *result.Result) {
	if outcome == nil || l.stuck || l.barrier == 0 {
		return
	}
	sending, receiving, delivery, confirm := l.analyzed(r)
	if r == nil {
		sending, receiving, delivery, confirm = l.seen(outcome)
	}
	lines := l.format.Summary
	if l.compact {
		lines = l.format.CompactSummary
	}
	for _, line := range lines(sending, receiving, &delivery, &confirm) {
		fmt.Fprintln(l.out, line)
	}
}

// analyzed are the averages of the record's analysis. Its rates are over the same span for sent and received: from the barrier
// to the end of publishing.
func (l *Lines) analyzed(r *result.Result) (sending, receiving float64, delivery, confirm perftest.Latency) {
	if r == nil {
		return
	}
	span := r.Window.EndNS - r.Window.StartNS
	average := func(rate *float64, before int64) float64 {
		if rate == nil {
			return 0
		}
		if l.startedAt == 0 { // consumers alone may have begun before the barrier, which the window knows
			return *rate
		}
		return l.average(*rate*float64(span)/1e9, before, r.Window.EndNS)
	}
	delivery = latencyOf(r.Latency.Delivery.Service, r.Counts.Received)
	if r.Latency.Delivery.Service == nil { // of consumers alone: what the messages told
		f := l.live.Total()
		delivery = latencyFrom(&f.Delivery, r.Counts.Received)
	}
	return average(r.Rates.Sent, l.before.Sent), average(r.Rates.Received, l.before.Received-r.Window.ReceivedBefore),
		delivery, latencyOf(r.Latency.Confirm.Service, r.Counts.Confirmed)
}

// average is the rate of messages since the last producer began: until a time, so many from the barrier on, of which so many
// came before. As in PerfTest, the start of one producer after the other does not count; unless there is nothing else.
func (l *Lines) average(messages float64, before, until int64) float64 {
	if since := until - l.startedAt; l.startedAt > 0 && since > 0 && messages > float64(before) {
		return (messages - float64(before)) / (float64(since) / 1e9)
	}
	return messages / (float64(max(until-l.barrier, 1)) / 1e9)
}

// latencyOf turns an exact latency into what is printed.
func latencyOf(d *result.Distribution, messages int64) (q perftest.Latency) {
	switch {
	case d == nil && messages > 0:
		return perftest.Latency{Unknown: unknownTime}
	case d == nil:
		return q
	}
	p := d.Percentiles()
	longest := result.Percentile{ValueNS: d.MaxNS}
	if d.Censored > 0 && d.MaxAtLeastNS != nil {
		most := d.MaxBound()
		longest = result.Percentile{ValueNS: &most, AtLeast: true}
	}
	for i, v := range []result.Percentile{{ValueNS: d.MinNS}, p[0], p[1], p[2], p[3], longest} {
		if v.ValueNS == nil {
			return perftest.Latency{Unknown: "n/a (messages without an answer)"}
		}
		q.Values[i], q.AtLeast[i] = time.Duration(*v.ValueNS), v.AtLeast
	}
	return q
}

// seen are the averages of a run that was not analyzed: sent over the time of publishing, received until the end of the drain.
func (l *Lines) seen(o *manifest.Outcome) (sending, receiving float64, delivery, confirm perftest.Latency) {
	f := l.live.Total()
	return l.average(float64(f.Sent), l.before.Sent, o.PublishStopNS), l.average(float64(f.Received), l.before.Received, o.DrainEndNS),
		latencyFrom(&f.Delivery, f.Received), latencyFrom(&f.Confirm, f.Confirmed)
}

// row writes a row of the CSV file.
func (l *Lines) row(text string) {
	if l.csv == nil || l.csvErr != nil {
		return
	}
	_, l.csvErr = io.WriteString(l.csv, text+"\n")
}

// Close closes the CSV file, and tells what was not written to it.
func (l *Lines) Close() error {
	if l.csv == nil {
		return nil
	}
	if err := errors.Join(l.csvErr, l.csv.Close()); err != nil {
		return fmt.Errorf("--output-file=%s: %w", l.options.OutputFile, err)
	}
	return nil
}
