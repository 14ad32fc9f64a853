package main

import (
	"fmt"
	"slices"
	"strings"

	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/reports/chart"
)

func chartOptions(o *options.ChartOptions) chart.Options {
	return chart.Options{
		Formats: o.ChartFormat, Names: o.ChartNames, Style: o.ChartStyle, Font: o.ChartFont,
		WidthIn: o.ChartSize.WidthIn, HeightIn: o.ChartSize.HeightIn, DPI: o.ChartDPI, NoCaption: o.ChartCaption == "off",
	}
}

// checkCharts finds out before a long run or analysis what could not be drawn.
func checkCharts(o *options.ChartOptions) error {
	if err := chart.CheckNames(o.ChartNames); err != nil {
		return fmt.Errorf("--chart=%s: %w", strings.Join(o.ChartNames, ","), err)
	}
	return checkDrawing(o)
}

// checkRunCharts likewise, for charts of several runs, whose names it makes whole.
func checkRunCharts(o *options.ChartOptions) error {
	for i, name := range o.ChartNames {
		full := chart.FullRunName(name)
		if full != name && slices.Contains(o.ChartNames, full) {
			return fmt.Errorf("--chart=%s: is %s, which stands there, too: name it once", name, full)
		}
		o.ChartNames[i] = full
		if !slices.Contains(chart.RunNames(), full) {
			return fmt.Errorf("--chart=%s: no chart of several runs is called so; there are %s", name, strings.Join(chart.RunNames(), ", "))
		}
	}
	return checkDrawing(o)
}

// checkDrawing is all that is not a matter of names.
func checkDrawing(o *options.ChartOptions) error {
	drawn := chartOptions(o)
	drawn.Names = nil
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

// writeRunCharts draws the charts that set runs beside each other.
func writeRunCharts(runs []chart.Labelled, o *options.ChartOptions, s streams) error {
	drawn := chartOptions(o)
	specs := chart.SpecsOfRuns(runs, drawn)
	drawn.Names = nil // they are of single runs
	files, err := chart.WriteSpecs(o.Charts, specs, drawn)
	for _, f := range files {
		fmt.Fprintln(s.err, "chart", f)
	}
	for _, spec := range specs {
		if spec.NoData != "" {
			fmt.Fprintf(s.err, "no chart: %s: not drawn: %s\n", spec.Name, spec.NoData)
		}
	}
	if err != nil {
		return fmt.Errorf("--charts=%s: %w", o.Charts, err)
	}
	return nil
}
