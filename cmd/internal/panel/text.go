package panel

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"leveret/analyze/result"
)

// What the panel and the lines of progress write numbers with. Where the terminal is not UTF-8, everything is ASCII.

// rateText writes messages per second: 19,998, and 0.5 where a whole number would not do.
func rateText(perSecond float64) string {
	if perSecond < 9.95 && perSecond != math.Trunc(perSecond) {
		return fmt.Sprintf("%.1f", perSecond)
	}
	return result.Group(int64(math.Round(perSecond)))
}

// scale is a unit and how many of the smallest it is.
type scale struct {
	name string
	size float64
}

var (
	timeScales = []scale{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}
	byteScales = []scale{{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}
)

// scaled writes three digits and the unit that makes them readable: 480 ms, 1.20 s.
func scaled(n float64, scales []scale) string {
	unit := scales[len(scales)-1]
	for _, s := range scales {
		if n/s.size < 999.5 {
			unit = s
			break
		}
	}
	n /= unit.size
	decimals := 0
	switch {
	case unit.size == 1 || n == 0:
	case n < 9.995:
		decimals = 2
	case n < 99.95:
		decimals = 1
	}
	return fmt.Sprintf("%.*f %s", decimals, n, unit.name)
}

// latencyText writes a time in ns; the micro sign only where the terminal has it.
func latencyText(ns int64, ascii bool) string {
	s := scaled(float64(ns), timeScales)
	if !ascii {
		s = strings.Replace(s, " us", " µs", 1)
	}
	return s
}

func bytesText(n int64) string { return scaled(float64(n), byteScales) }

// spanText writes a time for people: 48 s, 1 min, 3 min 20 s, 2 h 05 min. Parts of a second are dropped from 10 s on.
func spanText(d time.Duration) string {
	switch {
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", math.Floor(d.Seconds()*10)/10)
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour && d%time.Minute < time.Second:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
}

// barText draws a share from 0 to 1 in so many columns.
func barText(share float64, columns int, ascii bool) string {
	full, empty, ends := "█", "░", [2]string{}
	if ascii {
		full, empty, ends = "#", ".", [2]string{"[", "]"}
		columns -= 2
	}
	if columns < 1 {
		return ""
	}
	n := int(math.Round(min(max(share, 0), 1) * float64(columns)))
	return ends[0] + strings.Repeat(full, n) + strings.Repeat(empty, columns-n) + ends[1]
}

// The lowest step of a sparkline is for 0 alone, so that nothing and little can be told apart.
var (
	sparkSteps      = []rune("▁▂▃▄▅▆▇█")
	sparkStepsASCII = []rune("_.:-=+*#")
)

// sparkText draws values, none negative, from 0 to the greatest of them; NaN is a gap.
func sparkText(values []float64, ascii bool) string {
	steps := sparkSteps
	if ascii {
		steps = sparkStepsASCII
	}
	most := 0.0
	for _, v := range values {
		if v > most {
			most = v
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case v <= 0:
			b.WriteRune(steps[0])
		default:
			n := len(steps) - 1
			b.WriteRune(steps[min(1+int(v/most*float64(n)), n)])
		}
	}
	return b.String()
}

// plainText takes everything out of a foreign text that would do something to a terminal instead of being read.
func plainText(s string, ascii bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar || ascii && r > unicode.MaxASCII:
			return '?'
		}
		return r
	}, s)
}

// cutText shortens a text to at most so many columns of the terminal.
func cutText(s string, columns int, ascii bool) string {
	if uniseg.StringWidth(s) <= columns {
		return s
	}
	tail := "…"
	if ascii {
		tail = ".."
	}
	columns -= uniseg.StringWidth(tail)
	if columns < 0 {
		return ""
	}
	cut, used := "", 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += g.Width(); used > columns {
			break
		}
		cut += g.Str()
	}
	return cut + tail
}

// paint turns a line into text of at most so many columns, with colors or without; it tells how many columns it has.
func (l *line) paint(columns int, ascii, color bool) (string, int) {
	var b strings.Builder
	used := 0
	for _, s := range l.spans {
		text := cutText(s.text, columns-used, ascii)
		used += uniseg.StringWidth(text)
		if color && s.style != "" && strings.TrimSpace(text) != "" {
			text = "\x1b[" + s.style + "m" + text + "\x1b[0m"
		}
		b.WriteString(text)
		if text == "" && s.text != "" { // there is no room for anything more
			break
		}
	}
	return b.String(), used
}
