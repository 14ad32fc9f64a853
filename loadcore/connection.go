package loadcore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// conn is one connection: the control plane. What comes once a message is in reader.go, consume.go, confirm.go and
// publish.go.
//
// One goroutine reads it (readLoop) and owns everything that reading changes. Others send frames through out, ask
// questions with call, and poke the reader to have it look after its lanes when nothing comes.
type conn struct {
	eng      *engine
	number   uint32
	endpoint *Endpoint // where it is open, or was last tried
	link     *link
	out      *outbox
	in       inbound
	rests    rests
	// lanes are the channels by number: [0] is the connection's own, then come the lanes'. Where the broker allows one
	// more, the last one is for questions that belong to no lane, and may be replaced; the others stay.
	lanes    []atomicChannel
	lanePlan []lanePlan

	// Of the read call that is being handled; the reader's.
	at            int64
	producersRead []*producer
	consumersRead []*consumer
	answers       []answer
	acks          []byte

	attempt string // of a recovery: which one it is
	doomed  bool   // guarded by mending.mu: it is lost, or about to be, and is recovered then
	mends   atomic.Bool
	orders  orders

	state connState
	dead  chan struct{} // closed when the connection is closed or lost

	// What the monitor looks at.
	opened  atomic.Bool   // link, out and lanes are set
	reads   atomic.Uint64 // read calls that brought something
	reading atomic.Bool   // the reader is inside a read call
	watch   watch         // the monitor's own

	// With the shared drive: the scheduler that owns the connection. polled: it also waits for the socket; then the rest is
	// its own.
	shared    *scheduler
	polled    bool
	raw       syscall.RawConn
	receiver  receiver // of the dedicated drive; unset where only the socket itself can read
	watched   bool     // the poller knows it
	retired   bool     // it is not read any more
	held      bool     // it is not read for now
	heldSince int64

	renewal  renewal
	mute     atomic.Bool // posted frames could not be written
	chores   atomic.Bool // the reader shall look after its lanes
	timed    bool        // consumers of it work, or poll: the reader has to look after them by the clock
	armed    int64       // when it will, at the latest; the reader's own
	sleeper  sleeper
	throttle *throttle   // nil: it reads what comes
	seen     connSelf    // what the sampler looks at
	withheld atomic.Bool // acks are withheld: the monitor pokes until they are sent
	readers  sync.WaitGroup
}

type atomicChannel = atomic.Pointer[channel]

// answer is a method that somebody waits for. It is handed over at the end of the read call, so that who gets it sees
// everything that came before it counted.
type answer struct {
	ch *channel
	m  wire.Method
}

// connState is where the connection stands. Every change is recorded, in order, under mu.
//
//	connecting --> open <--> blocked --> closing --> closed      (connecting again: at another endpoint)
//	     \___________\__________\___________\______> lost
//
// Closed and lost are the ends as long as nothing reconnects.
type connState struct {
	mu  sync.Mutex // guards the following
	now event.ConnectionState
	why loss // valid once lost
	// told is what the broker gave as its reason with connection.close. It counts before anything that the socket says.
	told *loss
}

// loss is why a connection or a channel is gone: the broker's code and text, or code 0 and the cause.
type loss struct {
	code uint16
	text string
}

func (l loss) Error() string {
	if l.code != 0 {
		return fmt.Sprintf("%s (%d)", l.text, l.code)
	}
	return l.text
}

// allowed[from] holds the states that may follow.
var allowed = map[event.ConnectionState][]event.ConnectionState{
	0:                {event.Connecting},
	event.Connecting: {event.Connecting, event.Open, event.Lost},
	event.Open:       {event.Blocked, event.Closing, event.Lost},
	event.Blocked:    {event.Open, event.Closing, event.Lost},
	event.Closing:    {event.Closed, event.Lost},
}

// enter changes the state and records it; false where the state does not allow it, and then nothing happens.
func (c *conn) enter(to event.ConnectionState, why loss) bool {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	ok := false
	for _, s := range allowed[c.state.now] {
		ok = ok || s == to
	}
	if !ok {
		return false
	}
	from := c.state.now
	c.state.now = to
	c.eng.progress.connection(from, to)
	if to == event.Lost {
		c.state.why = why
	}
	c.eng.rec.Connection(&event.Connection{
		At: c.eng.clock.Now(), Connection: c.number, State: to,
		Producer: event.NoLane, Consumer: event.NoLane, Code: why.code, Text: why.text,
	})
	return true
}

func (c *conn) current() event.ConnectionState {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return c.state.now
}

// usable reports whether frames can still be exchanged.
func (c *conn) usable() bool {
	switch c.current() {
	case event.Open, event.Blocked, event.Closing:
		return true
	}
	return false
}

// fail ends the connection as lost. The first reason counts; lanes and callers learn of it through dead and gone.
func (c *conn) fail(why error) {
	l, ok := why.(loss)
	if !ok {
		l = loss{text: innermost(why)}
	}
	if told := c.told(); told != nil {
		l = *told
	}
	if !c.enter(event.Lost, l) {
		return
	}
	c.eng.connectionLost(c, l) // before anybody can act on it, so that no outcome lacks it
	c.end()
}

// lastWords is how long the reader may take to find what the broker said before it closed the socket: with
// connection.close it gives the reason, and does not wait for the answer.
const lastWords = time.Second

// writeFailed is fail for a write call on posted frames. It does not wait: the reader may be the one who posted them.
func (c *conn) writeFailed(err error) {
	if c.shared != nil {
		c.fail(err)
		return
	}
	if c.mute.CompareAndSwap(false, true) {
		time.AfterFunc(lastWords, func() { c.fail(err) })
	}
}

// awaitLastWords gives the reader time to end the connection with the broker's reason. Not for the reader itself.
func (c *conn) awaitLastWords() {
	if c.shared != nil {
		return // the scheduler reads for all its connections
	}
	select {
	case <-c.dead:
	case <-time.After(lastWords):
	}
}

// closedBy keeps the broker's reason from connection.close. It comes before the answer, which may find the socket closed.
func (c *conn) closedBy(why loss) {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	c.state.told = &why
}

func (c *conn) told() *loss {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return c.state.told
}

// end wakes all who wait for something on this connection. The socket is closed at once: what is being written or read
// returns.
func (c *conn) end() {
	close(c.dead)
	c.renewal.end()
	if c.link != nil {
		c.link.tcp.Close()
	}
	for i := range c.lanes {
		if ch := c.lanes[i].Load(); ch != nil {
			ch.end(c.lossReason())
		}
	}
	if c.polled {
		c.shared.poke(c)
	}
	if c.throttle != nil {
		wakeUp(c.throttle.nudge)
	}
	c.eng.wakeMain()
}

func (c *conn) lossReason() loss {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	if c.state.now != event.Lost {
		return loss{text: "connection closed"}
	}
	return loss{code: c.state.why.code, text: "connection lost: " + c.state.why.text}
}

// poke has the reader look after its lanes now, though nothing may come to be read: the read call is ended by its deadline.
// The order counts: the flag is set before the deadline, and the reader resets them the other way round.
func (c *conn) poke() {
	c.chores.Store(true)
	if c.polled {
		c.shared.poke(c)
		return
	}
	c.link.sock.SetReadDeadline(time.Unix(1, 0))
	if c.throttle != nil {
		wakeUp(c.throttle.nudge)
	}
}
