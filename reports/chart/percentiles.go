package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// few is how many messages above a percentile are too few to speak of a percentile: single messages decide it.
const few = 10

// percentilesSpec shows latency by percentile on a scale of nines, where 90, 99, 99.9 % lie at equal distances: service
// and response latency of confirms and deliveries together. The greatest latency, which no percentile below 100 % shows,
// has a place of its own at the right end.
func percentilesSpec(r *result.Result) Spec {
	s := Spec{Name: "percentiles", Title: "Latency by percentile", Marks: marks(r)}
	curves := usableCurves(r)
	end, rightmost := curvesEnd(curves)
	var lines []line
	for _, c := range curves {
		lines = append(lines, curveLine(c, rightmost, r.Latency.Pick(c.What, c.From)))
	}
	spread := spreadOf(lines)
	s.X = ninesAxis(end, rightmost, curves)
	if spread.points == 0 {
		s.NoData = "no latency was measured"
		if r.LatencyNote != "" {
			s.NoData = r.LatencyNote
		}
		s.Y = valueAxis("latency (milliseconds)", 0, 1)
		return s
	}
	unit := s.setLatencyAxis(spread, "latency")
	s.Series = toSeries(lines, 1, unit.per, s.Y.Log)
	if least := leastCount(curves); least > 0 {
		from := math.Max(0, math.Log10(float64(least)/few))
		s.Spans = []Span{{From: math.Min(from, end), To: rightmost, Kind: "few", Label: "fewer than " + strconv.Itoa(few) + " messages above", Count: 1}}
	}
	s.Table = curveTable(curves)
	notes := curveNotes(r, curves)
	s.Caption = caption(r, slices.Insert(notes, 1, s.notes(spread)...)...)
	return s
}

// curvesEnd is where, on the scale of nines, curves end, and the place of their maximum.
func curvesEnd(curves []result.Curve) (end, rightmost float64) {
	end = math.Max(1, math.Log10(float64(max(1, leastCount(curves))))) // where one message in all lies above
	for _, c := range curves {
		for _, p := range c.Points {
			if at := nines(p.Percent); finite(at) {
				end = math.Max(end, at)
			}
		}
	}
	return end, end + math.Max(0.35, 0.09*end)
}

func usableCurves(r *result.Result) []result.Curve {
	var usable []result.Curve
	for _, what := range slices.Backward(r.LatencyKinds()) { // the higher ones first, as they lie in the chart
		for _, from := range []string{"response", "service"} {
			for _, c := range r.Curves {
				if c.What == what && c.From == from && len(c.Points) > 0 {
					usable = append(usable, c)
					break
				}
			}
		}
	}
	return usable
}

// nines is the place of a percentile on the scale: 90 at 1, 99 at 2, 99.9 at 3. 100 has none (+Inf), nor has what is no
// percentage (NaN).
func nines(percent float64) float64 {
	if !(percent >= 0 && percent <= 100) {
		return math.NaN()
	}
	return -math.Log10(1 - percent/100)
}

var curveStyles = map[string]Style{
	// Where both lie on each other, as after a stall, the broader line below still shows.
	"delivery response": {Color: orange, Width: 3},
	"confirm response":  {Color: blue, Width: 1.5},
	"delivery service":  {Color: vermillion, Dash: "dash", Width: 2.2},
	"confirm service":   {Color: bluishGreen, Dash: "dot", Width: 1.6},
	// They take the place of confirms; a result with both is of several captures.
	"commit response": {Color: reddishPurple, Width: 1.5},
	"commit service":  {Color: skyBlue, Dash: "dot", Width: 1.6},
}

// percents of result.Distribution.Percentiles.
var percents = [6]float64{50, 75, 95, 99, 99.9, 99.99}

// curveLine ends, where messages have no answer, in bounds: at the percentiles among them, and at the place of the maximum.
func curveLine(c result.Curve, rightmost float64, d *result.Distribution) line {
	name := c.What + " " + c.From
	l := line{name: name, style: curveStyles[name], plain: true}
	if first := c.Points[0]; c.Count > 0 && first.Above == c.Count-1 { // the least value is that of every lower percentile
		l.points = append(l.points, Point{X: 0, Y: float64(first.ValueNS)})
	}
	for _, p := range c.Points {
		at := nines(p.Percent)
		if math.IsInf(at, 1) {
			at = rightmost
		}
		l.points = append(l.points, Point{X: at, Y: float64(p.ValueNS)})
	}
	if d != nil && d.Censored > 0 && d.AtLeastNS != nil {
		for i, p := range d.Percentiles() {
			if at := nines(percents[i]); p.AtLeast && at < rightmost {
				l.bounds = append(l.bounds, Point{X: at, Y: float64(*p.ValueNS)})
			}
		}
		l.bounds = append(l.bounds, Point{X: rightmost, Y: float64(d.MaxBound())})
	}
	return l
}

func curveTable(curves []result.Curve) *Table {
	return &Table{Columns: []string{"latency", "from", "percentile_percent", "latency_ms", "messages_above"}, Rows: func(yield func([]string) bool) {
		for _, c := range curves {
			for _, p := range c.Points {
				if !yield([]string{c.What, c.From, number(p.Percent), milliseconds(float64(p.ValueNS)), strconv.FormatInt(p.Above, 10)}) {
					return
				}
			}
		}
	}}
}

// ninesAxis labels 50, 90, 99, ... % and, where all curves are of equally many messages, how many lie above each.
func ninesAxis(end, rightmost float64, curves []result.Curve) Axis {
	a := Axis{Label: "percentile (%)", Min: 0, Max: rightmost}
	count, same := sameCount(curves)
	if same {
		a.Label = "percentile (%), and messages above it"
	}
	add := func(at float64, label string, above int64) {
		if same {
			label += "\n" + result.Group(above)
		}
		a.Ticks = append(a.Ticks, Tick{At: at, Label: label})
	}
	a.Ticks = append(a.Ticks, Tick{At: 0, Label: "0"}) // all messages lie above it, and their number would crowd out the next
	add(nines(50), "50", count/2)
	power := int64(1)
	for k := 1; float64(k) <= end+1e-9 && k <= 15; k++ {
		power *= 10
		if float64(k)+0.3 > rightmost && k > 1 { // would touch the label of the maximum
			break
		}
		label := "90"
		if k > 1 {
			label = "99"
		}
		if k > 2 {
			label += "." + strings.Repeat("9", k-2)
		}
		add(float64(k), label, count/power)
	}
	add(rightmost, "max", 0)
	return a
}

func sameCount(curves []result.Curve) (int64, bool) {
	if len(curves) == 0 || curves[0].Count <= 0 {
		return 0, false
	}
	for _, c := range curves {
		if c.Count != curves[0].Count {
			return 0, false
		}
	}
	return curves[0].Count, true
}

func leastCount(curves []result.Curve) int64 {
	least := int64(0)
	for _, c := range curves {
		if least == 0 || c.Count < least {
			least = c.Count
		}
	}
	return least
}

// curveNotes say how many messages are behind the curves, how many of them were never answered, and what is compared.
func curveNotes(r *result.Result, curves []result.Curve) []string {
	var behind, notes []string
	from := map[string]bool{}
	for _, what := range r.LatencyKinds() {
		named := false
		for _, c := range curves {
			if c.What != what {
				continue
			}
			from[c.From] = true
			if named { // the first is response latency where there is one: it has the messages that were never sent, too
				continue
			}
			named = true
			behind = append(behind, what+" latency of "+result.Plural(c.Count, "message"))
			if text := r.Latency.Pick(what, c.From).DescribeCensored(); text != "" {
				behind[len(behind)-1] += " (" + text + ")"
			}
		}
	}
	switch {
	case from["service"] && from["response"]:
		notes = append(notes, "service latency: from when a message was sent, response latency: from when it was due")
	case from["response"]:
		notes = append(notes, meaning("response"))
	case from["service"]:
		notes = append(notes, meaning("service"))
	}
	return append([]string{strings.Join(behind, ", ")}, notes...)
}
