package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// newer stands before an older RabbitMQ and behaves as RabbitMQ 4.3 does: it says that version, and closes the connection when a
// frame_max below 8192 is agreed on, and when a queue is declared that is neither durable nor exclusive.
type newer struct {
	listener net.Listener
	behind   string // address
	conns    sync.WaitGroup
	mu       sync.Mutex
	refused  int
	durable  []string // queues declared durable
}

func startNewer(t *testing.T, behind string) *newer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &newer{listener: l, behind: behind}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			n.conns.Go(func() { n.serve(client) })
		}
	}()
	t.Cleanup(func() { l.Close(); n.conns.Wait() })
	return n
}

func (n *newer) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", n.behind)
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { n.down(client, server); client.Close(); server.Close() })
	both.Go(func() { n.up(client, server); client.Close(); server.Close() })
	both.Wait()
}

// down carries what the broker sends; the first frame, connection.start, gets another version in.
func (n *newer) down(client, server net.Conn) {
	head := make([]byte, 7)
	if _, err := io.ReadFull(server, head); err != nil {
		return
	}
	body := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	if _, err := io.ReadFull(server, body); err != nil {
		return
	}
	if i := bytes.Index(body, []byte("\x07versionS")); i >= 0 {
		value := body[i+len("\x07versionS"):]
		size := binary.BigEndian.Uint32(value)
		copy(value[4:4+size], "4.3."+strings.Repeat("0", int(size)))
	}
	if _, err := client.Write(append(head, body...)); err == nil {
		_, _ = io.Copy(client, server)
	}
}

// up carries what the client sends, frame by frame behind the protocol header, and answers what the broker would refuse.
func (n *newer) up(client, server net.Conn) {
	if _, err := io.CopyN(server, client, 8); err != nil {
		return
	}
	head := make([]byte, 7)
	for {
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		if refusal := n.refusal(head[0], body); refusal != nil {
			_, _ = client.Write(wire.AppendMethod(nil, 0, refusal))
			return
		}
		if _, err := server.Write(append(head, body...)); err != nil {
			return
		}
	}
}

// refusal is what the newer version closes the connection with upon a frame; nil: it takes it. connection.tune-ok (10, 31) has a
// short, and then the frame_max.
func (n *newer) refusal(kind byte, body []byte) *wire.ConnectionClose {
	switch {
	case kind == 1 && bytes.HasPrefix(body, []byte{0, 10, 0, 31}):
		if max := binary.BigEndian.Uint32(body[6:]); max != 0 && max < 8192 {
			return &wire.ConnectionClose{ReplyCode: wire.ReplyNotAllowed, ReplyText: fmt.Sprintf("NOT_ALLOWED - negotiated frame_max = %d is lower than the minimum allowed value (8192)", max)}
		}
	case kind == 1 && bytes.HasPrefix(body, []byte{0, 50, 0, 10}) && !n.accepts(body[4:]):
		return &wire.ConnectionClose{ReplyCode: wire.ReplyInternalError, ReplyText: "INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.\nBy default, this feature is not permitted anymore."}
	}
	return nil
}

// accepts reads the arguments of queue.declare: a reserved short, the name, and bits from the lowest on: passive, durable,
// exclusive, auto-delete, no-wait (AMQP 0-9-1).
func (n *newer) accepts(arguments []byte) bool {
	name := string(arguments[3 : 3+arguments[2]])
	bits := arguments[3+len(name)]
	n.mu.Lock()
	defer n.mu.Unlock()
	if bits&2 != 0 && bits&1 == 0 {
		n.durable = append(n.durable, name)
	}
	if bits&7 == 0 {
		n.refused++
		return false
	}
	return true
}

// C027: RabbitMQ 4.3 refuses transient queues that are not exclusive with 541, which costs the connection. The default
// command line works there, with named queues, with the broker's names, and with exclusive ones.
func TestC027DefaultsWorkOnRabbitMQ43(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	n := startNewer(t, node.Addr())
	uri := strings.Replace(node.URIFor(vhost), node.Addr(), n.listener.Addr().String(), 1)
	for _, c := range []struct {
		args    string
		durable []string // names
	}{
		{"--queue q1 --confirm 10", []string{"q1"}},
		{"--confirm 10", []string{""}}, // the broker gives the name
		{"--queue x1 --exclusive --confirm 10", nil},
	} {
		r, code, _ := record(t, append([]string{"--uri", uri, "--pmessages", "100"}, strings.Fields(c.args)...)...)
		if code != exitOK || r.Verdict != result.Pass || r.Counts.Received != 100 || !strings.HasPrefix(r.Broker.Version, "4.3.0") {
			t.Errorf("%s: exit %d, version %s, %s, %+v", c.args, code, r.Broker.Version, r.Verdict, r.Counts)
		}
		if durable, refused := n.since(); !slices.Equal(durable, c.durable) || refused != 0 {
			t.Errorf("%s: declared durable %q, refused %d", c.args, durable, refused)
		}
	}
}

// since returns what was declared durable, and how many were refused, since it was asked last.
func (n *newer) since() (durable []string, refused int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	durable, refused = n.durable, n.refused
	n.durable, n.refused = nil, 0
	return durable, refused
}
