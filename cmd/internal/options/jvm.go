package options

import (
	"errors"
	"slices"
)

// askOptions ask for something else than a run.
func (in *Invocation) askOptions() []*Option {
	row := func(name, short, help string) *Option {
		on := new(bool)
		in.ask[name] = on
		return &Option{Name: name, PerfTest: []string{short}, Group: groupAsk, value: toggle(on, false), Help: help}
	}
	return []*Option{
		row(AskHelp, "?", "show this"),
		row(AskVersion, "v", "show the version"),
		row(AskEnvironment, "env", "show the environment variables that options can come from"),
		row(AskMetrics, "mh", "show the options of metrics; with -env, their variables"),
	}
}

// jvmOptions tune a Java virtual machine, or tell of one. They are taken, and said to have no effect.
func (in *Invocation) jvmOptions() []*Option {
	var rows []*Option
	for _, o := range []struct{ name, short, arg, help string }{
		{"heartbeat-sender-threads", "hst", "N", "threads that send heartbeats"},
		{"nio-threads", "niot", "N", "threads of NIO"},
		{"nio-thread-pool", "niotp", "N", "size of NIO's pool of threads"},
		{"netty", "nty", "", "use Netty"},
		{"netty-threads", "ntyt", "N", "threads of Netty"},
		{"netty-epoll", "ntyep", "", "Netty's epoll transport"},
		{"netty-kqueue", "ntykq", "", "Netty's kqueue transport"},
		{"consumers-thread-pools", "ctp", "N", "pools of threads of all consumers"},
		{"producer-scheduler-threads", "pst", "N", "threads that keep publishing intervals"},
		{"metrics-client", "mc", "", "metrics of the Java client"},
		{"metrics-class-loader", "mcl", "", "metrics of the class loader"},
		{"metrics-jvm-memory", "mjm", "", "metrics of the virtual machine's memory"},
		{"metrics-jvm-gc", "mjgc", "", "metrics of its garbage collection"},
		{"metrics-jvm-thread", "mjt", "", "metrics of its threads"},
		{"metrics-processor", "mjp", "", "metrics of the processors as it sees them"},
	} {
		rows = append(rows, &Option{Name: o.name, PerfTest: []string{o.short}, Arg: o.arg, Group: groupJVM, Help: o.help,
			value: value{func() string { return "" }, func(s string) error { return in.ignore(o.short, o.arg == "", s) }, "ignored"}})
	}
	verify := &Option{Name: "use-default-ssl-context", PerfTest: []string{"udsc"}, Group: groupBroker, value: toggle(&in.verify, false),
		Help: "verify the broker's certificate against the system's authorities, or --cacert; without either every certificate is accepted, as in PerfTest"}
	return append(rows, verify)
}

// ignore notes an option that has no effect; a switch that is set to false asks for none.
func (in *Invocation) ignore(short string, isSwitch bool, s string) error {
	if isSwitch {
		on := false
		if err := toggle(&on, false).set(s); err != nil || !on {
			return err
		}
	} else if err := integer(new(int), 0, -1, 1<<30).set(s); err != nil {
		return err
	}
	if !slices.Contains(in.ignored, "-"+short) {
		in.ignored = append(in.ignored, "-"+short)
	}
	return nil
}

// refusedOptions export metrics to where nothing here does.
func refusedOptions() []*Option {
	var rows []*Option
	for _, o := range []struct{ name, short, arg, to string }{
		{"metrics-jmx", "mjx", "", "JMX"},
		{"metrics-datadog", "mda", "", "Datadog"},
		{"metrics-datadog-api-key", "mdk", "KEY", "Datadog"},
		{"metrics-datadog-application-key", "mdak", "KEY", "Datadog"},
		{"metrics-datadog-step-size", "mds", "SECONDS", "Datadog"},
		{"metrics-datadog-host-tag", "mdh", "TAG", "Datadog"},
		{"metrics-datadog-descriptions", "mdd", "", "Datadog"},
		{"metrics-datadog-uri", "mdu", "URI", "Datadog"},
	} {
		refuse := func(s string) error {
			if o.arg == "" {
				on := false
				if err := toggle(&on, false).set(s); err != nil || !on {
					return err
				}
			}
			return errors.New("export to " + o.to + " is not offered: give --metrics-prometheus, an endpoint that Prometheus, and Datadog's agent, can scrape")
		}
		rows = append(rows, &Option{Name: o.name, PerfTest: []string{o.short}, Arg: o.arg, Group: groupRefused, Redact: hide,
			Help: "export to " + o.to + "; give --metrics-prometheus instead", value: value{func() string { return "" }, refuse, "refused"}})
	}
	return rows
}
