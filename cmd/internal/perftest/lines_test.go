package perftest

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

func latencyOf(us ...int) (q Latency) {
	for i, v := range us {
		q.Values[i] = time.Duration(v)*time.Microsecond + 999 // truncated
	}
	return q
}

var sample = Sample{
	Elapsed: 2009 * time.Millisecond, Wall: time.Date(2025, 4, 8, 16, 54, 19, 0, time.Local),
	Sent: 11080.9, Returned: 0.25, Confirmed: 11079, Nacked: 0, Received: 9.87,
	Delivery: latencyOf(42936, 84395, 103139, 125290, 150685, 200001), Confirm: latencyOf(44024, 82644, 101174, 131103, 155386, 155387),
}

// all are all combinations of what a run can have.
func all() (shown []Shown) {
	for i := range 16 {
		shown = append(shown, Shown{Producers: i&1 > 0, Consumers: i&2 > 0, Mandatory: i&4 > 0, Confirms: i&8 > 0})
	}
	return shown
}

// Lines that PerfTest has printed, in the forms of its releases, as they were published; one parser reads them and ours.
func TestOneParserReadsPublishedLinesAndOurs(t *testing.T) {
	text, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want := map[int]string{ // line: what must have been read of it
		0:  "test-1 66.018 [783053 903448 927239 963003] us",
		3:  " 5.000 [1 3 3 3] ms",
		5:  "test-142636-522 2.009 [42936 84395 103139 125290 150685] us",
		9:  "test-101517-299 1.000 [24 234 364 462 474] ms",
		11: "baseline-1773066073 1.001 [7 18 23 34 22650827150373800 22650827161831440] ms",
	}
	for i, line := range lines {
		p, err := parseLine(line)
		if err != nil {
			t.Errorf("line %d: %v", i, err)
			continue
		}
		q := p.latencies["consumer"]
		if got := fmt.Sprint(p.id, " ", p.time, " ", q.values, " ", q.unit); want[i] != "" && got != want[i] {
			t.Errorf("line %d: %s, want %s", i, got, want[i])
		}
	}
	for _, shown := range all() {
		f := Format{ID: "test-142636-522", Shown: shown}
		p, err := parseLine(f.Line(&sample))
		if err != nil {
			t.Errorf("%+v: %v", shown, err)
			continue
		}
		if p.id != f.ID || p.time != "2.009" {
			t.Errorf("%+v: id %q, time %q", shown, p.id, p.time)
		}
		for name, c := range map[string]struct {
			shown bool
			text  string
		}{
			"sent": {shown.Producers, "11080"}, "returned": {shown.Mandatory, "0.25"}, "received": {shown.Consumers, "9.9"},
			"confirmed": {shown.Producers && shown.Confirms, "11079"}, "nacked": {shown.Producers && shown.Confirms, "0"},
		} {
			if got, ok := p.rates[name]; ok != c.shown || ok && got != c.text {
				t.Errorf("%+v: %s %q %v, want %q %v", shown, name, got, ok, c.text, c.shown)
			}
		}
		if _, ok := p.latencies["consumer"]; ok != shown.Consumers {
			t.Errorf("%+v: consumer latency %v", shown, ok)
		}
		if _, ok := p.latencies["confirm"]; ok != (shown.Producers && shown.Confirms) {
			t.Errorf("%+v: confirm latency %v", shown, ok)
		}
	}
}

// What PerfTest prints by its own format, character by character.
func TestTheDefaultFormatToTheCharacter(t *testing.T) {
	f := Format{ID: "test-1", Shown: Shown{Producers: true, Consumers: true, Mandatory: true, Confirms: true}}
	for _, c := range []struct {
		change func(f *Format, s *Sample)
		want   string
	}{
		{func(*Format, *Sample) {}, "id: test-1, time 2.009 s, sent: 11080 msg/s, returned: 0.25 msg/s, confirmed: 11079 msg/s, nacked: 0 msg/s, received: 9.9 msg/s, min/median/75th/95th/99th/max consumer latency: 42936/84395/103139/125290/150685/200001 µs, confirm latency: 44024/82644/101174/131103/155386/155387 µs"},
		{func(f *Format, _ *Sample) { f.Shown = Shown{Producers: true} }, "id: test-1, time 2.009 s, sent: 11080 msg/s"},
		{func(f *Format, _ *Sample) { f.Shown, f.Millis = Shown{Consumers: true, Confirms: true}, true }, "id: test-1, time 2.009 s, received: 9.9 msg/s, min/median/75th/95th/99th/max consumer latency: 42/84/103/125/150/200 ms"},
		{func(f *Format, _ *Sample) { f.Shown.Consumers, f.Shown.Mandatory, f.ASCII = false, false, true }, "id: test-1, time 2.009 s, sent: 11080 msg/s, confirmed: 11079 msg/s, nacked: 0 msg/s, min/median/75th/95th/99th/max confirm latency: 44024/82644/101174/131103/155386/155387 us"},
		{func(f *Format, s *Sample) {
			f.Shown.Confirms, f.Shown.Mandatory = false, false
			*s = Sample{Elapsed: 3 * time.Second} // nothing happened
		}, "id: test-1, time 3.000 s, sent: 0 msg/s, received: 0 msg/s, min/median/75th/95th/99th/max consumer latency: 0/0/0/0/0/0 µs"},
		{func(f *Format, s *Sample) {
			f.Shown = Shown{Consumers: true}
			s.Delivery = Latency{Unknown: "n/a (backlog)"}
		}, "id: test-1, time 2.009 s, received: 9.9 msg/s, min/median/75th/95th/99th/max consumer latency: n/a (backlog)"},
	} {
		form, s := f, sample
		c.change(&form, &s)
		if got := form.Line(&s); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestStartingLines(t *testing.T) {
	f := Format{ID: "test-104555-858"}
	if got, want := f.StartingConnection("consumer", 0), "id: test-104555-858, starting consumer #0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := f.StartingChannel("producer", 1, 2), "id: test-104555-858, starting producer #1, channel #2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// C087, C088: as many values as headings, in one order, wherever latencies are printed; and none of it beyond ASCII where the reader
// may not know UTF-8.
func TestHeadingsMatchValues(t *testing.T) {
	headings := strings.Split(Heading, "/")
	for _, shown := range all() {
		for _, millis := range []bool{false, true} {
			f := Format{ID: "x", Shown: shown, Millis: millis, ASCII: true}
			p, err := parseLine(f.Line(&sample))
			if err != nil {
				t.Fatal(err)
			}
			for what, q := range p.latencies {
				if !slices.Equal(p.headings, headings) || len(q.values) != len(headings) {
					t.Errorf("%+v: %s: %d values under %v", f, what, len(q.values), p.headings)
				}
			}
			latencies := 0
			for _, line := range f.Summary(1, 2, &sample.Delivery, &sample.Confirm) {
				_, rate, head, values, err := parseSummary(line)
				if err != nil {
					t.Error(err)
				}
				if rate == "" {
					latencies++
					if n, err := numbers(values); err != nil || !slices.Equal(head, headings) || len(n) != len(headings) || !slices.IsSorted(n) {
						t.Errorf("%s: %v %v", line, n, err)
					}
				}
			}
			if latencies != len(p.latencies) {
				t.Errorf("%+v: %d latencies in the summary, %d in the line", f, latencies, len(p.latencies))
			}
			for _, text := range []string{f.Line(&sample), f.CompactLine(&sample), f.CompactHeader(), f.CSVHeader(), f.CSVRow(&sample)} {
				if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
					t.Errorf("beyond ASCII: %s", text)
				}
			}
		}
	}
}

// Lines of summaries as they were published, by the parser that reads ours.
func TestOneParserReadsPublishedSummariesAndOurs(t *testing.T) {
	text, err := os.ReadFile("testdata/summary.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := Format{ID: "test-1", Shown: Shown{Producers: true, Confirms: true}, ASCII: true}
	confirm := latencyOf(3219, 5697, 6025, 7984, 10703, 48067)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines = append(lines, f.Summary(75123, 0, &Latency{}, &confirm)...)
	var got []string
	for _, line := range lines {
		what, rate, _, values, err := parseSummary(line)
		if err != nil {
			t.Error(err)
		}
		got = append(got, what+" "+rate+strings.Join(values, "/"))
	}
	want := []string{"sending 75123", "receiving 70337", "sending 103132", "receiving 0", "confirm 3219/5697/6025/7984/10703/48067",
		"sending 75123", "receiving 0", "confirm 3219/5697/6025/7984/10703/48067"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSummaryLines(t *testing.T) {
	f := Format{ID: "test-1", Shown: Shown{Producers: true, Consumers: true, Confirms: true}}
	censored := sample.Confirm
	censored.AtLeast = [6]bool{4: true, 5: true}
	want := []string{
		"id: test-1, sending rate avg: 75123 msg/s",
		"id: test-1, receiving rate avg: 0.50 msg/s",
		"id: test-1, consumer latency min/median/75th/95th/99th/max 42936/84395/103139/125290/150685/200001 µs",
		"id: test-1, confirm latency min/median/75th/95th/99th/max 44024/82644/101174/131103/>=155386/>=155387 µs",
	}
	if got := f.Summary(75123.4, 0.5, &sample.Delivery, &censored); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.Shown, f.Millis = Shown{}, true
	if got := f.CompactSummary(0, 12.9, &sample.Delivery, &sample.Confirm); !slices.Equal(got, []string{"sending rate avg: 0 msg/s", "receiving rate avg: 12 msg/s"}) {
		t.Errorf("%q", got)
	}
}

func TestRates(t *testing.T) {
	for rate, want := range map[float64]string{
		0: "0", 0.004: "0.00", 0.125: "0.13", 0.495: "0.50", 0.99: "0.99", 1: "1.0", 9.87: "9.9", 9.94: "9.9", 10: "10", 10.99: "10", 999999.9: "999999",
	} {
		if got := Rate(rate); got != want {
			t.Errorf("%v: %s, want %s", rate, got, want)
		}
	}
}

// Column by column: the date and time, rates right-aligned in 13, latencies in 27; longer ones push on.
func TestTheCompactFormat(t *testing.T) {
	s := sample
	s.Delivery, s.Confirm = latencyOf(1, 25, 189, 312, 331, 999), latencyOf(2, 3, 4, 5, 6, 7)
	f := Format{Shown: Shown{Producers: true, Consumers: true, Confirms: true, Mandatory: true}, ASCII: true}
	want := []string{
		"time                        sent     returned    confirmed       nacked     received           consumer latency            confirm latency",
		"2025/04/08 16:54:19  11080 msg/s   0.25 msg/s  11079 msg/s      0 msg/s    9.9 msg/s    1/25/189/312/331/999 us             2/3/4/5/6/7 us",
	}
	if got := []string{f.CompactHeader(), f.CompactLine(&s)}; !slices.Equal(got, want) {
		t.Errorf("\n%s\n%s, want\n%s\n%s", got[0], got[1], want[0], want[1])
	}
	f.Shown.Producers, f.Shown.Mandatory = false, false
	s.Delivery = sample.Delivery
	if got, want := f.CompactLine(&s), "2025/04/08 16:54:19    9.9 msg/s 42936/84395/103139/125290/150685/200001 us"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// PerfTest's columns, with "us" for its micro sign.
const perfTestColumns = "id,time (s),published (msg/s),returned (msg/s),confirmed (msg/s),nacked (msg/s),received (msg/s)," +
	"min consumer latency (us),median consumer latency (us),75th p. consumer latency (us),95th p. consumer latency (us),99th p. consumer latency (us)," +
	"min confirm latency (us),median confirm latency (us),75th p. confirm latency (us),95th p. confirm latency (us),99th p. confirm latency (us)"

// C041: the unit stands in the heading, and the values of both units agree to a millisecond.
func TestCSV(t *testing.T) {
	f := Format{ID: "test-1", Shown: Shown{Producers: true, Consumers: true, Mandatory: true, Confirms: true}}
	if got := f.CSVHeader(); got != perfTestColumns {
		t.Errorf("%s, want %s", got, perfTestColumns)
	}
	for _, c := range []struct {
		shown  Shown
		millis bool
		want   string
	}{
		{f.Shown, false, "test-1,2.009,11080,0.25,11079,0,9.9,42936,84395,103139,125290,150685,44024,82644,101174,131103,155386"},
		{Shown{Producers: true}, false, "test-1,2.009,11080,,,,,,,,,,,,,,"},
		{Shown{Consumers: true, Confirms: true}, true, "test-1,2.009,,,,,9.9,42,84,103,125,150,,,,,"},
	} {
		g := f
		g.Shown, g.Millis = c.shown, c.millis
		if got := g.CSVRow(&sample); got != c.want {
			t.Errorf("%+v: %s, want %s", c.shown, got, c.want)
		}
	}
	f.Millis = true
	if got, want := f.CSVHeader(), strings.ReplaceAll(perfTestColumns, "(us)", "(ms)"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	unknown := sample
	unknown.Delivery = Latency{Unknown: "n/a (backlog)"}
	f.ID = `a "b", c`
	rows, err := csv.NewReader(strings.NewReader(f.CSVHeader() + "\n" + f.CSVRow(&unknown) + "\n")).ReadAll()
	if err != nil || rows[1][0] != f.ID || rows[1][7] != "" || rows[1][11] != "" || rows[1][12] != "44" {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestStopLine(t *testing.T) {
	for _, c := range []struct {
		reasons []Reason
		want    string
	}{
		{nil, "test stopped"},
		{[]Reason{{TimeLimit, 1}}, "test stopped (Reached time limit)"},
		{[]Reason{{ProducerLimit, 3}}, "test stopped (Producer reached message limit [3])"},
		{[]Reason{{ProducerLimit, 1}, {ConsumerLimit, 2}, {ProducerLimit, 0}}, "test stopped (Producer reached message limit [2], Consumer reached message limit [2])"},
		{[]Reason{{ProducerError("connection reset"), 1}}, "test stopped (Error in producer (connection reset))"},
	} {
		if got := StopLine(c.reasons); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
