package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// perfTest runs a PerfTest command line and returns what leveret analyze says of its capture, and the manifest.
func perfTest(t *testing.T, args ...string) (r *result.Result, m *manifest.Manifest, code int, stdout, stderr string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	return recordedBy(t, dir, append([]string{"perf-test", "--capture", dir}, args...))
}

// recordedBy runs a command line that records into dir.
func recordedBy(t *testing.T, dir string, args []string) (r *result.Result, m *manifest.Manifest, code int, stdout, stderr string) {
	t.Helper()
	code, stdout, stderr = invoke(t, args...)
	_, report, _ := invoke(t, "analyze", dir, "--format", "json")
	r, m = new(result.Result), new(manifest.Manifest)
	if err := json.Unmarshal([]byte(report), r); err != nil {
		t.Fatalf("%q: exit %d, no result (%v)\n%s", args, code, err, stderr)
	}
	b, err := os.ReadFile(filepath.Join(dir, manifest.FinalName))
	if err == nil {
		err = json.Unmarshal(b, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, m, code, stdout, stderr
}

func TestPerfTestRuns(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	for _, c := range []struct {
		line           string
		sent, received int64
		verdict        result.Verdict
	}{
		{"-x 1 -y 1 -u q1 -C 1000 -c 100", 1000, 1000, result.Pass},
		// C069: a limit is of each producer channel, 2 connections of 3 channels here
		{"-x 2 -X 3 -C 5 -y 0 -u q2 -ad false", 30, 0, result.Inconclusive},
		// C003
		{"-u q3 -ad false -x 3 -C 10", 30, 30, result.Pass},
		// C023
		{"-x 1 -y 4 -C 100", 100, 400, result.Pass},
		{"-x1 -y1 -f persistent -s40 -C 50 -c 0", 50, 50, result.Pass},
		// C105: 0.5 s between messages; -r 0 only connects
		{"-x 1 -y 1 -P 0.5 -C 3 -prsd 0", 3, 3, result.Pass},
		{"-x 2 -y 1 -r 0 -z 1", 0, 0, result.Inconclusive},
	} {
		t.Run(c.line, func(t *testing.T) {
			r, m, code, _, stderr := perfTest(t, append([]string{"-h", uri}, strings.Fields(c.line)...)...)
			if code != exitOK || r.Counts.Sent != c.sent || r.Counts.Received != c.received || r.Verdict != c.verdict || r.Counts.Duplicates != 0 {
				t.Errorf("exit %d, %s, %+v\n%s", code, r.Verdict, r.Counts, stderr)
			}
			if !strings.Contains(stderr, "verdict "+string(c.verdict)) {
				t.Errorf("the verdict is not on stderr:\n%s", stderr)
			}
			if m.Options["tcp-send-buffer-size"] != "65536" {
				t.Errorf("options %v", m.Options)
			}
		})
	}
}

// C105: without a random delay the first message is due at once; the others half a second after each other.
func TestC105IntervalBelowASecond(t *testing.T) {
	t.Parallel()
	_, m, code, _, stderr := perfTest(t, "-h", rabbitmqtest.Shared(t).URI(t), "-P", "0.5", "-z", "2", "-prsd", "0", "-y", "1")
	if code != exitOK || m.Outcome.Sent != 4 || !strings.Contains(stderr, "2 messages per second in all") {
		t.Errorf("exit %d, %+v\n%s", code, m.Outcome, stderr)
	}
}

// C098: what a rate multiplies to is said before anything is sent: 3 producers of 2000 a second for 1 second.
func TestC098PlannedTotalIsSaid(t *testing.T) {
	_, _, _, _, stderr := perfTest(t, "-h", rabbitmqtest.Shared(t).URI(t), "-x", "3", "-r", "2000", "-z", "1", "-prsd", "0")
	if !strings.Contains(stderr, "3 producers, 1 consumer, 1 queue, 6,000 messages per second in all, 6,000 messages planned") {
		t.Error(stderr)
	}
	_, help, _ := invoke(t, "perf-test", "-?")
	if text := strings.Join(strings.Fields(help), " "); !strings.Contains(text, "messages per second of each producer channel") || !strings.Contains(text, "messages of each producer channel; 0: no limit") {
		t.Error("the help does not say what a rate and a limit are of")
	}
}

// C067: the body on the wire is as long as asked for, from the least on, which the help states.
func TestC067BodyIsAsLongAsAskedFor(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	for size, want := range map[string]int{"0": 12, "4": 12, "12": 12, "13": 13, "40": 40} {
		_, m, code, out, stderr := perfTest(t, "-h", uri, "-s", size, "-C", "2", "--verbose-full")
		if code != exitOK || m.Producers[0].Size != want || strings.Count(out, "consumer 0: received message") != 2 || strings.Count(out, "size = "+strconv.Itoa(want)+"]") != 4 {
			t.Errorf("-s %s: exit %d, size %d, want %d\n%s%s", size, code, m.Producers[0].Size, want, out, stderr)
		}
	}
}

// C067, C105: what is least, and what 0 means, is documented.
func TestHelpStatesLimits(t *testing.T) {
	_, help, _ := invoke(t, "perf-test", "-?")
	text := strings.Join(strings.Fields(help), " ")
	for _, want := range []string{"body size; 12 is the least", "0: none, the producers only connect", "at least 0.1; the first one within the"} {
		if !strings.Contains(text, want) {
			t.Errorf("the help does not say %q", want)
		}
	}
}

func TestPerfTestMistakesEndWithTwo(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"-q 10 -A 20 -y 1", "--multi-ack-every=20 with --qos=10"}, // C081
		{"-x 1 60", `unexpected word "60"`},
		{"-nonsense", "unknown option -nonsense"},
		{"-P 0", "-P 0: must be at least 0.1 s"},
		{"-mda", "--metrics-prometheus"},
		{"-ei 2 -x 1", "--expected-instances=2: the instances know one another by --id"},
		// C043
		{"-h amqp://guest:guest#123@localhost:5672/", "percent-encode the password"},
		{"-h amqp://u:pa%ss@h/", "percent-encode"},
		{"-h amqp://::1:5672/", "bracket"},                       // C079
		{"-h amqps://h?cacertfile=/no/such.pem", "/no/such.pem"}, // C106: honoured
		{"-h amqp://h?flavour=mint", "flavour"},                  // C106: or refused by name
	} {
		code, stdout, stderr := invoke(t, append([]string{"perf-test"}, strings.Fields(c.line)...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: exit %d, want %d with %q\n%s%s", c.line, code, exitUsage, c.want, stdout, stderr)
		}
		if strings.Contains(stderr, "#123") || strings.Contains(stderr, "pa%ss") {
			t.Errorf("%s: a piece of the password is shown: %s", c.line, stderr)
		}
	}
}

func TestPerfTestAnswers(t *testing.T) {
	for line, want := range map[string]string{
		"-?": "-x, --producers N", "--help": "-st, --shutdown-timeout", "-v": "in place of RabbitMQ PerfTest",
		"-env": "PRODUCER_RANDOM_START_DELAY", "-mh": "-mpp, --metrics-prometheus-port", "-mh -env": "METRICS_PROMETHEUS_PORT",
	} {
		code, stdout, stderr := invoke(t, append([]string{"perf-test"}, strings.Fields(line)...)...)
		if code != exitOK || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: exit %d, want %q\n%s%s", line, code, want, stdout, stderr)
		}
		for l := range strings.Lines(stdout) {
			if len(l) > 81 {
				t.Errorf("%s: wider than 80 columns: %s", line, l)
			}
		}
	}
}

// The command line as PerfTest's launcher takes it.
func TestRunJava(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	code, _, stderr := invoke(t, "runjava", perfTestClass, "-h", uri, "-C", "10", "--capture", filepath.Join(t.TempDir(), "c"))
	if code != exitOK || !strings.Contains(stderr, "10 sent") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	for _, args := range [][]string{{"runjava"}, {"runjava", "com.rabbitmq.perf.PerfTestMulti", "a.js", "b.js"}} {
		if code, _, stderr := invoke(t, args...); code != exitUsage || !strings.Contains(stderr, perfTestClass) {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
	for called, want := range map[string]string{"/usr/bin/perf-test": "perf-test", `runjava.exe`: "runjava", "bin/leveret": "-x"} {
		if got := commandLine(called, []string{"-x", "1"}); got[0] != want {
			t.Errorf("called %s: %q", called, got)
		}
	}
}

// The binary called perf-test, with the environment that a container gives it.
func TestCalledPerfTestWithAnEnvironment(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "perf-test")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, link)
	}
	if err != nil {
		t.Fatal(err)
	}
	node := rabbitmqtest.Shared(t)
	cmd := exec.Command(link, "-x", "2", "-hst", "4")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asMain+"=1", "RABBITMQ_PERF_TEST_ENV_PREFIX=PT", "PT_URI="+node.URI(t), "PT_PMESSAGES=7", "PT_PRODUCERS=9", "ID=../stray")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for _, want := range []string{"from the environment: PT_PMESSAGES=7 (--pmessages)", "without effect, as there is no Java virtual machine here: -hst", "14 sent"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, stderr.String())
		}
	}
	captures, err := filepath.Glob(filepath.Join(dir, "captures", "test-*", manifest.FinalName))
	if err != nil || len(captures) != 1 {
		t.Fatalf("captures %v, %v", captures, err)
	}
	b, err := os.ReadFile(captures[0])
	var m manifest.Manifest
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil || strings.Join(m.Environment, " ") != "PT_URI PT_PMESSAGES" || len(m.Notes) == 0 || strings.Contains(string(b)+stderr.String(), node.Password()) {
		t.Errorf("%v: environment %v, notes %q", err, m.Environment, m.Notes)
	}
	if !regexp.MustCompile(`^test-\d{6}-\d{3}$`).MatchString(m.ID) {
		t.Errorf("id %s", m.ID)
	}
}

// PerfTest trusts every certificate: it works, is said, and is recorded. Asked to verify, it does.
func TestPerfTestTrustsAndSaysSo(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	uri := node.TLSURI(t)
	_, m, code, _, stderr := perfTest(t, "-h", uri, "-C", "10")
	if code != exitOK || strings.Count(stderr, "warning: the broker's certificate is not verified (as in PerfTest") != 1 || !strings.Contains(strings.Join(m.Notes, "\n"), "was not verified") || m.Broker.TLSVerified == nil || *m.Broker.TLSVerified {
		t.Errorf("exit %d, notes %q\n%s", code, m.Notes, stderr)
	}
	_, m, code, _, stderr = perfTest(t, "-h", uri, "-C", "10", "--cacert", node.Certificates(t).CACert)
	if code != exitOK || strings.Contains(stderr, "not verified") || m.Broker.TLSVerified == nil || !*m.Broker.TLSVerified {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	code, _, stderr = invoke(t, "perf-test", "-h", uri, "-C", "10", "-udsc", "--capture", filepath.Join(t.TempDir(), "c"))
	if code != exitFailed || !strings.Contains(stderr, "--cacert") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// Two processes of one test begin together: the consumers find no backlog.
func TestInstancesBeginTogether(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	var both sync.WaitGroup
	outputs := make([]string, 2)
	for i, line := range []string{"-x 1 -y 0 -C 10", "-x 0 -y 1 -D 10"} {
		dir := filepath.Join(t.TempDir(), "c")
		both.Go(func() {
			args := append([]string{"perf-test", "-h", uri, "-d", "two", "-ei", "2", "-ist", "30", "-u", "q", "-k", "k", "-z", "10", "--capture", dir}, strings.Fields(line)...)
			code, stdout, stderr := invoke(t, args...)
			if code != exitOK || !strings.Contains(stdout, "All expected instances are ready, starting.") {
				t.Errorf("exit %d\n%s%s", code, stdout, stderr)
			}
			outputs[i] = stderr
		})
	}
	both.Wait()
	if !strings.Contains(outputs[0], "10 sent") || !strings.Contains(outputs[1], "10 received") {
		t.Errorf("%q", outputs)
	}
}

// C044: no path and a bare slash are the vhost "/", %2F is "/" and %2F%2F is "//"; the refusal of one that is not there shows the
// broker's text.
func TestC044VHostsOfURIs(t *testing.T) {
	uri := rabbitmqtest.Shared(t).URI(t)
	base := uri[:strings.LastIndex(uri, "/")]
	for path, c := range map[string]struct {
		code int
		want string
	}{
		"": {exitOK, "/%2F\n"}, "/": {exitOK, "/%2F\n"}, "/%2F": {exitOK, "/%2F\n"}, "/%2F%2F": {exitFailed, "vhost // not found (530)"},
	} {
		code, _, stderr := invoke(t, "perf-test", "-h", base+path, "-C", "1", "--capture", filepath.Join(t.TempDir(), "c"))
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, want %d with %q\n%s", path, code, c.code, c.want, stderr)
		}
	}
}
