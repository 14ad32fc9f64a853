package loadcore

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// withDefaults is a copy of the plan with the fields filled in that are 0.
func (p *Plan) withDefaults() *Plan {
	d := *p
	for _, f := range []struct {
		to *time.Duration
		or time.Duration
	}{{&d.ConfirmTimeout, DefaultConfirmTimeout}, {&d.WriteTimeout, DefaultWriteTimeout}, {&d.BlockedTimeout, DefaultBlockedTimeout}, {&d.DrainTimeout, DefaultDrainTimeout}, {&d.CloseTimeout, DefaultCloseTimeout}, {&d.ReconnectTime, DefaultReconnectTime}} {
		if *f.to == 0 {
			*f.to = f.or
		}
	}
	if d.ReconnectDelay == (Backoff{}) {
		d.ReconnectDelay = DefaultReconnectDelay
	}
	if d.secretTimeout == 0 {
		d.secretTimeout = defaultSecretTimeout
	}
	d.channels, d.consumersFrom = p.neededChannels(), p.firstConsumerConnection()
	if d.Clock == nil {
		d.Clock = event.NewClock()
	}
	if d.Progress == nil {
		d.Progress = new(Progress)
	}
	return &d
}

// connectOptions of connection number n, with defaults.
func (p *Plan) connectOptions(n uint32) ConnectOptions {
	o := ConnectOptions{
		Name: p.connectionName(n), TCP: p.TCP,
		Timeout: p.ConnectTimeout, FrameMax: p.FrameMax, ChannelMax: p.ChannelMax, Heartbeat: p.Heartbeat,
	}
	if o.ChannelMax == 0 && p.Endpoint.ChannelMax == nil {
		o.ChannelMax = p.channels
	}
	if len(p.SourceAddresses) > 0 {
		o.Source = p.SourceAddresses[int(n)%len(p.SourceAddresses)]
	}
	return o.withDefaults(&p.Endpoint)
}

// Validate checks the whole plan; all its errors are in the one that it returns, a line each, with option, value and
// remedy.
func (p *Plan) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Tag > event.MaxTag {
		bad("run tag %d: at most %d fits the stamp", p.Tag, event.MaxTag)
	}
	if p.Topology == nil {
		return errors.Join(append(errs, errors.New("the plan has no topology"))...)
	}
	if n := len(p.Producers); n > event.MaxProducers {
		bad("--producers: %d producers in all, at most %d fit the stamp", n, event.MaxProducers)
	}
	if n := len(p.Consumers); n > math.MaxUint16+1 {
		bad("--consumers: %d consumers in all, at most %d fit the record", n, math.MaxUint16+1)
	}
	if len(p.Producers)+len(p.Consumers) == 0 {
		bad("--producers=0 --consumers=0: there is nothing to do, give at least one of them")
	}
	for _, d := range []struct {
		option string
		value  time.Duration
	}{{"time", p.Time}, {"connect-timeout", p.ConnectTimeout}, {"write-timeout", p.WriteTimeout}, {"blocked-timeout", p.BlockedTimeout}} {
		if d.value < 0 {
			bad("--%s=%v: want a positive duration", d.option, d.value)
		}
	}
	errs = append(errs, p.checkDrive(), p.checkPin(), p.checkAllocation(), p.TCP.check())
	if p.ConnectRate < 0 {
		bad("--connect-rate=%d: want connections per second, or 0 for no limit", p.ConnectRate)
	}
	if p.Coalesce > MaxCoalesce {
		bad("--coalesce=%v: want at most %v", p.Coalesce, MaxCoalesce)
	}
	if p.Coalesce > 0 && slices.ContainsFunc(p.Producers, func(s manifest.Producer) bool { return s.Timed() }) {
		bad("--coalesce=%v: with a rate every read is taken as it comes, so that latencies are the broker's; want 0", p.Coalesce)
	}
	if err := checkFrameMax(p.FrameMax); err != nil {
		bad("--framemax=%d: %w", p.FrameMax, err)
	}
	if len(p.Topology.Queues) > math.MaxUint16+1 || len(p.Topology.Routes) > math.MaxUint16+1 {
		bad("the topology has %d queues and %d routes, at most %d of each fit the record", len(p.Topology.Queues), len(p.Topology.Routes), math.MaxUint16+1)
	}
	lanes := p.checkLanes()
	if errs = append(errs, lanes); lanes == nil { // what they name is there
		errs = append(errs, p.checkExclusive())
	}
	return errors.Join(append(errs, p.checkDisconnect())...)
}

// checkLanes returns the first error of a producer and the first of a consumer: one stands for all, as they are made from
// the same options.
func (p *Plan) checkLanes() error {
	var errs []error
	checked := map[[2]int]bool{} // ranges of routes: thousands of producers may take the same thousands in turn
	for i := range p.Producers {
		s := &p.Producers[i]
		err := p.checkProducer(s)
		if routes := [2]int{s.Route, s.Routes}; err == nil && !checked[routes] {
			checked[routes] = true
			err = p.checkRoutes(s)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("producer %d: %w", i, err))
			break
		}
	}
	for i := range p.Consumers {
		if err := p.checkConsumer(&p.Consumers[i]); err != nil {
			errs = append(errs, fmt.Errorf("consumer %d: %w", i, err))
			break
		}
	}
	return errors.Join(errs...)
}

func (p *Plan) checkProducer(s *manifest.Producer) error {
	switch {
	case s.Connection < 0 || s.Connection >= p.Connections:
		return fmt.Errorf("connection %d of %d does not exist", s.Connection, p.Connections)
	case s.Route < 0 || s.Route >= len(p.Topology.Routes):
		return fmt.Errorf("route %d of %d does not exist", s.Route, len(p.Topology.Routes))
	case s.Confirm < 0 || s.Confirm > maxWindow:
		return fmt.Errorf("--confirm=%d: want 0 (no confirms) to %d", s.Confirm, maxWindow)
	case s.Limit < 0 || s.Limit > event.MaxSequence:
		return fmt.Errorf("--pmessages=%d: want 0 (no limit) to %d, the sequences of a producer", s.Limit, int64(event.MaxSequence))
	case s.Batch < 0:
		return fmt.Errorf("--batch=%d: want 0 (as many as 64 KiB hold) or more", s.Batch)
	case s.Rate.Messages < 0 || s.Rate.Messages > 0 && s.Rate.PerNS <= 0:
		return fmt.Errorf("--rate: %d messages in %d ns is no rate", s.Rate.Messages, s.Rate.PerNS)
	case s.PhaseNS < 0:
		return fmt.Errorf("phase %d ns: want 0 or more", s.PhaseNS)
	case s.Rate.Messages > 0 && len(s.Stages) > 0:
		return errors.New("--rate and stages of a varying rate contradict each other: give one of them")
	case s.Arrivals != manifest.ArrivalsEven && s.Arrivals != manifest.ArrivalsPoisson:
		return fmt.Errorf("--arrivals=%s: want even or poisson", s.Arrivals)
	case s.Arrivals != manifest.ArrivalsEven && !s.Timed():
		return fmt.Errorf("--arrivals=%s: arrivals need a rate, give one", s.Arrivals)
	case s.CatchUp != nil && *s.CatchUp < 0:
		return fmt.Errorf("--catch-up=%d: want all, none or the most late messages to send", *s.CatchUp)
	case s.CatchUp != nil && !s.Timed():
		return errors.New("--catch-up: without a rate nothing is ever late; give one")
	}
	for _, err := range []error{checkStages(s.Stages), p.checkBodies(s), checkMessageProperties(s), checkTransactions(s)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkStages refuses what a course could not count exactly, or would never end searching.
func checkStages(stages []manifest.Stage) error {
	if len(stages) > maxStages {
		return fmt.Errorf("%d stages of a varying rate: want at most %d", len(stages), maxStages)
	}
	some := false
	for i, s := range stages {
		for _, r := range []manifest.Rate{s.From, s.To} {
			if r.Messages < 0 || r.PerNS <= 0 || microPerRate%r.PerNS != 0 || r.Messages > r.PerNS {
				return fmt.Errorf("stage %d of a varying rate: %d messages in %d ns: want 0 to 1000000000 a second, in millionths", i+1, r.Messages, r.PerNS)
			}
			some = some || r.Messages > 0
		}
		if s.ForNS <= 0 || s.ForNS > maxStage {
			return fmt.Errorf("stage %d of a varying rate lasts %v: want more than 0, and at most %v", i+1, time.Duration(s.ForNS), time.Duration(maxStage))
		}
	}
	if len(stages) > 0 && !some {
		return errors.New("all stages of the varying rate are pauses, in which nothing is ever due: give one of them a rate")
	}
	return nil
}

// maxWindow bounds a confirm window: its ring takes a bit a message, and the settlements of one frame a uint32.
const maxWindow = 1 << 30

// checkFrameMax refuses a frame-max (bytes) that the protocol does not allow; 0 means no limit.
func checkFrameMax(limit uint32) error {
	if limit != 0 && limit < wire.FrameMinSize {
		return fmt.Errorf("want at least %d bytes, the protocol's least frame-max, or 0 for no limit", wire.FrameMinSize)
	}
	return nil
}
