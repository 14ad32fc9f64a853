package panel

import (
	"fmt"
	"math"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

// view puts together what the panel shows now.
func (p *watch) view(now time.Time) *view {
	c := p.plan.Progress.Snapshot()
	if c.Phase != p.phase {
		p.phase, p.at = c.Phase, now
		if c.Phase == loadcore.PhaseDraining {
			p.left = p.plan.backlog(&c)
		}
	}
	v := &view{
		title: p.Title, ended: p.outcome != nil, remember: historyLength * p.Interval, open: c.Connections, planned: p.plan.Connections, blocked: c.Blocked,
		failures: p.failures, nacked: c.Nacked, returned: c.Returned, window: p.plan.window, inFlight: c.Unconfirmed,
	}
	p.viewPhase(v, &c, now)
	if c.BarrierNS != 0 {
		p.viewLoad(v, &c)
	}
	v.record = p.Recorder()
	for _, e := range p.errors {
		v.errors = append(v.errors, errorRow{e.n, e.last})
	}
	return v
}

// viewLoad adds what there is once load has begun.
func (p *watch) viewLoad(v *view, c *loadcore.Counts) {
	v.backlog = p.plan.backlog(c)
	if p.outcome == nil {
		v.growth = p.marks.growth(p.plan)
	}
	v.rates = append(v.rates, p.rates...)
	totals := p.events(&measured{due: p.due(c), counts: *c, committed: p.previous.committed})
	averaged := totals
	if p.stopped != nil {
		averaged = p.events(p.stopped)
	}
	seconds := p.load(c).Seconds()
	for i := range v.rates {
		v.rates[i].total = totals[i]
		if seconds > 0 {
			v.rates[i].average = float64(averaged[i]) / seconds
		}
	}
	v.latency = p.latency
	if c.Phase != loadcore.PhaseRunning {
		return
	}
	shares, ok := p.marks.shares(p.plan)
	switch lost := lostText(c.Connections, p.plan.Connections); {
	case lost != "":
		v.limit, v.limitText = limitBroker, lost
	case ok:
		v.limit, v.limitText = shares.judge()
	}
	if v.limitText == "" {
		v.limitText = "not known yet"
	}
}

// viewPhase says what goes on, and how far it has come.
func (p *watch) viewPhase(v *view, c *loadcore.Counts, now time.Time) {
	lasted := now.Sub(p.at).Truncate(100 * time.Millisecond)
	v.done, v.color = -1, styleWarn
	switch {
	case p.outcome != nil:
		v.phase, v.color, v.progress = "ended", styleTitle, []string{endText(p.outcome)}
	case c.Phase == loadcore.PhaseConnecting:
		v.phase = "connecting"
		if p.plan.Connections > 0 {
			v.done = float64(c.Connections) / float64(p.plan.Connections)
		}
		v.progress = []string{fmt.Sprintf("%s of %s", result.Group(int64(c.Connections)), result.Plural(int64(p.plan.Connections), "connection"))}
	case c.Phase == loadcore.PhaseRunning:
		v.phase, v.color = "running", styleGood
		p.viewRunning(v, c, time.Duration(p.plan.Clock.Now()-c.BarrierNS))
	case c.Phase == loadcore.PhaseConfirming:
		v.phase, v.progress = "waiting for confirms", []string{spanText(lasted), result.Group(c.Unconfirmed) + " to come"}
	case c.Phase == loadcore.PhaseDraining:
		v.phase, v.progress = "draining", []string{spanText(lasted)}
		if limit := p.plan.DrainTimeout; limit > 0 {
			v.progress[0] += " of at most " + spanText(limit)
		}
		if left := p.plan.backlog(c); left >= 0 {
			v.progress = append(v.progress, result.Plural(left, "message")+" to come")
			if p.left > 0 {
				v.done = 1 - float64(left)/float64(p.left)
			}
		}
	default:
		v.phase, v.progress = "closing", []string{spanText(lasted)}
	}
}

// endText says why the load ended, and when.
func endText(o *manifest.Outcome) string {
	text := strings.Join(strings.Fields(o.StopReason), " ") // on one line
	if strings.HasPrefix(text, loadcore.StopRecording) {
		text = loadcore.StopRecording // why is the error that the command ends with
	}
	if o.BarrierNS != event.None && o.PublishStopNS != event.None {
		text += fmt.Sprintf(", after %s", spanText(time.Duration(o.PublishStopNS-o.BarrierNS).Round(100*time.Millisecond)))
	}
	return text
}

// viewRunning measures the way to the first limit that ends the load.
func (p *watch) viewRunning(v *view, c *loadcore.Counts, elapsed time.Duration) {
	shown := elapsed.Truncate(time.Second)
	left := time.Duration(math.MaxInt64)
	if p.plan.Time > 0 {
		v.done = elapsed.Seconds() / p.plan.Time.Seconds()
		left = max(0, p.plan.Time-elapsed)
		v.progress = append(v.progress, spanText(min(shown, p.plan.Time))+" of "+spanText(p.plan.Time))
	} else {
		v.progress = append(v.progress, spanText(shown))
	}
	for _, m := range []struct {
		name        string
		come, limit int64
	}{{"sent", c.Sent, p.plan.limit}, {"received", c.Received, p.plan.messagesToReceive()}} {
		if m.limit == 0 {
			continue
		}
		v.done = max(v.done, float64(m.come)/float64(m.limit))
		v.progress = append(v.progress, fmt.Sprintf("%s of %s %s", result.Group(m.come), result.Group(m.limit), m.name))
		if perSecond := float64(m.come) / elapsed.Seconds(); perSecond > 0 {
			// A count of messages can be far away; an estimate beyond a month is none.
			if seconds := float64(m.limit-m.come) / perSecond; seconds < 30*24*3600 {
				left = min(left, max(0, time.Duration(seconds*1e9)))
			}
		}
	}
	switch {
	case left < math.MaxInt64:
		v.progress = append(v.progress, spanText((left+time.Second-1).Truncate(time.Second))+" left")
	case v.done < 0:
		v.progress = append(v.progress, "until Ctrl-C")
	}
}

// messagesToReceive is the count that ends the run; 0: receiving does not end it.
func (s *plan) messagesToReceive() int64 {
	if s.limit > 0 || len(s.Producers) > 0 && s.Time > 0 {
		return 0
	}
	return s.consume
}
