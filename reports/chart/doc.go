// Package chart draws a result.Result: rates over time, latency over time, latency by percentile.
//
// It works in two steps that know nothing of each other. Pure functions turn the result into Specs: plain data with the
// title, caption, axes with their ticks, lines with their gaps, and shaded spans, all in the units of the axes. A
// renderer then draws any Spec with gonum/plot, as PNG or SVG. What a chart says is decided and tested in the Spec; how
// it looks is decided in the renderer.
//
// The same result gives the same bytes: no clock, no map, no environment, no font but the ones compiled in. Nothing that
// a result may hold breaks a chart: what cannot be drawn (NaN, zero on a logarithmic axis, an interval without
// messages) is a gap, and where that hides something the caption says how much. Long series are thinned to what the
// paper can show, keeping the lowest and the highest value of every strip, so that a single spike stays visible.
//
//	files, err := chart.Write(dir, r, chart.Options{})   // dir/rates.png, dir/rates.svg, ...
//	for _, note := range chart.Skipped(r) { ... }        // which charts had nothing to show, and why
package chart
