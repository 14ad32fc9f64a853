package loadcore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// churnPool are the connections that operations share, and channels on them for those that need one. Operation n belongs to
// connection n mod N. A connection that is lost is opened again, once a second at most, while operations of it fail with the reason.
type churnPool struct {
	*churner
	conns   []*poolConn
	closing context.Context // ends when connections are opened no more
	close   context.CancelFunc
	opening sync.WaitGroup
}

type poolConn struct {
	number uint32
	mu     sync.Mutex // guards the following
	open   *churnLink // the last that was opened
	why    error      // there is none: the last attempt failed
	tried  time.Time
	busy   bool // it is being opened
	free   []*poolChannel
}

// poolChannel is an open channel that one operation at a time uses. Where why is set there is none.
type poolChannel struct {
	of     *poolConn
	link   *churnLink
	number uint16
	why    error
}

// reopenEvery is the least time between two attempts to open a lost connection of the pool.
const reopenEvery = time.Second

// newPool opens the connections, and as many channels as can be in work. The first error ends it.
func (c *churner) newPool(ctx context.Context) (*churnPool, error) {
	p := &churnPool{churner: c}
	p.closing, p.close = context.WithCancel(context.Background())
	for i := range c.spec.Connections {
		p.conns = append(p.conns, &poolConn{number: uint32(i), tried: time.Now()})
	}
	err := untilError(ctx, len(p.conns), openAtOnce, func(ctx context.Context, i int) error { return p.dial(ctx, p.conns[i]) })
	if err != nil || !c.needsChannels() {
		return p, err
	}
	channels := make([]*poolChannel, c.spec.Concurrency)
	err = untilError(ctx, len(channels), openAtOnce, func(_ context.Context, i int) error {
		channels[i] = p.borrow(uint64(i))
		return channels[i].why
	})
	if err != nil {
		return p, err
	}
	for _, ch := range channels {
		p.giveBack(ch, event.StepDone)
	}
	return p, nil
}

// dial opens a connection of the pool.
func (p *churnPool) dial(ctx context.Context, of *poolConn) error {
	link, err := p.openLink(ctx, of.number, p.plan.connectOptions(of.number))
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.why = err; err == nil {
		of.open, of.free = link, nil
	}
	return err
}

// link is the connection of operation n, or why there is none; then it is opened again meanwhile.
func (p *churnPool) link(n uint64) (*churnLink, error) {
	of := p.conns[n%uint64(len(p.conns))]
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.open.alive() {
		return of.open, nil
	}
	if !of.busy && time.Since(of.tried) >= reopenEvery && p.closing.Err() == nil {
		of.busy, of.tried = true, time.Now()
		p.opening.Go(func() {
			p.dial(p.closing, of) // where it fails, operations tell why
			of.mu.Lock()
			of.busy = false
			of.mu.Unlock()
		})
	}
	if of.why != nil {
		return nil, of.why
	}
	return nil, of.open.reason()
}

// borrow takes a channel for operation n, opened where none is free.
func (p *churnPool) borrow(n uint64) *poolChannel {
	link, err := p.link(n)
	of := p.conns[n%uint64(len(p.conns))]
	if err != nil {
		return &poolChannel{of: of, why: err}
	}
	of.mu.Lock()
	if k := len(of.free); k > 0 && of.open == link {
		ch := of.free[k-1]
		of.free = of.free[:k-1]
		of.mu.Unlock()
		return ch
	}
	of.mu.Unlock()
	ch := &poolChannel{of: of, link: link}
	var ok bool
	if ch.number, ok = link.channel(); !ok {
		ch.why = fmt.Errorf("connection %d has no channel left (channel_max): more --connections, or fewer that are held", of.number)
		return ch
	}
	_, _, ch.why = link.call(p.undoing, ch.number, &wire.ChannelOpen{}, wire.ChannelOpenOkID, p.timeout())
	if ch.why == errChurnTimeout { // it is told of the operation's own request
		ch.why = fmt.Errorf("%v: %w", wire.ChannelOpenID, errChurnTimeout)
	}
	return ch
}

// giveBack frees a channel after a step that ended so. One that the broker has closed is gone, and so is one with a request that
// was never answered: whose answer would be taken for another's.
func (p *churnPool) giveBack(ch *poolChannel, last event.ChurnOutcome) {
	switch {
	case !ch.link.alive():
	case last == event.StepDone:
		ch.of.mu.Lock()
		if ch.of.open == ch.link {
			ch.of.free = append(ch.of.free, ch)
		}
		ch.of.mu.Unlock()
	case last == event.StepRefused:
		ch.link.release(ch.number)
	}
}

// end closes all connections, politely where they answer.
func (p *churnPool) end() {
	p.close()
	p.opening.Wait()
	forEach(len(p.conns), closeAtOnce, func(i int) error {
		if link := p.conns[i].open; link != nil {
			link.close(p.undoing, DefaultCloseTimeout)
		}
		return nil
	})
}
