package options

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// What a PerfTest command line asks for instead of a run.
const (
	AskHelp        = "help"
	AskVersion     = "version"
	AskEnvironment = "environment-variables"
	AskMetrics     = "metrics-help"
)

// Invocation is what stands in a PerfTest command line beside the options of the run.
type Invocation struct {
	// Asked is what is wanted instead of a run, in the order of PerfTest's precedence; empty: a run.
	Asked []string
	// Shown is the command line as it may be recorded: values of secret options are replaced.
	Shown []string
	// Environment are the variables that an option was taken from.
	Environment []Variable
	// Notes are one line each: what was read otherwise than it may have been meant, and what has no effect.
	Notes []string
	// Trusting says why the broker's certificate is not verified; "" where it is, or where there is none.
	Trusting string

	ignored []string // options of the Java virtual machine, as they were spelled
	ask     map[string]*bool
	verify  bool
}

// perfTest holds PerfTest's own defaults.
var perfTest = dialect{command: "perf-test", perfTest: true, uri: "amqp://localhost", buffer: 65536}

// NewPerfTest returns the set of `leveret perf-test`, which ParsePerfTest fills, and its struct. Defaults are PerfTest's.
func NewPerfTest(redactURI redactor) (*PerfTest, *Run) {
	r := &Run{}
	in := &Invocation{ask: make(map[string]*bool)}
	rows := slices.DeleteFunc(r.rows(perfTest, redactURI), func(o *Option) bool {
		return o.Name == "faults" || o.Name == "format" || o.Name == "output" // no embedded broker; standard output, and -o, are PerfTest's
	})
	r.Report.Format = ""
	rows = append(rows, in.askOptions()...)
	rows = append(rows, in.jvmOptions()...)
	rows = append(rows, refusedOptions()...)
	set := newSet(perfTest.command, rows)
	set.oneDash = true
	return &PerfTest{Set: set, run: r, in: in}, r
}

// PerfTest is the set of options in PerfTest's dialect.
type PerfTest struct {
	*Set
	run *Run
	in  *Invocation
}

// Parse reads a command line and then the environment: what the command line gives wins, the other way round than in
// PerfTest, where a stray variable changes a run unseen. It returns a *UsageError for anything wrong.
func (p *PerfTest) Parse(args []string, lookup func(name string) (string, bool)) (*Invocation, error) {
	if err := p.parseWords(args); err != nil {
		return nil, p.usage(err)
	}
	for _, ask := range []string{AskMetrics, AskEnvironment, AskHelp, AskVersion} {
		if *p.in.ask[ask] {
			p.in.Asked = append(p.in.Asked, ask)
		}
	}
	if len(p.in.Asked) > 0 {
		return p.in, nil
	}
	var err error
	if p.in.Environment, err = p.fromEnvironment(p.environmentNames(lookup), lookup); err != nil {
		return nil, p.usage(err)
	}
	p.settle()
	return p.in, nil
}

// settle works out what PerfTest derives from several options.
func (p *PerfTest) settle() {
	p.yield("publishing-interval", "variable-rate", "rate")
	p.yield("publishing-interval", "ramp")
	p.yield("variable-rate", "rate")
	p.yield("variable-size", "size")
	p.yield("variable-latency", "consumer-latency")
	r := p.run
	if p.Changed("rate") && (r.Rate.Messages > 0 || r.Idle) || p.Changed("variable-rate") || p.Changed("publishing-interval") {
		if !p.Changed("producer-random-start-delay") {
			r.RandomDelay = time.Second
		}
	}
	p.raiseSizes()
	p.splitShutdown()
	p.trust()
	if len(p.in.ignored) > 0 {
		p.in.note("without effect, as there is no Java virtual machine here: %s", strings.Join(p.in.ignored, ", "))
	}
}

func (in *Invocation) note(format string, args ...any) {
	in.Notes = append(in.Notes, fmt.Sprintf(format, args...))
}

// yield drops options that PerfTest does not look at where another one is given.
func (p *PerfTest) yield(to string, names ...string) {
	if !p.Changed(to) {
		return
	}
	for _, name := range names {
		if !p.Changed(name) {
			continue
		}
		p.drop(name)
		p.in.note("%s is not looked at beside %s, as in PerfTest", p.spelled(name), p.spelled(to))
	}
}

// drop takes an option back.
func (p *PerfTest) drop(name string) {
	r := p.run
	switch name {
	case "rate":
		r.Rate.Messages, r.Rate.PerNS, r.Idle = 0, 0, false
	case "variable-rate", "ramp":
		r.Stages = nil
	case "size":
		r.Size = leastBody
	case "consumer-latency":
		r.ConsumerLatency = 0
	}
	if p.dropped == nil {
		p.dropped = make(map[string]bool)
	}
	p.dropped[name] = true
}

// spelled is an option as PerfTest's users write it.
func (p *PerfTest) spelled(name string) string {
	if o := p.find(name); len(o.PerfTest) > 0 {
		return "-" + o.PerfTest[0]
	}
	return "--" + name
}

// raiseSizes gives bodies the room for what identifies a message, as PerfTest does for its number and time. JSON documents and
// files stay as they are.
func (p *PerfTest) raiseSizes() {
	r := p.run
	if r.JSONBody || len(r.Bodies) > 0 {
		return
	}
	if r.Size < leastBody {
		if r.Size > 0 { // 0 is how PerfTest writes its least
			p.in.note("-s %d is raised to %d bytes, the least", r.Size, leastBody)
		}
		r.Size = leastBody
	}
	for i := range r.VariableSize {
		if s := &r.VariableSize[i]; s.Bytes < leastBody {
			p.in.note("-vs %d: is raised to %d bytes, the least", s.Bytes, leastBody)
			s.Bytes = leastBody
		}
	}
}

// splitShutdown bounds draining and closing together by -st. A fifth of it is kept for closing, which has what draining leaves,
// too.
func (p *PerfTest) splitShutdown() {
	if r := p.run; !p.Changed("drain-timeout") {
		r.EndTimeout = r.ShutdownTimeout
		r.DrainTimeout = r.ShutdownTimeout * 4 / 5
		r.ShutdownTimeout -= r.DrainTimeout
	}
}

// trust accepts every certificate unless something asks for verification, as PerfTest does.
func (p *PerfTest) trust() {
	r := p.run
	secure := strings.HasPrefix(strings.ToLower(r.URI), "amqps:")
	if len(r.URIs) > 0 {
		secure = strings.HasPrefix(strings.ToLower(r.URIs[0]), "amqps:")
	}
	switch {
	case !secure || p.in.verify || r.CACert != "":
	case r.Insecure:
		p.in.Trusting = "--insecure"
	default:
		r.Insecure = true
		p.in.Trusting = "as in PerfTest; --use-default-ssl-context or --cacert FILE verifies it"
	}
}
