package loadcore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// needsChannels: operations use channels of the pool.
func (c *churner) needsChannels() bool {
	return c.spec.What != manifest.ChurnConnection && c.spec.What != manifest.ChurnChannel
}

// ownQueue: one queue is declared before the load, for all operations.
func (c *churner) ownQueue() bool {
	return c.spec.What == manifest.ChurnConsumer || c.spec.What == manifest.ChurnBinding
}

// setUp makes what operations need: shared connections, an exchange that is there, the queue of consumers and bindings.
func (c *churner) setUp(ctx context.Context) (err error) {
	if c.ownQueue() || c.spec.Exchange != "" {
		if err := c.asAdmin(ctx, c.prepare); err != nil {
			return err
		}
	}
	if c.spec.Connections > 0 {
		c.pool, err = c.newPool(ctx)
	}
	return err
}

// prepare looks for the exchange, and declares the queue of all operations.
func (c *churner) prepare(ctx context.Context, a *churnLink) error {
	if x := c.spec.Exchange; x != "" {
		if _, _, err := a.call(ctx, 1, &wire.ExchangeDeclare{Exchange: x, Type: "direct", Passive: true}, wire.ExchangeDeclareOkID, c.timeout()); err != nil {
			return fmt.Errorf("--exchange=%s: %w", x, explained(err, "; a churn declares no exchange: name one that is there, such as amq.direct"))
		}
	}
	if c.ownQueue() {
		if _, _, err := a.call(ctx, 1, c.declaration(c.spec.Queue.Name), wire.QueueDeclareOkID, c.timeout()); err != nil {
			return fmt.Errorf("declaring queue %s: %w", c.spec.Queue.Name, explained(err, ""))
		}
		c.remains.add(c.spec.Queue.Name)
	}
	return nil
}

// explained is an error with what can be done about it.
func explained(err error, otherwise string) error {
	var why loss
	if !errors.As(err, &why) {
		return err
	}
	if otherwise != "" {
		return errors.New(oneLine(why.Error()) + otherwise)
	}
	return errors.New(why.withRemedy())
}

// asAdmin does something on a connection, and a channel, of its own.
func (c *churner) asAdmin(ctx context.Context, do func(context.Context, *churnLink) error) error {
	o := c.plan.connectOptions(0)
	o.Name = c.plan.TopologyName()
	a, err := c.openLink(ctx, 0, o)
	if err != nil {
		return err
	}
	defer a.close(ctx, DefaultCloseTimeout)
	if _, _, err := a.call(ctx, 1, &wire.ChannelOpen{}, wire.ChannelOpenOkID, c.timeout()); err != nil {
		return err
	}
	return do(ctx, a)
}

// openLink opens a connection at the first endpoint that takes it, of those that connection n may have.
func (c *churner) openLink(ctx context.Context, n uint32, o ConnectOptions) (*churnLink, error) {
	var none NoneError
	for _, ep := range c.plan.candidates(n) {
		l, err := open(ctx, ep, o)
		if err == nil {
			return newChurnLink(c.clock, l), nil
		}
		if none.add(err); ctx.Err() != nil || none.final() {
			break
		}
	}
	return nil, none.error()
}

// tearDown closes the shared connections, and deletes what operations could not; the error says what is left and why.
func (c *churner) tearDown() error {
	if c.pool != nil {
		c.pool.end()
	}
	if c.remains.none() {
		return nil
	}
	err := c.asAdmin(c.undoing, c.cleanUp)
	switch {
	case c.remains.none():
		return nil
	case c.undoing.Err() != nil:
		err = context.Cause(c.undoing)
	case err == nil:
		err = fmt.Errorf("no more than %d names were kept", mostRemains)
	}
	return fmt.Errorf("%d queues could not be deleted: %w", c.remains.count(), err)
}

// cleanUp deletes the queues that remain.
func (c *churner) cleanUp(ctx context.Context, a *churnLink) (failed error) {
	names := c.remains.take()
	for i, name := range names {
		_, _, err := a.call(ctx, 1, &wire.QueueDelete{Queue: name}, wire.QueueDeleteOkID, c.timeout())
		var why loss
		if errors.As(err, &why) && why.code != 0 && a.alive() { // the broker has closed the channel
			if _, _, again := a.call(ctx, 1, &wire.ChannelOpen{}, wire.ChannelOpenOkID, c.timeout()); again == nil && wire.ReplyCode(why.code) == wire.ReplyNotFound {
				err = nil // it is gone
			}
		}
		switch {
		case err == nil:
			if !c.ownQueue() {
				c.remains.cleaned++
			}
		case !a.alive() || ctx.Err() != nil:
			for _, rest := range names[i:] {
				c.remains.add(rest)
			}
			return err
		default:
			c.remains.add(name)
			failed = explained(err, "")
		}
	}
	return failed
}

// remains are queues that may still be at the broker.
type remains struct {
	mu    sync.Mutex // guards the following
	names []string
	more  int64 // that were not kept
	// cleaned counts those that were deleted in the end; of the main goroutine.
	cleaned int64
}

// mostRemains is how many names are kept, and mostLeft how many of them the outcome has.
const (
	mostRemains = 100_000
	mostLeft    = 100
)

func (r *remains) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.names) == mostRemains {
		r.more++
		return
	}
	r.names = append(r.names, name)
}

func (r *remains) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := r.names
	r.names = nil
	return names
}

func (r *remains) count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.names)) + r.more
}

func (r *remains) none() bool { return r.count() == 0 }

func (r *remains) describe(o *manifest.ChurnOutcome) {
	o.LeftCount, o.CleanedUp = r.count(), r.cleaned
	o.Left = r.names[:min(len(r.names), mostLeft)]
}

// Preflight checks the plan against the limits of this system and, where it is known from a Probe, of the broker, as Plan's does:
// descriptors for all connections that are open at the same time, local ports for those and for the ones that were closed less than
// a minute before, channels for all operations that are alive. SourceAddresses are set where one loopback address has too few ports.
func (p *ChurnPlan) Preflight(ctx context.Context, b *manifest.Broker) error {
	open, ports := p.Churn.Connections, p.Churn.Connections
	var errs []error
	if p.Churn.What == manifest.ChurnConnection {
		open = p.Churn.Alive
		ports = open + p.lingering(ctx)
	} else {
		errs = append(errs, p.checkPoolChannels(b))
	}
	d := *p.Plan
	d.Connections = open
	errs = append(errs, d.checkDescriptors())
	d.Connections = ports
	if err := d.checkPorts(ctx); err != nil {
		if ports > open {
			err = fmt.Errorf("a connection that was closed keeps its local port for a time (TIME_WAIT), %d of them at this rate: %w", ports-open, err)
		}
		errs = append(errs, err)
	}
	p.SourceAddresses = d.SourceAddresses
	return errors.Join(errs...)
}

// checkPoolChannels holds the channels that the shared connections may need against what they can have.
func (p *ChurnPlan) checkPoolChannels(b *manifest.Broker) error {
	channels := p.Churn.Alive // each operation has one as long as it is alive
	if p.Churn.What == manifest.ChurnQueue || p.Churn.What == manifest.ChurnBinding {
		channels = p.Churn.Concurrency
	}
	limit := DefaultChannelMax
	if b != nil && b.ChannelMax > 0 {
		limit = min(limit, int(b.ChannelMax))
	}
	need := (channels + p.Churn.Connections - 1) / p.Churn.Connections
	if need <= limit {
		return nil
	}
	return fmt.Errorf("--connections=%d: up to %d operations need a channel at the same time, %d on each connection, and one may have %d (channel_max): ask for at least %d connections, a shorter --lifetime or a lower rate",
		p.Churn.Connections, channels, need, limit, (channels+limit-1)/limit)
}

// lingering is how many local ports are kept by connections that were closed, at the highest rate of the plan.
func (p *ChurnPlan) lingering(ctx context.Context) int {
	rate := p.Churn.Rate.PerSecond()
	for _, s := range p.Churn.Stages {
		rate = max(rate, s.From.PerSecond(), s.To.PerSecond())
	}
	span := timeWait(toLoopback4(ctx, p.Endpoint.Host))
	if p.Time > 0 {
		span = min(span, p.Time)
	}
	most := rate * span.Seconds()
	if p.Churn.Limit > 0 {
		most = min(most, float64(p.Churn.Limit))
	}
	return int(min(most, 1<<30))
}

// timeWait is how long Linux keeps the local port of a connection that this end has closed first: a minute, unless it is told to
// give it to new connections after a second (net.ipv4.tcp_tw_reuse 1, or 2 for loopback alone, which is usual).
func timeWait(loopback bool) time.Duration {
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_tw_reuse")
	reuse := strings.TrimSpace(string(text))
	if err == nil && (reuse == "1" || reuse == "2" && loopback) {
		return time.Second
	}
	return time.Minute
}
