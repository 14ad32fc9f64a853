package options

import (
	"errors"
	"strings"
	"testing"
)

func lookupIn(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := variables[name]; return v, ok }
}

// The command line wins, every variable that an option came from is named, and no other one.
func TestEnvironmentOfPerfTest(t *testing.T) {
	run, in, err := parsePerfTest(t, lookupIn(map[string]string{
		"RATE": "100", "PRODUCERS": "3", "VARIABLE_SIZE": "100:1,200:2", "QUEUE_ARGS": "a=1,b=2", "FLAG": "persistent,mandatory",
		"AUTOACK": "true", "NACK": "false", "EXCLUSIVE": "", "VERBOSE": "true", "VERSION": "1.2", "HELP": "true", "HOME": "/root",
		"URI": "amqp://u:p@h",
	}), "-x", "5")
	if err != nil {
		t.Fatal(err)
	}
	if run.Rate != perSecond(100) || run.Producers != 5 || len(run.VariableSize) != 2 || len(run.QueueArgs) != 2 || len(run.Flags) != 2 ||
		!run.AutoAck || run.Nack || run.Exclusive || run.Verbose != "" || len(in.Asked) != 0 {
		t.Errorf("%+v", run)
	}
	var names []string
	for _, v := range in.Environment {
		names = append(names, v.Name+"="+v.Shown)
	}
	if got := strings.Join(names, " "); got != "URI=redacted QUEUE_ARGS=a=1,b=2 FLAG=persistent,mandatory VARIABLE_SIZE=100:1,200:2 RATE=100 AUTOACK=true" {
		t.Errorf("named: %s", got)
	}
}

func TestEnvironmentPrefix(t *testing.T) {
	for _, prefix := range []string{"PT", "PT_"} {
		run, in, err := parsePerfTest(t, lookupIn(map[string]string{prefixVariable: prefix, "PT_PRODUCERS": "3", "CONSUMERS": "4", "TIME": "12:30"}))
		if err != nil || run.Producers != 3 || run.Consumers != 1 || len(in.Environment) != 1 || in.Environment[0].Name != "PT_PRODUCERS" {
			t.Errorf("%s: %v %+v", prefix, err, in)
		}
	}
}

// A stray variable that cannot be read is a mistake that names it, and the way out.
func TestStrayVariableIsNamed(t *testing.T) {
	_, _, err := parsePerfTest(t, lookupIn(map[string]string{"TIME": "12:30"}))
	var usage *UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "environment variable TIME=12:30 (option --time)") || !strings.Contains(err.Error(), prefixVariable) {
		t.Errorf("%v", err)
	}
}

func TestRunTakesItsURIFromTheEnvironment(t *testing.T) {
	env := lookupIn(map[string]string{"LEVERET_URI": "amqp://h", "RATE": "5"})
	set, run, err := parseRun(t, "--producers", "2")
	if err != nil {
		t.Fatal(err)
	}
	taken, err := set.FromEnvironment(env)
	if err != nil || run.URI != "amqp://h" || run.Rate.Messages != 0 || len(taken) != 1 || taken[0].Name != "LEVERET_URI" || !set.Changed("uri") {
		t.Errorf("%v %+v", err, taken)
	}
	set, run, _ = parseRun(t, "--uri", "amqp://given")
	if taken, err := set.FromEnvironment(env); err != nil || run.URI != "amqp://given" || len(taken) != 0 {
		t.Errorf("the command line has to win: %v %+v", err, taken)
	}
}

func TestHelpOfEnvironmentAndMetrics(t *testing.T) {
	set, _ := NewPerfTest(nil)
	var all, metrics, options strings.Builder
	set.EnvironmentHelp(&all, false, noEnvironment)
	set.EnvironmentHelp(&metrics, true, noEnvironment)
	set.MetricsHelp(&options)
	if !strings.Contains(all.String(), "\n  CONFIRM_TIMEOUT") || strings.Contains(all.String(), "VERBOSE") || strings.Contains(all.String(), "DRAIN_TIMEOUT") {
		t.Error(all.String())
	}
	if strings.Contains(metrics.String(), "CONFIRM") || !strings.Contains(metrics.String(), "  METRICS_PROMETHEUS_PORT") {
		t.Error(metrics.String())
	}
	if n := strings.Count(options.String(), ", --metrics-"); n != 20 { // as many as PerfTest has
		t.Errorf("%d options of metrics\n%s", n, options.String())
	}
}
