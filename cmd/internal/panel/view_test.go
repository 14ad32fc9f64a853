package panel

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/capture"
	"leveret/loadcore"
)

// past is a history of so many values each.
func past(values ...float64) *history {
	h := &history{}
	for _, v := range values {
		for range 3 {
			h.add(v)
		}
	}
	return h
}

// aView is a run of 60 s at a quarter: 20,000 messages a second, with a slow beginning and a pause of three seconds.
func aView() *view {
	rate := func(name string, now, average float64, total int64) rateRow {
		return rateRow{name, now, average, total, past(10000, 0, 20000, 20000, 20000)}
	}
	return &view{
		title: "run-1  RabbitMQ 3.10.8 at amqp://guest@localhost:5672", remember: time.Minute,
		phase: "running", color: styleGood, done: 0.25, progress: []string{"15 s of 1 min", "45 s left"},
		rates: []rateRow{
			rate("due", 20000, 20000, 300000), rate("sent", 19998, 19997.4, 299961),
			rate("confirmed", 19990, 19990, 299850), rate("received", 19991, 19985, 299841),
		},
		latency: []latencyRow{
			{"confirm", loadcore.LiveLatency{Count: 19990, MinNS: 210e3, P50NS: 480e3, P95NS: 1.2e6, P99NS: 3.4e6, MaxNS: 12e6}, past(3.4e6, math.NaN(), 1.7e6, 1.7e6, 3.4e6)},
			{"delivery", loadcore.LiveLatency{Count: 100, Missed: 19891, MinNS: 1e6, P50NS: 1e6}, past(math.NaN())},
		},
		backlog: 120, inFlight: 110, window: 2000, open: 2, planned: 2,
		limit: limitWindow, limitText: "the confirm window: producers wait for confirms 83 % of the time",
		record: capture.State{Rows: 719710, Bytes: 21_300_000},
	}
}

func text(v *view, columns, rows int, ascii, color bool) string {
	var lines []string
	for _, l := range v.lines(columns-1, rows-1, ascii) {
		s, _ := l.paint(columns-1, ascii, color)
		lines = append(lines, strings.TrimRight(s, " "))
	}
	return strings.Join(lines, "\n")
}

func mustShow(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.Trim(want, "\n"); got != want {
		t.Errorf("the panel is\n%s\n\nwant\n%s", got, want)
	}
}

// A column of a sparkline is of two intervals here.
func TestPanelAt80x24(t *testing.T) {
	mustShow(t, text(aView(), 80, 24, false, false), `
run-1  RabbitMQ 3.10.8 at amqp://guest@localhost:5672
running  ██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  15 s of 1 min, 45 s left

messages          now/s  average/s         total last 1 min
due              20,000     20,000       300,000 ▅▃▁█████
sent             19,998     19,997       299,961 ▅▃▁█████
confirmed        19,990     19,990       299,850 ▅▃▁█████
received         19,991     19,985       299,841 ▅▃▁█████

latency           min      p50      p95      p99      max    messages
confirm        210 µs   480 µs  1.20 ms  3.40 ms  12.0 ms      19,990
delivery      n/a (backlog)

backlog     120 messages; 110 of 2,000 confirms awaited
connections 2 of 2 open
limit       the confirm window: producers wait for confirms 83 % of the time
recorder    719,710 rows, 21.3 MB, no stalls
errors      none
`)
}

func TestPanelAt200x50(t *testing.T) {
	v := aView()
	v.blocked, v.record.Waiting, v.record.StallNS = 1, true, 250e6
	v.failures, v.returned, v.growth = 3, 12345, 1234.5
	v.errors = []errorRow{{2, "connection 4: lost: EOF; 12 messages were not confirmed"}, {1, "producer 1: NO_ROUTE\x1b[2J über"}}
	mustShow(t, text(v, 200, 50, false, false), `
run-1  RabbitMQ 3.10.8 at amqp://guest@localhost:5672
running  ██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  15 s of 1 min, 45 s left

messages          now/s  average/s         total last 1 min
due              20,000     20,000       300,000 ▅▅▅▁▁▁█████████
sent             19,998     19,997       299,961 ▅▅▅▁▁▁█████████
confirmed        19,990     19,990       299,850 ▅▅▅▁▁▁█████████
received         19,991     19,985       299,841 ▅▅▅▁▁▁█████████

latency           min      p50      p95      p99      max    messages p99, last 1 min
confirm        210 µs   480 µs  1.20 ms  3.40 ms  12.0 ms      19,990 ███   ▅▅▅▅▅▅███
delivery      n/a (backlog)

backlog     120 messages, growing by 1,235/s; 110 of 2,000 confirms awaited
connections 1 blocked by the broker, 2 of 2 open
limit       the confirm window: producers wait for confirms 83 % of the time
recorder    719,710 rows, 21.3 MB, 1 stall, 250 ms in all; publishing waits for the disk
errors      3 failures, 12,345 returned
  2 times: connection 4: lost: EOF; 12 messages were not confirmed
  producer 1: NO_ROUTE?[2J über
`)
}

// Of ten rows one is left for the cursor: what matters least is not shown.
func TestPanelAt40x10(t *testing.T) {
	mustShow(t, text(aView(), 40, 10, false, false), `
running  █████░░░░░░░░░░░░░░  45 s left
due         20,000/s  average 20,000/s
sent        19,998/s  average 19,997/s
confirmed   19,990/s  average 19,990/s
received    19,991/s  average 19,985/s
confirm     p50 480 µs  p99 3.40 ms
delivery    n/a (backlog)
backlog     120; unconfirmed 110
limit       the confirm window: produc…
`)
}

// C088: a terminal that is not UTF-8 gets ASCII only.
func TestC088PanelInASCII(t *testing.T) {
	v := aView()
	v.errors, v.failures = []errorRow{{1, "queue höchst: gone"}}, 1
	got := text(v, 80, 24, true, false)
	if strings.ContainsFunc(got, func(r rune) bool { return r > 0x7e }) {
		t.Errorf("not ASCII:\n%s", got)
	}
	for _, want := range []string{"[##########............................]", "210 us", "=:_#####", "  queue h?chst: gone"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// C089: an interval without messages is 0, not what was before.
func TestC089IdleIntervalIsZero(t *testing.T) {
	v := aView()
	v.rates = []rateRow{{"sent", 0, 200, 1000, past(1000, 0)}}
	v.latency = []latencyRow{{name: "confirm", past: past(math.NaN())}}
	got := text(v, 80, 24, false, false)
	for _, want := range []string{
		"sent                  0        200         1,000 █▅▁",
		"confirm             -        -        -        -        -           0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// Before load begins there is nothing to tell but how many connections are open.
func TestPanelWhileConnecting(t *testing.T) {
	v := &view{title: "run-1", phase: "connecting", done: 0.5, progress: []string{"150 of 300 connections"}, open: 150, planned: 300, backlog: -1}
	mustShow(t, text(v, 80, 24, false, false), `
run-1
connecting  ████████████████████░░░░░░░░░░░░░░░░░░░░  150 of 300 connections

connections 150 of 300 open
errors      none
`)
}

// Nothing is wider than the terminal, and there are never more lines than it has, whatever its size.
func TestPanelFitsEverySize(t *testing.T) {
	v := aView()
	v.failures, v.errors = 9, slices.Repeat([]errorRow{{7, strings.Repeat("字", 100)}}, 9)
	for columns := range 210 {
		for _, rows := range []int{1, 2, 3, 5, 10, 24, 60} {
			lines := v.lines(columns, rows, columns%2 == 0)
			if len(lines) > rows {
				t.Fatalf("%d lines on %d rows", len(lines), rows)
			}
			for _, l := range lines {
				if s, n := l.paint(columns, columns%2 == 0, false); n > columns {
					t.Fatalf("%d columns of %d: %s", n, columns, s)
				}
			}
		}
	}
}

func TestPanelColors(t *testing.T) {
	v := aView()
	if got := text(v, 80, 24, false, false); strings.Contains(got, "\x1b") {
		t.Errorf("escape sequences without colors:\n%q", got)
	}
	v.limit, v.limitText, v.nacked = limitSchedule, "kept", 1
	got := text(v, 80, 24, false, true)
	for _, want := range []string{
		"\x1b[1mrun-1  RabbitMQ 3.10.8 at amqp://guest@localhost:5672\x1b[0m\n\x1b[32mrunning\x1b[0m",
		"limit       \x1b[32mkept\x1b[0m", "errors      \x1b[31m1 nacked\x1b[0m",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%q", want, got)
		}
	}
}
