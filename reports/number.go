package reports

import (
	"math"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

const notAvailable = "n/a"

// unit is a scale for times: values are divided by ns and have at most decimals digits after the point, which is where
// a nanosecond ends.
type unit struct {
	name     string
	ns       float64
	decimals int
}

var (
	microseconds = unit{"us", 1e3, 3}
	milliseconds = unit{"ms", 1e6, 6}
	seconds      = unit{"s", 1e9, 9}
)

// label is the unit's name as printed: the micro sign where the output may hold it.
func (u unit) label(ascii bool) string {
	if u.name == "us" && !ascii {
		return "µs"
	}
	return u.name
}

// format writes a time with four significant digits, without the unit.
func (u unit) format(ns float64) string { return significant(ns/u.ns, u.decimals) }

// unitFor chooses the scale for a set of typical values (ns). Milliseconds, in which most readers think, serve from
// 0.1 ms to 10 s; the geometric mean decides, so that one large value does not turn the others into zeros.
func unitFor(typical []float64) unit {
	var logs float64
	n := 0
	for _, v := range typical {
		if v > 0 && isFinite(v) {
			logs += math.Log10(v)
			n++
		}
	}
	switch {
	case n == 0:
		return milliseconds
	case logs/float64(n) < 5:
		return microseconds
	case logs/float64(n) < 10:
		return milliseconds
	}
	return seconds
}

// serves tells whether values (ns) can be read in a unit of three digits after the point: none rounds to nothing, none is
// longer than six digits.
func (u unit) serves(values []float64) bool {
	for _, v := range values {
		if v != 0 && (math.Abs(v) < 0.01*u.ns || math.Abs(v) >= 1e6*u.ns) {
			return false
		}
	}
	return true
}

// significant writes v with four significant digits, thousands grouped, and at most decimals digits after the point.
// From a thousand million on the exponent is written out: such numbers are broken input or no longer worth a column.
func significant(v float64, decimals int) string {
	switch {
	case !isFinite(v):
		return notAvailable
	case v == 0:
		return "0"
	}
	e := strconv.FormatFloat(v, 'e', 3, 64) // d.ddde±dd, rounded once
	mantissa, exponent, _ := strings.Cut(e, "e")
	magnitude, _ := strconv.Atoi(exponent)
	switch {
	case magnitude >= 9:
		return mantissa + "e" + exponent
	case magnitude >= 3:
		rounded, _ := strconv.ParseFloat(e, 64)
		return result.Group(int64(rounded))
	}
	return strconv.FormatFloat(v, 'f', min(3-magnitude, decimals), 64)
}

// rate writes messages per second.
func rate(v float64) string { return significant(v, 4) }

// duration writes a length of time with the unit that suits it.
func duration(ns float64, ascii bool) string {
	switch abs := math.Abs(ns); {
	case !isFinite(ns):
		return notAvailable
	case abs >= 120e9:
		return significant(ns/60e9, 4) + " min"
	case abs >= 1e9 || ns == 0:
		return seconds.format(ns) + " s"
	case abs >= 1e6:
		return milliseconds.format(ns) + " ms"
	}
	return microseconds.format(ns) + " " + microseconds.label(ascii)
}

// bytesPerSecond writes a rate of bytes in decimal units.
func bytesPerSecond(v float64) string { return inBytes(v) + "/s" }

// byteCount writes a size in decimal units.
func byteCount(n int64) string { return inBytes(float64(n)) }

func inBytes(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 1e9:
		return significant(v/1e9, 3) + " GB"
	case abs >= 1e6:
		return significant(v/1e6, 3) + " MB"
	case abs >= 1e3:
		return significant(v/1e3, 3) + " kB"
	}
	return wholeOr(v, 3) + " B"
}

// span is to - from in ns. It saturates: times come from files, and a sum that wraps would look like a plausible one.
func span(from, to int64) int64 {
	d := to - from
	switch {
	case from < 0 && to >= 0 && d < 0:
		return math.MaxInt64
	case from >= 0 && to < 0 && d >= 0:
		return math.MinInt64
	}
	return d
}

// perSecond is n events over the span; NaN where the span has no length.
func perSecond(n int64, from, to int64) float64 {
	d := span(from, to)
	if d <= 0 {
		return math.NaN()
	}
	return float64(n) / (float64(d) / 1e9)
}
