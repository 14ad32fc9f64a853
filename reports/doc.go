// Package reports writes a result.Result for people (Text) and for programs (JSON).
//
// In flows one finished result; out flow bytes to an io.Writer. Nothing is computed here that is a finding: the analysis
// has judged, reports only choose scale, order and words. A report reads no clock, no environment and no map, so that the
// same result gives the same bytes, and it never changes the result. Strings of the result come from brokers and
// command lines: characters that could move a terminal's cursor are escaped.
//
// A text report answers in this order: the verdict and what it rests on, what was run, counts, rates, latencies,
// intervals. A value that was not measured is printed as n/a with the reason, never as 0.
//
//	r, err := analyze.Run(ctx, dirs, analyze.Options{})
//	...
//	err = reports.Text(os.Stdout, r, reports.TextOptions{Width: 100})
//
// Charts are made by the package chart below this one.
package reports
