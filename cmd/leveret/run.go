package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leveret/analyze"
	"leveret/analyze/result"
	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/cmd/internal/layout"
	"leveret/cmd/internal/options"
	"leveret/loadcore"
	"leveret/loadcore/broker"
	"leveret/loadcore/topology"
)

func runCommand() command {
	return command{name: "run", arguments: "[options]", summary: "one load test, recorded, then analyzed",
		run: runLoad, help: runHelp}
}

func runHelp(w io.Writer) {
	set, _ := options.NewRun(nil)
	commandHelp(w, runCommand(), `
Offers load to a broker and records every send, confirm and receive into a
capture directory; at the end it analyzes its own capture. Option names mean
what they mean in PerfTest: --rate, --pmessages and --confirm are per producer
channel. Without --time and without message limits it runs until Ctrl-C, which
stops publishing, drains and closes the record; a second Ctrl-C exits at once.`, `
  leveret run --time 10 --confirm 1000
  leveret run --uri amqp://user:pass@host --queue q1 --rate 5000 --time 60
  leveret run --pmessages 100000 --confirm 1000 --faults drop@1000-7000/1000
  leveret run --time 10 --repeat 6 --variant 'w10: --confirm 10' --variant 'w1000: --confirm 1000'

--repeat records several runs, and --variant several configurations: each run is a process of its
own, with a capture below --capture, and in every round each variant runs once, in shuffled order.
At the end leveret compare tells their differences from noise; Ctrl-C keeps what is recorded.`, set)
}

// runLoad is the whole way from the command line to the report.
func runLoad(ctx context.Context, args []string, s streams) (int, error) {
	r, _, err := parseRun(args, s)
	if err != nil {
		return 0, err
	}
	if repeated(r.options) {
		return r.repeat(ctx, args)
	}
	if err := r.prepare(); err != nil {
		return 0, &options.UsageError{Command: "run", Err: err}
	}
	if r.options.UntilEOF {
		ctx = untilEOF(ctx, s.in)
	}
	return r.recordAndReport(ctx)
}

// newRun is a run that is ready to connect.
func newRun(args []string, s streams) (*recording, error) {
	r, _, err := parseRun(args, s)
	if err != nil {
		return nil, err
	}
	if err := r.prepare(); err != nil {
		return nil, &options.UsageError{Command: "run", Err: err}
	}
	return r, nil
}

// parseRun reads a command line and the environment.
func parseRun(args []string, s streams) (*recording, *options.Set, error) {
	set, o := options.NewRun(redactURI)
	if err := parseOnlyOptions(set, args); err != nil {
		return nil, nil, err
	}
	variables, err := set.FromEnvironment(os.LookupEnv)
	if err != nil {
		return nil, nil, err
	}
	sayVariables(s.err, variables)
	return &recording{options: o, streams: s, values: set.Values(), given: set.Changed, command: set.Redacted(args), variables: variables, trusting: "--insecure"}, set, nil
}

// recordAndReport offers the load, and makes the report of its capture.
func (r *recording) recordAndReport(ctx context.Context) (code int, err error) {
	o := r.options
	defer func() { err = errors.Join(err, r.outputs.close()) }()
	if err := r.openOutputs(); err != nil {
		return exitFailed, err
	}
	interrupted, err := r.record(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil && !r.outcome.began():
		return exitInterrupted, errors.New("interrupted before load began; nothing was recorded")
	default:
		return exitFailed, err
	}
	if o.NoAnalyze {
		r.outputs.summarize(r.outcome.Outcome, nil)
		fmt.Fprintf(r.err, "recorded into %s; leveret analyze %s makes the report\n", r.dir, r.dir)
		if r.outcome.failed() && !interrupted {
			return exitFailed, errors.New(r.outcome.Failures[0].Text)
		}
		return exitCodeOf(interrupted, exitOK), nil
	}
	// The report is made even after Ctrl-C: only the second one keeps it from the user.
	code, err = analyzeAndReport(context.WithoutCancel(ctx), []string{r.dir}, analyze.Options{}, &o.Report, o.Quiet, r.streams, func(result *result.Result) {
		r.outputs.summarize(r.outcome.Outcome, result)
	})
	fmt.Fprintf(r.err, "recorded into %s\n", r.dir)
	if err == nil && r.outcome.failed() && code == exitOK {
		code = exitFailed
	}
	return exitCodeOf(interrupted, code), err
}

func exitCodeOf(interrupted bool, otherwise int) int {
	if interrupted {
		return exitInterrupted
	}
	return otherwise
}

// parseOnlyOptions parses for a command that takes no words beside its options.
func parseOnlyOptions(set *options.Set, args []string) error {
	rest, err := set.Parse(args)
	if err == nil && len(rest) > 0 {
		err = &options.UsageError{Command: set.Command(), Err: fmt.Errorf("unexpected argument %q: options begin with --", rest[0])}
	}
	return err
}

// sayVariables names what came from the environment: a stray variable changes a run.
func sayVariables(w io.Writer, variables []options.Variable) {
	for _, v := range variables {
		fmt.Fprintf(w, "from the environment: %s=%s (--%s)\n", v.Name, v.Shown, v.Option)
	}
}

// recording is one run on its way from options to a closed capture.
type recording struct {
	streams
	options *options.Run
	values  map[string]string // resolved options, secrets removed
	given   func(name string) bool
	command []string // as given, secrets removed
	// variables are those of the environment that options came from.
	variables []options.Variable
	notes     []string // recorded, and repeated by every report
	// trusting says why the broker's certificate is not verified.
	trusting string
	perfTest bool // standard output is PerfTest's

	dir        string
	endpoints  []loadcore.Endpoint // where it may connect to; none: the embedded broker
	tokens     *loadcore.Tokens    // in place of a password; nil: none
	renewal    *renewal            // of them, once it has begun
	connecting []string            // notes of where it connects to
	side       brokerSide
	faults     broker.Faults
	layout     *layout.Layout
	plan       *loadcore.Plan
	outcome    runOutcome
	outputs    outputs
}

type runOutcome struct{ *manifest.Outcome }

// failed: the run went wrong as a whole, not only one of its messages.
func (o runOutcome) failed() bool { return o.Outcome != nil && len(o.Failures) > 0 }

// began reports whether load was offered at all.
func (o runOutcome) began() bool { return o.Outcome != nil && o.BarrierNS != event.None }

// prepare checks everything that can be known without connecting. Its errors are usage errors.
func (r *recording) prepare() error {
	o := r.options
	if err := r.prepareBroker(); err != nil {
		return err
	}
	if err := o.Recovery.Check(r.given); err != nil {
		return err
	}
	r.prepareNames("run-")
	var err error
	if r.layout, err = layout.Of(o, r.given); err != nil {
		return err
	}
	if err := r.prepareReport(); err != nil {
		return err
	}
	if err := checkInstances(o, r.given); err != nil {
		return err
	}
	if err = r.schedule(); err != nil {
		return err
	}
	if r.plan, err = planOf(o, r.layout); err != nil {
		return err
	}
	if len(r.endpoints) > 0 && r.endpoints[0].ConnectTimeout != nil {
		r.plan.ConnectTimeout = *r.endpoints[0].ConnectTimeout
	}
	if r.perfTest {
		r.plan.Naming = loadcore.NamingPerfTest
	}
	return r.plan.Validate()
}

// prepareBroker checks what says where the broker is, and how to log in.
func (r *recording) prepareBroker() error {
	o := r.options
	if !embedded(o) && o.Faults != "" {
		return errors.New("--faults works on the embedded broker only: leave --uri out, or start leveret broker --faults and aim --uri at it")
	}
	var err error
	if r.faults, err = broker.ParseFaults(o.Faults); err != nil {
		return fmt.Errorf("--faults: %w", err)
	}
	if r.endpoints, r.connecting, err = endpointsOf(o, r.given); err != nil {
		return err
	}
	for i := range r.endpoints { // the option wins over the URI, and the URI over the option's default
		if e := &r.endpoints[i]; o.ConnectTimeout > 0 && (r.given("connect-timeout") || e.ConnectTimeout == nil) {
			e.ConnectTimeout = &o.ConnectTimeout
		}
	}
	secured, err := r.tokenTLS()
	if err != nil {
		return err
	}
	if r.tokens, err = tokensOf(&o.OAuth2, secured); err != nil {
		return err
	}
	return r.prepareBrokerSide()
}

// prepareNames names the run, where it has no name, and its directory.
func (r *recording) prepareNames(prefix string) {
	o := r.options
	if o.ID == "" {
		o.ID = prefix + time.Now().Format("20060102-150405.000")
	}
	r.dir = o.Capture
	if r.dir == "" {
		r.dir = filepath.Join(manifest.DefaultsRoot, o.ID)
	}
}

// prepareReport checks how results are to be shown.
func (r *recording) prepareReport() error {
	o := r.options
	o.Report.SettleFormat(r.given("format"))
	return errors.Join(o.Report.Check(), o.Report.Window.Check(o.Time), readable(&o.Report, r.streams), checkCharts(&o.Report.ChartOptions))
}

// schedule checks when messages are to be sent, and settles what depends on it.
func (r *recording) schedule() error {
	o := r.options
	if err := o.Schedule.Check(r.given); err != nil {
		return err
	}
	if o.Timed() && o.Coalesce > 0 {
		return fmt.Errorf("--coalesce=%v: with a rate every read is taken as it comes, so that latencies are the broker's; leave it out", o.Coalesce)
	}
	return nil
}

// record connects, declares, offers the load and closes the capture. It tells whether the user interrupted it.
func (r *recording) record(ctx context.Context) (bool, error) {
	leave, err := r.approach(ctx)
	defer leave()
	if err != nil {
		return false, err
	}
	peer, err := r.meet(ctx)
	if err != nil {
		return false, err
	}
	session, err := r.declare(ctx, peer)
	if err != nil {
		return false, err
	}
	defer func() {
		if err := session.Close(); err != nil {
			fmt.Fprintln(r.err, "warning:", withoutPasswords(oneLine(err.Error())))
		}
	}()
	r.askBroker(ctx)
	defer r.side.close()
	return r.captured(ctx, peer)
}

// approach gets ready to connect: it starts the embedded broker, or logs in for tokens, as the options say. leave ends both, also after
// an error.
func (r *recording) approach(ctx context.Context) (leave func(), err error) {
	leave = func() {}
	if embedded(r.options) {
		server, err := broker.Start(broker.Options{Addr: "127.0.0.1:0", Faults: r.faults, Version: toolVersion()})
		if err != nil {
			return leave, fmt.Errorf("embedded broker: %w", err)
		}
		leave = func() { server.Close() }
		own, err := loadcore.ParseURI(server.URI())
		if err != nil {
			return leave, fmt.Errorf("embedded broker: %w", err)
		}
		r.endpoints = []loadcore.Endpoint{own}
	}
	if r.tokens != nil {
		renewal, err := r.logInWithTokens(ctx)
		if err != nil {
			return leave, err
		}
		before := leave
		leave = func() { renewal.end(); before() }
	}
	return leave, nil
}

// declare makes the topology, as the broker that was met takes it.
func (r *recording) declare(ctx context.Context, peer manifest.Broker) (*topology.Session, error) {
	l := r.layout
	if !peer.Embedded {
		if n := layout.SettleDurability(l.Topology, peer.Version); n > 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("%s declared durable: this broker takes no transient queue that is not exclusive", result.Plural(int64(n), "queue")))
		}
	}
	for _, note := range l.Notes {
		fmt.Fprintln(r.err, "note:", note)
	}
	bounds := topology.Bounds{Declare: r.options.DeclareTimeout}
	if !r.perfTest {
		bounds.Close = r.options.ShutdownTimeout
	}
	declaring, declared := advanceOn(r.err, r.options.Quiet, "declaring exchanges, queues and bindings")
	defer declared()
	bounds.Declaring = declaring
	session, err := bounds.Declared(ctx, r.plan.Endpoint, r.plan.TopologyName(), l.Topology)
	if err != nil {
		return nil, err
	}
	session.DeleteAtEnd(l.Polled())
	return session, nil
}

// captured runs the load between the opening and the closing of the capture.
func (r *recording) captured(ctx context.Context, peer manifest.Broker) (bool, error) {
	start := r.manifest(peer)
	writer, err := capture.Create(r.dir, start, r.plan.Clock, capture.Options{
		Compression: r.options.Compression, Memory: r.options.RecordMemory,
		StallTimeout: r.options.RecordStallTimeout, Fsync: r.options.Fsync,
	})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(r.err, "recording into %s\n", r.dir)
	unwatchBroker := r.watchBroker(writer, &peer)
	recorder, stop := r.watch(writer, peer)
	leave := r.meetInstances()
	endHooks := r.startHooks()
	outcome, runErr := loadcore.Run(ctx, r.plan, recorder)
	stop(outcome)
	problems := append(unwatchBroker(), endHooks()...)
	leave()
	r.outcome.Outcome = outcome
	final := *start
	final.Outcome = outcome
	final.Notes = append(slices.Clone(start.Notes), r.renewal.notes()...)
	final.Notes = append(final.Notes, problems...)
	for _, u := range outcome.Unanswered {
		fmt.Fprintln(r.err, "warning: at the end of the run,", u)
		final.Notes = append(final.Notes, "at the end of the run, "+u)
	}
	end := r.plan.Clock.Snapshot()
	final.ClockEnd = &end
	closeErr := writer.Close(&final)
	if !r.outcome.began() {
		// Load never began: an empty capture would only look like a run.
		os.RemoveAll(r.dir)
		return ctx.Err() != nil, errors.Join(runErr, closeErr)
	}
	return outcome.Interrupted, r.failure(runErr, closeErr)
}

// failure is what ended a run whose load had begun. A recording that fails ends the run, too, and tells so twice.
func (r *recording) failure(runErr, closeErr error) error {
	err := errors.Join(runErr, closeErr)
	if closeErr == nil {
		return err
	}
	if runErr != nil && strings.Contains(runErr.Error(), closeErr.Error()) {
		err = runErr
	}
	return fmt.Errorf("%w\nwhat was recorded until then: leveret analyze %s", err, r.dir)
}

func (r *recording) manifest(peer manifest.Broker) *manifest.Manifest {
	m := &manifest.Manifest{
		FormatVersion: manifest.FormatVersion, ID: r.options.ID, Tool: toolFacts(), Tag: r.plan.Tag,
		Command: r.command, Options: r.values, Host: hostFacts(), Broker: peer, Topology: *r.layout.Topology,
		Connections: r.plan.Connections, Producers: r.plan.Producers, Consumers: r.plan.Consumers,
		Bodies: r.layout.Bodies, Drive: string(r.plan.ChosenDrive()), Pin: string(r.plan.Pin), CoalesceNS: int64(r.plan.CoalesceBound()),
		PID: os.Getpid(), ClockStart: r.plan.Clock.Snapshot(), Management: r.side.facts,
	}
	m.Notes = append(m.Notes, r.notes...)
	for _, v := range r.variables {
		m.Environment = append(m.Environment, v.Name)
	}
	m.Notes = append(append(m.Notes, r.layout.Notes...), r.plan.ConsumerNotes()...)
	for _, a := range r.plan.SourceAddresses {
		m.SourceAddresses = append(m.SourceAddresses, a.String())
	}
	for i := range r.plan.Endpoints {
		m.Endpoints, m.Allocation = append(m.Endpoints, r.plan.Endpoints[i].String()), string(r.plan.Allocation)
	}
	m.Notes = append(m.Notes, r.connecting...)
	if why := r.unverified(); why != "" {
		m.Notes = append(m.Notes, "the broker's certificate was not verified ("+why+")")
	}
	return m
}

// planOf lays out what the engine is to do; the endpoint follows when it is known.
func planOf(o *options.Run, l *layout.Layout) (*loadcore.Plan, error) {
	p := &loadcore.Plan{
		Clock: event.NewClock(), Tag: layout.NewTag(), ID: o.ID, Topology: l.Topology,
		Producers: l.Producers, Consumers: l.Consumers, Connections: l.Connections,
		Time: o.Time, ConnectTimeout: o.ConnectTimeout, ConfirmTimeout: o.ConfirmTimeout,
		WriteTimeout: o.WriteTimeout, BlockedTimeout: o.BlockedTimeout,
		DrainTimeout: orNone(o.DrainTimeout), CloseTimeout: orNone(o.ShutdownTimeout), EndTimeout: o.EndTimeout,
		Coalesce: o.Coalesce, Drive: driveOf(o.Drive), Pin: pinOf(o.Pin), ConnectRate: o.ConnectRate,
		FrameMax: uint32(o.FrameMax), Heartbeat: o.Heartbeat, Progress: new(loadcore.Progress),
		Allocation: loadcore.Allocation(o.ConnectionAllocation), AllocationSeed: o.Seed,
		TCP: loadcore.TCPOptions{SendBuffer: int(o.TCPSendBuffer), ReceiveBuffer: int(o.TCPReceiveBuffer), Delay: !o.TCPNoDelay},
	}
	o.Recovery.Plan(p)
	switch {
	case o.Idle: // phases stand at the end of time
	case o.RandomDelay > 0:
		loadcore.RandomPhases(p.Producers, o.Seed, int64(o.RandomDelay))
	default:
		loadcore.SpreadPhases(p.Producers)
	}
	for _, a := range o.SourceAddress {
		source, err := netip.ParseAddr(a)
		if err != nil {
			return nil, fmt.Errorf("--source-address=%s: want an IP address of this host", a)
		}
		p.SourceAddresses = append(p.SourceAddresses, source)
	}
	return p, layout.GiveBodies(o, l, p)
}

// orNone turns the option's 0, no time at all, into the plan's: there 0 is the default.
func orNone(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func driveOf(option string) loadcore.Drive {
	if option == "auto" {
		return loadcore.DriveAuto
	}
	return loadcore.Drive(option)
}

func pinOf(option string) loadcore.Pin {
	if option == "off" {
		return loadcore.PinNone
	}
	return loadcore.Pin(option)
}
