// Package chart draws a result.Result: rates, backlog and latency over time, latency by percentile, as a distribution and as a heat map,
// how members of the run differ, what the tool was busy with; and several results beside each other (SpecsOfRuns).
//
// It works in two steps that know nothing of each other. Pure functions turn the result into Specs: plain data with the
// title, caption, axes with their ticks, lines with their gaps and other layers, shaded spans and events, all in the units of the axes, colours
// by name. A renderer then draws any Spec with gonum/plot, in a Theme (light, dark, print) and a format (SVG, PNG, PDF, EPS,
// TeX). What a chart says is decided and tested in the Spec; how it looks is decided in Theme and renderer.
//
// The same result gives the same bytes: no clock, no map, no environment, no font but the ones compiled in (PDF alone needs
// a folder for temporary files to hold its text as text; without one its text is outlines). Nothing that
// a result may hold breaks a chart: what cannot be drawn (NaN, zero on a logarithmic axis, an interval without
// messages) is a gap, and where that hides something the caption says how much. Long series are thinned to what the
// paper can show, keeping the lowest and the highest value of every strip, so that a single spike stays visible; the CSV
// file beside a chart has all of them.
//
//	files, err := chart.Write(dir, r, chart.Options{})                     // dir/rates.png, dir/rates.svg, dir/rates.csv, ...
//	for _, note := range chart.Skipped(r, chart.Options{}) { ... }         // which charts had nothing to show, and why
//	svg, err := chart.Encode(chart.Specs(r, chart.Options{})[0], "svg", chart.Options{Style: "dark"})
package chart
