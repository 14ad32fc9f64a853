package hostile

import (
	"net"
	"sync"
	"sync/atomic"

	"leveret/loadcore/wire"
)

// Between is what stands between clients and a broker.
type Between struct {
	broker string
	say    func(*Talk, wire.Frame, []byte) []byte
	ln     net.Listener
	talks  sync.WaitGroup

	mu     sync.Mutex // guards the following
	open   map[*Talk]struct{}
	opened int
	closed bool
}

// Talk is one connection of a client's.
type Talk struct {
	Number int // of those to the Between, from 0
	Frames int // of the broker's that have come, the one that is handled included
	// Client is where to write to besides what Say returns; closing it cuts the connection.
	Client net.Conn
	// Mute is set by Say: from here on the client hears nothing, and its connection stays open.
	Mute atomic.Bool
	// Deaf is set by Say: from here on nothing is read from the client.
	Deaf atomic.Bool

	server net.Conn
	end    chan struct{} // closed when the Between is
}

// Listen begins to stand in front of the broker at an address, on a port of its own on loopback. say gives what a client hears in
// place of a frame of the broker's; frame is the whole of it, and say may write to it. It is called from one goroutine for each
// connection.
func Listen(broker string, say func(t *Talk, f wire.Frame, frame []byte) []byte) (*Between, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Between{broker: broker, say: say, ln: ln, open: map[*Talk]struct{}{}}
	b.talks.Go(b.accept)
	return b, nil
}

// Addr is where clients connect to.
func (b *Between) Addr() string { return b.ln.Addr().String() }

// Close cuts all connections, and waits for what serves them.
func (b *Between) Close() {
	b.ln.Close()
	b.mu.Lock()
	b.closed = true
	for t := range b.open {
		t.cut()
		close(t.end)
	}
	b.mu.Unlock()
	b.talks.Wait()
}

func (b *Between) accept() {
	for {
		client, err := b.ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", b.broker)
		if err != nil {
			client.Close()
			continue
		}
		t := &Talk{Client: client, server: server, end: make(chan struct{})}
		b.mu.Lock()
		t.Number = b.opened
		b.opened++
		b.open[t] = struct{}{}
		if b.closed {
			t.cut()
			close(t.end)
		}
		b.mu.Unlock()
		b.talks.Go(func() { b.serve(t) })
	}
}

func (t *Talk) cut() {
	t.Client.Close()
	t.server.Close()
}

// serve passes both directions on until one of them ends.
func (b *Between) serve(t *Talk) {
	var listening sync.WaitGroup
	listening.Go(t.listen)
	t.speak(b.say)
	listening.Wait()
	t.cut()
	b.mu.Lock()
	delete(b.open, t)
	b.mu.Unlock()
}

// listen takes what the client says to the broker as it is.
func (t *Talk) listen() {
	defer t.server.Close()
	chunk := make([]byte, 32<<10)
	for {
		n, err := t.Client.Read(chunk)
		if t.Deaf.Load() { // what has come by now is not passed on either
			<-t.end
			return
		}
		if n > 0 {
			if _, err := t.server.Write(chunk[:n]); err != nil && !t.Mute.Load() {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// speak cuts what the broker says into frames.
func (t *Talk) speak(say func(*Talk, wire.Frame, []byte) []byte) {
	var buf []byte
	chunk := make([]byte, 32<<10)
	for {
		f, n, err := wire.NextFrame(buf, 0)
		if err != nil { // no frame of the broker's: its protocol header, perhaps
			t.Client.Write(buf)
			t.Client.Close()
			return
		}
		if n > 0 {
			t.Frames++
			if !t.Mute.Load() {
				if _, err := t.Client.Write(say(t, f, buf[:n:n])); err != nil {
					t.Client.Close()
					return
				}
			}
			buf = buf[n:]
			continue
		}
		k, err := t.server.Read(chunk)
		buf = append(buf, chunk[:k]...)
		if err != nil {
			if !t.Mute.Load() && !t.Deaf.Load() {
				t.Client.Close()
			}
			return
		}
	}
}
