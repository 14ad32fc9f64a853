package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// run of a confirm window that received so many messages a second, with delivery latencies of unit ns and multiples.
func runOf(window int, received float64, unit int64) *result.Result {
	r := everything()
	r.Config.Confirm = window
	r.Rates = result.Rates{Sent: ptr(2 * received), Confirmed: ptr(2 * received), Received: ptr(received)}
	d := &result.Distribution{Count: 1000, MinNS: ptr(unit), P50NS: ptr(unit), P75NS: ptr(unit), P95NS: ptr(2 * unit), P99NS: ptr(3 * unit), P999NS: ptr(4 * unit), P9999NS: ptr(4 * unit), MaxNS: ptr(5 * unit)}
	r.Latency.Delivery = result.Latency{Service: d, Response: d}
	return r
}

// severalRuns are three repeats with a window of 10, two with 100 and one with 1,000.
func severalRuns() []Labelled {
	return []Labelled{
		{"window 10", runOf(10, 1000, 1e6)}, {"window 100", runOf(100, 4000, 2e6)}, {"window 10", runOf(10, 1100, 3e6)},
		{"window 100", runOf(100, 6000, 4e6)}, {"window 10", runOf(10, 900, 2e6)}, {" window 1000 ", runOf(1000, 9000, 8e6)}, {"none", nil},
	}
}

func runSpec(t *testing.T, runs []Labelled, name string) *Spec {
	t.Helper()
	all := SpecsOfRuns(runs, Options{Names: []string{name}})
	if len(all) != 1 || all[0].NoData != "" {
		t.Fatalf("%s: %d charts, %q", name, len(all), all[0].NoData)
	}
	return all[0]
}

func xy(l Dots) (text string) {
	for _, p := range l.Dots {
		text += fmt.Sprintf("%g %g, ", p.X, p.Y)
	}
	return text
}

func TestRunsGolden(t *testing.T) {
	for _, s := range SpecsOfRuns(severalRuns(), Options{}) {
		if s.NoData != "" {
			t.Errorf("%s: %s", s.Name, s.NoData)
		}
		golden(t, "several-"+s.Name+".json", encodeSpec(t, s))
	}
}

// The median of 900, 1,000 and 1,100 is 1,000; of 4,000 and 6,000 it is 5,000; a single run has no interval. The first group is on top.
func TestRunRates(t *testing.T) {
	s := runSpec(t, severalRuns(), "runs-rates")
	if got := labels(s.Y); !slices.Equal(got, []string{"window 1000", "window 100", "window 10"}) {
		t.Errorf("from below %q", got)
	}
	received := s.Bars[len(s.Bars)-1]
	if received.Name != "received" || !received.Sideways || len(received.Bars) != 3 {
		t.Fatalf("%+v", received)
	}
	for i, want := range []string{"1000 900 1100", "5000 4000 6000", "9000"} {
		b := received.Bars[i]
		got := fmt.Sprint(b.Value)
		if b.Low != nil {
			got += fmt.Sprintf(" %g %g", *b.Low, *b.High)
		}
		if at := 3 - float64(i); got != want || b.From < at-1 || b.To > at {
			t.Errorf("%d: %s from %g to %g, want %s", i, got, b.From, b.To, want)
		}
	}
	c := strings.Join(s.Caption, " ")
	for _, want := range []string{"3 configurations, 1 to 3 runs each", "bar: the median of the repeats; interval: from the lowest to the highest of them", "RabbitMQ 3.10.8"} {
		if !strings.Contains(c, want) {
			t.Errorf("%q is missing in %s", want, c)
		}
	}
	if strings.Contains(c, "confirm window") {
		t.Errorf("says of all what differs: %s", c)
	}
}

// Without confirms and consumers, when the broker was proved to have taken what was sent is the only rate of what it took.
func TestRunRatesOfWhatHasArrived(t *testing.T) {
	names := func(consumers int) (names []string) {
		r := runOf(0, 1000, 1e6)
		arrived := 400.0
		r.Config.Consumers, r.Rates.Arrived, r.Rates.Received = consumers, &arrived, nil
		for _, b := range runSpec(t, []Labelled{{"a", r}}, "runs-rates").Bars {
			if names = append(names, b.Name); b.Name == "arrived" && b.Bars[0].Value != 400 {
				t.Errorf("%+v", b.Bars[0])
			}
		}
		return names
	}
	if got := names(0); !slices.Contains(got, "arrived") {
		t.Errorf("%q", got)
	}
	if got := names(1); slices.Contains(got, "arrived") {
		t.Errorf("with consumers %q", got)
	}
}

// The medians of the medians are 2, 3 and 8 ms, of the maxima 10, 15 and 40.
func TestRunLatency(t *testing.T) {
	s := runSpec(t, severalRuns(), "runs-latency")
	if s.Title != "Delivery latency by run" || s.X.Label != "response latency (milliseconds)" {
		t.Errorf("%s, %s", s.Title, s.X.Label)
	}
	got := ""
	for _, l := range s.Dots {
		got += l.Name + l.Shape
		for _, p := range l.Dots {
			got += fmt.Sprintf(" %g", p.X)
		}
		got += "; "
	}
	if got != "mediancircle 2 3 8; 95 %square 4 6 16; 99 %diamond 6 9 24; maximumcross 10 15 40; " {
		t.Errorf("%s", got)
	}
	if p := s.Dots[0].Dots[0]; *p.Low != 1 || *p.High != 3 {
		t.Errorf("repeats from %g to %g", *p.Low, *p.High)
	}
}

// What was never answered in a repeat makes the group's maximum a bound.
func TestRunLatencyWithoutAnswers(t *testing.T) {
	runs := severalRuns()
	d := *runs[0].Result.Latency.Delivery.Response
	d.Censored, d.AtLeastNS, d.MaxAtLeastNS = 1, ptr(int64(60e6)), ptr(int64(70e6))
	runs[0].Result.Latency.Delivery.Response = &d
	s := runSpec(t, runs, "runs-latency")
	if most := s.Dots[3].Dots[0]; !most.Bound || most.X != 70 || s.Dots[0].Dots[0].Bound {
		t.Errorf("%+v", most)
	}
}

// A run without a limit among those with an offered rate is the last one, and no line comes to it.
func TestRateAgainstLatencyWithoutALimit(t *testing.T) {
	var runs []Labelled
	for i, offered := range []float64{0, 1000, 2000} {
		r := runOf(10, []float64{1500, 1000, 1800}[i], int64(i+1)*1e6)
		if r.Config.RateTotal = &offered; offered == 0 {
			r.Config.RateTotal = nil
		}
		runs = append(runs, Labelled{fmt.Sprint(offered), r})
	}
	medians := runSpec(t, runs, "rate-latency").Dots[0]
	if got := xy(medians); got != "1000 2, 1800 3, 1500 1, " || medians.Dots[0].Apart || !medians.Dots[2].Apart {
		t.Errorf("medians %s, %+v", got, medians.Dots)
	}
}

// Of 4,000 offered, 1,500 and of 3,000, 2,840 arrived, 38 and 94.7 %: the line goes from 1,000 to 2,000, of which 1,900 arrived, 95 %.
func TestRateAgainstLatencyBeyondWhatTheBrokerTakes(t *testing.T) {
	var runs []Labelled
	for i, offered := range []float64{4000, 1000, 2000, 3000} {
		r := runOf(10, []float64{1500, 1000, 1900, 2840}[i], int64(i+1)*1e6)
		r.Config.RateTotal, r.Config.Consumers, r.Config.FanOut = &offered, 1, 1
		runs = append(runs, Labelled{fmt.Sprint(offered), r})
	}
	s := runSpec(t, runs, "rate-latency")
	got := ""
	for _, p := range s.Dots[0].Dots {
		got += fmt.Sprintf("%g %v, ", p.X, p.Apart)
	}
	if got != "1000 false, 1900 false, 2840 true, 1500 true, " {
		t.Error(got)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "did not keep an offered rate within 5 %, or had none, stand apart") {
		t.Error(c)
	}
	if c := strings.Join(runSpec(t, severalRuns(), "rate-latency").Caption, " "); strings.Contains(c, "apart") {
		t.Error(c)
	}
}

func TestRateAgainstLatency(t *testing.T) {
	s := runSpec(t, severalRuns(), "rate-latency")
	if s.X.Label != "received, messages per second" {
		t.Errorf("%s", s.X.Label)
	}
	if got := xy(s.Dots[0]); !s.Dots[0].Joined || got != "1000 2, 5000 3, 9000 8, " {
		t.Errorf("medians %s", got)
	}
	runs := severalRuns()[:1]
	if s := SpecsOfRuns(runs, Options{Names: []string{"rate-latency"}})[0]; s.NoData != "the runs do not differ in their rate" {
		t.Errorf("of one run: %q", s.NoData)
	}
}

// Offered 1,000, 2,000 and 4,000 a second, of which an overloaded broker took 1,000, 1,800 and 1,500: the line goes on in the order of
// what was offered, through what is only known from below.
func TestOverloadAgainstLatency(t *testing.T) {
	var runs []Labelled
	for i, taken := range []float64{1000, 1800, 1500} {
		r := runOf(10, taken, int64(i+1)*1e6)
		r.Config.RateTotal = ptr(float64(int64(1000) << i))
		runs = append(runs, Labelled{fmt.Sprint(i), r})
	}
	d := *runs[2].Result.Latency.Delivery.Response
	d.P50NS, d.Censored, d.AtLeastNS, d.MaxAtLeastNS = nil, 5000, ptr(int64(7e6)), ptr(int64(8e6))
	runs[2].Result.Latency.Delivery.Response = &d
	s := runSpec(t, runs, "rate-latency")
	if got := xy(s.Dots[0]); got != "1000 1, 1800 2, 1500 7, " || !s.Dots[0].Dots[2].Bound {
		t.Errorf("medians %s", got)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "triangles: at least so much") || !strings.Contains(c, "joined in the order of the offered rate") {
		t.Errorf("caption %s", c)
	}
}

// The windows differ, and nothing else does: sent, confirmed and received against them.
func TestThroughputAgainstOneParameter(t *testing.T) {
	s := runSpec(t, severalRuns(), "throughput")
	if s.Title != "Throughput against confirm window" || s.X.Label != "confirm window (messages)" || !s.X.Log || len(s.Dots) != 3 {
		t.Errorf("%s, %s, %d lines", s.Title, s.X.Label, len(s.Dots))
	}
	if got := s.Dots[2].Dots; s.Dots[2].Name != "received" || got[1].X != 100 || got[1].Y != 5000 || *got[1].Low != 4000 || got[2].Low != nil {
		t.Errorf("%+v", got)
	}
}

// Windows and queue types differ: the rate received, a line for each type. What follows from the window is no difference of its own.
func TestThroughputAgainstTwoParameters(t *testing.T) {
	var runs []Labelled
	for i, kind := range []string{"classic", "quorum"} {
		for _, window := range []int{1000, 10, 100} {
			r := runOf(window, float64(window*(i+1)), 1e6)
			r.Config.QueueTypes, r.Config.Connections = []string{kind}, window+1
			runs = append(runs, Labelled{fmt.Sprint(kind, window), r})
		}
	}
	s := runSpec(t, runs, "throughput")
	if s.Y.Label != "received, messages per second" || len(s.Dots) != 2 {
		t.Fatalf("%s, %d lines", s.Y.Label, len(s.Dots))
	}
	if got := s.Dots[1].Name + " " + xy(s.Dots[1]); got != "quorum 10 20, 100 200, 1000 2000, " {
		t.Errorf("%s", got)
	}
	if s = runSpec(t, runs, "rate-latency"); len(s.Dots) != 2 || s.Dots[1].Name != "quorum" || s.Y.Label != "response latency, 99 % (milliseconds)" {
		t.Errorf("%d lines, %s", len(s.Dots), s.Y.Label)
	}
	same := []Labelled{{"a", runOf(10, 1, 1)}, {"b", runOf(10, 2, 1)}}
	if s := SpecsOfRuns(same, Options{Names: []string{"throughput"}})[0]; s.NoData != "the runs differ in no parameter that is a number" {
		t.Errorf("%q", s.NoData)
	}
}

// Curves lie over each other, of repeats that of the middle one; runs without due times are compared by service latency.
func TestRunCurves(t *testing.T) {
	s := runSpec(t, severalRuns(), "runs-percentiles-delivery")
	if len(s.Series) != 3 || s.Series[2].Name != "window 1000" || s.Y.Label != "response latency (milliseconds)" {
		t.Errorf("%d lines, %s", len(s.Series), s.Y.Label)
	}
	if g := groupsOf(severalRuns()); *typicalRun(&g[0], "delivery", "response").Latency.Delivery.Response.P99NS != 6e6 {
		t.Error("the typical run of 3, 6 and 9 ms at 99 % is not that of 6")
	}
	runs := severalRuns()
	runs[1].Result.Latency.Delivery.Response = nil
	if s = runSpec(t, runs, "runs-percentiles-delivery"); s.Y.Label != "service latency (milliseconds)" {
		t.Errorf("%s", s.Y.Label)
	}
}

// A FAIL among several is said with how many there are, and very many groups are cut with a note.
func TestManyRuns(t *testing.T) {
	var runs []Labelled
	for i := range 60 {
		runs = append(runs, Labelled{fmt.Sprintf("configuration %d with a name that goes on for quite a while, as names do", i), runOf(i+1, float64(i), 1e6)})
	}
	runs[3].Result.Verdict = result.Fail
	for _, s := range SpecsOfRuns(runs, Options{}) {
		if c := strings.Join(s.Caption, " "); s.NoData == "" && !strings.Contains(c, "The first 24 of 60 configurations") {
			t.Errorf("%s: %s", s.Name, c)
		}
		if !slices.Contains(s.Marks, "FAIL (1 of 24 runs)") {
			t.Errorf("%s: marks %q", s.Name, s.Marks)
		}
		if b := encode(t, s, "svg", Options{}); len(b) > 200_000 {
			t.Errorf("%s has %d bytes", s.Name, len(b))
		}
	}
}
