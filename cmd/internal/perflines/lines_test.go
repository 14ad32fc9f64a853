package perflines

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/perftest"
	"leveret/loadcore"
	"leveret/loadcore/broker"
	"leveret/loadcore/topology"
)

// underLines runs a plan for a moment through an embedded broker, with PerfTest's lines; plan has its lanes on queue 0.
func underLines(t *testing.T, o *options.Run, next loadcore.Recorder, change func(p *loadcore.Plan)) (lines []string, outcome *manifest.Outcome) {
	t.Helper()
	server, err := broker.Start(broker.Options{Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	zero := int64(0)
	plan := &loadcore.Plan{
		Clock: event.NewClock(), Tag: 0xabc, ID: o.ID, Progress: new(loadcore.Progress), DrainTimeout: 10 * time.Second,
		Topology: &manifest.Topology{
			Queues: []manifest.Queue{{Name: "q", Type: "classic", Declare: true, ReadyAtStart: &zero}},
			Routes: []manifest.Route{{RoutingKey: "q", Queues: []int{0}, Known: true}},
		},
	}
	if plan.Endpoint, err = loadcore.ParseURI(server.URI()); err != nil {
		t.Fatal(err)
	}
	change(plan)
	for i := range plan.Producers {
		plan.Producers[i].Connection = i
	}
	for i := range plan.Consumers {
		plan.Consumers[i].Connection, plan.Consumers[i].Queues = len(plan.Producers)+i, []int{0}
	}
	plan.Connections = len(plan.Producers) + len(plan.Consumers)
	session, err := topology.Declare(t.Context(), plan.Endpoint, "lines", plan.Topology)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var out, problems bytes.Buffer
	l, err := New(o, &out, &problems, true)
	if err != nil {
		t.Fatal(err)
	}
	l.Announce()
	live := loadcore.NewLive(plan, next)
	l.Start(plan, live)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	outcome, err = loadcore.Run(ctx, plan, live)
	l.Stop(outcome)
	l.Summary(outcome, nil)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil || problems.Len() > 0 {
		t.Fatalf("%v %s", err, &problems)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), outcome
}

var intervalLine = regexp.MustCompile(`^id: t1, time ([0-9]+\.[0-9]{3}) s, sent: ([0-9.]+) msg/s, confirmed: ([0-9.]+) msg/s, nacked: 0 msg/s, received: ([0-9.]+) msg/s, ` +
	`min/median/75th/95th/99th/max consumer latency: [0-9]+(/[0-9]+){5} us, confirm latency: [0-9]+(/[0-9]+){5} us$`)

// C089: twice 30 messages with a pause of several intervals between: the pause has lines of zeros, no interval repeats another's
// figures, and the rates of all intervals come to what was sent.
func TestLinesOfARunWithAPause(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.csv")
	if err := os.WriteFile(file, []byte("of an earlier run\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &options.Run{ID: "t1", Interval: 100 * time.Millisecond, OutputFile: file, Producers: 1, ProducerChannelCount: 2, Consumers: 1, ConsumerChannelCount: 1}
	hundred, none := manifest.Rate{Messages: 100, PerNS: 1e9}, manifest.Rate{PerNS: 1e9}
	stage := func(r manifest.Rate, d time.Duration) manifest.Stage {
		return manifest.Stage{From: r, To: r, ForNS: int64(d)}
	}
	lines, outcome := underLines(t, o, loadcore.NoRecord{}, func(p *loadcore.Plan) {
		p.Time = 1900 * time.Millisecond
		p.Producers = []manifest.Producer{{Size: 12, Confirm: 100, Batch: 10, Stages: []manifest.Stage{
			stage(hundred, 300*time.Millisecond), stage(none, 500*time.Millisecond), stage(hundred, 300*time.Millisecond), stage(none, time.Second)}}}
		p.Consumers = []manifest.Consumer{{AckEvery: 1}}
	})
	starting := []string{"id: t1, starting consumer #0", "id: t1, starting consumer #0, channel #0",
		"id: t1, starting producer #0", "id: t1, starting producer #0, channel #0", "id: t1, starting producer #0, channel #1"}
	if len(lines) < 11 || !slices.Equal(lines[:5], starting) {
		t.Fatalf("%q", lines)
	}
	end := slices.Index(lines, "test stopped (Reached time limit)")
	if end < 0 || len(lines) != end+5 || !strings.HasPrefix(lines[end+1], "id: t1, sending rate avg: ") || !strings.HasPrefix(lines[end+4], "id: t1, confirm latency "+perftest.Heading+" ") {
		t.Fatalf("%q", lines)
	}
	sent, received, idle, before := 0.0, 0.0, 0, 0.0
	for _, line := range lines[5:end] {
		m := intervalLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%s", line)
		}
		at := number(t, m[1])
		sent += number(t, m[2]) * (at - before)
		received += number(t, m[4]) * (at - before)
		before = at
		if m[2] == "0" && m[4] == "0" && strings.Contains(line, "consumer latency: 0/0/0/0/0/0 us, confirm latency: 0/0/0/0/0/0 us") {
			idle++
		}
	}
	// Rates from 10 on are printed truncated: at most one message a second less in each interval.
	if outcome.Sent != 60 || sent > 60.5 || sent < 58 || received > 60.5 || received < 58 || idle == 0 {
		t.Errorf("%d sent; of the lines %.1f sent, %.1f received, %d idle\n%s", outcome.Sent, sent, received, idle, strings.Join(lines, "\n"))
	}
	checkCSV(t, file, lines[5:end])
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkCSV compares the file with the lines: a row each, with their figures, and nothing of an earlier run.
func checkCSV(t *testing.T, file string, lines []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != len(lines)+1 || len(rows[0]) != 17 || rows[0][0] != "id" {
		t.Fatalf("%v\n%s", err, text)
	}
	for i, row := range rows[1:] {
		m := intervalLine.FindStringSubmatch(lines[i])
		if want := []string{"t1", m[1], m[2], "", m[3], "0", m[4]}; !slices.Equal(row[:7], want) {
			t.Errorf("row %q, want %q", row[:7], want)
		}
	}
}

func TestCompactLinesOfProducersAlone(t *testing.T) {
	o := &options.Run{ID: "t1", Interval: 50 * time.Millisecond, MetricsFormat: "compact", Producers: 1, ProducerChannelCount: 1}
	lines, _ := underLines(t, o, loadcore.NoRecord{}, func(p *loadcore.Plan) {
		p.Time = 220 * time.Millisecond
		p.Producers = []manifest.Producer{{Size: 12, Batch: 10, Rate: manifest.Rate{Messages: 200, PerNS: 1e9}}}
	})
	if len(lines) < 7 || lines[2] != "time                        sent" {
		t.Fatalf("%q", lines)
	}
	for _, line := range lines[3 : len(lines)-3] {
		if !regexp.MustCompile(`^20\d\d/\d\d/\d\d \d\d:\d\d:\d\d {2,}[0-9.]+ msg/s$`).MatchString(line) || len(line) != 32 {
			t.Errorf("%q", line)
		}
	}
	if last := lines[len(lines)-3:]; last[0] != "test stopped (Reached time limit)" || !strings.HasPrefix(last[1], "sending rate avg: ") || last[2] != "receiving rate avg: 0 msg/s" {
		t.Errorf("%q", last)
	}
}

// Every event of a run of five messages has its line.
func TestVerboseLines(t *testing.T) {
	var events bytes.Buffer
	o := &options.Run{ID: "t1", Producers: 1, ProducerChannelCount: 1, Consumers: 1, ConsumerChannelCount: 1}
	var record loadcore.Recorder
	later := &laterRecorder{}
	underLines(t, o, later, func(p *loadcore.Plan) {
		p.Producers = []manifest.Producer{{Size: 20, Confirm: 1, Batch: 10, Limit: 5, Persistent: true, Properties: &manifest.Properties{AppID: "shop", Headers: []manifest.Arg{{Key: "k", Value: "v"}}}}}
		p.Consumers = []manifest.Consumer{{AckEvery: 1}}
		record = NewVerbose(p, loadcore.NoRecord{}, true, true, &events)
		later.Recorder = record
	})
	text := events.String()
	for i := range 5 {
		for _, want := range []string{
			fmt.Sprintf(`(?m)^publisher 0: message published, timestamp = \d{13}, publishing ID = %d, properties = \{headers = \{k = v\}, delivery-mode = 2, app-id = shop\}, body = \[sequence = %d, size = 20\]$`, i+1, i),
			fmt.Sprintf(`(?m)^publisher 0: message confirmed, type = ack, timestamp = \d{13}, publishing ID = %d$`, i+1),
			fmt.Sprintf(`(?m)^publisher 0: publish confirm, type = ack, publishing ID = %d, confirm count = 1$`, i+1),
			fmt.Sprintf(`(?m)^consumer 0: received message, timestamp = \d{13}, delivery tag = %d, properties = \{\}, body = \[producer = 0, sequence = %d, size = 20\]$`, i+1, i),
		} {
			if !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("no line %s in\n%s", want, text)
			}
		}
	}
	acknowledged := 0
	for _, m := range regexp.MustCompile(`(?m)^consumer 0: acknowledged message\(s\), timestamp = \d{13}, delivery tag = \d, message count = (\d)$`).FindAllStringSubmatch(text, -1) {
		acknowledged += int(number(t, m[1]))
	}
	if acknowledged != 5 {
		t.Errorf("%d acknowledged\n%s", acknowledged, text)
	}
}

// laterRecorder is a Recorder that is set when the plan is known.
type laterRecorder struct{ loadcore.Recorder }

func TestVerboseFrames(t *testing.T) {
	var out bytes.Buffer
	v := NewVerbose(&loadcore.Plan{}, loadcore.NoRecord{}, false, false, &out)
	v.Settlements(&event.Settlements{Producer: 2, At: 7, Runs: []event.SettledRun{
		{First: 0, N: 1, Kind: event.Ack, FrameMessages: 3}, {First: 5, N: 2, Kind: event.Ack, FrameMessages: 3},
		{First: 9, N: 1, Kind: event.Return}, {First: 9, N: 1, Kind: event.Nack, FrameMessages: 1},
	}})
	v.Settlements(&event.Settlements{Producer: 2, At: 8, Runs: []event.SettledRun{{First: 20, N: 2, Kind: event.InDoubt, FrameMessages: 2}}})
	want := `publisher 2: message confirmed, type = ack, timestamp = 7, publishing ID = 1
publisher 2: message confirmed, type = ack, timestamp = 7, publishing ID = 6
publisher 2: message confirmed, type = ack, timestamp = 7, publishing ID = 7
publisher 2: publish confirm, type = ack, publishing ID = 7, confirm count = 3
publisher 2: message returned, timestamp = 7, publishing ID = 10
publisher 2: message confirmed, type = nack, timestamp = 7, publishing ID = 10
publisher 2: publish confirm, type = nack, publishing ID = 10, confirm count = 1
publisher 2: message in doubt, timestamp = 8, publishing ID = 21
publisher 2: message in doubt, timestamp = 8, publishing ID = 22
`
	if out.String() != want {
		t.Errorf("got\n%s", &out)
	}
}

func TestLatencyThatIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		q        loadcore.LiveLatency
		messages int64
		want     string
	}{
		{loadcore.LiveLatency{}, 0, "0/0/0/0/0/0 us"},
		{loadcore.LiveLatency{}, 5, "n/a (no timestamp)"},
		{loadcore.LiveLatency{Count: 5, Missed: 1, P50NS: 1000}, 6, "n/a (backlog)"},
		{loadcore.LiveLatency{Count: 5, Skewed: 1}, 6, "n/a (clock skew)"},
		{loadcore.LiveLatency{Count: 1, MinNS: 1999, P50NS: 2000, P75NS: 3000, P95NS: 4000, P99NS: 5000, MaxNS: 6000}, 1, "1/2/3/4/5/6 us"},
	} {
		q := latencyFrom(&c.q, c.messages)
		if got := (perftest.Format{ASCII: true}).Latency(&q); got != c.want {
			t.Errorf("%+v of %d: %s, want %s", c.q, c.messages, got, c.want)
		}
	}
}

func TestLatencyOfTheAnalysis(t *testing.T) {
	at := func(us int64) *int64 { ns := us * 1000; return &ns }
	whole := result.Distribution{Count: 10, MinNS: at(1), P50NS: at(2), P75NS: at(3), P95NS: at(4), P99NS: at(5), MaxNS: at(6)}
	censored := whole
	censored.Censored, censored.P95NS, censored.P99NS, censored.AtLeastNS, censored.MaxAtLeastNS = 2, nil, nil, at(7), at(8)
	outlier := censored // what was answered took longer than is known of the others
	outlier.MaxNS = at(9)
	for _, c := range []struct {
		d        *result.Distribution
		messages int64
		want     string
	}{
		{&whole, 10, "1/2/3/4/5/6 us"},
		{&censored, 10, "1/2/3/>=7/>=7/>=8 us"},
		{&outlier, 10, "1/2/3/>=7/>=7/>=9 us"},
		{&result.Distribution{Censored: 3, AtLeastNS: at(7), MaxAtLeastNS: at(8)}, 0, "n/a (messages without an answer)"},
		{nil, 0, "0/0/0/0/0/0 us"},
		{nil, 3, "n/a (no timestamp)"},
	} {
		q := latencyOf(c.d, c.messages)
		if got := (perftest.Format{ASCII: true}).Latency(&q); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestStopReasonsInPerfTestsWords(t *testing.T) {
	lane := 0
	for _, c := range []struct {
		outcome manifest.Outcome
		want    string
	}{
		{manifest.Outcome{StopReason: loadcore.StopTime}, "test stopped (Reached time limit)"},
		{manifest.Outcome{StopReason: loadcore.StopRecording + ": recording into c: no space left on device"}, "test stopped (Recording failed)"},
		{manifest.Outcome{StopReason: loadcore.StopSent, Ends: map[string]int{manifest.EndProducerLimit: 3}}, "test stopped (Producer reached message limit [3])"},
		{manifest.Outcome{StopReason: loadcore.StopInterrupted, Interrupted: true}, "test stopped (Producer thread interrupted [2])"},
		{manifest.Outcome{Interrupted: true, Ends: map[string]int{manifest.EndProducerLimit: 2}}, "test stopped (Producer reached message limit [2])"},
		{manifest.Outcome{StopReason: loadcore.StopLimits, Ends: map[string]int{manifest.EndConsumerLimit: 1, manifest.EndConsumerIdle: 2, manifest.EndConsumerEmpty: 1}},
			"test stopped (Consumer reached message limit, Consumer is idle for more than 1 second [2], Consumer queue(s) empty)"},
		{manifest.Outcome{StopReason: "all producers have ended, not all of them as planned", Failures: []manifest.Failure{
			{Producer: &lane, Text: "10 messages were not confirmed within 2s"}, {Producer: &lane, Text: "10 messages were not confirmed within 2s"},
			{Consumer: &lane, Code: 404, Text: "gone"}, {Text: "connection\n reset"},
		}}, "test stopped (Waiting for publisher confirms for too long [2], Consumer shut down, Error in producer (connection reset))"},
		{manifest.Outcome{Failures: []manifest.Failure{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "a"}, {Text: "d"}, {Text: "e"}, {Text: "f"}}},
			"test stopped (Error in producer (a) [2], Error in producer (b), Error in producer (c), Error in producer (d), Error in producer (and 2 other failures))"},
	} {
		if got := perftest.StopLine(stopReasons(&c.outcome, 2)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestOutputFileThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no such folder", "lines.csv")
	if _, err := New(&options.Run{OutputFile: file}, nil, nil, true); err == nil || !strings.Contains(err.Error(), "--output-file="+file) {
		t.Errorf("%v", err)
	}
}

// Averages count from when the last producer began; what a consumer got before does not count either.
func TestAveragesCountFromTheLastStart(t *testing.T) {
	second := int64(time.Second)
	l := Lines{barrier: 10 * second, startedAt: 12 * second}
	for _, c := range []struct {
		messages float64
		before   int64
		until    int64
		want     float64
	}{
		{messages: 1100, before: 100, until: 22 * second, want: 100},
		{messages: 100, before: 100, until: 22 * second, want: 100.0 / 12}, // nothing came later: all that there was
		{messages: 30, before: 10, until: 11 * second, want: 30},           // stopped before the last one began
	} {
		if got := l.average(c.messages, c.before, c.until); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	l.startedAt = 0
	if got := l.average(500, 0, 15*second); got != 100 {
		t.Errorf("%v", got)
	}
}
