package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func TestAllKindsGolden(t *testing.T) {
	for _, s := range Specs(everything(), Options{Names: Names()}) {
		if s.NoData != "" {
			if !strings.Contains(s.Name, "commit") && !strings.HasPrefix(s.Name, "broker-") && !strings.HasPrefix(s.Name, "churn-") && s.Name != "spread-size" && s.Name != "spread-priority" { // what this run does not have
				t.Errorf("%s: %s", s.Name, s.NoData)
			}
			continue
		}
		t.Run(s.Name, func(t *testing.T) { golden(t, "everything-"+s.Name+".json", encodeSpec(t, s)) })
	}
}

// Every kind comes out in every format and style, names its data as CSV, and without data says why.
func TestAllKindsAreDrawn(t *testing.T) {
	for i, s := range slices.Concat(Specs(everything(), Options{Names: Names()}), SpecsOfRuns(severalRuns(), Options{})) {
		if b := encode(t, s, Formats[1+i%(len(Formats)-1)], Options{DPI: 60, Style: Styles[i%len(Styles)]}); len(b) == 0 || len(b) > 2_000_000 {
			t.Errorf("%s has %d bytes", s.Name, len(b))
		}
		for _, style := range Styles {
			svg := string(encode(t, s, "svg", Options{Style: style}))
			if strings.Contains(svg, "NaN") || s.NoData == "" && strings.Contains(svg, "no data") {
				t.Errorf("%s, %s", s.Name, style)
			}
			for _, text := range svgTexts(t, []byte(svg), 72*defaultHeight) {
				if text.left < 0 || text.right > 72*defaultWidth {
					t.Errorf("%s, %s: %q leaves the page", s.Name, style, text.text)
				}
			}
		}
		if s.NoData == "" && s.Table == nil {
			t.Errorf("%s has no figures", s.Name)
		}
	}
	for _, s := range slices.Concat(Specs(&result.Result{}, Options{Names: Names()}), SpecsOfRuns(nil, Options{}), SpecsOfRuns([]Labelled{{"a", &result.Result{}}}, Options{})) {
		if s.NoData == "" || !s.empty() {
			t.Errorf("%s shows something of nothing", s.Name)
		}
		encode(t, s, "svg", Options{})
	}
}

// What says nothing about a run is not drawn unless it is asked for.
func TestUsualKinds(t *testing.T) {
	names := func(r *result.Result) string {
		var all []string
		for _, s := range Specs(r, Options{}) {
			if s.NoData == "" {
				all = append(all, s.Name)
			}
		}
		return strings.Join(all, " ")
	}
	r := everything()
	want := "rates backlog in-flight latency-confirm latency-delivery percentiles distribution-confirm distribution-delivery heat-confirm heat-delivery " +
		"confirm-sizes spread-queue spread-producer spread-consumer lateness waiting client-cpu"
	if got := names(r); got != want {
		t.Errorf("of a run with everything\n%s, want\n%s", got, want)
	}
	// No confirms, closed loop, no backlog, single confirms, one grouping member: nothing of these.
	r.Config.Confirm, r.Config.OpenLoop, r.Latency.Confirm, r.Histograms, r.HeatMaps, r.ConfirmFrames, r.Groupings = 0, false, result.Latency{}, r.Histograms[2:], r.HeatMaps[1:], nil, nil
	for i := range r.Intervals {
		in := &r.Intervals[i]
		in.InFlightEnd, in.BacklogEnd, in.Due, in.Latency.Confirm = nil, ptr(int64(i%2)), 0, result.Latency{}
		if in.Self != nil {
			in.Self.LateMeanNS, in.Self.LateMaxNS = nil, nil
		}
	}
	r.Curves = r.Curves[2:]
	if got := names(r); got != "rates latency-delivery percentiles distribution-delivery heat-delivery waiting client-cpu" {
		t.Errorf("without confirms, rate, backlog and groupings: %s", got)
	}
	skipped := strings.Join(Skipped(r, Options{}), "\n")
	for _, name := range []string{"in-flight", "confirm-sizes", "spread", "lateness"} {
		if strings.Contains(skipped, name) {
			t.Errorf("%s was not to be expected, but is in\n%s", name, skipped)
		}
	}
}

// 1,000 more of 100*i messages are sent than received in second i: 0, 100, 300, 600 ... 4,500 are left after ten, and none after two
// more of 2,250.
func TestBacklog(t *testing.T) {
	s := backlogSpec(everything())
	want := []Point{{0, 0}, {1, 0}, {2, 100}, {3, 300}, {4, 600}, {5, 1000}, {6, 1500}, {7, 2100}, {8, 2800}, {9, 3600}, {10, 4500}, {11, 2250}, {12, 0}}
	if got := series(t, &s, "sent, not yet received").Segments; len(got) != 1 || !slices.Equal(got[0], want) {
		t.Errorf("%v", got)
	}
	if c := strings.Join(s.Caption, " "); !strings.Contains(c, "most: 4,500 messages") || !strings.Contains(c, "end of each 1 s") {
		t.Errorf("caption %s", c)
	}
}

// Two producers with a window of 1,000 each: 2,000 while there is publishing. With a window of a million the line would hide the other.
func TestInFlight(t *testing.T) {
	r := everything()
	s := inFlightSpec(r)
	windows := series(t, &s, "confirm windows").Segments
	if got := windows[0]; len(windows) != 1 || got[len(got)-1] != (Point{10, 2000}) {
		t.Errorf("windows %v", windows)
	}
	if got := series(t, &s, "sent, not yet confirmed").Segments[0]; got[10] != (Point{10, 900}) || got[12] != (Point{12, 0}) {
		t.Errorf("%v", got)
	}
	r.Config.Confirm = 1e6
	if s = inFlightSpec(r); len(s.Series) != 1 || !strings.Contains(strings.Join(s.Caption, " "), "hold 2,000,000 messages") {
		t.Errorf("%d lines, %q", len(s.Series), s.Caption)
	}
	r.Config.Confirm = 0
	for i := range r.Intervals {
		r.Intervals[i].InFlightEnd = nil
	}
	r.Latency.Confirm = result.Latency{}
	if s = inFlightSpec(r); s.NoData != "confirms were off" {
		t.Errorf("without confirms: %q", s.NoData)
	}
}

// Response latency of second i: 2+i ms at the median, three times that at 95 %, four times at 99 %.
func TestPercentileBands(t *testing.T) {
	s := latencySpec(everything(), "delivery")
	if len(s.Bands) != 2 {
		t.Fatalf("%d bands", len(s.Bands))
	}
	if a, b := s.Bands[0].Segments[0][3], s.Bands[1].Segments[0][3]; a != (Range{3.5, 5, 15}) || b != (Range{3.5, 15, 20}) {
		t.Errorf("fourth second: %v and %v", a, b)
	}
	// What is not known is a gap, and so is what cannot stand on a logarithmic axis.
	ranges := []Range{{0, 1, 2}, {1, math.NaN(), 2}, {2, 1, 3}, {3, 0, 3}, {4, 2, 3}, {5, 3, 2}}
	if got := fmt.Sprint(ribbons(ranges, 1, 1, true)); got != "[[{0 1 2}] [{2 1 3}] [{4 2 3}]]" {
		t.Errorf("ribbons %s", got)
	}
}

// A hundred thousand ranges become some two a strip, and keep the one spike.
func TestLongRibbons(t *testing.T) {
	ranges := make([]Range, 100_000)
	for i := range ranges {
		ranges[i] = Range{float64(i), 1, 2}
	}
	ranges[54_321].High = 99
	got := ribbons(ranges, 1, 1, false)
	if len(got) != 1 || len(got[0]) > 2*strips {
		t.Fatalf("%d segments, the first of %d", len(got), len(got[0]))
	}
	spike := slices.IndexFunc(got[0], func(p Range) bool { return p.High == 99 })
	if spike < 0 || got[0][spike].X > 54_321 || got[0][spike+1].X < 54_321 {
		t.Errorf("the spike is at %d", spike)
	}
}
