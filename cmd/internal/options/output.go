package options

import (
	"math"
	"time"
)

func (r *Run) outputOptions(d dialect) []*Option {
	lines := &Option{Name: "interval", PerfTest: []string{"i"}, Arg: "SECONDS", Group: groupOutput, value: interval(&r.Interval, nil), Help: "length of the intervals of the lines"}
	if !d.perfTest {
		lines.value, lines.Help = interval(&r.Interval, &r.Report.Interval), "length of the intervals of the lines, the report and the charts; 0: 1 second for the lines, the others by the length of the run"
	}
	quiet := "no panel, no lines of progress"
	if d.perfTest {
		quiet = "no lines on standard output, and no summary"
	}
	return []*Option{
		lines,
		{Name: "metrics-format", PerfTest: []string{"mf"}, Arg: "FORMAT", Group: groupOutput, value: choice(&r.MetricsFormat, "default", "default", "compact"), Help: "form of the lines: default or compact"},
		{Name: "output-file", PerfTest: []string{"o"}, Arg: "FILE", Group: groupOutput, value: text(&r.OutputFile, ""), Help: "write the figures of the lines into this CSV file, too; one that is there is replaced"},
		{Name: "verbose", LongOnly: true, Group: groupOutput, value: level(&r.Verbose, VerboseEvents), Help: "a line for each publish, confirm, delivery and ack; for slow rates"},
		{Name: "verbose-full", LongOnly: true, Group: groupOutput, value: level(&r.Verbose, VerboseFull), Help: "the same, with the properties and the size of each message"},
		{Name: "quiet", Group: groupOutput, value: toggle(&r.Quiet, false), Help: quiet},
	}
}

func (r *Run) metricsOptions() []*Option {
	p := &r.Prometheus
	return []*Option{
		{Name: "metrics-prometheus", PerfTest: []string{"mpr"}, Group: groupMetrics, value: toggle(&p.On, false), Help: "let Prometheus scrape the run's figures over HTTP"},
		{Name: "metrics-prometheus-port", PerfTest: []string{"mpp"}, Arg: "PORT", Group: groupMetrics, value: integer(&p.Port, 8080, 0, math.MaxUint16), Help: "port of that endpoint; 0: a free one"},
		{Name: "metrics-prometheus-endpoint", PerfTest: []string{"mpe"}, Arg: "PATH", Group: groupMetrics, value: path(&p.Endpoint, "/metrics"), Help: "path of that endpoint"},
		{Name: "metrics-prefix", PerfTest: []string{"mpx"}, Arg: "PREFIX", Group: groupMetrics, value: metricPrefix(&p.Prefix, "perftest_"), Help: "what the names of metrics begin with"},
		{Name: "metrics-tags", PerfTest: []string{"mt"}, Arg: "KEY=VALUE,...", Group: groupMetrics, value: keyValues(&p.Tags), Help: "labels of all metrics"},
		{Name: "metrics-command-line-arguments", PerfTest: []string{"mcla"}, Group: groupMetrics, value: toggle(&p.CommandLine, false), Help: "a metric that has the command line, without secrets, as a label"},
		{Name: "exposed-metrics", PerfTest: []string{"em"}, Arg: "NAME=NUMBER,...", Group: groupMetrics, value: exposed(&p.Exposed), Help: "metrics of constant value, such as expected_published=50000"},
	}
}

func (r *Run) recordOptions(d dialect) []*Option {
	id := fileName(runName(&r.ID))
	if d.perfTest {
		id = notEmpty(runName(&r.ID))
	}
	rows := []*Option{
		{Name: "id", PerfTest: []string{"d"}, Arg: "ID", Group: groupRecord, value: id, Help: "name of the run; without it one made of date and time"},
		{Name: "capture", Arg: "DIR", Group: groupRecord, value: text(&r.Capture, ""), Help: "directory to record into, refused if it holds something; without it one below captures, named after the run"},
		{Name: "compression", Arg: "CODEC", Group: groupRecord, value: choice(&r.Compression, "lz4", "none", "lz4", "zstd"), Help: "compression of the record: none, lz4 or zstd"},
		{Name: "record-memory", Arg: "BYTES", Group: groupRecord, value: size(&r.RecordMemory, 64<<20, 1<<20), Help: "most memory for rows that are not on disk yet"},
		{Name: "record-stall-timeout", Arg: "SECONDS", Group: groupRecord, value: seconds(&r.RecordStallTimeout, 30*time.Second, time.Millisecond), Help: "stop the run when the disk has not taken rows for this long"},
		{Name: "fsync", Group: groupRecord, value: toggle(&r.Fsync, false), Help: "force each batch to the disk, so that the record survives a power loss"},
	}
	if !d.perfTest {
		rows = append(append(rows, r.repeatOptions()...), r.hookOption())
	}
	return rows
}

func (r *Run) reportOptions() []*Option {
	rows := []*Option{{Name: "no-analyze", Group: groupReport, value: toggle(&r.NoAnalyze, false), Help: "record only; leveret analyze makes the report later"}}
	for _, o := range r.Report.options() {
		if o.Name != "interval" { // the one option of a run is for its lines, too
			rows = append(rows, o)
		}
	}
	return rows
}

func faultsOption(p *string, help string) *Option {
	return &Option{Name: "faults", Arg: "FAULT,...", Group: groupEmbedded, value: text(p, ""), Help: help}
}
