package chart

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"leveret/analyze/result"
)

// odd are results that charts have broken on.
func odd(t *testing.T) map[string]*result.Result {
	all := map[string]*result.Result{
		"nothing at all": {},
		"no points":      latencyRun(),
		"one point":      latencyRun(5e6),
		"all equal":      latencyRun(5e6, 5e6, 5e6, 5e6),
		"all zero":       latencyRun(0, 0, 0),
		"zeros":          latencyRun(1000, 0, 100_000, 0),
		"negative":       latencyRun(-1, 1e6, 2e6),
		"extremes":       latencyRun(1, math.MaxInt64),
		"gaps":           latencyRun(1e6, -1, 2e6, -1, -1, 3e6),
	}
	for name, bad := range map[string]float64{"NaN": math.NaN(), "infinity": math.Inf(1), "minus infinity": math.Inf(-1)} {
		r := latencyRun(1e6, 2e6)
		r.Config.RateTotal, r.Rates.Sent, r.Rates.Received = &bad, &bad, &bad
		r.Intervals[0].EndNS = r.Intervals[0].StartNS // a division by zero
		r.Curves = []result.Curve{{What: "confirm", From: "response", Count: 2, Points: []result.CurvePoint{{Percent: bad, ValueNS: 1e6}, {Percent: 100, ValueNS: 2e6}}}}
		for i := range r.Intervals {
			r.Intervals[i].Latency.Confirm.Response.MeanNS, r.Intervals[i].Latency.Confirm.Response.StdDevNS = &bad, &bad
		}
		all[name] = r
	}
	for _, name := range sampleNames {
		all["sample "+name] = loadSample(t, name)
	}
	all["many queues"] = manyQueues(t)
	return all
}

// manyQueues is a run over 200 queues with names of 255 bytes, the longest that AMQP has, each with figures of its own.
func manyQueues(t *testing.T) *result.Result {
	r := loadSample(t, "stall")
	r.Config.Queues, r.Config.QueueNames = 200, nil
	group := result.Grouping{By: "queue", Total: 200, LeastMessages: 1, MedianMessages: 100, MostMessages: 200}
	for i := range 200 {
		name := fmt.Sprintf("%0200d-%s", i, strings.Repeat("naïve.世界<&>%_", 4))[:255]
		r.Config.QueueNames = append(r.Config.QueueNames, name)
		r.Queues = append(r.Queues, result.QueueCounts{Queue: name, Type: "classic", Counts: result.Counts{Sent: int64(i), Received: int64(i)}})
		group.Members = append(group.Members, result.Member{Name: name, Messages: int64(i + 1), Latency: r.Latency})
	}
	r.Groupings = []result.Grouping{group}
	for i := range int64(50) {
		r.Spans = append(r.Spans, result.Span{FromNS: start + i*190e6, ToNS: start + i*190e6 + 60e6, Kind: "blocked"})
		r.Marks = append(r.Marks, result.Mark{AtNS: start + i*190e6, Text: r.Config.QueueNames[i]})
	}
	return r
}

// Nothing breaks a chart: every chart of every odd result is drawn, in every format and style, with no number that is none, in a
// file that is not too large.
func TestNothingBreaksAChart(t *testing.T) {
	turn := 0
	for name, r := range odd(t) {
		for _, s := range Specs(r, Options{Names: Names()}) {
			turn++
			formats := []string{"svg"}
			if s.NoData == "" && turn%3 == 0 { // the others in turn
				formats = append(formats, Formats[1+turn/3%(len(Formats)-1)])
			}
			for _, format := range formats {
				b := encode(t, s, format, Options{DPI: 50, Style: Styles[turn%len(Styles)], WidthIn: []float64{0, 3.3, 7}[turn%3], HeightIn: []float64{0, 2.4, 4}[turn%3]})
				if len(b) == 0 || len(b) > 2_000_000 {
					t.Errorf("%s: %s.%s has %d bytes", name, s.Name, format, len(b))
				}
				if format != "png" && format != "pdf" && (bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf"))) {
					t.Errorf("%s: %s.%s holds what is no number", name, s.Name, format)
				}
			}
			if s.NoData != "" {
				continue
			}
			var table bytes.Buffer
			if err := CSV(&table, s); err != nil || strings.Contains(table.String(), "NaN") || strings.Contains(table.String(), "Inf") {
				t.Errorf("%s: figures of %s: %v\n%s", name, s.Name, err, table.String())
			}
		}
	}
}

// What a logarithmic axis cannot show is said in the picture, at any size: zeros are never left out in silence.
func TestDroppedZerosAreInThePicture(t *testing.T) {
	r := latencyRun(1000, 0, 100_000)
	r.Broker.Product, r.Broker.Version = "RabbitMQ", strings.Repeat("3.10.8 and so on ", 30)
	s := latencySpec(r, "confirm")
	for _, size := range [][2]float64{{8, 4.5}, {3.3, 2.4}, {3, 2}} {
		svg := encode(t, &s, "svg", Options{WidthIn: size[0], HeightIn: size[1]})
		var words []string
		for _, text := range svgTexts(t, svg, 72*size[1]) {
			words = append(words, text.text)
		}
		if all := strings.Join(words, " "); !strings.Contains(all, "4 values at or below 0 not shown") {
			t.Errorf("%v inches: the picture says %s", size, all)
		}
	}
}

// Names of marks stand beside the lines of these, to their left or right, all of up to six, and no line crosses a name, however
// close the marks are.
func TestNamesOfMarks(t *testing.T) {
	for _, at := range [][]float64{{5, 5.15, 5.75}, {1, 1.2, 5, 5.08}, {0.1, 0.2, 0.3}, {9.7, 9.8, 9.9}, {5, 5, 5}, {4, 4.5, 5, 5.5, 6, 6.5}} {
		r := latencyRun(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
		for i, s := range at {
			r.Marks = append(r.Marks, result.Mark{AtNS: start + int64(s*1e9), Text: fmt.Sprintf("ended, exit code %d", i)})
		}
		s := ratesSpec(r)
		d := &drawing{s: &s, left: 14, right: 560, top: 290, bottom: 60, unit: 1}
		var err error
		if d.t, err = newTypesets(1, ThemeOf("light"), "sans"); err != nil {
			t.Fatal(err)
		}
		panel := draw.Canvas{Rectangle: vg.Rectangle{Min: vg.Point{X: 40, Y: 80}, Max: vg.Point{X: 550, Y: 260}}}
		names, unnamed := d.placeTimeNames(panel)
		if len(names) != len(at) || len(unnamed) != 0 {
			t.Errorf("marks at %v: %d have names, of %d not", at, len(names), len(unnamed))
		}
		for i, n := range names {
			if gap := max(n.left-n.x, n.x-n.end); gap < 2 || gap > 4 {
				t.Errorf("marks at %v: name %d from %.1f to %.1f is not beside its line at %.1f", at, i, n.left, n.end, n.x)
			}
			for k, o := range names {
				if k != i && o.row >= n.row && o.x > n.left && o.x < n.end {
					t.Errorf("marks at %v: the line of %d crosses the name of %d", at, k, i)
				}
				if k < i && o.row == n.row && o.left < n.end && n.left < o.end {
					t.Errorf("marks at %v: names %d and %d run into each other", at, k, i)
				}
			}
		}
	}
}

// Marks and the first messages of findings that fail the run stand in charts over time, where they happened.
func TestEvents(t *testing.T) {
	r := latencyRun(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	at := func(seconds float64) *int64 { v := start + int64(seconds*1e9); return &v }
	r.Marks = []result.Mark{{AtNS: *at(7), Text: "node restarted"}, {AtNS: *at(2), Queue: "q1"}, {AtNS: *at(-1), Text: "before"}, {AtNS: *at(11), Text: "after"}}
	r.Findings = []result.Finding{
		{Code: "lost", Severity: result.SeverityFail, Count: 1200, First: []result.Message{{SentNS: at(5)}, {SentNS: at(4.5)}}},
		{Code: "out_of_order", Severity: result.SeverityFail, Count: 1, First: []result.Message{{ReceivedNS: at(6)}}},
		{Code: "redelivered", Severity: result.SeverityWarning, Count: 3, First: []result.Message{{ReceivedNS: at(6)}}},
		{Code: "not_drained", Severity: result.SeverityFail},
	}
	want := []Event{{2, "mark", "purged q1"}, {4.5, "lost", "first of 1,200 lost"}, {6, "lost", "out of order"}, {7, "mark", "node restarted"}}
	for _, s := range []Spec{ratesSpec(r), latencySpec(r, "confirm")} {
		if !slices.Equal(s.Events, want) {
			t.Errorf("%s: events %+v, want %+v", s.Name, s.Events, want)
		}
		svg := encode(t, &s, "svg", Options{})
		for _, e := range want {
			if !bytes.Contains(svg, []byte(">"+e.Label+"<")) {
				t.Errorf("%s: %q is not in the picture", s.Name, e.Label)
			}
		}
	}
	// Too many for names: their number is in the legend.
	for i := range 40 {
		r.Marks = append(r.Marks, result.Mark{AtNS: *at(float64(i) / 5), Text: "again"})
	}
	s := ratesSpec(r)
	if svg := encode(t, &s, "svg", Options{}); !bytes.Contains(svg, []byte(">42 marks<")) || bytes.Contains(svg, []byte(">again<")) {
		t.Error("42 marks are not counted in the legend")
	}
}

// The part of a run that rates and latencies are of is shaded in charts over time.
func TestWindowIsShaded(t *testing.T) {
	r := latencyRun(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	r.Window.Part = &result.Part{FromNS: 2e9, ToNS: 8e9, RunNS: 10e9}
	want := Span{2, 8, "window", "measured: 2 to 8 s", 1}
	for _, s := range []Spec{ratesSpec(r), latencySpec(r, "confirm")} {
		if len(s.Spans) != 1 || s.Spans[0] != want {
			t.Errorf("%s: spans %+v, want %+v", s.Name, s.Spans, want)
		}
	}
}

// A random routing key is nobody's name.
func TestRandomKeysStayOut(t *testing.T) {
	r := loadSample(t, "stall")
	r.Config.Exchanges = []result.Exchange{{Name: "direct", Type: "direct"}}
	r.Config.QueueNames = []string{"q-1"}
	for key, want := range map[string]string{
		"0b5e4f0a-8c1d-4e6f-9a2b-3c4d5e6f7a8b": "· exchange direct (direct)",
		"q-1":                                  "· exchange direct (direct)",
		"orders":                               "· exchange direct (direct), routing key orders",
	} {
		r.Config.RoutingKeys, r.Config.RoutingKeysTotal = []string{key}, 1
		s := ratesSpec(r)
		if !strings.HasSuffix(s.Caption[0], want) {
			t.Errorf("caption %q, want %q in it", s.Caption[0], want)
		}
	}
}

// The figures beside a chart are all of them, unrounded, with their units in the column names.
func TestFigures(t *testing.T) {
	r := latencyRun(1234567, -1)
	r.Intervals[1].Sent = 0
	var rates, latency bytes.Buffer
	for _, c := range []struct {
		s Spec
		w *bytes.Buffer
	}{{ratesSpec(r), &rates}, {latencySpec(r, "confirm"), &latency}} {
		if err := CSV(c.w, &c.s); err != nil {
			t.Fatal(err)
		}
	}
	// One message in the first of two seconds, none due.
	if want := "from_s,to_s,phase,due_messages,due_msgs_per_s,sent_messages,sent_msgs_per_s,confirmed_messages,confirmed_msgs_per_s\n" +
		"0,1,run,0,0,1,1,0,0\n1,2,run,0,0,0,0,0,0\n"; rates.String() != want {
		t.Errorf("rates\n%s, want\n%s", rates.String(), want)
	}
	lines := strings.Split(latency.String(), "\n")
	if want := "from_s,to_s,phase,messages,p50_ms,p75_ms,p95_ms,p99_ms,p99_9_ms,p99_99_ms,max_ms,p50_at_least_ms,"; !strings.HasPrefix(lines[0], want) {
		t.Errorf("columns %s", lines[0])
	}
	if want := "0,1,run,1,1.234567,,1.234567,1.234567,,,1.234567,,,,,,,"; lines[1] != want {
		t.Errorf("first row %s, want %s", lines[1], want)
	}
	if want := "1,2,run,0" + strings.Repeat(",", 14); lines[2] != want {
		t.Errorf("second row %s, want %s", lines[2], want)
	}
	s := Spec{X: Axis{Label: "time since start (s)"}, Y: Axis{Label: "service latency (µs)"}, Series: []Series{{Name: "a, b", Segments: [][]Point{{{1, 2}}}, Bounds: []Point{{3, 4.5}}}}}
	var drawn bytes.Buffer
	if err := CSV(&drawn, &s); err != nil || drawn.String() != "series,time_since_start_s,service_latency_us,at_least\n\"a, b\",1,2,false\n\"a, b\",3,4.5,true\n" {
		t.Errorf("%v\n%s", err, drawn.String())
	}
	// A label that a spreadsheet would take for a formula is none, and a value below zero is a number still.
	s.Series = []Series{{Name: "=1+1", Segments: [][]Point{{{-1, 2}}}}}
	drawn.Reset()
	if err := CSV(&drawn, &s); err != nil || !strings.HasSuffix(drawn.String(), "\n'=1+1,-1,2,false\n") {
		t.Errorf("%v\n%s", err, drawn.String())
	}
}
