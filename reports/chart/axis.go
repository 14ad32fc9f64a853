package chart

import (
	"math"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// niceSteps are the distances between ticks that people read without effort, times a power of ten.
var niceSteps = []float64{1, 2, 2.5, 5, 10}

// headroom keeps the highest value off the frame, where it would be taken for a part of it.
const headroom = 0.02

// valueAxis covers lo to hi with about five ticks; its ends move out to the next tick. Values that are not finite or not
// apart are put right: an axis must come out of any data.
func valueAxis(label string, lo, hi float64) Axis {
	lo, hi = apart(lo, hi)
	step := niceStep((hi - lo) / 5)
	first, last := math.Floor(lo/step+1e-9), math.Ceil(hi/step+headroom*(hi-lo)/step)
	return ticked(Axis{Label: label, Min: first * step, Max: last * step}, step, first, last)
}

// spanAxis begins at 0 and ends where the data ends, with at most eight steps of the unit; where the last step is missed by
// next to nothing (a run of 9.9996 s), it ends there.
func spanAxis(label string, hi float64, unit scale) Axis {
	_, hi = apart(0, hi)
	step := timeStep(hi/8, unit)
	if next := math.Ceil(hi/step) * step; next-hi < 0.005*hi {
		hi = next
	}
	a := ticked(Axis{Label: label, Max: hi}, step, 0, math.Floor(hi/step+1e-9))
	if len(a.Ticks) < 2 { // an end that no step reaches
		a.Ticks = append(a.Ticks, Tick{At: hi, Label: significant(hi)})
	}
	return a
}

func ticked(a Axis, step, first, last float64) Axis {
	for i := first; i <= last; i++ {
		// i*step of a decimal step is not that decimal: 3*0.1. The label is rounded to the step's digits.
		a.Ticks = append(a.Ticks, Tick{At: i * step, Label: tickLabel(i*step, step)})
	}
	return a
}

// timeStep is the least step that clocks and calendars know and that is not below raw.
func timeStep(raw float64, unit scale) float64 {
	steps := []float64{1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600}
	switch {
	case raw <= 0.5:
		return niceStep(raw)
	case unit.name == "h":
		steps = []float64{1, 2, 3, 6, 12, 24, 48}
	case unit.name != "s" && unit.name != "min":
		return niceStep(raw)
	}
	for _, s := range steps {
		if s >= raw*(1-1e-9) {
			return s
		}
	}
	return niceStep(raw)
}

// apart makes lo < hi with room for ticks between them that float64 can tell apart.
func apart(lo, hi float64) (float64, float64) {
	if !finite(lo) || !finite(hi) || lo > hi {
		return 0, 1
	}
	const limit = 1e300 // beyond it differences overflow
	lo, hi = math.Min(math.Max(lo, -limit), limit), math.Min(math.Max(hi, -limit), limit)
	if least := 1e-9 * math.Max(math.Abs(lo), math.Abs(hi)); hi-lo <= least {
		grow := 0.1 * math.Max(math.Abs(lo), math.Abs(hi))
		if grow < 1e-300 {
			return lo, lo + 1
		}
		return lo - grow, hi + grow
	}
	if hi-lo < 1e-300 {
		return lo, lo + 1
	}
	return lo, hi
}

// niceStep is the least nice step that is not below raw.
func niceStep(raw float64) float64 {
	scale := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, s := range niceSteps {
		if s*scale >= raw*(1-1e-9) {
			return s * scale
		}
	}
	return 10 * scale
}

// tickLabel writes v with as many digits as the step between ticks needs, thousands grouped.
func tickLabel(v, step float64) string {
	if v == 0 {
		return "0"
	}
	if math.Abs(v) >= 1e15 || step < 1e-9 {
		return exponential(v)
	}
	decimals := 0
	for s := step; decimals < 9 && math.Abs(s-math.Round(s)) > 1e-6*s; s *= 10 {
		decimals++
	}
	return grouped(v, decimals)
}

// grouped writes v with thousands separators.
func grouped(v float64, decimals int) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, fraction := text, ""
	if decimals > 0 {
		whole, fraction = text[:len(text)-decimals-1], text[len(text)-decimals-1:]
	}
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = result.Group(n)
	}
	if v < 0 {
		whole = "-" + whole
	}
	return whole + fraction
}

// logAxis covers lo to hi, both above 0, ending at 1, 2 or 5 times a power of ten. Decades are labelled; where there are
// less than three of them, so are values between, so that no axis is left with a single number. More than 25 decades
// (latencies in int64 nanoseconds have 19) are cut off below.
func logAxis(label string, lo, hi float64) Axis {
	const least, most = 1e-300, 1e300
	if !(lo > 0) || !finite(hi) || hi < lo {
		lo, hi = 1, 10
	}
	hi = math.Min(math.Max(hi, least), most)
	lo = math.Min(hi, math.Max(math.Max(lo, least), hi*1e-25))
	a := Axis{Label: label, Log: true, Min: snap(lo*(1-headroom), -1), Max: snap(hi*(1+headroom), +1)}
	decades := math.Log10(a.Max / a.Min)
	labelled := labelledMultiples(decades)
	every := int(math.Max(1, math.Ceil(decades/7))) // at most about seven labelled decades
	for k := int(math.Floor(math.Log10(a.Min) + 1e-9)); k <= int(math.Ceil(math.Log10(a.Max)-1e-9)); k++ {
		for m := 1; m < 10; m++ {
			at := float64(m) * pow10(k)
			if at < a.Min*(1-1e-9) || at > a.Max*(1+1e-9) || decades > 8 && m > 1 {
				continue
			}
			t := Tick{At: at}
			if labelled[m] && (m > 1 || k%every == 0) {
				t.Label = logLabel(at)
			}
			a.Ticks = append(a.Ticks, t)
		}
	}
	return a
}

// labelledMultiples says which multiples of a power of ten get a label on an axis of so many decades.
func labelledMultiples(decades float64) (labelled [10]bool) {
	multiples := []int{1}
	switch {
	case decades < 1.05:
		multiples = []int{1, 2, 3, 4, 5, 7}
	case decades < 2.5:
		multiples = []int{1, 2, 5}
	}
	for _, m := range multiples {
		labelled[m] = true
	}
	return labelled
}

// snap moves v down or up to the next 1, 2 or 5 times a power of ten.
func snap(v float64, direction int) float64 {
	k := int(math.Floor(math.Log10(v) + 1e-12))
	steps := []float64{1, 2, 5, 10}
	if direction < 0 {
		for i := len(steps) - 1; i >= 0; i-- {
			if at := steps[i] * pow10(k); at <= v*(1+1e-9) {
				return at
			}
		}
		return 5 * pow10(k-1)
	}
	for _, s := range steps {
		if at := s * pow10(k); at >= v*(1-1e-9) {
			return at
		}
	}
	return 2 * pow10(k+1)
}

// pow10 is exact for the powers that float64 holds exactly and correctly rounded elsewhere, which math.Pow is not
// everywhere.
func pow10(k int) float64 {
	v, err := strconv.ParseFloat("1e"+strconv.Itoa(k), 64)
	if err != nil {
		return math.Pow(10, float64(k))
	}
	return v
}

func logLabel(v float64) string {
	if v >= 1e9 || v < 1e-4 {
		return exponential(v)
	}
	decimals := 0
	if v < 1 {
		decimals = int(math.Ceil(-math.Log10(v) - 1e-9))
	}
	return grouped(v, decimals)
}

// exponential writes v as 1e9, 2.5e-7.
func exponential(v float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	if len(mantissa) > 6 { // not a decimal that float64 holds
		mantissa, exponent, _ = strings.Cut(strconv.FormatFloat(v, 'e', 3, 64), "e")
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(n)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// scale is a unit of an axis: values are divided by per.
type scale struct {
	name string
	per  float64
	word string // as axes spell it out
}

// timeScale chooses the unit for a run's length in ns.
func timeScale(length float64) scale {
	switch {
	case length >= 3*3600e9:
		return scale{"h", 3600e9, "hours"}
	case length >= 180e9:
		return scale{"min", 60e9, "minutes"}
	case length >= 1e9:
		return scale{"s", 1e9, "seconds"}
	case length >= 1e6:
		return scale{"ms", 1e6, "milliseconds"}
	}
	return scale{"µs", 1e3, "microseconds"}
}

// latencyScale chooses the unit for latencies in ns: by the largest on a linear axis, by the middle on a logarithmic one.
func latencyScale(lo, hi float64, log bool) scale {
	middle, from, to := hi, 1e6, 1e9
	if log {
		middle, from, to = math.Sqrt(lo)*math.Sqrt(hi), 1e5, 1e10
	}
	switch {
	case middle >= to:
		return scale{"s", 1e9, "seconds"}
	case middle >= from:
		return scale{"ms", 1e6, "milliseconds"}
	}
	return scale{"µs", 1e3, "microseconds"}
}

// rateScale chooses the unit for rates per second.
func rateScale(hi float64) scale {
	if hi >= 1e6 {
		return scale{"million messages per second", 1e6, ""}
	}
	return scale{"messages per second", 1, ""}
}
