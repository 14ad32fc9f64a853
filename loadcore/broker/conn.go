package broker

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"leveret/loadcore/wire"
)

// conn is one client connection. Its reader (reader.go) takes frames and does what they ask for; its writer (writer.go)
// writes answers, confirms and deliveries. Both work under mu in turns, one turn for whatever one read brought or one
// write takes, so that nothing per message needs a lock of its own. No one holds mu while reading, writing or waiting.
type conn struct {
	srv  *Server
	nc   net.Conn
	name string // "client address -> server address", for the log

	// Set by the handshake, read only afterwards.
	vhost       *vhost
	user        string
	frameMax    uint32
	channelMax  int
	tellBlocked bool // the client has the capability connection.blocked
	tellCancel  bool // consumer_cancel_notify

	mu        sync.Mutex // guards the following
	state     connState
	channels  map[uint16]*channel
	recent    *channel    // the one used last
	out       []byte      // to be written
	pending   []*consumer // with something in the inbox, taken from events
	exclusive map[*queue]struct{}
	partial   int // bytes of contents that are not complete
	publisher
	settler

	events struct { // filled by whoever holds a queue's lock; a leaf lock
		sync.Mutex
		deliverable []*consumer // with something in the inbox
		orphans     []*consumer // whose queue is gone
	}

	wake  chan struct{} // one place: the writer has something to do
	woken atomic.Bool   // wake is full or about to be
	space chan struct{} // one place: out was taken
	kill  chan struct{} // closed when the connection has to end at once
	ended sync.Once     // guards kill

	writerDone chan struct{}
	finishing  bool // guarded by mu: the writer ends when out is empty

	// For the monitor: how often something was read and written, and what it is to do about silence.
	reads, writes atomic.Uint64
	paused        atomic.Bool  // not reading on purpose: silence is no fault of the client's
	beat          atomic.Int64 // heartbeat interval in nanoseconds; 0: off, or not negotiated yet
	wantBeat      atomic.Bool  // the writer is to send a heartbeat
	deadline      atomic.Int64 // on the server's clock: when to give up on a close; 0: none
	watch         watch
}

type connState uint8

const (
	stateStarting connState = iota
	stateRunning
	stateClosing // connection.close sent
	stateClosed  // nothing is sent or processed any more
)

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{
		srv: s, nc: nc, name: nc.RemoteAddr().String() + " -> " + nc.LocalAddr().String(),
		channels: map[uint16]*channel{}, exclusive: map[*queue]struct{}{},
		wake: make(chan struct{}, 1), space: make(chan struct{}, 1), kill: make(chan struct{}), writerDone: make(chan struct{}),
	}
	c.publisher.init(s.mem)
	c.settler.init(s.mem)
	return c
}

// serve runs the connection to its end.
func (c *conn) serve() {
	defer c.nc.Close()
	buf, ok := c.handshake()
	if !ok {
		return
	}
	go c.write()
	why := c.read(buf)
	c.teardown()
	<-c.writerDone
	c.srv.log("connection %s ended: %v", c.name, why)
	if !errors.Is(why, errPeer) {
		c.linger(errors.Is(why, errCut))
	}
}

// teardown gives back everything the connection holds and lets the writer finish what is in out.
func (c *conn) teardown() {
	c.mu.Lock()
	c.flush()
	c.endChannels()
	c.state = stateClosed
	c.finishing = true
	c.publisher.close()
	c.mu.Unlock()
	// The peer may not read: the last words have a deadline of their own, and should the writer just now have set a
	// longer one for what it wrote before, the monitor ends it.
	c.nc.SetWriteDeadline(time.Now().Add(closeTime))
	c.deadline.Store(c.srv.clock.now() + int64(closeTime))
	c.signal()
}

// endChannels ends all channels and deletes the connection's exclusive queues.
func (c *conn) endChannels() {
	for id, ch := range c.channels {
		ch.end()
		delete(c.channels, id)
	}
	c.recent = nil
	for q := range c.exclusive {
		c.vhost.deleteQueue(q, false, false)
	}
	clear(c.exclusive)
}

// stop ends the connection at once, whatever it is doing. Safe for concurrent use.
func (c *conn) stop() {
	c.ended.Do(func() {
		close(c.kill)
		c.nc.Close()
	})
}

// linger ends the sending side and reads on for a moment: closing a socket with unread input resets the connection, and
// the client might never see the last frames. cut leaves out the farewell that TLS has.
func (c *conn) linger(cut bool) {
	nc := c.nc
	if t, ok := nc.(*tls.Conn); ok {
		if !cut {
			t.CloseWrite()
		}
		nc = t.NetConn()
	}
	if half, ok := nc.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		nc.SetReadDeadline(time.Now().Add(lingerTime))
		var scrap [4096]byte
		for range lingerReads {
			if _, err := nc.Read(scrap[:]); err != nil {
				return
			}
		}
	}
}

const (
	closeTime   = 5 * time.Second // to wait for close-ok, and to write the last frames
	lingerTime  = 500 * time.Millisecond
	lingerReads = 1024
)

// signal wakes the writer.
func (c *conn) signal() {
	if c.woken.CompareAndSwap(false, true) {
		c.wake <- struct{}{} // has room: woken guards it
	}
}

// deliverable says that a consumer's inbox is not empty any more. Called under its queue's lock.
func (c *conn) deliverable(cons *consumer) {
	c.events.Lock()
	c.events.deliverable = append(c.events.deliverable, cons)
	c.events.Unlock()
	c.signal()
}

// queueGone says that a consumer's queue was deleted.
func (c *conn) queueGone(cons *consumer) {
	c.events.Lock()
	c.events.orphans = append(c.events.orphans, cons)
	c.events.Unlock()
	c.signal()
}

// send appends a method frame to the output. Called under mu.
func (c *conn) send(channel uint16, m wire.Method) {
	c.out = wire.AppendMethod(c.out, channel, m)
}

// deleteUnused deletes an auto-delete queue that has lost its last consumer, unless it has got another one.
func (c *conn) deleteUnused(q *queue) {
	if _, result := c.vhost.deleteQueue(q, true, false); result == queueDeleted && q.owner == c {
		delete(c.exclusive, q)
	}
}

// fail closes the connection because of err: connection.close goes out, and until its answer comes everything that
// the client sends is ignored. Called under mu.
func (c *conn) fail(err *amqpError) {
	c.srv.log("connection %s: closed by the broker: %v", c.name, err)
	c.endChannels()
	c.send(0, &wire.ConnectionClose{ReplyCode: err.code, ReplyText: err.text, Class: err.method.Class(), Method: err.method.Method()})
	c.state = stateClosing
	c.deadline.Store(c.srv.clock.now() + int64(closeTime))
}

// failChannel closes a channel because of err. Called under mu.
func (c *conn) failChannel(ch *channel, err *amqpError) {
	c.srv.log("connection %s, channel %d: closed by the broker: %v", c.name, ch.id, err)
	c.flush()
	ch.end()
	ch.closing = true
	c.send(ch.id, &wire.ChannelClose{ReplyCode: err.code, ReplyText: err.text, Class: err.method.Class(), Method: err.method.Method()})
}

// bye tells the client that the broker shuts down. A connection that is not open yet is ended at once.
func (c *conn) bye() {
	c.mu.Lock()
	state := c.state
	if state == stateRunning {
		c.flush()
		c.fail(hard(wire.ReplyConnectionForced, "broker forced connection closure with reason 'shutdown'"))
	}
	c.mu.Unlock()
	if state == stateStarting {
		c.stop()
		return
	}
	c.signal()
}
