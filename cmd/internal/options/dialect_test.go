package options

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
)

// C001, C003: what people write, and what it means.
func TestPerfTestCommandLines(t *testing.T) {
	for _, c := range []struct {
		line string
		ok   func(r *Run) bool
	}{
		{"-x 2 -y 2 -u q1 -qp q-%d -qpf 1 -qpt 4 -ad false -ct 5 -mp priority=5 -vr 10:5 -pmessages 100", func(r *Run) bool {
			return r.Producers == 2 && r.Consumers == 2 && reflect.DeepEqual(r.Queues, []string{"q1"}) && r.QueuePattern == "q-%d" &&
				r.QueuePatternFrom == 1 && r.QueuePatternTo == 4 && !r.AutoDelete && r.ConfirmTimeout == 5*time.Second &&
				*r.MessageProperties.Priority == 5 && len(r.Stages) == 1 && r.PMessages == 100 && !r.AutoAck && r.Predeclared == ""
		}},
		{"-u q1 -ad false -x 3 -C 10", func(r *Run) bool { return !r.AutoDelete && r.Producers == 3 && r.PMessages == 10 }},
		{"-re false -tnd false -ad true", func(r *Run) bool { return !r.Requeue && !r.TCPNoDelay && r.AutoDelete }},
		{"-x1 -y0 -z60 -c-1", func(r *Run) bool {
			return r.Producers == 1 && r.Consumers == 0 && r.Time == time.Minute && r.Confirm == -1
		}},
		{"-c -1 -r -1.0 -R -1.0 -sst -1 -sul -1 -st -1", func(r *Run) bool {
			return r.Confirm == -1 && r.Rate == manifest.Rate{} && !r.Idle && r.ConsumerRate == manifest.Rate{} &&
				r.ServersStartupTimeout == 0 && r.ServersUpLimit == 0 && r.DrainTimeout == 0 && r.ShutdownTimeout == 0
		}},
		{"-f persistent mandatory -x 2", func(r *Run) bool {
			return reflect.DeepEqual(r.Flags, []string{"persistent", "mandatory"}) && r.Producers == 2
		}},
		{"-f persistent -f mandatory -f persistent", func(r *Run) bool { return reflect.DeepEqual(r.Flags, []string{"persistent", "mandatory"}) }},
		{"-vr 100:10 0:5 -vr 20:1", func(r *Run) bool { return len(r.Stages) == 3 && r.Stages[1].From.Messages == 0 }},
		{"-vs 1000:30 20000:60 -vl 0:1 500:2", func(r *Run) bool {
			return reflect.DeepEqual(r.VariableSize, []manifest.SizeStage{{Bytes: 1000, ForNS: 30e9}, {Bytes: 20000, ForNS: 60e9}}) &&
				reflect.DeepEqual(r.VariableLatency, []manifest.WorkStage{{WorkNS: 0, ForNS: 1e9}, {WorkNS: 500e3, ForNS: 2e9}})
		}},
		{"-qa x-max-length=10,x-overflow=reject-publish x-single-active-consumer=true -x 1", func(r *Run) bool { return len(r.QueueArgs) == 3 }},
		{"-o2p a=1 b=2 -o2p c=3", func(r *Run) bool { return reflect.DeepEqual(r.OAuth2.Parameters, []string{"a=1", "b=2", "c=3"}) }},
		{"-e -t topic", func(r *Run) bool { return r.Exchange == "" && r.Type == "topic" }},
		{"-e= -k q", func(r *Run) bool { return r.Exchange == "amq.default" && r.RoutingKey == "q" }},
		{`-e "" -k q`, func(r *Run) bool { return r.Exchange == "amq.default" }},
		{"-t fanout -e ex", func(r *Run) bool { return r.Exchange == "ex" && r.Type == "fanout" }},
		{"-p", func(r *Run) bool { return r.Predeclared == PredeclaredMissing }},
		{"--predeclared=strict", func(r *Run) bool { return r.Predeclared == PredeclaredStrict }},
		{"-aK -p -E", func(r *Run) bool {
			return r.AutoAck && r.RandomRoutingKey && r.Predeclared == PredeclaredMissing && r.Exclusive
		}},
		{"-time60 -producers2", func(r *Run) bool { return r.Time == time.Minute && r.Producers == 2 }},
		{"-x 1 -x 9", func(r *Run) bool { return r.Producers == 1 }},
		{"-hamqp://h1 -uq1 -P 0.1", func(r *Run) bool {
			return r.URI == "amqp://h1" && r.Queues[0] == "q1" && r.Schedule.Interval == 100*time.Millisecond
		}},
		{"--queue-pattern perf-test-%05d --queue-pattern-from 1 --queue-pattern-to 2000 --producers 2000 --consumers 0 --publishing-interval 60 --producer-random-start-delay 1800 --producer-scheduler-threads 10 --nio-threads 10 --heartbeat-sender-threads 10", func(r *Run) bool {
			return r.Producers == 2000 && r.Schedule.Interval == time.Minute && r.RandomDelay == 30*time.Minute
		}},
		{"-mp contentType=text/plain,deliveryMode=2,timestamp=2026-06-03T07:45:54Z,expiration=1000,tenant=7,vip=true,name=x", func(r *Run) bool {
			p := r.MessageProperties
			// 2026-06-03T07:45:54Z: 20607 days after 1970, and 7 h 45 min 54 s
			return p.ContentType == "text/plain" && *p.Persistent && *p.Timestamp == 20607*86400+27954 && p.Expiration == "1000" &&
				reflect.DeepEqual(p.Headers, []manifest.Arg{{Key: "tenant", Value: int64(7)}, {Key: "vip", Value: true}, {Key: "name", Value: "x"}})
		}},
	} {
		run, _, err := parsePerfTest(t, noEnvironment, strings.Fields(c.line)...)
		if err != nil || !c.ok(run) {
			t.Errorf("%s: %v %+v", c.line, err, run)
		}
	}
}

// W21: seconds before 1970 are the floor of the time: -93,784.567890123 s is -93,785, and the last second of 1969 is -1.
func TestW21TimesBefore1970(t *testing.T) {
	for text, want := range map[string]int64{"1969-12-31T23:59:59.123456789Z": -1, "1969-12-30T21:56:55.432109877Z": -93785, "1970-01-01T00:00:00Z": 0} {
		run, _, err := parsePerfTest(t, noEnvironment, "-mp", "timestamp="+text)
		if err != nil || *run.MessageProperties.Timestamp != want {
			t.Errorf("%s: %v, want %d (%v)", text, run, want, err)
		}
	}
}

func TestPerfTestDefaults(t *testing.T) {
	run, in, err := parsePerfTest(t, noEnvironment)
	if err != nil || run.URI != "amqp://localhost" || run.TCPSendBuffer != 65536 || run.TCPReceiveBuffer != 65536 || run.Insecure ||
		run.RandomDelay != 0 || run.Size != 12 || run.Interval != time.Second || run.Report.Interval != 0 || len(in.Notes) != 0 {
		t.Errorf("%v %+v %+v", err, run, in)
	}
	// -st 5 bounds draining and closing together
	if run.DrainTimeout != 4*time.Second || run.ShutdownTimeout != time.Second {
		t.Errorf("drain %v, close %v", run.DrainTimeout, run.ShutdownTimeout)
	}
	for _, c := range []struct {
		line  string
		delay time.Duration
	}{
		{"-r 100", time.Second}, {"-r 0", time.Second}, {"-vr 1:1", time.Second}, {"-P 5", time.Second}, {"-r -1", 0},
		{"-r 100 -prsd 0", 0}, {"-r 100 -prsd 3", 3 * time.Second}, {"-P 5 -prsd -1", 0},
	} {
		if run, _, err := parsePerfTest(t, noEnvironment, strings.Fields(c.line)...); err != nil || run.RandomDelay != c.delay {
			t.Errorf("%s: delay %v, want %v (%v)", c.line, run.RandomDelay, c.delay, err)
		}
	}
}

func TestPerfTestTrustsCertificatesUnlessAskedNotTo(t *testing.T) {
	for _, c := range []struct {
		line     string
		insecure bool
	}{
		{"-h amqps://h", true}, {"-H amqps://a,amqps://b", true}, {"-h amqp://h", false}, {"-h amqps://h -udsc", false},
		{"-h amqps://h --cacert ca.pem", false}, {"-h amqps://h --insecure", true},
	} {
		run, in, err := parsePerfTest(t, noEnvironment, strings.Fields(c.line)...)
		if err != nil || run.Insecure != c.insecure || (in.Trusting != "") != c.insecure {
			t.Errorf("%s: insecure %v, why %q (%v)", c.line, run.Insecure, in.Trusting, err)
		}
	}
}

// What has no effect, or another one than it may seem, is said.
func TestPerfTestNotes(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"-hst 4 -nty -ctp 2 -mjm --netty-threads=3", []string{"-hst, -nty, -ctp, -mjm, -ntyt"}},
		{"-x 1 -x 9", []string{"-x is given more than once; the first value counts, as in PerfTest: 1"}},
		{"-x 1 -x 1 -a -a", nil},
		{"-aK", []string{"-aK is read as -a -K"}},
		{"-durable", []string{"-durable is read as -d urable"}},
		{"-x1 -r10", nil},
		{"-r 10 -vr 1:1", []string{"-r is not looked at beside -vr"}},
		{"-r 10 -P 5", []string{"-r is not looked at beside -P"}},
		{"-L 5 -vl 1:1 -s 50 -vs 20:1", []string{"-s is not looked at beside -vs", "-L is not looked at beside -vl"}},
		{"-s 4", []string{"-s 4 is raised to 12 bytes"}},
		{"-vs 10:5", []string{"raised to 12 bytes"}},
		{"-s 0", nil},
		{"-s 4 -jb", nil},
	} {
		_, in, err := parsePerfTest(t, noEnvironment, strings.Fields(c.line)...)
		if err != nil || len(in.Notes) != len(c.want) {
			t.Fatalf("%s: notes %q (%v)", c.line, in.Notes, err)
		}
		for i, want := range c.want {
			if !strings.Contains(in.Notes[i], want) {
				t.Errorf("%s: note %q, want %q", c.line, in.Notes[i], want)
			}
		}
	}
}

// C067: never below what the stamp takes; above it what was asked for, exactly. C105: -r 0 connects only, -P 0 is a mistake.
func TestPerfTestSizesAndRates(t *testing.T) {
	for text, want := range map[string]int{"0": 12, "4": 12, "12": 12, "40": 40} {
		if run, _, err := parsePerfTest(t, noEnvironment, "-s", text); err != nil || run.Size != want {
			t.Errorf("-s %s: %d, want %d (%v)", text, run.Size, want, err)
		}
	}
	run, _, err := parsePerfTest(t, noEnvironment, "-vs", "10:5")
	if err != nil || run.VariableSize[0].Bytes != 12 {
		t.Errorf("%v %+v", err, run.VariableSize)
	}
	run, _, err = parsePerfTest(t, noEnvironment, "-r", "0")
	var p manifest.Producer
	run.Schedule.Apply(&p)
	if err != nil || !run.Idle || !run.Timed() || p.Planned(1e15) != 0 {
		t.Errorf("-r 0: %v %+v %+v", err, run.Schedule, p)
	}
}

func TestPerfTestMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"-x two", "-x two: must be a whole number"},
		{"--producers=two", "--producers two: must be a whole number"},
		{"--prod 2", "--prod: is the beginning of --producers, --producer-channel-count"},
		{"-nonsense", "unknown option -nonsense"},
		{"--nonsense", "unknown option --nonsense"},
		{"--pmesages 3", "did you mean --pmessages?"},
		{"--x 1", "did you mean -x?"},
		{"-qpf1", "did you mean -qpf 1?"},
		{"-rte 5", "unknown option -rte"},
		{"-x", "-x needs a value: -x N"},
		{"-x -y 1", "-x needs a value"},
		{"60", `unexpected word "60"`},
		{"-a false", `unexpected word "false"`},
		{"-x 1 2", `unexpected word "2"`},
		{"-- 5", `unexpected word "5"`},
		{"-ad perhaps", "-ad perhaps: must be true or false"},
		{"-r -5", "-r -5: must not be negative; only -1 means no limit"},
		{"-r -0.5", "only -1 means no limit"},
		{"-R -2", "only -1 means no limit"},
		{"-ct 0", "-ct 0: must be at least 0.001 s"},
		{"-C 99999999999999999999", "is too large"},
		{"-P 0", "-P 0: must be at least 0.1 s"},
		{"-P 0.05", "must be at least 0.1 s"},
		{"-f persistent 60", `"60" is none of persistent, mandatory`},
		{"-p=some", "must be strict"},
		{"-mda", "-mda: export to Datadog is not offered: give --metrics-prometheus"},
		{"-mdk x", "export to Datadog is not offered"},
		{"--metrics-jmx", "export to JMX is not offered: give --metrics-prometheus"},
		{"-hst many", "-hst many: must be a whole number"},
		{"-cal sometimes", "must be one of random, round-robin"},
		{"-l", "metrics of old releases"},
		{"-i 0", "must be at least 0.1"},
	} {
		_, _, err := parsePerfTest(t, noEnvironment, strings.Fields(c.line)...)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a usage error with %q", c.line, err, c.want)
		}
	}
}

func TestPerfTestAsks(t *testing.T) {
	for line, want := range map[string][]string{
		"-?": {AskHelp}, "--help": {AskHelp}, "-v": {AskVersion}, "--vers": {AskVersion}, "-env": {AskEnvironment},
		"-mh": {AskMetrics}, "-mh -env": {AskMetrics, AskEnvironment}, "-h amqp://x -x 1": nil,
	} {
		_, in, err := parsePerfTest(t, noEnvironment, strings.Fields(line)...)
		if err != nil || !reflect.DeepEqual(in.Asked, want) {
			t.Errorf("%s: %v (%v)", line, in, err)
		}
	}
}

func TestSecretsAreShownNowhere(t *testing.T) {
	secret := "S3c" + "ret"
	uri := "amqp://u:" + secret + "@h"
	for _, args := range [][]string{
		{"-h", uri}, {"-h=" + uri}, {"-h" + uri}, {"--uri=" + uri}, {"--ur", uri}, {"-H", uri + "," + uri}, {"-h", uri, "-h", "amqp://x"},
		{"-o2sec", secret}, {"--oauth2-client-secret=" + secret}, {"-o2p", "password=" + secret, "x=" + secret},
		{"-mdk", secret}, {"-o2p", secret}, {"-o2uri", "http://u:" + secret + "@h"},
	} {
		set, _ := NewPerfTest(func(string) string { return "redacted" })
		in, err := set.Parse(append(args, "-x", "1"), noEnvironment)
		text := ""
		if in != nil {
			text = strings.Join(append(in.Shown, in.Notes...), " ")
		}
		if err != nil {
			text += err.Error()
		}
		for _, v := range set.Values() {
			text += v
		}
		if strings.Contains(text, secret) {
			t.Errorf("%d words beginning with %.4s: %s", len(args), args[0], strings.ReplaceAll(text, secret, "***"))
		}
	}
	set, _ := NewRun(func(string) string { return "redacted" })
	shown := set.Redacted([]string{"--uri", uri, "--uris=" + uri, "--oauth2-client-secret", secret, "--queue", "q"})
	if text := strings.Join(shown, " "); strings.Contains(text, secret) || !strings.Contains(text, "--queue q") {
		t.Errorf("recorded as %s", strings.ReplaceAll(text, secret, "***"))
	}
}

// Whatever stands on the command line, it is read or refused by a usage error, and what is recorded of it has as many words.
func FuzzPerfTestCommandLine(f *testing.F) {
	for _, line := range []string{"-x 1 -y 2 -qpf=1 --prod", "-- -", "- -= --= -x= -=5", "-f -f -f persistent", "-e -e= -e a", "-h -h=amqp://x -H ,", "-vr : -vs 1: -vl :1",
		"-\xff --\xff=\xff", "-c -1 -c --1 -c -", "-aKEpS -aa", `-u "" -u " -u ""`, "-ma P -ma PT -ma P1DT -sco -1", "-mp = -mp a==b -qa ,,=", "-i NaN -r NaN -z Inf -P 1e400"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		set, run := NewPerfTest(func(string) string { return "redacted" })
		in, err := set.Parse(args, noEnvironment)
		var usage *UsageError
		switch {
		case err != nil && !errors.As(err, &usage):
			t.Errorf("%q: %v is no usage error", args, err)
		case err == nil && len(in.Shown) != len(args):
			t.Errorf("%q: %d words recorded", args, len(in.Shown))
		case err == nil && (run.DrainTimeout < 0 || run.ShutdownTimeout < 0 || run.Interval < 0 || run.Rate.Messages < 0):
			t.Errorf("%q: %+v", args, run)
		}
		set.Values()
	})
}
