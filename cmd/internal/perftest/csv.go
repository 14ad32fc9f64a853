package perftest

import (
	"fmt"
	"strings"
)

// csvLatencies are the columns of a latency. PerfTest has no maximum there.
var csvLatencies = [...]string{"min", "median", "75th p.", "95th p.", "99th p."}

// CSVHeader is the first row of PerfTest's CSV file. All columns are always there. Microseconds are "us": a file that is
// read in another encoding stays what it is.
func (f Format) CSVHeader() string {
	columns := []string{"id", "time (s)"}
	for _, name := range []string{"published", "returned", "confirmed", "nacked", "received"} {
		columns = append(columns, name+" ("+perSecond+")")
	}
	f.ASCII = true
	for _, what := range []string{"consumer", "confirm"} {
		for _, value := range csvLatencies {
			columns = append(columns, fmt.Sprintf("%s %s latency (%s)", value, what, f.unit()))
		}
	}
	return strings.Join(columns, ",")
}

// CSVRow is an interval. What the run does not have is blank, and so is a latency that is not known.
func (f Format) CSVRow(s *Sample) string {
	sh := f.Shown
	cells := []string{csvText(f.ID), Seconds(s.Elapsed)}
	for _, c := range []struct {
		shown bool
		rate  float64
	}{
		{sh.Producers, s.Sent}, {sh.Producers && sh.Mandatory, s.Returned}, {f.confirms(), s.Confirmed},
		{f.confirms(), s.Nacked}, {sh.Consumers, s.Received},
	} {
		text := ""
		if c.shown {
			text = Rate(c.rate)
		}
		cells = append(cells, text)
	}
	cells = append(cells, f.csvLatency(&s.Delivery, sh.Consumers)...)
	return strings.Join(append(cells, f.csvLatency(&s.Confirm, f.confirms())...), ",")
}

func (f Format) csvLatency(q *Latency, shown bool) []string {
	cells := make([]string, len(csvLatencies))
	for i := range cells {
		if shown && q.Unknown == "" && !q.AtLeast[i] {
			cells[i] = fmt.Sprint(f.whole(q.Values[i]))
		}
	}
	return cells
}

// csvText quotes a text where CSV needs it.
func csvText(s string) string {
	if strings.ContainsAny(s, ",\"\r\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
