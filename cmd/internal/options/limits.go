package options

import (
	"math"
	"time"
)

func (r *Run) limitOptions(d dialect) []*Option {
	drain := &Option{Name: "drain-timeout", Arg: "SECONDS", Group: groupLimits, value: seconds(&r.DrainTimeout, 30*time.Second, 0), Help: "time allowed, after publishing has stopped, to receive what is still queued"}
	shutdown := "time allowed for an orderly close, with half a second more for each hundred channels and connections; 0 skips it"
	if d.perfTest {
		drain.value, drain.Help = ifGiven(seconds(&r.DrainTimeout, 0, 0)), "time allowed, after publishing has stopped, to receive what is still queued; without it most of --shutdown-timeout, with it beside that"
		shutdown = "time allowed, after publishing has stopped, to receive what is still queued and to close; 0 or less: none"
	}
	rows := []*Option{
		{Name: "time", PerfTest: []string{"z"}, Arg: "SECONDS", Group: groupLimits, value: d.lenient(seconds(&r.Time, 0, 0)), Help: "stop publishing after this long; 0: no limit"},
		{Name: "confirm-timeout", PerfTest: []string{"ct"}, Arg: "SECONDS", Group: groupLimits, value: seconds(&r.ConfirmTimeout, 30*time.Second, time.Millisecond), Help: "how long a producer may wait for a confirm, and a consumer for the answer to its commit or get"},
		{Name: "write-timeout", Arg: "SECONDS", Group: groupLimits, value: seconds(&r.WriteTimeout, time.Minute, time.Millisecond), Help: "how long the broker may take nothing of what is written to a connection, before that is given up"},
		{Name: "blocked-timeout", Arg: "SECONDS", Group: groupLimits, value: seconds(&r.BlockedTimeout, time.Hour, time.Millisecond), Help: "how long the broker may keep a connection blocked, as it does with a memory or disk alarm, or a channel stopped"},
		drain,
		{Name: "shutdown-timeout", PerfTest: []string{"st"}, Arg: "SECONDS", Group: groupLimits, value: d.lenient(seconds(&r.ShutdownTimeout, 5*time.Second, 0)), Help: shutdown},
	}
	if !d.perfTest {
		rows = append(rows, &Option{Name: "until-eof", Group: groupLimits, value: toggle(&r.UntilEOF, false),
			Help: "stop when standard input ends, as at Ctrl-C: for programs that start the run"})
	}
	return rows
}

func (r *Run) instanceOptions(d dialect) []*Option {
	return []*Option{
		{Name: "expected-instances", PerfTest: []string{"ei"}, Arg: "N", Group: groupLimits, value: d.lenient(integer(&r.ExpectedInstances, 0, 0, math.MaxUint16)), Help: "begin when N instances with this --id are ready; they meet at a queue of the broker; 0: begin at once"},
		{Name: "instance-sync-timeout", PerfTest: []string{"ist"}, Arg: "SECONDS", Group: groupLimits, value: seconds(&r.InstanceSyncTimeout, 600*time.Second, time.Second), Help: "how long to wait for the other instances"},
		{Name: "instance-sync-namespace", PerfTest: []string{"isn"}, Arg: "NAME", Group: groupLimits, value: text(&r.InstanceSyncNamespace, ""), Help: "instances of the same --id in other namespaces are another test's"},
	}
}
