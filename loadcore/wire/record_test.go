package wire_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/wire"
)

// The recordings in testdata were made with
//
//	go test ./loadcore/wire -run TestRecordedSessions -record amqp://USER:PASSWORD@HOST:PORT/ -rabbitmqctl PATH
//
// against a fresh RabbitMQ 3.10.8 started for it on this host, with the cluster name leveret-test and a user "recorder", as
// recorded_facts_test.go expects. The alarm that blocks publishers is set and lifted with rabbitmqctl.
var (
	recordURI   = flag.String("record", "", "URI of a RabbitMQ to record testdata/rabbitmq.hex from anew")
	rabbitmqctl = flag.String("rabbitmqctl", "rabbitmqctl", "the rabbitmqctl of the node given to -record")
)

// recorder listens, forwards each connection to a broker, and keeps what goes either way.
type recorder struct {
	t        *testing.T
	uri      amqp.URI
	listener net.Listener
	running  sync.WaitGroup

	mu   sync.Mutex // guards the following
	text bytes.Buffer
}

func newRecorder(t *testing.T, target string) *recorder {
	t.Helper()
	uri, err := amqp.ParseURI(target)
	if err != nil {
		t.Fatal("-record does not hold an amqp URI")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return &recorder{t: t, uri: uri, listener: listener}
}

// session records one connection, which run opens to the address it is given and closes.
func (r *recorder) session(name string, run func(address string)) {
	r.t.Helper()
	fmt.Fprintf(&r.text, "== %s\n", name)
	r.running.Go(func() {
		client, err := r.listener.Accept()
		if err != nil {
			r.t.Errorf("%s: %v", name, err)
			return
		}
		server, err := net.Dial("tcp", net.JoinHostPort(r.uri.Host, strconv.Itoa(r.uri.Port)))
		if err != nil {
			r.t.Errorf("%s: %v", name, err)
			client.Close()
			return
		}
		r.running.Go(func() { r.forward('<', server, client) })
		r.forward('>', client, server)
	})
	run(r.listener.Addr().String())
	r.running.Wait()
}

// forward copies one direction. A chunk is noted before it is passed on, so that an answer is never noted before its question.
func (r *recorder) forward(direction byte, from, to net.Conn) {
	defer to.Close()
	var chunk [1 << 16]byte
	for {
		n, err := from.Read(chunk[:])
		if n > 0 {
			r.note(direction, chunk[:n])
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// note writes the chunk down with the password blotted out.
func (r *recorder) note(direction byte, chunk []byte) {
	secret := []byte("\x00" + r.uri.Password)
	blot := append([]byte{0}, bytes.Repeat([]byte("x"), len(r.uri.Password))...)
	chunk = bytes.ReplaceAll(chunk, secret, blot)
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(chunk) > 0 {
		n := min(len(chunk), 60)
		fmt.Fprintf(&r.text, "%c %s\n", direction, hex.EncodeToString(chunk[:n]))
		chunk = chunk[n:]
	}
}

func (r *recorder) link(address string) *link {
	r.t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		r.t.Fatal(err)
	}
	return newLink(r.t, conn)
}

func (r *recorder) ctl(args ...string) {
	r.t.Helper()
	if out, err := exec.Command(*rabbitmqctl, args...).CombinedOutput(); err != nil {
		r.t.Fatalf("rabbitmqctl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// recordAll records every session that sessions_test.go and recorded_test.go know.
func recordAll(t *testing.T, target, file string) {
	r := newRecorder(t, target)
	user, password := r.uri.Username, r.uri.Password
	r.session("codec", func(address string) { codecSession(r.link(address), user, password) })
	r.session("alarm", func(address string) {
		l := r.link(address)
		l.open(user, password, wire.Limits{})
		alarmSession(l, func() { r.ctl("set_vm_memory_high_watermark", "0.000001") }, func() { r.ctl("set_vm_memory_high_watermark", "0.4") })
	})
	r.session("amqp091-go", func(address string) { amqp091Session(t, address, r.uri) })
	for _, c := range refusals {
		r.session("refused: "+c.name, func(address string) {
			l := r.link(address)
			c.provoke(l, user, password)
			// Until the broker closes or has nothing more to say.
			_ = l.conn.SetReadDeadline(time.Now().Add(3 * time.Second))
			var rest [4096]byte
			for {
				if _, err := l.conn.Read(rest[:]); err != nil {
					break
				}
			}
			l.conn.Close()
		})
	}
	if bytes.Contains(r.text.Bytes(), []byte(hex.EncodeToString([]byte("\x00"+password)))) {
		t.Fatal("the recording still contains the password")
	}
	if err := os.WriteFile(file, r.text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
