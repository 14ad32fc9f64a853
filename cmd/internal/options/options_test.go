package options

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"leveret/capture/manifest"
)

func parseRun(t *testing.T, args ...string) (*Set, *Run, error) {
	t.Helper()
	set, run := NewRun(func(string) string { return "redacted" })
	_, err := set.Parse(args)
	return set, run, err
}

func TestRunReadsEveryOption(t *testing.T) {
	_, run, err := parseRun(t, "--uri", "amqp://h", "--producers=3", "--consumers", "2", "--producer-channel-count", "4",
		"--consumer-channel-count", "5", "--queue", "a,b", "--exchange", "e", "--type", "topic", "--routing-key", "k",
		"--size", "64", "--rate", "0.25", "--confirm", "1000", "--time", "90", "--pmessages", "7", "--cmessages", "8",
		"--autoack", "--multi-ack-every", "10", "--qos", "20", "--flag", "persistent,mandatory", "--id", "x",
		"--auto-delete", "false", "--queue-args", "x-max-length=10,x-overflow=reject-publish,lazy=true,empty",
		"--capture", "d", "--drain-timeout", "1.5", "--batch", "9", "--no-analyze", "--shutdown-timeout", "250ms")
	if err != nil {
		t.Fatal(err)
	}
	if run.Producers != 3 || run.Consumers != 2 || run.ProducerChannelCount != 4 || run.ConsumerChannelCount != 5 {
		t.Errorf("counts: %+v", run)
	}
	if strings.Join(run.Queues, "|") != "a|b" || run.Exchange != "e" || run.Type != "topic" || run.RoutingKey != "k" || run.AutoDelete {
		t.Errorf("topology: %+v", run)
	}
	if run.Rate != (manifest.Rate{Messages: 25, PerNS: 100e9}) { // 0.25 msg/s = 25 in 100 s
		t.Errorf("rate %+v", run.Rate)
	}
	if run.Time != 90*time.Second || run.DrainTimeout != 1500*time.Millisecond || run.ShutdownTimeout != 250*time.Millisecond {
		t.Errorf("times: %v %v %v", run.Time, run.DrainTimeout, run.ShutdownTimeout)
	}
	want := []manifest.Arg{{Key: "x-max-length", Value: int64(10)}, {Key: "x-overflow", Value: "reject-publish"},
		{Key: "lazy", Value: true}, {Key: "empty", Value: ""}}
	if len(run.QueueArgs) != len(want) {
		t.Fatalf("queue args %v", run.QueueArgs)
	}
	for i := range want {
		if run.QueueArgs[i] != want[i] {
			t.Errorf("queue arg %d: %v, want %v", i, run.QueueArgs[i], want[i])
		}
	}
	if !run.NoAnalyze || !run.AutoAck || run.QoS != 20 || run.MultiAckEvery != 10 || run.Batch != 9 || run.PMessages != 7 || run.CMessages != 8 {
		t.Errorf("%+v", run)
	}
}

func TestMistakesNameOptionValueAndRemedy(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--producer 2", "did you mean --producers?"},
		{"--nonsense-option", "leveret run --help lists them"},
		{"-x 2", "this one is --producers"},
		{"-x2", "this one is --producers"},
		{"-o report.html", "unknown option -o: for the report --output FILE; -o of PerfTest, the CSV file of its lines, is --output-file here"},
		{"--producers", "--producers needs a value: --producers N"},
		{"--producers two", "--producers=two: must be a whole number"},
		{"--producers -1", "--producers=-1: must be from 0 to 65536"},
		{"--size -1", "--size=-1: must be from 0"},
		{"--consumer-rate fast", "must be messages per second"},
		{"--variable-size 0:5", "at least 1"},
		{"--variable-size 100", "--variable-size=100: must be bytes and seconds"},
		{"--variable-latency 100:0", "seconds must be more than 0"},
		{"--predeclared=some", "must be strict"},
		{"--message-properties priority=300", "priority: must be a whole number from 0 to 255"},
		{"--stream-consumer-offset sometime", "must be first, last, next"},
		{"--max-age 5weeks", "must be a duration such as PT10M30S"},
		{"--server-name-indication a,b", "must be one name, 2 are given"},
		{"--exit-when bored", "must be one of idle, empty"},
		{"--producers 99999999999999999999", "--producers=99999999999999999999: is too large: must be from 0 to 65536"},
		{"--producers -99999999999999999999", "is too small: must be from 0 to 65536"},
		{"--seed 18446744073709551616", "is too large: must be from 0 to 18446744073709551615"},
		{"--record-memory 99999999999999999999", "is too large: must be at most 1 TiB"},
		{"--record-memory 9999999999gb", "is too large: must be at most 1 TiB"},
		{"--rate 99999999999999999999", "is too large: must be at most 1000000000"},
		{"--rate -5", "--rate=-5: must not be negative; only -1 means no limit"},
		{"--consumer-rate -5", "only -1 means no limit"},
		{"--confirm-timeout 0", "--confirm-timeout=0: must be at least 0.001 s"},
		{"--variable-rate -1.0:5", "every stage has a rate"},
		{"--rate fast", "--rate=fast: must be messages per second"},
		{"--rate 1.1234567", "more than 6 decimals"},
		{"--publishing-interval 0", "--publishing-interval=0: must be at least 0.1 s"},
		{"--publishing-interval 0.05", "must be at least 0.1 s"},
		{"--variable-rate 100", "--variable-rate=100: must be messages per second and seconds"},
		{"--variable-rate 100:0", "seconds must be more than 0"},
		{"--variable-rate -1:5", "every stage has a rate"},
		{"--ramp 0:100", "--ramp=0:100: must be two rates"},
		{"--ramp 0:fast:3", "must be messages per second"},
		{"--arrivals often", "must be one of even, poisson"},
		{"--catch-up some", "--catch-up=some: must be all, none, or the most late messages"},
		{"--catch-up -1", "must be all, none"},
		{"--seed x", "must be a whole number"},
		{"--producer-random-start-delay 0", "must be at least 0.001 s"},
		{"--coalesce 200", "--coalesce=200: must be a duration such as 200us"},
		{"--coalesce 1s", "at most 100ms"},
		{"--time -3", "--time=-3: must be a number of seconds"},
		{"--time 1e-12", "--time=1e-12: is less than a nanosecond"}, // not 0, which is without end
		{"--flag persistant", `"persistant" is none of persistent, mandatory`},
		{"--auto-delete maybe", "must be true or false"},
		{"--queue-args =3", `"=3" has no key`},
		{"--queue a,b,a", `"a" stands there twice`},
		{"-rate 10", "long names take two dashes, --rate"},
		{"--heartbeat 0.5", "must be whole seconds"},
		{"--id ../x", "must be a name without slashes"},
		{"--record-memory 1x", "must be a number of bytes"},
	} {
		_, _, err := parseRun(t, strings.Fields(c.args)...)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a usage error with %q", c.args, err, c.want)
		}
	}
}

// The metric names of Prometheus: [a-zA-Z_:][a-zA-Z0-9_:]* (its data model).
func TestMetricsPrefix(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, prefix := range []string{"rabbit_", "_x9", "app.perf-", ""} {
		if run, _, err := parsePerfTest(t, none, "-mpx="+prefix); err != nil || run.Prometheus.Prefix != prefix {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	for _, prefix := range []string{"1 bad", "9x", "a b", "m\u00fc_", "a{", "a\n"} {
		if _, _, err := parsePerfTest(t, none, "-mpx", prefix); err == nil || !strings.Contains(err.Error(), "letters a to z and A to Z, digits and _, no digit in front") {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

// The name of a run stands in lines, and in names of at most 255 bytes.
func TestNameOfARun(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{strings.Repeat("x", 200), ""},
		{strings.Repeat("\u00fc", 100), ""},
		{strings.Repeat("x", 300), strings.Repeat("x", 80) + "...: has 300 bytes, and at most 200 are possible"},
		{"a\nb", `"a\nb": must be without line breaks and control characters`},
		{"a\u2028b", "must be without line breaks"},
		{"a\x1b[2Jb", `"a\x1b[2Jb": must be without line breaks and control characters`},
	} {
		_, run, err := parseRun(t, "--id", c.id)
		perf, _, perfErr := parsePerfTest(t, func(string) (string, bool) { return "", false }, "-d", c.id)
		for _, err := range []error{err, perfErr} {
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x1b\u2028")) {
				t.Errorf("%.20q: %v, want %q", c.id, err, c.want)
			}
		}
		if c.want == "" && (run.ID != c.id || perf.ID != c.id) {
			t.Errorf("%q %q", run.ID, perf.ID)
		}
	}
}

func TestHelpIsAskedForByFlag(t *testing.T) {
	for _, arg := range []string{"-h", "--help"} {
		if _, _, err := parseRun(t, arg); err != pflag.ErrHelp {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestResolvedOptionsHoldNoSecret(t *testing.T) {
	secret := "pa" + "55"
	set, _, err := parseRun(t, "--uri", "amqp://u:"+secret+"@h")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range set.Values() {
		if strings.Contains(v, secret) {
			t.Errorf("%s holds the password", name)
		}
	}
}

func TestHelpShowsEveryOptionWithinItsWidth(t *testing.T) {
	run, _ := NewRun(nil)
	analyze, _ := NewAnalyze()
	broker, _ := NewBroker()
	calibrate, _ := NewCalibrate()
	perfTest, _ := NewPerfTest(nil)
	export, _ := NewExport()
	suite, _ := NewSuite(nil)
	for _, set := range []*Set{run, analyze, broker, calibrate, perfTest.Set, export, suite} {
		var b bytes.Buffer
		set.Help(&b)
		for _, o := range set.options {
			if !strings.Contains(b.String(), " --"+o.Name) {
				t.Errorf("%s --help lacks --%s", set.command, o.Name)
			}
		}
		for line := range strings.Lines(b.String()) {
			if len(line) > helpWidth+1 {
				t.Errorf("%s --help: line of %d characters: %s", set.command, len(line), line)
			}
		}
	}
}

// What a value means that stands for none, or for the option without one, is said.
func TestHelpSaysWhatValuesMean(t *testing.T) {
	run, _ := NewRun(nil)
	suite, _ := NewSuite(nil)
	for set, want := range map[*Set]string{run: "--predeclared[=VALUE] missing, as without a value: declare only what is not there yet", suite: "0: as long as the suite says --"} {
		var b bytes.Buffer
		set.Help(&b)
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("%s --help does not say %q", set.command, want)
		}
	}
}

func TestRatesAreExact(t *testing.T) {
	for _, c := range []struct {
		text          string
		messages, per int64
	}{{"1000", 1000, 1e9}, {"0.5", 5, 10e9}, {"33.333333", 33333333, 1e15}, {"-1", 0, 0}} {
		r, err := parseRate(c.text)
		if err != nil || r.Messages != c.messages || r.PerNS != c.per {
			t.Errorf("%s: %+v, %v", c.text, r, err)
		}
	}
}

// An address may name its target, and hold an equals sign of its own; its password never shows.
func TestSuiteAddresses(t *testing.T) {
	hide := func(string) string { return "(uri)" }
	set, s := NewSuite(hide)
	args := []string{"--uri=amqps://u:geheim@h?verify=verify_none", "--uri", "ssl=amqps://u:geheim@s?verify=verify_none", "x"}
	rest, err := set.Parse(args)
	if err != nil || len(rest) != 1 || s.URIs[""] != "amqps://u:geheim@h?verify=verify_none" || s.URIs["ssl"] != "amqps://u:geheim@s?verify=verify_none" {
		t.Errorf("%v %q %q", err, rest, s.URIs)
	}
	if text := strings.Join(set.Redacted(args), " "); strings.Contains(text, "geheim") || !strings.Contains(text, "ssl=(uri)") {
		t.Error(text)
	}
	if _, err := set.Parse([]string{"--uri", "ssl=amqp://other:geheim@h"}); err == nil || strings.Contains(err.Error(), "geheim") || !strings.Contains(err.Error(), "a second address for target ssl") {
		t.Errorf("%v", err)
	}
}
