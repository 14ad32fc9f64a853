package options

import (
	"fmt"
	"os"
	"time"
)

// Report holds the options that say how results are shown; run and analyze share them.
type Report struct {
	Format      string
	Charts      string // directory; "" : none
	ChartFormat []string
	Interval    time.Duration // 0: chosen by the length of the run
	By          []string      // queue, producer, consumer
	Strict      bool
	NoColor     bool
}

// Check finds out before a long run or analysis what would make its report fail.
func (r *Report) Check() error {
	if info, err := os.Stat(r.Charts); r.Charts != "" && err == nil && !info.IsDir() {
		return fmt.Errorf("--charts=%s: is a file; give a directory", r.Charts)
	}
	return nil
}

func (r *Report) options() []*Option {
	return []*Option{
		{Name: "format", Arg: "FORMAT", Group: groupReport, value: choice(&r.Format, "text", "text", "json"), Help: "form of the report on stdout: text or json"},
		{Name: "charts", Arg: "DIR", Group: groupReport, value: text(&r.Charts, ""), Help: "write charts into this directory"},
		{Name: "chart-format", Arg: "FORMAT,...", Group: groupReport, value: choices(&r.ChartFormat, "png,svg", "png", "svg"), Help: "formats of the charts: png, svg"},
		{Name: "interval", PerfTest: []string{"i"}, Arg: "SECONDS", Group: groupReport, value: seconds(&r.Interval, 0, 0), Help: "length of the intervals in report and charts; 0: chosen by the length of the run"},
		{Name: "by", Arg: "WHAT,...", Group: groupReport, value: choices(&r.By, "", "queue", "producer", "consumer"), Help: "also messages and latencies by queue, producer or consumer, of the first 64 of each"},
		{Name: "no-color", Group: groupReport, value: toggle(&r.NoColor, false), Help: "no colors on a terminal; likewise where the variable NO_COLOR is set"},
		{Name: "strict", Group: groupReport, value: toggle(&r.Strict, false), Help: "exit with 3 also when the verdict is INCONCLUSIVE or there is a warning"},
	}
}
