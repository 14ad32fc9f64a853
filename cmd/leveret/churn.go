package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"leveret/analyze"
	"leveret/capture"
	"leveret/capture/manifest"
	"leveret/cmd/internal/layout"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/panel"
	"leveret/loadcore"
)

func churnCommand() command {
	return command{name: "churn", arguments: "connection|channel|queue|consumer|binding [options]", summary: "makes and undoes things at the broker, at a rate, recorded",
		run: runChurn, help: churnHelp}
}

func churnHelp(w io.Writer) {
	set, _ := options.NewChurn(nil)
	commandHelp(w, churnCommand(), `
Makes something at the broker and undoes it again, so many times a second, records every step into
a capture directory, and analyzes that at the end: rates, exact percentiles of each step, failures.

  connection   TCP, TLS and AMQP handshakes, --channels; then connection.close
  channel      channel.open and channel.close, on --connections
  queue        queue.declare, with --exchange queue.bind; then queue.delete
  consumer     basic.consume and basic.cancel, of one queue that is made for it, each on a channel
  binding      queue.bind and queue.unbind, of one queue to --exchange, a key each

Operations are due by the schedule, whatever the broker does: response latency counts from then,
service latency from when the operation began. What fails is counted with the broker's text, and
the load goes on. Ctrl-C begins nothing new, undoes what is there and closes the record; a second
one exits at once. It can run beside leveret run; leveret analyze takes both captures together.`, `
  leveret churn connection --uri amqp://user:pass@host --rate 100 --channels 1 --time 60
  leveret churn queue --uri amqp://user:pass@host --quorum-queue --rate 5 --lifetime 10 --time 60
  leveret churn binding --uri amqp://user:pass@host --exchange amq.topic --ramp 0:500:60 --time 60`, set)
}

// churning is a churn on its way from options to a closed capture.
type churning struct {
	*recording
	options *options.Churn
	churn   *loadcore.ChurnPlan
}

func runChurn(ctx context.Context, args []string, s streams) (int, error) {
	c, err := newChurn(args, s)
	if err != nil {
		return 0, err
	}
	if c.options.UntilEOF {
		ctx = untilEOF(ctx, s.in)
	}
	interrupted, err := c.record(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil && c.outcome.Outcome == nil:
		return exitInterrupted, errors.New("interrupted before load began; nothing was recorded")
	default:
		return exitFailed, err
	}
	o := c.options
	if o.NoAnalyze {
		fmt.Fprintf(c.err, "recorded into %s; leveret analyze %s makes the report\n", c.dir, c.dir)
		return exitCodeOf(interrupted, exitOK), nil
	}
	code, err := analyzeAndReport(context.WithoutCancel(ctx), []string{c.dir}, analyze.Options{}, &o.Report, o.Quiet, c.streams, nil)
	fmt.Fprintf(c.err, "recorded into %s\n", c.dir)
	return exitCodeOf(interrupted, code), err
}

// newChurn is a churn that is ready to connect.
func newChurn(args []string, s streams) (*churning, error) {
	set, o := options.NewChurn(redactURI)
	words, err := set.Parse(args)
	if err != nil {
		return nil, err
	}
	usage := func(err error) (*churning, error) { return nil, &options.UsageError{Command: "churn", Err: err} }
	kinds := strings.Join(manifest.ChurnKinds, ", ")
	switch {
	case len(words) == 0:
		return usage(fmt.Errorf("what? leveret churn KIND, one of %s", kinds))
	case len(words) > 1:
		return usage(fmt.Errorf("%d kinds, %q among them, and one run makes things of one kind: %s", len(words), words[1], kinds))
	case !slices.Contains(manifest.ChurnKinds, words[0]):
		return usage(fmt.Errorf("%q is none of the kinds: %s", words[0], kinds))
	}
	variables, err := set.FromEnvironment(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	sayVariables(s.err, variables)
	c := &churning{options: o, recording: &recording{
		options: &o.Run, streams: s, values: set.Values(), given: set.Changed, command: set.Redacted(args), variables: variables, trusting: "--insecure",
		layout: &layout.Layout{Topology: &manifest.Topology{}},
	}}
	if err := c.prepare(words[0]); err != nil {
		return usage(err)
	}
	return c, nil
}

// prepare checks everything that can be known without connecting.
func (c *churning) prepare(what string) error {
	if err := c.prepareBroker(); err != nil {
		return err
	}
	c.prepareNames("churn-")
	if err := c.prepareReport(); err != nil {
		return err
	}
	var err error
	if c.plan, err = planOf(&c.options.Run, c.layout); err != nil {
		return err
	}
	prefix := fmt.Sprintf("%s-%03x-", c.options.ID, c.plan.Tag)
	load, err := c.options.Plan(what, prefix, c.given)
	if err != nil {
		return err
	}
	c.churn = &loadcore.ChurnPlan{Plan: c.plan, Churn: load, Prefix: prefix, Live: new(loadcore.ChurnLive)}
	return c.churn.Validate()
}

// record connects, offers the load and closes the capture. It tells whether the user interrupted it.
func (c *churning) record(ctx context.Context) (bool, error) {
	leave, err := c.approach(ctx)
	defer leave()
	if err != nil {
		return false, err
	}
	c.plan.Connections = max(c.churn.Churn.Connections, 1)
	peer, err := c.greet(ctx)
	if err != nil {
		return false, err
	}
	fmt.Fprintln(c.err, c.churn.Churn.Describe())
	if err := c.churn.Preflight(ctx, &peer); err != nil {
		return false, err
	}
	c.plan.Connections = c.churn.Churn.Connections
	c.askBroker(ctx)
	defer c.side.close()
	return c.captured(ctx, peer)
}

// captured offers the load between the opening and the closing of the capture.
func (c *churning) captured(ctx context.Context, peer manifest.Broker) (bool, error) {
	o, start := c.options, c.manifest(peer)
	start.Churn = &c.churn.Churn
	writer, err := capture.Create(c.dir, start, c.plan.Clock, capture.Options{
		Compression: o.Compression, Memory: o.RecordMemory, StallTimeout: o.RecordStallTimeout, Fsync: o.Fsync,
	})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(c.err, "recording into %s\n", c.dir)
	unwatchBroker := c.watchBroker(writer, &peer)
	stop := func(*manifest.Outcome) {}
	if !o.Quiet {
		stop = panel.ShowChurn(panel.Churn{Live: c.churn.Live, Clock: c.plan.Clock, Interval: o.Interval, Time: o.Time}, c.err)
	}
	outcome, runErr := loadcore.Churn(ctx, c.churn, writer)
	stop(outcome)
	final := *start
	final.Outcome = outcome
	final.Notes = slices.Concat(start.Notes, c.renewal.notes(), unwatchBroker())
	if outcome == nil {
		final.Outcome = &manifest.Outcome{}
	}
	end := c.plan.Clock.Snapshot()
	final.ClockEnd = &end
	closeErr := writer.Close(&final)
	if outcome == nil {
		// Load never began: an empty capture would only look like one.
		os.RemoveAll(c.dir)
		return false, errors.Join(runErr, closeErr)
	}
	c.outcome.Outcome = outcome
	return outcome.Interrupted, c.failure(runErr, closeErr)
}
