package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/analyze"
	"leveret/cmd/internal/perftest"
	"leveret/loadcore/rabbitmqtest"
)

// perfTestLine are all lines that PerfTest's standard output may have, of a run with producers, confirms and consumers.
var perfTestLine = regexp.MustCompile(`^(id: t1, starting (consumer|producer) #0(, channel #[01])?` +
	`|id: t1, time [0-9]+\.[0-9]{3} s, sent: [0-9.]+ msg/s, confirmed: [0-9.]+ msg/s, nacked: 0 msg/s, received: [0-9.]+ msg/s, min/median/75th/95th/99th/max consumer latency: [0-9]+(/[0-9]+){5} (us|µs), confirm latency: [0-9]+(/[0-9]+){5} (us|µs)` +
	`|test stopped \([^)]+\)` +
	`|id: t1, (sending|receiving) rate avg: [0-9.]+ msg/s` +
	`|id: t1, (consumer|confirm) latency min/median/75th/95th/99th/max [0-9]+(/[0-9]+){5} (us|µs))$`)

// C087, C088: standard output is PerfTest's and nothing else, with as many values as headings; in the locale's character set. The
// report is on standard error.
func TestPerfTestOutputOverRabbitMQ(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	for _, locale := range []struct{ name, unit string }{{"C", " us"}, {"en_US.UTF-8", " µs"}} {
		t.Setenv("LC_ALL", locale.name)
		code, stdout, stderr := invoke(t, "perf-test", "-h", uri, "-d", "t1", "-x", "1", "-X", "2", "-y", "1", "-u", "q", "-c", "50", "-r", "500", "-C", "600",
			"--capture", filepath.Join(t.TempDir(), "capture"))
		lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
		for _, line := range lines {
			if !perfTestLine.MatchString(line) {
				t.Errorf("%q", line)
			}
			if strings.Contains(line, " latency") && strings.Count(line, locale.unit) == 0 {
				t.Errorf("no unit%s: %s", locale.unit, line)
			}
		}
		end := slices.Index(lines, "test stopped (Producer reached message limit [2])")
		if code != exitOK || end < 6 || len(lines) != end+5 || !strings.Contains(stderr, "verdict PASS: 1,200 sent, 1,200 confirmed, 1,200 received") {
			t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
		}
	}
}

// C013: what was published by nobody knows whom, without a time in it, has no latency; and none is shown as 0.
func TestPerfTestOfConsumersAlone(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	uri := rabbitmqtest.Shared(t).URI(t)
	common := []string{"perf-test", "-h", uri, "-d", "t1", "-u", "q", "-ad", "false"}
	code, stdout, stderr := invoke(t, append(common, "-x", "1", "-y", "0", "-C", "100", "-k", "key", "--capture", filepath.Join(t.TempDir(), "sent"))...)
	if code != exitOK || strings.Contains(stdout, "latency") || !strings.Contains(stdout, "\nid: t1, receiving rate avg: 0 msg/s\n") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	received := filepath.Join(t.TempDir(), "received")
	code, stdout, stderr = invoke(t, append(common, "-x", "0", "-y", "1", "-p", "-D", "100", "-z", "60", "--capture", received)...)
	want := "test stopped (Consumer reached message limit)\n"
	summary := "id: t1, consumer latency min/median/75th/95th/99th/max n/a (no timestamp)\n"
	if code != exitOK || !strings.Contains(stdout, want) || !strings.HasSuffix(stdout, summary) || strings.Contains(stdout, "confirm") ||
		!strings.Contains(stderr, "consumer latency counts from the time in the messages") {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	r, err := analyze.Run(context.Background(), []string{received}, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The report says the same, and not over the seconds in which the drain made sure that no more comes.
	if line := "\nid: t1, receiving rate avg: " + perftest.Rate(*r.Rates.Received) + " msg/s\n"; !strings.Contains(stdout, line) || r.Window.EndNS-r.Window.StartNS > 2e9 {
		t.Errorf("%q is missing, or the window is long: %+v\n%s", line, r.Window, stdout)
	}
}

// With a rate, and 24 bytes or more, messages carry the time at which they were due: a process of consumers alone has latencies
// from there. These waited in the queue until that process began.
func TestPerfTestOfConsumersAloneWithTimesInTheMessages(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	uri := rabbitmqtest.Shared(t).URI(t)
	common := []string{"perf-test", "-h", uri, "-d", "t1", "-u", "q", "-ad", "false", "-s", "24"}
	begun := time.Now()
	if code, _, stderr := invoke(t, append(common, "-x", "1", "-y", "0", "-r", "1000", "-prsd", "0", "-C", "50", "--capture", filepath.Join(t.TempDir(), "sent"))...); code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	code, stdout, stderr := invoke(t, append(common, "-x", "0", "-y", "1", "-p", "-z", "2", "--capture", filepath.Join(t.TempDir(), "received"))...)
	m := regexp.MustCompile(`(?m)^id: t1, consumer latency min/median/75th/95th/99th/max ([0-9]+)(?:/[0-9]+){4}/([0-9]+) us$`).FindStringSubmatch(stdout)
	line := regexp.MustCompile(`(?m)^id: t1, time [0-9.]+ s, received: [0-9.]+ msg/s, min/median/75th/95th/99th/max consumer latency: [0-9]{5,}(/[0-9]{5,}){5} us$`)
	if code != exitOK || m == nil || !line.MatchString(stdout) {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	if us, err := strconv.Atoi(m[2]); err != nil {
		t.Error(err)
	} else if longest := time.Duration(us) * time.Microsecond; longest > time.Since(begun) || longest <= 0 {
		t.Errorf("the longest is %v", longest)
	}
}

// C090: after Ctrl-C, too, what was begun is said to its end.
func TestPerfTestOutputOfARunThatIsInterrupted(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stdout, stderr said
	ended := make(chan int)
	uri := rabbitmqtest.Shared(t).URI(t)
	go func() {
		ended <- run(ctx, []string{"perf-test", "-h", uri, "-d", "t1", "-u", "q", "-c", "10", "-r", "100", "-prsd", "0", "-o", filepath.Join(t.TempDir(), "lines.csv"),
			"--capture", filepath.Join(t.TempDir(), "a")}, strings.NewReader(""), &stdout, &stderr)
	}()
	for ctx.Err() == nil && !strings.Contains(stdout.String(), "\nid: t1, time ") {
		time.Sleep(20 * time.Millisecond)
	}
	cancel()
	code := <-ended
	lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
	for _, line := range lines {
		if !perfTestLine.MatchString(line) {
			t.Errorf("%q", line)
		}
	}
	if code != exitInterrupted || len(lines) < 5 || lines[len(lines)-5] != "test stopped (Producer thread interrupted)" || !strings.Contains(stderr.String(), "verdict PASS") {
		t.Errorf("exit %d\n%s\n%s", code, &stdout, &stderr)
	}
}

// Lines that cannot be written do not end the run, and are told of once at its end; a reader that went away is no fault.
func TestPerfTestLinesThatCannotBeWritten(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	for _, c := range []struct {
		out  io.Writer
		code int
		says int
	}{{fullDisk{}, exitFailed, 1}, {&closedPipe{taken: 100_000}, exitOK, 0}} {
		for _, more := range []string{"--quiet=false", "--verbose"} {
			var stderr bytes.Buffer
			code := run(t.Context(), []string{"perf-test", "-h", uri, "-u", "q", "-c", "10", "-C", "20", more, "--capture", filepath.Join(t.TempDir(), "a")},
				strings.NewReader(""), c.out, &stderr)
			text := stderr.String()
			if code != c.code || strings.Count(text, "lines of standard output could not be written: no space left on device") != c.says ||
				!strings.Contains(text, "verdict PASS: 20 sent, 20 confirmed, 20 received") || strings.Contains(text, "broken pipe") {
				t.Errorf("%T %s: exit %d\n%s", c.out, more, code, text)
			}
		}
	}
}

// leveret run has the CSV too, and PerfTest's lines where their format is asked for; standard output stays the report's.
func TestRunWritesPerfTestsCSV(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "lines.csv")
	code, stdout, stderr := invoke(t, "run", "--no-analyze", "--capture", filepath.Join(dir, "a"), "--rate", "100", "--time", "1.5", "--interval", "0.5",
		"--output-file", file, "--metrics-format", "compact")
	text, err := os.ReadFile(file)
	if err != nil || code != exitOK || stdout != "" {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 || rows[1][2] == "" || rows[1][4] != "" {
		t.Errorf("%v %q", err, rows)
	}
	if !regexp.MustCompile(`(?m)^time +sent +received +consumer latency$`).MatchString(stderr) || !strings.Contains(stderr, "test stopped (Reached time limit)") {
		t.Errorf("%s", stderr)
	}
	// Quiet: the file alone.
	code, _, stderr = invoke(t, "run", "--quiet", "--no-analyze", "--capture", filepath.Join(dir, "b"), "--pmessages", "10", "--output-file", file)
	if text, err = os.ReadFile(file); err != nil || code != exitOK || !bytes.HasPrefix(text, []byte("id,time (s),")) || bytes.Count(text, []byte("\n")) > 2 || strings.Contains(stderr, "test stopped") {
		t.Errorf("exit %d, %v\n%s%s", code, err, text, stderr)
	}
}

// said is a standard error that can be read while the command runs.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

var metricsURL = regexp.MustCompile(`(?m)^metrics at (http://\S+)$`)

func TestMetricsOfARunThatGoesOn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stderr said
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"run", "--quiet", "--no-analyze", "--capture", filepath.Join(t.TempDir(), "a"), "--rate", "200", "--confirm", "10", "--metrics-prometheus",
			"--metrics-prometheus-port", "0", "--metrics-tags", "env=lab", "--metrics-command-line-arguments", "--exposed-metrics", "expected_consumed=7"}, strings.NewReader(""), io.Discard, &stderr)
	}()
	text := ""
	want := regexp.MustCompile(`(?m)^leveret_received_messages_total\{env="lab"\} [1-9]`)
	for ctx.Err() == nil && !want.MatchString(text) {
		time.Sleep(20 * time.Millisecond)
		if m := metricsURL.FindStringSubmatch(stderr.String()); m != nil {
			text = fetched(t, m[1])
		}
	}
	cancel()
	if code := <-ended; code != exitInterrupted {
		t.Errorf("exit %d\n%s", code, &stderr)
	}
	for _, line := range []string{`perftest_expected_published{env="lab"} 200`, `perftest_expected_consumed{env="lab"} 7`, `leveret_connections{env="lab",state="open"} 2`} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	if !regexp.MustCompile(`perftest_args\{command_line="--capture \S+ --confirm 10 --no-analyze true --quiet true --rate 200",env="lab"\} 1`).MatchString(text) {
		t.Errorf("%s", text)
	}
}

func fetched(t *testing.T, url string) string {
	t.Helper()
	answer, err := (&http.Client{Timeout: 10 * time.Second}).Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// A port that is taken ends the run before anything is connected or recorded.
func TestMetricsPortThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	dir := filepath.Join(t.TempDir(), "a")
	code, _, stderr := invoke(t, "perf-test", "-h", "amqp://127.0.0.1:1", "-mpr", "-mpp", port, "--capture", dir)
	if _, err := os.Stat(dir); code != exitFailed || !strings.Contains(stderr, "--metrics-prometheus-port="+port) || !os.IsNotExist(err) {
		t.Errorf("exit %d, %v\n%s", code, err, stderr)
	}
}

func TestTheCommandLineAsALabel(t *testing.T) {
	values := map[string]string{"uri": "amqp://h", "uris": "amqp://h", "rate": "5", "oauth2-client-secret": "(secret)", "metrics-tags": "a=b",
		"exposed-metrics": "x=1", "queue": "a,b", "size": "12"}
	given := func(name string) bool { return name != "size" }
	if got, want := commandLabel(values, given), "--queue a,b --rate 5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
