package analyze

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// host is the captures that share one clock.
type host struct {
	captures []*source
	base     *event.Snapshot // of the first; nil where it has no manifest
}

// clocks is how the captures came onto one clock.
type clocks struct {
	hosts     []host
	relations []relation // by host, to the first; none of one host
	// crossed: messages went from one host to another; refused: by how much their latencies are off is not known; else errorNS
	// bounds it.
	crossed, refused bool
	errorNS          int64
}

// joinClocks brings all captures onto the clock of the first. Those of one host share the raw monotonic clock. The clocks of
// several hosts start at their wall clocks, and are moved by what these are known to differ (relateClocks): by messages
// that went both ways, or by how far off the systems say that their wall clocks may be. Where neither tells, nothing is moved.
func (a *analysis) joinClocks(ctx context.Context) error {
	a.clocks.hosts = hostsOf(a.captures)
	hosts := a.clocks.hosts
	if len(hosts) < 2 {
		return nil
	}
	passages, err := a.passages(ctx, hosts)
	if err != nil {
		return err
	}
	known := make([]wallClock, len(hosts))
	for i := range hosts {
		known[i] = hosts[i].wall()
	}
	c := &a.clocks
	c.relations = relateClocks(known, passages)
	for i, r := range c.relations {
		if r.known {
			for _, s := range hosts[i].captures {
				s.shift -= r.aheadNS
				s.moveTimes(-r.aheadNS)
			}
		}
	}
	c.crossed = len(passages) > 0
	c.errorNS, c.refused = latencyError(c.relations, passages)
	return nil
}

// hostsOf groups the captures by the clock that they share, and moves those of each group onto its first one's.
func hostsOf(captures []*source) (hosts []host) {
	for _, c := range captures {
		if c.manifest == nil {
			hosts = append(hosts, host{captures: []*source{c}})
			continue
		}
		s := &c.manifest.ClockStart
		i := slices.IndexFunc(hosts, func(h host) bool { return h.base != nil && h.base.Shares(s) })
		if i < 0 {
			hosts = append(hosts, host{captures: []*source{c}, base: s})
			continue
		}
		h := &hosts[i]
		h.captures = append(h.captures, c)
		c.shift = (h.base.ClockNS - h.base.MonotonicNS) - (s.ClockNS - s.MonotonicNS)
		c.moveTimes(c.shift)
	}
	return hosts
}

// moveTimes moves what is known of the times without reading a row.
func (c *source) moveTimes(by int64) {
	c.moveOutcome(by)
	for _, b := range c.batches {
		b.minTime += by
		b.maxTime += by
	}
}

// wallClock is how well the host's clock is known to follow the time of day: the error that its system stated when the
// recording began or ended, and how far the wall clock was moved meanwhile, which the recording's did not follow.
func (h *host) wall() wallClock {
	if h.base == nil || h.base.WallErrorNS <= 0 {
		return wallClock{}
	}
	stated, moved := h.base.WallErrorNS, max(h.base.WallNS-h.base.ClockNS, h.base.ClockNS-h.base.WallNS)
	for _, c := range h.captures {
		if end := c.manifest.ClockEnd; end != nil {
			if end.WallErrorNS <= 0 {
				return wallClock{}
			}
			stated = max(stated, end.WallErrorNS)
			moved = max(moved, end.WallNS-end.ClockNS, end.ClockNS-end.WallNS)
		}
	}
	return wallClock{known: true, errorNS: stated + moved}
}

// name of a host's captures.
func (h *host) name() string {
	var names []string
	for _, c := range h.captures {
		names = append(names, filepath.Base(filepath.Clean(c.dir)))
	}
	const shown = 3
	if n := len(names) - shown; n > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// error bounds by how much times of different hosts may be off from each other; MaxInt64 where nothing does.
func (c *clocks) error() (ns int64) {
	for i := range c.relations {
		if !c.relations[i].known {
			return math.MaxInt64
		}
		ns = max(ns, 2*c.relations[i].errorNS)
	}
	return ns
}

// describe says how the captures of several hosts were joined, one line a host; none of one host.
func (c *clocks) describe() (lines []string, structured []result.Clock) {
	for i := 1; i < len(c.relations); i++ {
		r := &c.relations[i]
		lines = append(lines, fmt.Sprintf("the clock of %s %s", c.hosts[i].name(), describeRelation(r, c.hosts[0].name())))
		x := result.Clock{By: string(r.by)}
		for _, s := range c.hosts[i].captures {
			x.Captures = append(x.Captures, s.dir)
		}
		if r.known {
			x.AheadNS, x.ErrorNS = &r.aheadNS, &r.errorNS
		}
		if r.leastNS != math.MinInt64 {
			x.AtLeastNS = &r.leastNS
		}
		if r.mostNS != math.MaxInt64 {
			x.AtMostNS = &r.mostNS
		}
		x.DriftNS = r.driftNS
		structured = append(structured, x)
	}
	return lines, structured
}

func describeRelation(r *relation, first string) string {
	drift := ""
	if r.driftNS > 0 {
		drift = fmt.Sprintf("; the two ran apart by at least %v during the run", atLeast(r.driftNS))
	}
	switch {
	case r.stepped:
		return fmt.Sprintf("does not keep to that of %s: one of them was set during the run, or runs wrong by more than %d parts in a million; nothing was moved", first, maxDriftPPM)
	case r.known:
		way := "ahead of"
		if r.aheadNS < 0 {
			way = "behind"
		}
		return fmt.Sprintf("was %v %s that of %s, give or take %v, by %s; its times were moved by that%s",
			time.Duration(max(r.aheadNS, -r.aheadNS)).Round(time.Microsecond), way, first, atMost(r.errorNS), r.by, drift)
	case r.mostNS < 0:
		return fmt.Sprintf("is at least %v behind that of %s, how much more is not known, for messages went one way only; nothing was moved%s", atLeast(-r.mostNS), first, drift)
	case r.leastNS > 0:
		return fmt.Sprintf("is at least %v ahead of that of %s, how much more is not known, for messages went one way only; nothing was moved%s", atLeast(r.leastNS), first, drift)
	}
	return fmt.Sprintf("differs from that of %s by an unknown time: messages did not go both ways, and the systems do not say how far off their wall clocks may be; nothing was moved", first)
}

// atLeast and atMost are bounds in whole microseconds.
func atLeast(ns int64) time.Duration { return time.Duration(ns).Truncate(time.Microsecond) }

func atMost(ns int64) time.Duration {
	return time.Duration(ns + int64(time.Microsecond) - 1).Truncate(time.Microsecond)
}

// accuracy says what the latencies from host to host are worth; "" where no message went so.
func (c *clocks) accuracy() string {
	switch {
	case !c.crossed:
		return ""
	case c.refused:
		return "delivery latencies are not given"
	}
	return fmt.Sprintf("delivery latencies from one to the other are exact to %v", atMost(c.errorNS))
}

// withhold takes the delivery latencies out of a result where the clocks of sender and receiver cannot be compared. The
// findings keep how many of them were below zero.
func (c *clocks) withhold(r *result.Result) {
	r.Latency.Delivery = result.Latency{}
	for i := range r.Intervals {
		r.Intervals[i].Latency.Delivery = result.Latency{}
	}
	for i := range r.Groupings {
		for j := range r.Groupings[i].Members {
			r.Groupings[i].Members[j].Latency.Delivery = result.Latency{}
		}
	}
	r.Curves = slices.DeleteFunc(r.Curves, func(x result.Curve) bool { return x.What == "delivery" })
	r.Histograms = slices.DeleteFunc(r.Histograms, func(x result.Histogram) bool { return x.What == "delivery" })
	r.HeatMaps = slices.DeleteFunc(r.HeatMaps, func(x result.HeatMap) bool { return x.What == "delivery" })
}
