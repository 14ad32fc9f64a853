package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// relay stands between leveret and a broker and hands everything on, frame by frame: so a test can cut the sockets of single
// connections, and see what passes and when.
type relay struct {
	listener net.Listener
	behind   string // address
	serving  sync.WaitGroup
	mu       sync.Mutex // guards the following
	links    []*relayed
}

// relayed is one connection.
type relayed struct {
	client, server net.Conn
	delivered      atomic.Int64 // basic.deliver that have passed

	mu      sync.Mutex // guards the following
	said    []byte     // the client's first frame, with the connection's name
	last    time.Time  // of its frames
	longest time.Duration
	beats   int // heartbeats
}

// startRelay listens at the address, which may be "127.0.0.1:0", for as long as the test.
func startRelay(t *testing.T, address, behind string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, behind: behind}
	r.serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", behind)
			if err != nil {
				client.Close()
				continue
			}
			c := &relayed{client: client, server: server}
			r.mu.Lock()
			r.links = append(r.links, c)
			r.mu.Unlock()
			r.serving.Go(c.up)
			r.serving.Go(c.down)
		}
	})
	t.Cleanup(func() { r.kill(); r.serving.Wait() })
	return r
}

// through is a URI that leads through the relay.
func (r *relay) through(uri string) string {
	return strings.Replace(uri, r.behind, r.listener.Addr().String(), 1)
}

// kill ends the relay, as the end of a node does: what was open is reset, and nobody listens any more.
func (r *relay) kill() {
	r.listener.Close()
	r.cut("")
}

// cut resets the sockets of the connections whose name contains the text, and returns how many that were.
func (r *relay) cut(name string) (n int) {
	for _, c := range r.named(name) {
		c.client.(*net.TCPConn).SetLinger(0)
		c.client.Close()
		c.server.Close()
		n++
	}
	return n
}

// named are the connections whose name contains the text, those that have ended included.
func (r *relay) named(name string) (links []*relayed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.links {
		c.mu.Lock()
		if bytes.Contains(c.said, []byte(name)) {
			links = append(links, c)
		}
		c.mu.Unlock()
	}
	return links
}

// awaitDelivered is until so many messages have passed to the connections with the name; a little later they have all been taken.
func (r *relay) awaitDelivered(t *testing.T, name string, messages int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n := int64(0)
		for _, c := range r.named(name) {
			n += c.delivered.Load()
		}
		if n >= messages {
			time.Sleep(300 * time.Millisecond)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages were delivered to %q within a minute", n, messages, name)
		}
	}
}

// up carries what the client sends: a protocol header of 8 bytes, then frames.
func (c *relayed) up() {
	defer c.client.Close()
	defer c.server.Close()
	if _, err := io.CopyN(c.server, c.client, 8); err != nil {
		return
	}
	carry(c.server, c.client, func(frame []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		now := time.Now()
		if c.said == nil {
			c.said = bytes.Clone(frame)
		} else {
			c.longest = max(c.longest, now.Sub(c.last))
		}
		c.last = now
		if frame[0] == 8 {
			c.beats++
		}
	})
}

// down carries what the broker sends.
func (c *relayed) down() {
	defer c.client.Close()
	defer c.server.Close()
	carry(c.client, c.server, func(frame []byte) {
		if frame[0] == 1 && bytes.HasPrefix(frame[7:], []byte{0, 60, 0, 60}) {
			c.delivered.Add(1)
		}
	})
}

// carry hands frames on until one of the ends is closed, and shows them: type, channel, size, payload, end.
func carry(to io.Writer, from io.Reader, show func(frame []byte)) {
	head := make([]byte, 7)
	for {
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		frame := append(bytes.Clone(head), make([]byte, binary.BigEndian.Uint32(head[3:])+1)...)
		if _, err := io.ReadFull(from, frame[7:]); err != nil {
			return
		}
		show(frame)
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}
