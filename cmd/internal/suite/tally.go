package suite

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"leveret/analyze/result"
)

// tally is how far a suite is, and how long the rest may take.
type tally struct {
	runs  int           // that ended in this process
	extra time.Duration // beyond what was expected, over these
	open  time.Duration // of runs that nothing limits, over these
	opens int
}

// Guesses for what no run has told yet.
const (
	guessedExtra = 3 * time.Second // to start, connect, drain and analyze
	guessedOpen  = 30 * time.Second
	// guessedProbes is how many runs a search takes.
	guessedProbes = 12
	// guessedEach is for opening and closing a connection, and for making or removing a queue, on a small machine.
	guessedEach = 3 * time.Millisecond
)

// around is how long the opening of a row's connections, its set-up and its removal may take, where there are many of anything.
func (r *Row) around() time.Duration {
	things := 0.0
	for _, o := range r.parts() {
		for _, lanes := range []string{"producers", "consumers"} {
			text, _ := o.value(lanes)
			n, _ := strconv.ParseFloat(text, 64)
			things += n
		}
	}
	for _, q := range r.Setup.Queues {
		things += 2 * float64(q.count())
	}
	for _, q := range r.Setup.RemoveQueues {
		things += float64(q.count())
	}
	return time.Duration(things * float64(guessedEach))
}

// took counts a run that has ended.
func (t *tally) took(run *Run) {
	d := run.Ended.Sub(*run.Began)
	if run.Expected > 0 {
		t.runs, t.extra = t.runs+1, t.extra+d-time.Duration(run.Expected*float64(time.Second))-run.row.around()
		return
	}
	t.opens, t.open = t.opens+1, t.open+d
}

// of is how long a run may take, all in all.
func (t *tally) of(expected float64, pause time.Duration) time.Duration {
	if expected == 0 {
		if t.opens > 0 {
			return t.open/time.Duration(t.opens) + pause
		}
		return guessedOpen + pause
	}
	extra := guessedExtra
	if t.runs > 0 {
		extra = max(t.extra/time.Duration(t.runs), 0)
	}
	return time.Duration(expected*float64(time.Second)) + extra + pause
}

// standing counts runs, those of searches that have not begun guessed, and how long what is left of them may take.
func (t *tally) standing(r *Runner) (done, all int, left time.Duration) {
	searched := map[*Row]int{}
	for _, run := range r.Record.Runs {
		if run.row == nil {
			continue
		}
		all++
		if run.Probe != nil {
			searched[run.row]++
		}
		switch run.State {
		case Planned, Running:
			left += t.of(run.Expected, r.Suite.Pause) + run.row.around()
		default:
			done++
		}
	}
	for _, row := range r.Rows {
		if !row.Table.adaptive() {
			continue
		}
		guess := 1
		if row.Table.Search != nil {
			guess = guessedProbes
		}
		more := max(0, guess+len(row.Table.Fractions)-searched[row])
		sample := Run{}
		sample.expect(row)
		all, left = all+more, left+time.Duration(more)*(t.of(sample.Expected, r.Suite.Pause)+row.around())
	}
	return done, all, left
}

// line begins what is said of a run: "3 of 18  confirms-03 (2 min 5 s left): ". One that is not run counts among those that are done.
func (t *tally) line(r *Runner, run *Run) string {
	done, all, left := t.standing(r)
	if run.State == Planned || run.State == Running {
		done++
	}
	return fmt.Sprintf("%d of %d  %s [%s] (%s left): ", min(done, all), all, run.Title, run.ID, Span(left))
}

// Span writes a length of time for people: "2 min 5 s".
func Span(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%d h %d min", h, m)
	case m > 0:
		return fmt.Sprintf("%d min %d s", m, s)
	}
	return fmt.Sprintf("%d s", s)
}

// watch shows a status each second until the returned function is called.
func (t *tally) watch(r *Runner, run *Run) (end func()) {
	done, all, left := t.standing(r)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for begun := time.Now(); ; {
			at := time.Since(begun)
			r.Progress.Status(fmt.Sprintf("%s %d of %d, %s left  %s: %s", gauge(done, all), min(done+1, all), all, Span(left-at), run.Title, run.since(at)))
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		r.Progress.Status("")
	}
}

// since says how long a run has gone on, and how long it is to publish.
func (r *Run) since(at time.Duration) string {
	if r.Expected == 0 {
		return Span(at)
	}
	return Span(at) + ", publishes for " + Span(time.Duration(r.Expected*float64(time.Second)))
}

// gauge is how many of all are done, as a picture.
func gauge(done, all int) string {
	const width = 20
	n := 0
	if all > 0 {
		n = width * done / all
	}
	return "[" + strings.Repeat("=", n) + strings.Repeat(" ", width-n) + "]"
}

// summary is one line about a run that has ended.
func (r *Runner) summary(run *Run) string {
	results, err := resultOf(r.Dir, run)
	if err != nil || len(results) == 0 {
		return "done"
	}
	x := results[0]
	parts := []string{string(x.Verdict)}
	if len(results) > 1 {
		results = results[1:] // of several parts, the rates of each
	}
	for _, p := range results {
		if len(results) > 1 && p.Config.Consumers == 0 {
			p.Rates.Received = nil
		}
		if p.Rates.Sent != nil {
			parts = append(parts, result.Group(int64(*p.Rates.Sent+0.5))+" msg/s sent")
		}
		if p.Rates.Received != nil {
			parts = append(parts, result.Group(int64(*p.Rates.Received+0.5))+" msg/s received")
		}
	}
	for _, f := range x.Findings {
		if f.Severity == result.SeverityFail {
			parts = append(parts, f.Code)
		}
	}
	return strings.Join(parts, ", ")
}

// Estimate is how long what was not run of a record may take.
func (s *Suite) Estimate(r *Record, rows []*Row) time.Duration {
	r.Attach(rows)
	var t tally
	_, _, left := t.standing(&Runner{Suite: s, Record: r, Rows: rows})
	return left
}
