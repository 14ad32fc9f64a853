package options

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
)

// optionCase is an option, a value of it, and what of the run has to have changed then.
type optionCase struct {
	name, value string
	field       func(r *Run) any
	want        any
}

func perSecond(n int64) manifest.Rate { return manifest.Rate{Messages: n, PerNS: 1e9} }

// optionCases has every option of PerfTest's that changes a run.
var optionCases = []optionCase{
	{"id", "test 1", func(r *Run) any { return r.ID }, "test 1"},
	{"uri", "amqp://h:1/v", func(r *Run) any { return r.URI }, "amqp://h:1/v"},
	{"uris", "amqp://a,amqp://b", func(r *Run) any { return r.URIs }, []string{"amqp://a", "amqp://b"}},
	{"connection-allocation", "round-robin", func(r *Run) any { return r.ConnectionAllocation }, "round-robin"},
	{"framemax", "8192", func(r *Run) any { return r.FrameMax }, int64(8192)},
	{"heartbeat", "10", func(r *Run) any { return r.Heartbeat }, 10 * time.Second},
	{"tcp-send-buffer-size", "1000", func(r *Run) any { return r.TCPSendBuffer }, int64(1000)},
	{"tcp-receive-buffer-size", "0", func(r *Run) any { return r.TCPReceiveBuffer }, int64(0)},
	{"tcp-no-delay", "false", func(r *Run) any { return r.TCPNoDelay }, false},
	{"sasl-external", "", func(r *Run) any { return r.SASLExternal }, true},
	{"server-name-indication", "broker.example", func(r *Run) any { return r.ServerName }, "broker.example"},
	{"oauth2-token-endpoint", "http://h/token", func(r *Run) any { return r.OAuth2.TokenEndpoint }, "http://h/token"},
	{"oauth2-client-id", "me", func(r *Run) any { return r.OAuth2.ClientID }, "me"},
	{"oauth2-client-secret", "x", func(r *Run) any { return r.OAuth2.ClientSecret }, "x"},
	{"oauth2-grant-type", "password", func(r *Run) any { return r.OAuth2.GrantType }, "password"},
	{"oauth2-parameters", "a=b", func(r *Run) any { return r.OAuth2.Parameters }, []string{"a=b"}},

	{"type", "topic", func(r *Run) any { return r.Type }, "topic"},
	{"exchange", "e1", func(r *Run) any { return r.Exchange }, "e1"},
	{"queue", "a,b", func(r *Run) any { return r.Queues }, []string{"a", "b"}},
	{"queue-file", "names.txt", func(r *Run) any { return r.QueueFile }, "names.txt"},
	{"queue-pattern", "q-%03d", func(r *Run) any { return r.QueuePattern }, "q-%03d"},
	{"queue-pattern-from", "1", func(r *Run) any { return r.QueuePatternFrom }, 1},
	{"queue-pattern-to", "500", func(r *Run) any { return r.QueuePatternTo }, 500},
	{"routing-key", "k", func(r *Run) any { return r.RoutingKey }, "k"},
	{"random-routing-key", "", func(r *Run) any { return r.RandomRoutingKey }, true},
	{"routing-key-cache-size", "7", func(r *Run) any { return r.RoutingKeyCacheSize }, 7},
	{"skip-binding-queues", "", func(r *Run) any { return r.SkipBindingQueues }, true},
	{"predeclared", "", func(r *Run) any { return r.Predeclared }, PredeclaredMissing},
	{"auto-delete", "false", func(r *Run) any { return r.AutoDelete }, false},
	{"exclusive", "", func(r *Run) any { return r.Exclusive }, true},
	{"queue-args", "x-max-length=10", func(r *Run) any { return r.QueueArgs }, []manifest.Arg{{Key: "x-max-length", Value: int64(10)}}},
	{"quorum-queue", "", func(r *Run) any { return r.QuorumQueue }, true},
	{"stream-queue", "", func(r *Run) any { return r.StreamQueue }, true},
	{"max-length-bytes", "100gb", func(r *Run) any { return r.MaxLengthBytes }, int64(100_000_000_000)},
	{"stream-max-segment-size-bytes", "50mb", func(r *Run) any { return r.StreamMaxSegmentSizeBytes }, int64(50_000_000)},
	{"max-age", "P5DT8H", func(r *Run) any { return r.MaxAge }, 128 * time.Hour}, // 5 * 24 + 8
	{"leader-locator", "balanced", func(r *Run) any { return r.LeaderLocator }, "balanced"},

	{"producers", "3", func(r *Run) any { return r.Producers }, 3},
	{"producer-channel-count", "4", func(r *Run) any { return r.ProducerChannelCount }, 4},
	{"flag", "persistent", func(r *Run) any { return r.Flags }, []string{"persistent"}},
	{"confirm", "100", func(r *Run) any { return r.Confirm }, 100},
	{"confirm-timeout", "2", func(r *Run) any { return r.ConfirmTimeout }, 2 * time.Second},
	{"ptxsize", "5", func(r *Run) any { return r.PTxSize }, 5},
	{"message-properties", "type=t", func(r *Run) any { return r.MessageProperties.Type }, "t"},

	{"rate", "100", func(r *Run) any { return r.Rate }, perSecond(100)},
	{"consumer-rate", "50", func(r *Run) any { return r.ConsumerRate }, perSecond(50)},
	{"variable-rate", "100:10", func(r *Run) any { return r.Stages }, []manifest.Stage{{From: perSecond(100), To: perSecond(100), ForNS: 10e9}}},
	{"variable-size", "1000:30", func(r *Run) any { return r.VariableSize }, []manifest.SizeStage{{Bytes: 1000, ForNS: 30e9}}},
	{"variable-latency", "1000:60", func(r *Run) any { return r.VariableLatency }, []manifest.WorkStage{{WorkNS: 1e6, ForNS: 60e9}}},
	{"publishing-interval", "0.5", func(r *Run) any { return r.Schedule.Interval }, 500 * time.Millisecond},
	{"producer-random-start-delay", "120", func(r *Run) any { return r.RandomDelay }, 2 * time.Minute},

	{"size", "1024", func(r *Run) any { return r.Size }, 1024},
	{"body", "a.json,b.json", func(r *Run) any { return r.Bodies }, []string{"a.json", "b.json"}},
	{"body-content-type", "application/json", func(r *Run) any { return r.BodyContentType }, "application/json"},
	{"json-body", "", func(r *Run) any { return r.JSONBody }, true},
	{"body-field-count", "10", func(r *Run) any { return r.BodyFieldCount }, 10},
	{"body-count", "20", func(r *Run) any { return r.BodyCount }, 20},

	{"consumers", "0", func(r *Run) any { return r.Consumers }, 0},
	{"consumer-channel-count", "5", func(r *Run) any { return r.ConsumerChannelCount }, 5},
	{"qos", "20", func(r *Run) any { return r.QoS }, 20},
	{"global-qos", "30", func(r *Run) any { return r.GlobalQoS }, 30},
	{"autoack", "", func(r *Run) any { return r.AutoAck }, true},
	{"multi-ack-every", "10", func(r *Run) any { return r.MultiAckEvery }, 10},
	{"ctxsize", "6", func(r *Run) any { return r.CTxSize }, 6},
	{"nack", "", func(r *Run) any { return r.Nack }, true},
	{"requeue", "false", func(r *Run) any { return r.Requeue }, false},
	{"polling", "", func(r *Run) any { return r.Polling }, true},
	{"polling-interval", "20", func(r *Run) any { return r.PollingInterval }, 20 * time.Millisecond},
	{"consumer-latency", "1500", func(r *Run) any { return r.ConsumerLatency }, 1500 * time.Microsecond},
	{"consumer-args", "x-priority=10", func(r *Run) any { return r.ConsumerArgs }, []manifest.Arg{{Key: "x-priority", Value: int64(10)}}},
	{"stream-consumer-offset", "first", func(r *Run) any { return r.StreamConsumerOffset }, "first"},
	{"slow-start", "", func(r *Run) any { return r.SlowStart }, true},
	{"consumer-start-delay", "9", func(r *Run) any { return r.ConsumerStartDelay }, 9 * time.Second},

	{"time", "60", func(r *Run) any { return r.Time }, time.Minute},
	{"pmessages", "7", func(r *Run) any { return r.PMessages }, int64(7)},
	{"cmessages", "8", func(r *Run) any { return r.CMessages }, int64(8)},
	{"exit-when", "empty", func(r *Run) any { return r.ExitWhen }, "empty"},
	{"shutdown-timeout", "10", func(r *Run) any { return r.DrainTimeout + r.ShutdownTimeout }, 10 * time.Second},
	{"servers-startup-timeout", "11", func(r *Run) any { return r.ServersStartupTimeout }, 11 * time.Second},
	{"servers-up-limit", "2", func(r *Run) any { return r.ServersUpLimit }, 2},
	{"disable-connection-recovery", "", func(r *Run) any { return r.DisableConnectionRecovery }, true},
	{"connection-recovery-interval", "30-60", func(r *Run) any { return r.ConnectionRecoveryInterval }, "30-60"},

	{"interval", "5", func(r *Run) any { return r.Interval }, 5 * time.Second},
	{"use-millis", "", func(r *Run) any { return r.UseMillis }, true},
	{"metrics-format", "compact", func(r *Run) any { return r.MetricsFormat }, "compact"},
	{"output-file", "out.csv", func(r *Run) any { return r.OutputFile }, "out.csv"},
	{"exposed-metrics", "expected_published=50000", func(r *Run) any { return r.Prometheus.Exposed }, []ExposedMetric{{"expected_published", 50000}}},
	{"verbose", "", func(r *Run) any { return r.Verbose }, VerboseEvents},
	{"verbose-full", "", func(r *Run) any { return r.Verbose }, VerboseFull},
	{"metrics-prefix", "x_", func(r *Run) any { return r.Prometheus.Prefix }, "x_"},
	{"metrics-tags", "env=lab,run=1", func(r *Run) any { return r.Prometheus.Tags }, []string{"env=lab", "run=1"}},
	{"metrics-command-line-arguments", "", func(r *Run) any { return r.Prometheus.CommandLine }, true},
	{"metrics-prometheus", "", func(r *Run) any { return r.Prometheus.On }, true},
	{"metrics-prometheus-endpoint", "/m", func(r *Run) any { return r.Prometheus.Endpoint }, "/m"},
	{"metrics-prometheus-port", "9090", func(r *Run) any { return r.Prometheus.Port }, 9090},

	{"expected-instances", "2", func(r *Run) any { return r.ExpectedInstances }, 2},
	{"instance-sync-timeout", "30", func(r *Run) any { return r.InstanceSyncTimeout }, 30 * time.Second},
	{"instance-sync-namespace", "ns", func(r *Run) any { return r.InstanceSyncNamespace }, "ns"},
}

var noEnvironment = func(string) (string, bool) { return "", false }

func parsePerfTest(t *testing.T, lookup func(string) (string, bool), args ...string) (*Run, *Invocation, error) {
	t.Helper()
	set, run := NewPerfTest(func(string) string { return "redacted" })
	in, err := set.Parse(args, lookup)
	return run, in, err
}

// Every option of PerfTest's changes what it is for, in each of its spellings, from the environment, and in leveret run.
func TestEveryOptionChangesItsField(t *testing.T) {
	set, defaults := NewPerfTest(nil)
	cases := make(map[string]optionCase)
	for _, c := range optionCases {
		cases[c.name] = c
	}
	known := 0
	for _, o := range set.options {
		if !o.inPerfTest() {
			continue
		}
		known++
		c, ok := cases[o.Name]
		if !ok {
			if o.Group != groupAsk && o.Group != groupJVM && o.Group != groupRefused && o.Name != "use-default-ssl-context" {
				t.Errorf("--%s has no case: what does it change?", o.Name)
			}
			continue
		}
		if (o.Arg == "") != (c.value == "") {
			t.Errorf("--%s: a switch has no value", o.Name)
		}
		if reflect.DeepEqual(c.field(defaults), c.want) {
			t.Errorf("--%s: the case is what the field is without the option", o.Name)
		}
		for _, words := range spellingsOf(set, o, c.value) {
			run, _, err := parsePerfTest(t, noEnvironment, words...)
			if err != nil || !reflect.DeepEqual(c.field(run), c.want) {
				t.Errorf("%q: %v, want %v (%v)", words, c.field(run), c.want, err)
			}
		}
		fromEnvironment(t, o, c)
		words := []string{"--" + o.Name}
		if c.value != "" {
			words = append(words, c.value)
		}
		if o.Name == "id" || o.Name == "shutdown-timeout" { // a name of a directory; the drain has a bound of its own
			continue
		}
		if _, run, err := parseRun(t, words...); err != nil || !reflect.DeepEqual(c.field(run), c.want) {
			t.Errorf("leveret run %q: %v, want %v (%v)", words, c.field(run), c.want, err)
		}
	}
	if known != 126 {
		t.Errorf("%d options of PerfTest's, which has 126", known)
	}
}

// spellingsOf lists the ways to write an option with its value.
func spellingsOf(set *PerfTest, o *Option, value string) (all [][]string) {
	names := []string{"--" + o.Name, "-" + o.Name}
	for _, s := range o.PerfTest {
		names = append(names, "-"+s)
	}
	if short := shortestPrefix(set, o.Name); short != o.Name && set.short(short) == nil {
		names = append(names, "--"+short, "-"+short)
	}
	for _, name := range names {
		if value == "" {
			all = append(all, []string{name})
			continue
		}
		all = append(all, []string{name, value}, []string{name + "=" + value}, []string{name, `"` + value + `"`})
	}
	if s := o.PerfTest; len(s) > 0 && len(s[0]) == 1 && value != "" {
		all = append(all, []string{"-" + s[0] + value})
	}
	return all
}

// shortestPrefix is the shortest beginning, of at least two letters, that is no other option's.
func shortestPrefix(set *PerfTest, name string) string {
	for n := 2; n < len(name); n++ {
		others := 0
		for _, o := range set.options {
			if o.Name != name && o.inPerfTest() && strings.HasPrefix(o.Name, name[:n]) {
				others++
			}
		}
		if others == 0 {
			return name[:n]
		}
	}
	return name
}

func fromEnvironment(t *testing.T, o *Option, c optionCase) {
	t.Helper()
	variable := strings.ToUpper(strings.ReplaceAll(o.Name, "-", "_"))
	text := c.value
	if text == "" {
		text = "true"
	}
	run, in, err := parsePerfTest(t, func(name string) (string, bool) {
		if name != variable {
			return "", false
		}
		return text, true
	})
	if o.LongOnly {
		if len(in.Environment) != 0 {
			t.Errorf("%s: taken from the environment, where PerfTest does not look for it", variable)
		}
		return
	}
	if err != nil || !reflect.DeepEqual(c.field(run), c.want) || len(in.Environment) != 1 || in.Environment[0].Name != variable {
		t.Errorf("%s=%s: %v, want %v (%v), named: %+v", variable, text, c.field(run), c.want, err, in.Environment)
	}
}
