package chart

import (
	"math"
	"slices"
	"strconv"

	"leveret/analyze/result"
)

// step of a stepped outline: a share of all from one value to another.
type step struct{ from, to, share float64 }

// stairs makes the corners of steps that rise from 0 and fall back to it where one does not end at the next one's start.
func stairs(steps []step) []Point {
	var points []Point
	for i, s := range steps {
		if i == 0 || steps[i-1].to < s.from {
			points = append(points, Point{X: s.from})
		}
		points = append(points, Point{X: s.from, Y: s.share}, Point{X: s.to, Y: s.share})
		if i == len(steps)-1 || steps[i+1].from > s.to {
			points = append(points, Point{X: s.to})
		}
	}
	return points
}

func barsOf(name string, fill Fill, steps []step) Bars {
	b := Bars{Name: name, Fill: fill}
	for _, s := range steps {
		b.Bars = append(b.Bars, Bar{From: s.from, To: s.to, Value: s.share})
	}
	return b
}

// distributionStyles by where a latency counts from; the first that there is is filled, too.
var distributionStyles = map[string]Style{
	"response": {Color: blue, Width: 1.6},
	"service":  {Color: vermillion, Dash: "dash", Width: 1.4},
}

// distributionSpec shows which share of the messages had which latency, response and service latency together, on a logarithmic
// axis in steps of equal ratio.
func distributionSpec(r *result.Result, what string) Spec {
	s := Spec{Title: title(what) + " latency distribution", Marks: marks(r)}
	var drawn []*result.Histogram
	lo, hi := math.Inf(1), 0.0
	for _, from := range []string{"response", "service"} {
		h := histogramOf(r, what, from)
		if h == nil {
			continue
		}
		low, high := positiveExtent(h)
		if !(low < high) {
			continue
		}
		drawn = append(drawn, h)
		lo, hi = math.Min(lo, low), math.Max(hi, high)
	}
	const percent = "share of the messages (%)"
	if len(drawn) == 0 {
		s.X, s.Y = logAxis("latency (milliseconds)", 0.1, 10), valueAxis(percent, 0, 1)
		s.NoData = whyNoShape(r, what)
		return s
	}
	unit := latencyScale(lo, hi, true)
	s.X = logAxis("latency ("+unit.word+")", lo/unit.per, hi/unit.per)
	top := 0.0
	notes := []string{}
	for i, h := range drawn {
		steps := stepsOf(h, unit.per)
		for _, x := range steps {
			top = math.Max(top, x.share)
		}
		if i == 0 {
			s.Bars = append(s.Bars, barsOf("", Fill{Ink: skyBlue, Coat: "tint"}, steps))
			s.Events = landmarks(r.Latency.Pick(what, h.From), unit.per, s.X)
		}
		s.Series = append(s.Series, Series{Name: h.From, Style: distributionStyles[h.From], Segments: segments(stairs(steps)), Plain: true})
		notes = append(notes, histogramNote(r, h))
	}
	if len(s.Series) == 1 {
		s.Series[0].Style.Dash = ""
	}
	s.Y = valueAxis(percent, 0, math.Max(top, leastTop))
	s.Table = histogramTable(drawn)
	notes = append(notes, "in steps of 9 %")
	if len(s.Events) > 0 {
		notes = append(notes, "median, 99 % and maximum are those of "+drawn[0].From+" latency")
	}
	s.Caption = caption(r, notes...)
	return s
}

func histogramOf(r *result.Result, what, from string) *result.Histogram {
	for i := range r.Histograms {
		if h := &r.Histograms[i]; h.What == what && h.From == from && len(h.Buckets) > 0 {
			return h
		}
	}
	return nil
}

// positiveExtent is from the lowest bucket above 0 to the end of the highest, in ns.
func positiveExtent(h *result.Histogram) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, b := range h.Buckets {
		if b.FromNS > 0 && b.ToNS > b.FromNS && b.Messages > 0 {
			lo, hi = math.Min(lo, float64(b.FromNS)), math.Max(hi, float64(b.ToNS))
		}
	}
	return lo, hi
}

// stepsOf a histogram are the shares of all its messages, those at or below 0 included, which have no step.
func stepsOf(h *result.Histogram, per float64) (steps []step) {
	for _, b := range h.Buckets {
		if b.FromNS > 0 && b.ToNS > b.FromNS && b.Messages > 0 {
			steps = append(steps, step{float64(b.FromNS) / per, float64(b.ToNS) / per, percentOf(b.Messages, h.Count)})
		}
	}
	return steps
}

// percentOf is at most 100 %, whatever a result says.
func percentOf(n, all int64) float64 {
	if all <= 0 {
		return 100
	}
	return math.Min(100, 100*float64(n)/float64(all))
}

// landmarks of a distribution that lie within the axis.
func landmarks(d *result.Distribution, per float64, x Axis) (all []Event) {
	if d == nil {
		return nil
	}
	for _, m := range []struct {
		label string
		value *int64
	}{{"median", d.P50NS}, {"99 %", d.P99NS}, {"maximum", d.MaxNS}} {
		if m.value == nil {
			continue
		}
		if at := float64(*m.value) / per; at >= x.Min && at <= x.Max {
			all = append(all, Event{At: at, Kind: "mark", Label: m.label})
		}
	}
	return all
}

// histogramNote says how many messages are behind a histogram, and how many of them are not in the picture.
func histogramNote(r *result.Result, h *result.Histogram) string {
	note := h.From + " latency of " + result.Plural(h.Count, "message")
	out := int64(0)
	for _, b := range h.Buckets {
		if b.FromNS <= 0 {
			out += b.Messages
		}
	}
	var left []string
	if out > 0 {
		left = append(left, result.Group(out)+" at or below 0 not shown on the logarithmic axis")
	}
	if text := r.Latency.Pick(h.What, h.From).DescribeCensored(); text != "" {
		left = append(left, text+", not among them")
	}
	if len(left) > 0 {
		note += " (" + joined(left) + ")"
	}
	return note
}

func joined(parts []string) (text string) {
	for i, p := range parts {
		if i > 0 {
			text += "; "
		}
		text += p
	}
	return text
}

// whyNoShape says why there is no histogram and no heat map of a latency.
func whyNoShape(r *result.Result, what string) string {
	for _, from := range []string{"service", "response"} {
		if d := r.Latency.Pick(what, from); d != nil && d.Count > 0 {
			return "no latency above 0 is in the result"
		}
	}
	if reason := r.WhyNoLatency(what, "service"); reason != "" {
		return reason
	}
	return "no message was answered"
}

func histogramTable(all []*result.Histogram) *Table {
	return &Table{Columns: []string{"latency", "from", "above_ms", "below_ms", "messages"}, Rows: func(yield func([]string) bool) {
		for _, h := range all {
			for _, b := range h.Buckets {
				if !yield([]string{h.What, h.From, milliseconds(float64(b.FromNS)), milliseconds(float64(b.ToNS)), strconv.FormatInt(b.Messages, 10)}) {
					return
				}
			}
		}
	}}
}

// confirmSizesSpec shows how many messages the broker confirmed with one frame: which share of the frames had a size, and which
// share of the messages came in such frames.
func confirmSizesSpec(r *result.Result) Spec {
	s := Spec{Title: "Messages confirmed by one frame", Marks: marks(r)}
	const percent = "share (%)"
	f := r.ConfirmFrames
	var frames, messages []step
	count, settled := int64(0), int64(0)
	if f != nil {
		for _, b := range f.Buckets {
			if b.FromMessages > 0 && b.ToMessages > b.FromMessages && b.Frames > 0 && b.Messages > 0 {
				count, settled = count+b.Frames, settled+b.Messages
			}
		}
	}
	lo, hi, top := math.Inf(1), 0.0, 0.0
	if count > 0 && settled > 0 {
		for _, b := range f.Buckets {
			if b.FromMessages <= 0 || b.ToMessages <= b.FromMessages || b.Frames <= 0 || b.Messages <= 0 {
				continue
			}
			from, to := float64(b.FromMessages)-0.5, float64(b.ToMessages)-0.5 // around the whole numbers
			x, y := step{from, to, percentOf(b.Frames, count)}, step{from, to, percentOf(b.Messages, settled)}
			frames, messages = append(frames, x), append(messages, y)
			lo, hi, top = math.Min(lo, from), math.Max(hi, to), math.Max(top, math.Max(x.share, y.share))
		}
	}
	if len(frames) == 0 {
		s.X, s.Y = logAxis("messages", 1, 10), valueAxis(percent, 0, 1)
		if s.NoData = r.WhyNoLatency("confirm", "service"); s.NoData == "" {
			s.NoData = "no frame of confirms was recorded"
		}
		return s
	}
	s.X, s.Y = logAxis("messages that a frame confirmed", lo, hi), valueAxis(percent, 0, top)
	s.X = wholeAxis(s.X, lo)
	s.Bars = []Bars{barsOf("", Fill{Ink: skyBlue, Coat: "tint"}, frames)}
	s.Series = []Series{
		{Name: "frames", Style: Style{Color: blue, Width: 1.6}, Segments: segments(stairs(frames)), Plain: true},
		{Name: "messages in them", Style: Style{Color: vermillion, Dash: "dash", Width: 1.4}, Segments: segments(stairs(messages)), Plain: true},
	}
	s.Table = &Table{Columns: []string{"from_messages", "below_messages", "frames", "messages"}, Rows: func(yield func([]string) bool) {
		for _, b := range f.Buckets {
			if !yield([]string{strconv.FormatInt(b.FromMessages, 10), strconv.FormatInt(b.ToMessages, 10), strconv.FormatInt(b.Frames, 10), strconv.FormatInt(b.Messages, 10)}) {
				return
			}
		}
	}}
	mean := float64(settled) / float64(count)
	s.Caption = caption(r, result.Plural(count, "frame")+" confirmed or refused "+result.Plural(settled, "message"), "mean "+significant(mean), "median "+result.Group(f.P50), "99 % "+result.Group(f.P99), "most "+result.Group(f.Max))
	return s
}

// wholeAxis begins at lo and has ticks at whole numbers only: there is no half message. Where too few are left, it stays as it is.
func wholeAxis(a Axis, lo float64) Axis {
	whole := slices.DeleteFunc(slices.Clone(a.Ticks), func(t Tick) bool { return t.At < lo || t.At != math.Round(t.At) })
	labelled := 0
	for _, t := range whole {
		if t.Label != "" {
			labelled++
		}
	}
	if labelled > 1 {
		a.Min, a.Ticks = lo, whole
	}
	return a
}
