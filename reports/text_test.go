package reports

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func textOf(t testing.TB, r *result.Result, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) { golden(t, s.name+".txt", []byte(textOf(t, s.r, TextOptions{}))) })
	}
	t.Run("long", func(t *testing.T) { golden(t, "long.txt", []byte(textOf(t, longSample(), TextOptions{}))) })
	t.Run("ascii", func(t *testing.T) {
		golden(t, "tiny-ascii.txt", []byte(textOf(t, tinySample(), TextOptions{ASCII: true, Width: 72})))
	})
	t.Run("color", func(t *testing.T) {
		golden(t, "failing-color.txt", []byte(textOf(t, failingSample(), TextOptions{Color: true})))
	})
}

func TestTextKeepsItsWidth(t *testing.T) {
	for _, s := range append(samples(), sample{"long", longSample()}, sample{"extreme", extremeResult()}) {
		for _, width := range []int{0, 60, 80, 100, 140} {
			want := width
			if want == 0 {
				want = 100
			}
			for i, l := range strings.Split(textOf(t, s.r, TextOptions{Width: width}), "\n") {
				if n := cells(l); n > want {
					t.Fatalf("%s at width %d: line %d has %d columns: %s", s.name, width, i+1, n, l)
				}
			}
		}
	}
}

// The verdict and what it rests on stand before any figure.
func TestVerdictComesFirst(t *testing.T) {
	r := failingSample()
	lines := strings.Split(textOf(t, r, TextOptions{}), "\n")
	if lines[0] != "Verdict: FAIL" || !strings.HasPrefix(lines[1], "Incomplete: ") || !strings.HasPrefix(lines[2], "Stopped: connection lost") || lines[3] != "Findings:" {
		t.Errorf("the report begins with\n%s", strings.Join(lines[:4], "\n"))
	}
	embedded := strings.Split(textOf(t, closedSample(), TextOptions{}), "\n")
	if embedded[1] != "Embedded broker: this run measures leveret, not RabbitMQ." {
		t.Errorf("second line of a run on the embedded broker: %s", embedded[1])
	}
	text := textOf(t, r, TextOptions{})
	for _, f := range r.Findings {
		if at := strings.Index(text, f.Code+": "); at < 0 || at > strings.Index(text, "\nCounts") {
			t.Errorf("finding %s does not stand before the counts", f.Code)
		}
	}
	if !strings.Contains(textOf(t, &result.Result{}, TextOptions{}), "Stopped: not recorded\nFindings: none\n") {
		t.Error("a result without anything does not say so")
	}
}

// C005: absent times are counted as unanswered; no zero stands for them.
func TestAbsentIsNotZero(t *testing.T) {
	r := baseResult()
	r.Counts = result.Counts{Sent: 100, Confirmed: 90, Unconfirmed: 10}
	// 90 of 100 measured, all 2 ms; ranks 95 and up fall among the ten that were never answered, for 7 ms at least.
	d := &result.Distribution{Count: 90, Censored: 10, MinNS: ptr(int64(2e6)), MeanNS: ptr(2e6), P50NS: ptr(int64(2e6)), P75NS: ptr(int64(2e6)),
		MaxNS: ptr(int64(2e6)), AtLeastNS: ptr(int64(7e6))}
	r.Latency.Confirm.Service = d
	text := textOf(t, r, TextOptions{})
	for row, want := range map[string]string{
		"min": "2.000", "50 %": "2.000", "75 %": "2.000", "95 %": ">= 7.000", "99 %": ">= 7.000", "99.9 %": ">= 7.000", "99.99 %": ">= 7.000",
		"max": ">= 7.000", "mean": "2.000", "messages": "100", "censored": "10", "above 99 %": "1", "above 99.9 %": "0",
	} {
		if !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(row) + ` +` + regexp.QuoteMeta(want) + `$`).MatchString(text) {
			t.Errorf("row %q is not %q in\n%s", row, want, text)
		}
	}
	if strings.Contains(text, "1970") {
		t.Error("a date of 1970")
	}
	d.AtLeastNS = nil
	if got := textOf(t, r, TextOptions{}); !regexp.MustCompile(`(?m)^  95 % +n/a$`).MatchString(got) {
		t.Errorf("a percentile that is neither known nor bounded is not n/a in\n%s", got)
	}
}

// C013: a run of consumers alone has no latency, with the reason, and never 0.
func TestConsumersOnly(t *testing.T) {
	text := textOf(t, consumersSample(), TextOptions{})
	for _, want := range []string{
		"  confirm: n/a (no producers in this run)\n", "  delivery: n/a (the messages carry no send time of this run)\n",
		"  sent          n/a (no producers in this run)\n", "  received      4,167 messages per second\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "50 %") {
		t.Errorf("percentiles of nothing in\n%s", text)
	}
}

// C022: what was confirmed was not therefore routed.
func TestConfirmedIsNotRouted(t *testing.T) {
	const warning = "Confirmed does not mean routed"
	r := baseResult()
	r.Counts = result.Counts{Sent: 100, Confirmed: 100}
	if strings.Contains(textOf(t, r, TextOptions{}), warning) {
		t.Error("warned without reason")
	}
	r.Counts.Unroutable = 100
	if !strings.Contains(textOf(t, r, TextOptions{}), warning) {
		t.Error("no warning with unroutable messages")
	}
	r.Counts.Unroutable, r.Counts.Returned = 0, 100
	if !strings.Contains(textOf(t, r, TextOptions{}), warning) {
		t.Error("no warning with returned messages")
	}
	r.Counts.Confirmed = 0
	if strings.Contains(textOf(t, r, TextOptions{}), warning) {
		t.Error("spoke of confirms that did not come")
	}
}

// C029: a rate is taken over the interval's own length, whatever it is.
func TestOddIntervals(t *testing.T) {
	r := baseResult()
	r.IntervalNS = second
	r.Intervals = []result.Interval{
		{StartNS: start, EndNS: start + second, Sent: 1000, Received: 1000, Phase: "run"},
		{StartNS: start + second, EndNS: start + second + 500e6, Sent: 500, Received: 500, Phase: "run"},
		{StartNS: start + 1500e6, EndNS: start + 11600e6, Sent: 5, Received: 5, Phase: "run"}, // 5 in 10.1 s
	}
	rows := tableRows(t, textOf(t, r, TextOptions{}), "Intervals")
	want := [][]string{{"0.0", "1.0", "1,000", "0", "1,000"}, {"1.0", "1.5", "1,000", "0", "1,000"}, {"1.5", "11.6", "0.495", "0", "0.495"}}
	if fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}

// tableRows are the fields of the numeric lines below a heading.
func tableRows(t *testing.T, text, heading string) (rows [][]string) {
	t.Helper()
	_, text, ok := strings.Cut(text, "\n"+heading)
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	for l := range strings.Lines(text) {
		if l == "\n" || strings.HasPrefix(l, "  A wider page") {
			break
		}
		if regexp.MustCompile(`^ +[0-9]`).MatchString(l) {
			rows = append(rows, strings.Fields(l))
		}
	}
	return rows
}

// C041: every figure has its unit, in its heading or behind it.
func TestUnitsArePrinted(t *testing.T) {
	r := baseResult()
	for _, c := range []struct {
		p50  int64
		want string
	}{{50e3, "confirm (µs)"}, {5e6, "confirm (ms)"}, {50e9, "confirm (s)"}} {
		r.Latency.Confirm.Service = &result.Distribution{Count: 1, P50NS: ptr(c.p50)}
		text := textOf(t, r, TextOptions{})
		if !strings.Contains(text, c.want) || !regexp.MustCompile(`(?m)^  50 % +50?\.00`).MatchString(text) {
			t.Errorf("50%% at %d ns: no %q in\n%s", c.p50, c.want, text)
		}
	}
}

// C087: as many headings as values.
func TestHeadingsMatchValues(t *testing.T) {
	for _, s := range samples() {
		_, text, _ := strings.Cut(textOf(t, s.r, TextOptions{Width: 200}), "\nIntervals")
		head := regexp.MustCompile(`(?m)^ +from s .*$`).FindString(text)
		want := len(strings.Fields(strings.NewReplacer("from s", "from", "to s", "to", " %", "%").Replace(head)))
		rows := tableRows(t, "\nIntervals"+text, "Intervals")
		if want == 0 || len(rows) == 0 {
			t.Fatalf("%s: %d headings, %d rows", s.name, want, len(rows))
		}
		for _, row := range rows {
			if len(row) != want {
				t.Errorf("%s: %d headings, but %v", s.name, want, row)
			}
		}
	}
}

// C088: no micro sign where the terminal may not have it.
func TestASCII(t *testing.T) {
	for _, s := range samples() {
		s.r.StopReason = "größer"
		if len(s.r.Queues) > 0 {
			s.r.Queues[0].Queue = "größer"
		}
		text := textOf(t, s.r, TextOptions{ASCII: true})
		for i := range len(text) {
			if text[i] >= 0x80 {
				t.Fatalf("%s: byte %#x at %d", s.name, text[i], i)
			}
		}
		if !strings.Contains(text, `gr\u00f6\u00dfer`) {
			t.Errorf("%s: the escaped text is not there", s.name)
		}
	}
	r := baseResult()
	r.Latency.Confirm.Service = &result.Distribution{Count: 1, P50NS: ptr(int64(50e3))}
	if text := textOf(t, r, TextOptions{ASCII: true}); !strings.Contains(text, "confirm (us)") {
		t.Errorf("no confirm (us) in\n%s", text)
	}
}

// C089: an idle interval has a line of its own, or shows as the lowest of its line.
func TestIdleIntervalsArePresent(t *testing.T) {
	rows := tableRows(t, textOf(t, consumersSample(), TextOptions{}), "Intervals")
	if len(rows) != 6 || fmt.Sprint(rows[3]) != fmt.Sprint([]string{"3.0", "4.0", "0"}) {
		t.Errorf("rows %v: the fourth second is not 0", rows)
	}
	// Second 301 of 600 sent nothing: the line from 300 s on has columns from, to, due, sent, low.
	rows = tableRows(t, textOf(t, longSample(), TextOptions{Width: 140}), "Intervals")
	if len(rows) != 21 || rows[10][0] != "300.0" || rows[10][3] != "50" || rows[10][4] != "0" || rows[9][4] != "50" {
		t.Errorf("rows %v: the idle second does not show", rows)
	}
	// All intervals on request.
	if rows := tableRows(t, textOf(t, longSample(), TextOptions{Intervals: -1}), "Intervals"); len(rows) != 601 {
		t.Errorf("%d rows, want 601", len(rows))
	}
}

// C073: what piled up, how fast it grew, and what the latency then means.
func TestBacklog(t *testing.T) {
	text := textOf(t, overloadSample(), TextOptions{})
	// 180,000 a second sent, 84,900 received for 10 s.
	if !strings.Contains(text, "backlog       951,000 messages when publishing stopped, growing by 95,100 per second\n") ||
		!strings.Contains(text, "delivery latency measures how long messages waited in the queue") {
		t.Errorf("no backlog in\n%s", text)
	}
	// As many had piled up by the middle, such as a window of confirms allows: that does not grow.
	stood, half := overloadSample(), int64(640_000)
	stood.Intervals[4].BacklogEnd = &half // the fifth of ten
	if text := textOf(t, stood, TextOptions{}); !strings.Contains(text, "951,000 messages when publishing stopped, no longer growing (640,000 half-way)\n") {
		t.Errorf("no backlog in\n%s", text)
	}
	if strings.Contains(textOf(t, closedSample(), TextOptions{}), "waited in the queue") {
		t.Error("messages on their way at the stop were taken for overload")
	}
}

func TestLinesEveryReportPrints(t *testing.T) {
	text := textOf(t, failingSample(), TextOptions{Width: 160})
	for _, want := range []string{
		"client and broker on the same host", "0 messages ready in the queues at the start",
		"durable queues; persistent messages; confirm window 100; acks manual, single; prefetch 200\n",
		"open loop, 200.0 messages per second due in all", "client CPU time 7.500 s (0.19 cores busy)",
		"limited by    the broker: producers waited 62 % of the time until it took more", "TLS, certificate not verified",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Strings come from brokers and command lines: they cannot move the cursor or break a line.
func TestStringsCannotMoveTheCursor(t *testing.T) {
	evil := "x\x1b[2J\r\n\u202e\xff\u0085"
	r := extremeResult()
	for _, p := range []*string{&r.StopReason, &r.ID, &r.Broker.Product, &r.Broker.URI, &r.Host.Name, &r.Config.AckMode, &r.LimitedBy, &r.LatencyNote, &r.Window.Text,
		&r.Findings[0].Code, &r.Findings[0].Text, &r.Findings[0].First[0].Queue, &r.Queues[0].Queue, &r.Queues[0].Type, &r.Spans[0].Kind, &r.Spans[0].Text, &r.Captures[0], &r.Notes[0]} {
		*p = evil
	}
	r.Verdict, r.Findings[0].Severity = result.Verdict(evil), result.Severity(evil)
	for _, c := range textOf(t, r, TextOptions{}) {
		if c != '\n' && (c < 0x20 || c >= 0x7f && c < 0xa0 || c == '\u202e' || c == '\ufffd') {
			t.Fatalf("character %U in the report", c)
		}
	}
}

// extremeResult has the widest and oddest values that the types allow.
func extremeResult() *result.Result {
	long := strings.Repeat("long", 60)
	big, least := int64(math.MaxInt64), int64(math.MinInt64)
	d := &result.Distribution{Count: big, Censored: big, Negative: big, MinNS: &least, MeanNS: ptr(math.MaxFloat64), StdDevNS: ptr(-math.MaxFloat64),
		P50NS: &big, P75NS: &least, MaxNS: &big, AtLeastNS: &big}
	all := result.Latencies{Confirm: result.Latency{Service: d, Response: d}, Delivery: result.Latency{Service: d, Response: d}}
	c := result.Counts{Sent: least, Confirmed: big, Nacked: least, Returned: big, Unconfirmed: big, NotSent: big, Received: least, ReceivedUnique: big,
		Redelivered: big, Lost: big, Missing: least, MissingUnconfirmed: least, RemovedByRule: big, Unroutable: big, QueuedAtStop: least, UnackedAtStop: big,
		DiscardedAtStop: big, Duplicates: big, Corrupt: least, CorruptUnattributed: big, OutOfOrder: big, Foreign: big}
	return &result.Result{
		SchemaVersion: math.MaxInt, Verdict: result.Verdict(long), StopReason: long, Captures: []string{long, long}, ID: long,
		Findings: []result.Finding{{Code: long, Severity: result.Severity(long), Count: least, Text: long, First: []result.Message{
			{Producer: math.MinInt, Sequence: least, Queue: long, Consumer: ptr(math.MaxInt), DueNS: &big, SentNS: &least, ReceivedNS: &big}}}},
		Broker: result.Broker{Embedded: true, Product: long, Version: long, URI: long},
		Host:   result.Host{Name: long, OS: long, Arch: long, CPUs: math.MaxInt},
		Config: result.Config{StartedNS: least, Tool: long, Connections: math.MaxInt, Producers: math.MaxInt, Consumers: math.MaxInt, Queues: math.MinInt,
			QueueTypes: []string{long}, SizesBytes: []int64{least, big}, Confirm: math.MaxInt, AckMode: long, Prefetch: math.MaxInt,
			RateTotal: ptr(math.MaxFloat64), OpenLoop: true, ReadyStart: &least},
		Counts: c, Queues: []result.QueueCounts{{Queue: long, Type: long, Counts: c}, {Queue: "q", Counts: c}},
		Rates:  result.Rates{Sent: ptr(math.MaxFloat64), Confirmed: ptr(math.NaN()), Received: ptr(math.Inf(1)), SentBytes: ptr(math.Inf(-1)), Drain: ptr(-1.0), DrainNS: &big},
		Window: result.Window{StartNS: least, EndNS: big, Text: long}, Latency: all, LatencyNote: long,
		IntervalNS: least,
		Intervals: []result.Interval{
			{StartNS: least, EndNS: big, Due: big, Sent: big, Confirmed: big, Received: least, Latency: all, BacklogEnd: &least, Phase: long},
			{StartNS: big, EndNS: least, Sent: least, BacklogEnd: &big, Phase: "drain"},
			{},
		},
		Curves: []result.Curve{{What: long, From: long, Count: least, Points: []result.CurvePoint{{Percent: math.NaN(), ValueNS: least, Above: big}}}},
		Spans:  []result.Span{{FromNS: big, ToNS: least, Kind: long, Text: long}}, LimitedBy: long, ClientCPUNS: &big, Rows: least, Notes: []string{long},
	}
}

// The line about the tool itself stands there where the host has been calibrated, and only there.
func TestCalibrationIsQuoted(t *testing.T) {
	r := tinySample()
	if strings.Contains(textOf(t, r, TextOptions{}), "calibrated") {
		t.Error("quoted without a calibration")
	}
	r.Calibration = &result.Calibration{AtNS: start, Quick: true, PublishMsgsPerS: ptr(3e6), ConsumeMsgsPerS: ptr(2e6),
		PacingRateMsgsPerS: 1000, PacingP99NS: 50_000, LatencyErrorP50NS: 100_000, LatencyErrorP99NS: 2_000_000}
	got := strings.Join(strings.Fields(textOf(t, r, TextOptions{ASCII: true})), " ")
	want := "calibrated 2026-07-30 11:00 UTC (quick): ceilings 3,000,000 msg/s published, 2,000,000 msg/s consumed; " +
		"at 1,000 msg/s sent late by p99 50.00 us; latency error p50 100.0 us, p99 2.000 ms"
	if !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// What a damaged body says it is, it only claims.
func TestClaimedIdentity(t *testing.T) {
	r := baseResult()
	r.Findings = []result.Finding{{Code: "corrupt", Severity: result.SeverityFail, Count: 2, Text: "2 messages received whose checksum does not hold", First: []result.Message{
		{Producer: 15, Sequence: 7, Claimed: true}, {Producer: 0, Sequence: 776},
	}}}
	text := textOf(t, r, TextOptions{})
	if !strings.Contains(text, "- claims to be producer 15 sequence 7\n") || !strings.Contains(text, "- producer 0 sequence 776\n") {
		t.Errorf("in\n%s", text)
	}
}
