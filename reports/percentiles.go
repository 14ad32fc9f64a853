package reports

import (
	"math"
	"slices"
	"strconv"

	"leveret/analyze/result"
)

// usual are the percentiles of every table; those of them in the tail have the number of messages above them, too.
var usual = []float64{50, 75, 95, 99, 99.9, 99.99}

const tailFrom = 99

// percentsOf are the usual percentiles and those that were asked for, rising.
func percentsOf(shown []side) []float64 {
	return rising(append(askedOf(shown), usual...))
}

// askedOf are the percentiles that were asked for.
func askedOf(shown []side) (asked []float64) {
	for _, s := range shown {
		for _, a := range s.d.Asked {
			if a.Percent > 0 && a.Percent <= 100 {
				asked = append(asked, a.Percent)
			}
		}
	}
	return rising(asked)
}

func rising(percents []float64) []float64 {
	slices.Sort(percents)
	return slices.Compact(percents)
}

// percentText writes a percentile with all its digits, of which nine stand behind the point at most.
func percentText(x float64) string { return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64) }

// percentile prints a bound where the rank falls among the messages that have no answer.
func percentile(s side, percent float64) string {
	p, ok := s.d.Percentile(percent)
	switch {
	case !ok || p.ValueNS == nil:
		return notAvailable
	case p.AtLeast:
		return ">= " + s.unit.format(float64(*p.ValueNS))
	}
	return measured(s, p.ValueNS)
}

// aboveRows say how many messages lie above the percentiles of the tail, or, where percentiles were asked for, above those.
func aboveRows(shown []side) (rows []latencyRow) {
	asked := askedOf(shown)
	if len(asked) == 0 {
		asked = usual[slices.Index(usual, tailFrom):]
	}
	for _, x := range asked {
		rows = append(rows, latencyRow{"above " + percentText(x) + " %", func(s side) string { return above(s.d, x) }})
	}
	return rows
}

// above is the number of messages above a percentile's rank: at nearest rank ceil(p*N/100) these are floor((100-p)*N/100), as
// the analysis has counted them where it was asked, else, of the usual ones, in whole numbers.
func above(d *result.Distribution, percent float64) string {
	for _, a := range d.Asked {
		if a.Percent == percent {
			return shortCount(a.Above)
		}
	}
	switch n := d.Messages(); percent {
	case 99:
		return shortCount(n / 100)
	case 99.9:
		return shortCount(n / 1000)
	case 99.99:
		return shortCount(n / 10000)
	}
	return notAvailable
}

// confidence prints how far the percentiles that were asked for and the means are known.
func (p *page) confidence(shown []side) {
	said := false
	for _, s := range shown {
		type line struct {
			head string
			x    *result.Confidence
		}
		var lines []line
		for _, a := range s.d.Asked {
			if a.Interval != nil && a.Percent > 0 && a.Percent <= 100 {
				lines = append(lines, line{percentText(a.Percent) + " %", a.Interval})
			}
		}
		if s.d.MeanInterval != nil {
			lines = append(lines, line{"mean", s.d.MeanInterval})
		}
		if len(lines) == 0 {
			continue
		}
		if !said {
			p.gap()
			p.remark("95 % intervals, from how batches of the window in time differ, so that messages that share a delay count as few (effective):")
			said = true
		}
		for _, l := range lines {
			p.field(s.what+" "+s.from+" "+l.head, confidenceColumn, p.intervalText(s.unit, l.x))
		}
	}
}

const confidenceColumn = 26

func (p *page) intervalText(u unit, x *result.Confidence) string {
	low, high := "", ""
	if x.LowNS != nil {
		low = u.format(*x.LowNS)
	}
	if x.HighNS != nil {
		high = u.format(*x.HighNS)
	}
	text := ""
	switch label := " " + u.label(p.ascii); {
	case low != "" && high != "":
		text = low + " to " + high + label
	case low != "":
		text = "from " + low + label + " up"
	case high != "":
		text = "up to " + high + label
	default:
		return p.clean(x.Note)
	}
	if x.EffectiveSamples > 0 && x.EffectiveSamples < 1e18 {
		text += " (" + result.Group(int64(x.EffectiveSamples)) + " effective, " + result.Group(int64(x.Batches)) + " batches of " + duration(float64(x.BatchNS), p.ascii) + ")"
	}
	return join("; ", text, p.clean(x.Note))
}
