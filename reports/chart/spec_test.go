package chart

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestSpecsGolden(t *testing.T) {
	for _, name := range sampleNames {
		for _, s := range Specs(loadSample(t, name), Options{}) {
			if s.NoData != "" {
				continue
			}
			t.Run(name+"/"+s.Name, func(t *testing.T) { golden(t, name+"-"+s.Name+".json", encodeSpec(t, s)) })
		}
	}
}

// encodeSpec writes one point a line, so that a difference can be read.
func encodeSpec(t *testing.T, s *Spec) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, pair := range [][2]string{{"{\n     \"x\": ", `{"x": `}, {"{\n      \"x\": ", `{"x": `}, {",\n      \"y\": ", `, "y": `}, {",\n     \"y\": ", `, "y": `},
		{"{\n    \"at\": ", `{"at": `}, {",\n    \"label\": ", `, "label": `}} {
		text = strings.ReplaceAll(text, pair[0], pair[1])
	}
	for _, end := range []string{"\n     }", "\n    }", "\n   }"} {
		text = strings.ReplaceAll(text, end, "}")
	}
	return []byte(text)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./reports/chart -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
		for i := range min(len(w), len(g)) {
			if w[i] != g[i] {
				t.Fatalf("%s differs in line %d (go test ./reports/chart -update writes it anew):\n- %s\n+ %s", path, i+1, w[i], g[i])
			}
		}
		t.Fatalf("%s has %d lines, want %d", path, len(g), len(w))
	}
}

// A FAIL, an incomplete and an embedded run are marked in every title.
func TestMarks(t *testing.T) {
	r := loadSample(t, "stall")
	for _, s := range Specs(r, Options{}) {
		if len(s.Marks) != 0 {
			t.Errorf("%s of a run that passed is marked %q", s.Name, s.Marks)
		}
	}
	r.Verdict, r.Complete, r.Broker.Embedded = result.Fail, false, true
	for _, s := range Specs(r, Options{}) {
		if fmt.Sprint(s.Marks) != "[FAIL incomplete recording embedded broker: measures leveret, not RabbitMQ]" {
			t.Errorf("%s is marked %q", s.Name, s.Marks)
		}
	}
}

// C013: without latency there are no charts of it, and a note that says why.
func TestConsumersOnly(t *testing.T) {
	r := loadSample(t, "consumers")
	want := []string{
		"latency-confirm: not drawn: no producers in this run",
		"latency-delivery: not drawn: the messages carry no send time of this run",
		"percentiles: not drawn: the messages carry no send time of this run",
	}
	if got := Skipped(r, Options{}); !slices.Equal(got, want) {
		t.Errorf("skipped %q, want %q", got, want)
	}
	rates := ratesSpec(r)
	if len(rates.Series) != 1 || rates.Series[0].Name != "received" {
		t.Fatalf("series %+v, want received alone", rates.Series)
	}
	// C089: the fourth second is idle, a step at 0 from 3 to 4 s.
	points := rates.Series[0].Segments[0]
	if points[6] != (Point{X: 3}) || points[7] != (Point{X: 4}) {
		t.Errorf("the step of the fourth second is %v to %v, want (3, 0) to (4, 0)", points[6], points[7])
	}
}

// C029: a rate is taken over the interval's own length; one of a few milliseconds makes no spike.
func TestRatesOfOddIntervals(t *testing.T) {
	r := latencyRun(1, 1)
	r.Config.Consumers = 1
	r.Intervals[0].Received, r.Intervals[1].Received = 1000, 500
	r.Intervals[1].EndNS = start + 1500e6
	r.Intervals = append(r.Intervals, result.Interval{StartNS: start + 1500e6, EndNS: start + 1503e6, Received: 90, Phase: "drain"})
	s := ratesSpec(r)
	got := series(t, &s, "received").Segments
	want := [][]Point{{{0, 1000}, {1, 1000}, {1, 1000}, {1.5, 1000}}} // 90 messages in 3 ms would be 30,000 a second
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("received %v, want %v", got, want)
	}
	if note := strings.Join(s.Caption, " "); !strings.Contains(note, "1 much shorter interval left out") {
		t.Errorf("the caption does not say what was left out: %s", note)
	}
}

// C007: zeros on a logarithmic axis are left out, and the caption says how many.
func TestZerosOnLogAxis(t *testing.T) {
	r := latencyRun(1000, 0, 100_000) // 1, 0, 100 us
	s := latencySpec(r, "confirm")
	if !s.Y.Log || s.Y.Min <= 0 {
		t.Fatalf("y axis %+v, want a logarithmic one", s.Y)
	}
	want := [][]Point{{{0.5, 1}}, {{2.5, 100}}}
	if got := series(t, &s, "median").Segments; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("median %v, want %v", got, want)
	}
	if caption := strings.Join(s.Caption, " "); !strings.Contains(caption, "median, 95 %, 99 %, maximum: 4 values at or below 0 not shown on the logarithmic axis") {
		t.Errorf("the caption does not say what was left out: %s", caption)
	}
	// 1, 0, 10 us need no logarithmic axis, and then nothing is left out.
	s = latencySpec(latencyRun(1000, 0, 10_000), "confirm")
	if got := fmt.Sprint(series(t, &s, "median").Segments); s.Y.Log || got != "[[{0.5 1} {1.5 0} {2.5 10}]]" {
		t.Errorf("log %v, median %s", s.Y.Log, got)
	}
}

// C091: values close together, or all the same, still give an axis with numbers on it.
func TestAxesAlwaysHaveNumbers(t *testing.T) {
	for _, values := range [][]int64{{2e6, 3e6, 5e6}, {5e6, 5e6, 5e6}, {0, 0, 0}, {7}, {math.MaxInt64}} {
		s := latencySpec(latencyRun(values...), "confirm")
		log := logAxis("", float64(max(1, values[0])), float64(max(1, values[len(values)-1])))
		for _, a := range []Axis{s.X, s.Y, log} {
			if n := labels(a); len(n) < 2 {
				t.Errorf("values %v: axis %q has the labels %q", values, a.Label, n)
			}
		}
	}
}

func labels(a Axis) (all []string) {
	for _, t := range a.Ticks {
		if t.Label != "" {
			all = append(all, t.Label)
		}
	}
	return all
}

// C092: what is no number is a gap, on every chart, and the others are drawn.
func TestNotANumberIsAGap(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := segments([]Point{{0, 1}, {1, bad}, {2, 2}}); fmt.Sprint(got) != "[[{0 1}] [{2 2}]]" {
			t.Errorf("1, %v, 2 became %v", bad, got)
		}
	}
	r := latencyRun(1e6, -1, 2e6)
	r.Intervals[1].EndNS = r.Intervals[1].StartNS // a division by zero
	r.Curves = []result.Curve{{What: "confirm", From: "response", Count: 2, Points: []result.CurvePoint{
		{Percent: 50, ValueNS: 1e6, Above: 1}, {Percent: math.NaN(), ValueNS: 1e6}, {Percent: 100, ValueNS: 2e6}}}}
	files, err := Write(t.TempDir(), r, Options{Formats: []string{"svg"}})
	if err != nil || len(files) != 2*3 { // and their figures
		t.Fatalf("%v, %v", files, err)
	}
	rates, latency := ratesSpec(r), latencySpec(r, "confirm")
	if got := series(t, &rates, "sent").Segments; len(got) != 2 {
		t.Errorf("sent %v, want two segments", got)
	}
	if got := fmt.Sprint(series(t, &latency, "median").Segments); got != "[[{0.5 1}] [{2.5 2}]]" {
		t.Errorf("median %s", got)
	}
}

// A hole between two intervals is a gap, too.
func TestHoleIsAGap(t *testing.T) {
	r := latencyRun(1e6, 1e6, 1e6)
	r.Intervals = slices.Delete(r.Intervals, 1, 2)
	rates, latency := ratesSpec(r), latencySpec(r, "confirm")
	if n := len(series(t, &rates, "sent").Segments); n != 2 {
		t.Errorf("sent has %d segments, want 2", n)
	}
	if n := len(series(t, &latency, "maximum").Segments); n != 2 {
		t.Errorf("maximum has %d segments, want 2", n)
	}
}

// What was never answered is at least so late: a bound, not a number, and never nothing.
func TestCensoredIntervals(t *testing.T) {
	r := latencyRun(1e6, 1e6)
	r.Intervals[1].Latency.Confirm.Response = &result.Distribution{Count: 98, Censored: 2, P50NS: ptr(int64(1e6)), P95NS: ptr(int64(2e6)), MaxNS: ptr(int64(3e6)), AtLeastNS: ptr(int64(9e6))}
	s := latencySpec(r, "confirm")
	for name, want := range map[string]string{"median": "[]", "95 %": "[]", "99 %": "[{1.5 9}]", "maximum": "[{1.5 9}]"} {
		if got := fmt.Sprint(series(t, &s, name).Bounds); got != want {
			t.Errorf("bounds of %s: %s, want %s", name, got, want)
		}
	}
	if got := fmt.Sprint(series(t, &s, "maximum").Segments); got != "[[{0.5 1}]]" {
		t.Errorf("maximum %s", got)
	}
	if caption := strings.Join(s.Caption, " "); !strings.Contains(caption, "triangles: at least so much") {
		t.Errorf("the caption does not explain the triangles: %s", caption)
	}
}

// C041: the same latencies give the same unit and points, whatever the scale of the axis.
func TestUnitsAreNamed(t *testing.T) {
	for _, c := range []struct {
		values []int64
		label  string
		last   float64
	}{
		{[]int64{20e3, 40e3}, "response latency (microseconds)", 40},
		{[]int64{2e6, 4e6}, "response latency (milliseconds)", 4},
		{[]int64{2e9, 4e9}, "response latency (seconds)", 4},
		{[]int64{20e3, 2e9}, "response latency (milliseconds)", 2000}, // logarithmic, by the middle: 6.3 ms
	} {
		s := latencySpec(latencyRun(c.values...), "confirm")
		points := series(t, &s, "median").Segments[0]
		if s.Y.Label != c.label || points[len(points)-1].Y != c.last {
			t.Errorf("%v: %q ends at %v, want %q at %v", c.values, s.Y.Label, points[len(points)-1].Y, c.label, c.last)
		}
	}
}

func TestSpans(t *testing.T) {
	r := latencyRun(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	r.Intervals[8].Phase, r.Intervals[9].Phase = "drain", "drain"
	at := func(seconds float64) int64 { return start + int64(seconds*1e9) }
	r.Spans = []result.Span{
		{FromNS: at(2), ToNS: at(3), Kind: "blocked"}, {FromNS: at(2.5), ToNS: at(3.5), Kind: "blocked"}, {FromNS: at(5), ToNS: at(6), Kind: "blocked"},
		{FromNS: at(-1), ToNS: at(0.5), Kind: "recorder_stall"}, {FromNS: at(9.9), ToNS: at(99), Kind: "lost"},
		{FromNS: at(20), ToNS: at(30), Kind: "lost"}, {FromNS: at(4), ToNS: at(3), Kind: "blocked"},
	}
	want := []Span{
		{8, 10, "drain", "drain", 1}, {2, 3.5, "blocked", "blocked (2)", 2}, {5, 6, "blocked", "blocked", 1}, {9.9, 10, "lost", "connection lost", 1},
		{0, 0.5, "recorder_stall", "recorder stall", 1},
	}
	if got := spans(r, newTimeline(r)); !slices.Equal(got, want) {
		t.Errorf("spans %+v, want %+v", got, want)
	}
}

func TestPercentiles(t *testing.T) {
	r := &result.Result{Config: result.Config{Producers: 1, Confirm: 1, OpenLoop: true}}
	r.Latency.Confirm.Service = &result.Distribution{Count: 1000}
	r.Latency.Confirm.Response = &result.Distribution{Count: 990, Censored: 10, MaxNS: ptr(int64(8e6)), AtLeastNS: ptr(int64(7e6)),
		P50NS: ptr(int64(1e6)), P75NS: ptr(int64(2e6)), P95NS: ptr(int64(4e6)), P99NS: ptr(int64(8e6))}
	r.Curves = []result.Curve{
		{What: "confirm", From: "service", Count: 1000, Points: []result.CurvePoint{{Percent: 0.1, ValueNS: 1e6, Above: 999}, {Percent: 90, ValueNS: 2e6, Above: 100}, {Percent: 100, ValueNS: 4e6, Above: 0}}},
		{What: "confirm", From: "response", Count: 1000, Points: []result.CurvePoint{{Percent: 50, ValueNS: 1e6, Above: 500}, {Percent: 99, ValueNS: 8e6, Above: 10}}},
	}
	s := percentilesSpec(r)
	if got := fmt.Sprintf("%q", labels(s.X)); got != `["0" "50\n500" "90\n100" "99\n10" "99.9\n1" "max\n0"]` {
		t.Errorf("ticks %s", got)
	}
	service, response := series(t, &s, "confirm service").Segments[0], series(t, &s, "confirm response")
	// The least value holds down to 0 %; 90 % lies at one nine; 100 % at the place of the maximum.
	if first, nine, last := service[0], service[2], service[3]; first != (Point{0, 1}) || nine != (Point{X: 1, Y: 2}) || last != (Point{X: s.X.Max, Y: 4}) {
		t.Errorf("service %v", service)
	}
	// The axis ends before 99.99 %, the place of no message of 1,000.
	if got := fmt.Sprint(response.Bounds); got != fmt.Sprint([]Point{{nines(99.9), 7}, {s.X.Max, 8}}) {
		t.Errorf("the unanswered ones are at %s", got)
	}
	// Ten of a thousand lie above 99 %, two nines.
	if len(s.Spans) != 1 || s.Spans[0].From != 2 || s.Spans[0].To != s.X.Max {
		t.Errorf("spans %+v", s.Spans)
	}
	if caption := strings.Join(s.Caption, " "); !strings.Contains(caption, "confirm latency of 1,000 messages (10 never answered)") {
		t.Errorf("caption %s", caption)
	}
}

func TestNines(t *testing.T) {
	for percent, want := range map[float64]float64{0: 0, 90: 1, 99: 2, 99.9: 3} {
		if got := nines(percent); math.Abs(got-want) > 1e-9 {
			t.Errorf("nines(%g) = %g, want %g", percent, got, want)
		}
	}
	if got := nines(100); !math.IsInf(got, 1) {
		t.Errorf("nines(100) = %g, want +Inf", got)
	}
	for _, percent := range []float64{-1, 100.1, math.NaN(), math.Inf(1)} {
		if got := nines(percent); !math.IsNaN(got) {
			t.Errorf("nines(%g) = %g, want NaN", percent, got)
		}
	}
}

// Lines of a chart can be told apart by people who see no colours, and by colour alone they are the palette's.
func TestStyles(t *testing.T) {
	for _, name := range sampleNames {
		for _, s := range Specs(loadSample(t, name), Options{}) {
			seen := map[string]string{}
			for _, line := range s.Series {
				look := fmt.Sprint(line.Style.Dash, line.Style.Width)
				if other := seen[look]; other != "" {
					t.Errorf("%s %s: %s and %s differ in colour only", name, s.Name, other, line.Name)
				}
				seen[look] = line.Name
				if !slices.Contains(inks, line.Style.Color) {
					t.Errorf("%s %s: colour %s", name, s.Name, line.Style.Color)
				}
			}
		}
	}
}

// The caption says what was run, when, and how many messages are behind the chart.
func TestCaption(t *testing.T) {
	r := loadSample(t, "stall")
	for _, s := range Specs(r, Options{}) {
		caption := strings.Join(s.Caption, " ")
		for _, want := range []string{"RabbitMQ 3.10.8", "1 producer, 1 consumer, 1 queue (classic)", "1,024-byte messages", "open loop, 1,000 messages per second",
			"confirm window 100", "2026-07-30 11:00:00 UTC", "10,000"} {
			if !strings.Contains(caption, want) {
				t.Errorf("%s: %q is missing in the caption: %s", s.Name, want, caption)
			}
		}
	}
	closed := latencySpec(loadSample(t, "closed"), "confirm")
	if caption := strings.Join(closed.Caption, " "); !strings.Contains(caption, "embedded broker") || !strings.Contains(caption, "closed loop") || closed.Y.Label != "service latency (milliseconds)" {
		t.Errorf("closed loop: %q, %s", closed.Y.Label, caption)
	}
}
