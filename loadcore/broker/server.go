package broker

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"leveret/loadcore/wire"
)

// Product is the broker's name in its server properties: how a client, and a report, knows what it talks to.
const Product = "leveret embedded broker"

// Options configures a Server. The zero value is a broker for this host only, on a free port, with vhost "/" and user guest.
type Options struct {
	// Addr is where to listen; "" is "127.0.0.1:0": loopback, a free port.
	Addr string
	// TLS makes it an amqps broker. With ClientCAs and a ClientAuth that verifies, clients may log in with their
	// certificate (EXTERNAL).
	TLS *tls.Config
	// Users are names and passwords. nil: guest with password guest, from loopback only.
	Users map[string]string
	// VHosts are the virtual hosts; nil: "/".
	VHosts []string
	// Faults are what the broker does wrong on purpose.
	Faults Faults
	// Version is told to clients in the server properties; "" is "unknown".
	Version string

	// FrameMax, ChannelMax and Heartbeat are proposed to clients. 0 is RabbitMQ's default: 131072 bytes, 2047 channels,
	// 60 s; a negative Heartbeat proposes none. FrameMax is at least 4096.
	FrameMax   uint32
	ChannelMax uint16
	Heartbeat  time.Duration
	// MaxMessageSize is the largest body in bytes; 0: 128 MiB, as RabbitMQ 3.10.
	MaxMessageSize int
	// MaxMemory bounds the memory of all messages, in bytes: over it, connections that publish are blocked until
	// consumers have freed an eighth. 0: 1 GiB. What one read of each connection brings comes on top.
	MaxMemory int64

	// HandshakeTimeout bounds the time from connect to connection.open-ok; 0: 10 s.
	HandshakeTimeout time.Duration
	// WriteTimeout ends a connection whose client takes none of the broker's output for so long; 0: 5 minutes.
	WriteTimeout time.Duration

	// Log, if not nil, is told in one line what happens to connections. It is called from many goroutines.
	Log func(line string)
}

// Server is a running broker.
type Server struct {
	opts   Options
	users  map[string]string
	ln     net.Listener
	clock  clock
	mem    *memory
	vhosts map[string]*vhost // fixed
	faulty bool
	stats  counters
	outs   outBuffers

	stalled    atomic.Int64 // fault stall: on the clock, until when nothing is read; 0: not stalled
	alarmUntil atomic.Int64 // fault block

	done   chan struct{}
	closed sync.Once
	err    error // of Close
	wg     sync.WaitGroup

	mu     sync.Mutex // guards the following
	conns  map[*conn]struct{}
	ending bool
}

// Start opens a broker. The caller has to Close it.
func Start(o Options) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	ln, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("broker: listen on %s: %w", o.Addr, err)
	}
	s := &Server{
		opts: o, users: o.Users, ln: ln, clock: clock{time.Now()}, mem: newMemory(o.MaxMemory), vhosts: map[string]*vhost{},
		faulty: !o.Faults.Empty(), done: make(chan struct{}), conns: map[*conn]struct{}{},
	}
	if s.users == nil {
		s.users = map[string]string{"guest": "guest"}
	}
	for _, name := range o.VHosts {
		s.vhosts[name] = newVHost(name, s.mem, s.clock)
	}
	s.wg.Add(2)
	go s.accept()
	go s.monitor()
	return s, nil
}

// complete fills in defaults and checks the rest.
func (o *Options) complete() error {
	setDefault(&o.Addr, "127.0.0.1:0")
	setDefault(&o.Version, "unknown")
	setDefault(&o.FrameMax, wire.DefaultFrameMax)
	setDefault(&o.ChannelMax, 2047)
	setDefault(&o.Heartbeat, 60*time.Second)
	setDefault(&o.MaxMessageSize, 128<<20)
	setDefault(&o.MaxMemory, 1<<30)
	setDefault(&o.HandshakeTimeout, 10*time.Second)
	setDefault(&o.WriteTimeout, 5*time.Minute)
	o.Heartbeat = max(o.Heartbeat, 0)
	if o.VHosts == nil {
		o.VHosts = []string{"/"}
	}
	switch {
	case len(o.VHosts) == 0:
		return errors.New("option VHosts is empty; leave it nil for \"/\"")
	case o.FrameMax < wire.FrameMinSize:
		return fmt.Errorf("option FrameMax is %d; the protocol's minimum is %d", o.FrameMax, wire.FrameMinSize)
	case o.FrameMax > maxFrameMax:
		return fmt.Errorf("option FrameMax is %d; every connection may need a buffer that large, at most %d", o.FrameMax, maxFrameMax)
	case o.Heartbeat > 65535*time.Second:
		return fmt.Errorf("option Heartbeat is %v; at most 65535 s fit the protocol", o.Heartbeat)
	case o.MaxMessageSize < 0 || o.MaxMessageSize > 512<<20:
		return fmt.Errorf("option MaxMessageSize is %d; want 1 to %d bytes", o.MaxMessageSize, 512<<20)
	case o.MaxMemory < 0:
		return fmt.Errorf("option MaxMemory is %d; want a number of bytes", o.MaxMemory)
	}
	return nil
}

const maxFrameMax = 16 << 20

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

func (s *Server) frameMax() int { return int(s.opts.FrameMax) }

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.ln.Addr() }

// URI is the address as an AMQP URI for the first vhost, without user and password: clients use guest by default.
func (s *Server) URI() string {
	u := url.URL{Scheme: "amqp", Host: s.ln.Addr().String()}
	if s.opts.TLS != nil {
		u.Scheme = "amqps"
	}
	uri := u.String()
	if v := s.opts.VHosts[0]; v != "/" {
		uri += "/" + url.PathEscape(v)
	}
	return uri
}

func (s *Server) log(format string, args ...any) {
	if s.opts.Log != nil {
		s.opts.Log(fmt.Sprintf(format, args...))
	}
}

// accept takes connections until the listener is closed. Failures of a single accept (out of file descriptors) are
// waited out.
func (s *Server) accept() {
	defer s.wg.Done()
	for {
		nc, err := s.ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.log("accept: %v", err)
			select {
			case <-s.done:
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		if s.opts.TLS != nil {
			nc = tls.Server(nc, s.opts.TLS)
		}
		s.start(newConn(s, nc))
	}
}

func (s *Server) start(c *conn) {
	s.mu.Lock()
	if s.ending {
		s.mu.Unlock()
		c.nc.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	s.mu.Unlock()
	s.stats.connected.Add(1)
	go func() {
		defer s.wg.Done()
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}

// connections appends all connections to list.
func (s *Server) connections(list []*conn) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		list = append(list, c)
	}
	return list
}

const (
	shutdownGrace = 500 * time.Millisecond // for clients to answer connection.close
	shutdownTime  = 10 * time.Second       // for everything else, which needs no one's help
)

// Close tells all clients that the broker shuts down, ends their connections and waits for all goroutines. Everything in
// queues is gone. It takes no longer than 11 s, and returns an error if something has not ended by then. Further calls
// return the same.
func (s *Server) Close() error {
	s.closed.Do(func() { s.err = s.shutDown() })
	return s.err
}

func (s *Server) shutDown() error {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	close(s.done)
	s.ln.Close()
	for _, c := range s.connections(nil) {
		c.bye()
	}
	ended := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(ended)
	}()
	defer func() {
		for _, v := range s.vhosts {
			v.deleteAll()
		}
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(shutdownGrace):
	}
	for _, c := range s.connections(nil) {
		c.stop()
	}
	select {
	case <-ended:
		return nil
	case <-time.After(shutdownTime):
		return fmt.Errorf("broker: %d connections have not ended %v after they were closed", len(s.connections(nil)), shutdownTime)
	}
}
