package loadcore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// lanePlan is a lane that a connection will carry; one of the two is set. Its channel number is its place plus one.
type lanePlan struct {
	producer *producer
	consumer *consumer
}

// openAtOnce bounds how many connections are being opened at the same time: enough to hide the round trips, not so many
// that a broker's listen queue overflows.
const openAtOnce = 32

// forEach calls do for 0..n-1, at most limit at a time, and returns the errors joined.
func forEach(n, limit int, do func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// untilError calls do as forEach does, and begins nothing more after the first error, which it returns, nor when ctx has ended.
func untilError(ctx context.Context, n, limit int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	forEach(n, limit, func(i int) error {
		if ctx.Err() == nil {
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		}
		return nil
	})
	err := context.Cause(ctx)
	if err == context.Canceled {
		err = errors.New("interrupted before the load began")
	}
	return err
}

// connect opens all connections and makes all lanes ready. The first error ends it.
func (e *engine) connect(ctx context.Context) error {
	start := time.Now()
	err := untilError(ctx, len(e.conns), openAtOnce, func(ctx context.Context, i int) error {
		if !e.awaitTurn(ctx, start, i) {
			return nil
		}
		if err := e.conn(i).open(ctx); err != nil {
			return e.atConnection(i, err)
		}
		return nil
	})
	if err == nil {
		exclusive := slices.Sorted(maps.Keys(e.exclusive))
		err = untilError(ctx, len(exclusive), openAtOnce, func(ctx context.Context, i int) error { return e.declareExclusive(ctx, exclusive[i]) })
	}
	if err == nil {
		err = untilError(ctx, len(e.consumers), openAtOnce, e.subscribe)
	}
	return err
}

// subscribe has a consumer subscribe that does so before the load.
func (e *engine) subscribe(ctx context.Context, i int) error {
	c := e.consumers[i]
	if c.beginsLater() {
		return nil
	}
	for k := range c.queues {
		c.queues[k].state.Store(notYet)
	}
	return c.subscribe(ctx)
}

// awaitTurn waits until the i-th connection may be begun; false: ctx ended first.
func (e *engine) awaitTurn(ctx context.Context, start time.Time, i int) bool {
	if e.plan.ConnectRate == 0 {
		return true
	}
	turn := start.Add(time.Duration(float64(i) / float64(e.plan.ConnectRate) * float64(time.Second)))
	timer := time.NewTimer(time.Until(turn))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// atConnection says how far the opening of many connections has got.
func (e *engine) atConnection(i int, err error) error {
	if len(e.conns) == 1 {
		return err
	}
	open := 0
	for _, c := range e.connections() {
		if c.opened.Load() {
			open++
		}
	}
	hint := ""
	if open > 0 && isTimeout(err) {
		hint = "; the broker may have run out of something, such as file descriptors (RabbitMQ: see rabbitmq-diagnostics status), or not keep up (--connect-rate, --connect-timeout)"
	}
	return fmt.Errorf("connection %d of %d, %d are open: %w%s", i+1, len(e.conns), open, err, hint)
}

// open opens one connection and its channels.
func (c *conn) open(ctx context.Context) error {
	return c.dial(ctx, c.eng.order(c.number), c.eng.plan.connectOptions(c.number), c.use)
}

// dial opens the connection at the first endpoint where that can be done, and hands it to use.
func (c *conn) dial(ctx context.Context, order []*Endpoint, o ConnectOptions, use func(context.Context, *link, ConnectOptions) error) error {
	var none NoneError
	for _, c.endpoint = range order {
		if none == nil {
			c.enter(event.Connecting, loss{text: c.attempt})
		} else {
			last := none[len(none)-1]
			c.enter(event.Connecting, loss{code: last.Code, text: last.Endpoint + ": " + last.reason()})
		}
		bounded, cancel := context.WithTimeout(ctx, o.Timeout+c.lanesTime())
		defer cancel()
		l, err := open(bounded, c.endpoint, o)
		if err == nil {
			o.Timeout += c.lanesTime()
			return use(bounded, l, o)
		}
		if none.add(err); ctx.Err() != nil || none.final() {
			break
		}
		if isTimeout(err) {
			c.eng.silent.Store(c.endpoint, true)
		}
	}
	last := none[len(none)-1]
	c.enter(event.Lost, loss{code: last.Code, text: last.reason()})
	return none.error()
}

// lanesTime is how much longer than another one a connection with many channels may take.
func (c *conn) lanesTime() time.Duration { return time.Duration(len(c.lanePlan)/20) * time.Second }

// reason is without the endpoint.
func (e *ConnectError) reason() string { return string(e.Stage) + ": " + e.Text }

// use makes the lanes ready on a link that is open.
func (c *conn) use(ctx context.Context, l *link, o ConnectOptions) error {
	if err := c.takeLink(l); err != nil {
		return err
	}
	c.begin()
	if err := c.openLanes(ctx); err != nil {
		return c.laneError(err, o)
	}
	return nil
}

// takeLink keeps a link that has room for the lanes.
func (c *conn) takeLink(l *link) error {
	c.link = l
	if limit := int(l.limits.ChannelMax); limit > 0 && len(c.lanePlan) > limit {
		l.tcp.Close()
		err := tooManyChannels(int(c.number), len(c.lanePlan), limit)
		c.enter(event.Lost, loss{text: err.Error()})
		return err
	}
	return nil
}

// begin starts reading the connection, whose handshake is done.
func (c *conn) begin() {
	c.out = newOutbox(c.eng.clock, c.link, c.writeFailed)
	major, _, _ := strings.Cut(c.link.text("version"), ".")
	if n, _ := strconv.Atoi(major); n >= 4 && c.link.text("product") == "RabbitMQ" {
		c.eng.limitsDeliveries.Store(true)
	}
	c.link.server = nil // who the broker is was learned before the run
	c.prepareLanes()
	where := ""
	if len(c.eng.plan.Endpoints) > 1 {
		where = c.endpoint.String()
	}
	c.enter(event.Open, loss{text: where})
	c.renewal.begin(c.endpoint, c.link.secret, c.updateSecret)
	c.link.secret = ""
	c.readers.Add(1)
	if c.shared != nil {
		c.beginShared()
		return
	}
	c.in.buf = make([]byte, max(readBufferMin, len(c.link.ahead)))
	c.in.end = copy(c.in.buf, c.link.ahead)
	c.link.ahead = nil
	c.opened.Store(true)
	go c.readLoop()
}

// prepareLanes makes the channels that the connection will carry.
func (c *conn) prepareLanes() {
	places := len(c.lanePlan) + 1
	if limit := int(c.link.limits.ChannelMax); limit == 0 || len(c.lanePlan) < limit {
		places++ // for questions
	}
	c.lanes = make([]atomicChannel, places)
	c.lanes[0].Store(newChannel(c, 0))
	c.throttle = c.newThrottle()
	for i, l := range c.lanePlan {
		ch := newChannel(c, uint16(i+1))
		ch.producer, ch.consumer = l.producer, l.consumer
		ch.carry()
		c.lanes[i+1].Store(ch)
	}
}

func (c *conn) openLanes(ctx context.Context) error {
	for i, l := range c.lanePlan {
		ch := c.lane(i + 1)
		if _, err := ch.call(ctx, &wire.ChannelOpen{}, wire.ChannelOpenOkID); err != nil {
			return err
		}
		switch {
		case l.producer != nil:
			if err := l.producer.prepare(ctx); err != nil {
				return fmt.Errorf("producer %d: %w", l.producer.index, err)
			}
		default:
			if err := l.consumer.prepare(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// laneError makes a ConnectError of what went wrong on a connection that was open already.
func (c *conn) laneError(err error, o ConnectOptions) error {
	e := &ConnectError{Endpoint: c.endpoint.String(), Stage: StageChannel, Text: err.Error(), Err: err}
	var why loss
	switch {
	case errors.As(err, &why):
		e.Code, e.Hint = why.code, Remedy(why.code, why.text)
	case isTimeout(err):
		e.Text = fmt.Sprintf("%v (%v, --connect-timeout)", err, o.Timeout)
	}
	return e
}
