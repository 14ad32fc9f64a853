package analyze

import (
	"math"
	"slices"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// window is the span over which rates are counted and the cohort of latencies is taken, both ends included.
type window struct {
	start, stop int64
	until       int64 // the end as it is told: stop, or the nanosecond behind it where a part was cut out
	// runStart and runStop are the window where no part of it was asked for: barrier to publish stop.
	runStart, runStop int64
	asked             bool  // a part was asked for
	end               int64 // the last event, or the stop of publishing
	// publishStop is when the last producer stopped: what was drained before proves nothing. MinInt64 without producers.
	publishStop int64
	drainEnd    int64 // event.None if unknown
	text        string
	// stamped: no producers were recorded, so that only the due times in the messages' stamps tell when they began.
	stamped bool
}

// findWindow takes barrier and publish stop from the manifests; where the run's end is not recorded, the first and the
// last event.
//
// Fence posts: a window with recorded ends holds as many gaps as events, and its rate is events over seconds. Between a
// first and a last event lie N-1 gaps, so that a rate over them is high by one part in N-1; the text says so.
func findWindow(captures []*source) window {
	if onlyChurn(captures) {
		return churnWindow(captures)
	}
	captures = slices.DeleteFunc(slices.Clone(captures), (*source).churns) // those beside a run have no part in it
	w := window{publishStop: math.MinInt64, drainEnd: event.None, stamped: true}
	producers, ended := false, true
	for _, c := range captures {
		if c.publishes() {
			producers, w.stamped = true, false
			ended = ended && c.outcome() != nil && c.outcome().BarrierNS != event.None && c.outcome().PublishStopNS != event.None
		}
	}
	kind := schema.Sends
	if !producers {
		kind = schema.Deliveries
		for _, c := range captures {
			ended = ended && c.outcome() != nil && c.outcome().BarrierNS != event.None
		}
	}
	if !ended {
		w.start, w.stop = extent(captures, kind)
		w.text = "first to last message sent (the record does not tell the run's ends; N messages span N-1 gaps)"
		if !producers {
			w.text = "first to last message received (the record does not tell the run's ends; N messages span N-1 gaps)"
		}
		if w.stop == math.MinInt64 { // none of them is left
			w.start, w.stop = anyExtent(captures)
			w.text = "first to last event (the record does not tell the run's ends)"
		}
	} else {
		w.ends(captures, producers)
	}
	if first, last := extent(captures, schema.Deliveries); !producers && last != math.MinInt64 && first < w.start {
		w.start = first // consumers receive from when they subscribe, before the last of them has
		w.text = "first message received to the end of consuming"
	}
	if producers && !ended {
		w.publishStop = math.MaxInt64
	} else if producers {
		w.publishStop = w.stop
	}
	w.end, w.until, w.runStart, w.runStop = w.stop, w.stop, w.start, w.stop
	for _, k := range []schema.Kind{schema.Sends, schema.Settlements, schema.Deliveries} {
		if _, last := extent(captures, k); last != math.MinInt64 {
			w.end = max(w.end, last)
		}
	}
	return w
}

// ends takes the ends from the outcomes.
func (w *window) ends(captures []*source, producers bool) {
	w.start, w.stop = math.MaxInt64, math.MinInt64
	w.text = "start barrier to the stop of publishing"
	for _, c := range captures {
		o := c.outcome()
		if o == nil {
			continue
		}
		if o.DrainEndNS != event.None {
			w.drainEnd = max(w.drainEnd, o.DrainEndNS)
		}
		if producers != c.publishes() {
			continue
		}
		stop := o.PublishStopNS
		if !producers {
			w.text = "start barrier to the end of consuming"
			if !c.leftByThemselves() { // else the drain only proves that nothing is left, and that may take seconds
				stop = max(stop, o.DrainEndNS)
			}
		}
		if stop == event.None {
			_, stop = extent([]*source{c}, schema.Deliveries)
		}
		w.start, w.stop = min(w.start, o.BarrierNS), max(w.stop, stop)
	}
	w.stop = max(w.stop, w.start)
}

// extent is the time from the first to the last row of a kind; (0, 0) or, for the last, MinInt64 where there is none.
func extent(captures []*source, k schema.Kind) (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	for _, c := range captures {
		for _, b := range c.batches {
			if b.kind == k {
				first, last = min(first, b.minTime), max(last, b.maxTime)
			}
		}
	}
	if last == math.MinInt64 {
		first = 0
	}
	return first, last
}

// anyExtent is from the first to the last answer or delivery; (0, 0) where there is none.
func anyExtent(captures []*source) (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	for _, k := range []schema.Kind{schema.Settlements, schema.Deliveries} {
		if from, to := extent(captures, k); to != math.MinInt64 {
			first, last = min(first, from), max(last, to)
		}
	}
	if last == math.MinInt64 {
		return 0, 0
	}
	return first, last
}

func (c *source) outcome() *manifest.Outcome {
	if c.manifest == nil {
		return nil
	}
	return c.manifest.Outcome
}

// leftByThemselves tells whether all consumers had ended, at their limits, idle or with nothing left, when the run stopped.
func (c *source) leftByThemselves() bool {
	ends := c.outcome().Ends
	n := ends[manifest.EndConsumerLimit] + ends[manifest.EndConsumerIdle] + ends[manifest.EndConsumerEmpty]
	return n > 0 && n == len(c.manifest.Consumers)
}

// publishes tells whether the capture is of producers.
func (c *source) publishes() bool {
	if c.manifest != nil {
		return len(c.manifest.Producers) > 0
	}
	for _, b := range c.batches {
		if b.kind == schema.Sends {
			return true
		}
	}
	return false
}

// consumes tells whether the capture is of consumers.
func (c *source) consumes() bool {
	if c.manifest != nil {
		return len(c.manifest.Consumers) > 0
	}
	for _, b := range c.batches {
		if b.kind == schema.Deliveries {
			return true
		}
	}
	return false
}
