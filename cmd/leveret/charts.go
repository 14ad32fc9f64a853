package main

import (
	"fmt"
	"strings"

	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/reports/chart"
)

func chartOptions(o *options.ChartOptions) chart.Options {
	return chart.Options{
		Formats: o.ChartFormat, Names: o.ChartNames, Style: o.ChartStyle, Font: o.ChartFont,
		WidthIn: o.ChartSize.WidthIn, HeightIn: o.ChartSize.HeightIn, DPI: o.ChartDPI,
	}
}

// checkCharts finds out before a long run or analysis what could not be drawn.
func checkCharts(o *options.ChartOptions) error {
	if err := chart.CheckNames(o.ChartNames); err != nil {
		return fmt.Errorf("--chart=%s: %w", strings.Join(o.ChartNames, ","), err)
	}
	drawn := chartOptions(o)
	if err := drawn.Check(); err != nil {
		return fmt.Errorf("--chart-size, --chart-dpi: %w", err)
	}
	return nil
}

func writeCharts(r *result.Result, o *options.ChartOptions, s streams) error {
	drawn := chartOptions(o)
	files, err := chart.Write(o.Charts, r, drawn)
	for _, f := range files {
		fmt.Fprintln(s.err, "chart", f)
	}
	for _, why := range chart.Skipped(r, drawn) {
		fmt.Fprintln(s.err, "no chart:", why)
	}
	if err != nil {
		return fmt.Errorf("--charts=%s: %w", o.Charts, err)
	}
	return nil
}
