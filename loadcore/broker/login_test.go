package broker_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

func TestLogin(t *testing.T) {
	password := rand16(t)
	var log syncLog
	s := start(t, broker.Options{Users: map[string]string{"me": password}, Log: log.add})
	try := func(user, password string) error {
		conn, err := amqp.DialConfig(s.URI(), amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}}})
		if err == nil {
			conn.Close()
		}
		return err
	}
	if err := try("me", password); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{{"me", password + "x"}, {"me", ""}, {"", password}, {"guest", "guest"}, {"you", password}} {
		var e *amqp.Error
		if err := try(c[0], c[1]); !errors.As(err, &e) || e.Code != 403 {
			t.Errorf("user %q: %v", c[0], err)
		}
	}
	if strings.Contains(log.String(), password) {
		t.Error("the password is in the log")
	}
	if !strings.Contains(log.String(), `user "you" refused`) {
		t.Errorf("the log does not say who was refused:\n%s", log.String())
	}
}

// TestLoginRefusedQuietly: a client that has not said that it understands gets no word, as on RabbitMQ.
func TestLoginRefusedQuietly(t *testing.T) {
	s := start(t, broker.Options{Users: map[string]string{"me": rand16(t)}})
	c := dialRaw(t, s)
	c.write(t, wire.ProtocolHeader[:])
	c.expect(t, wire.ConnectionStartID)
	c.send(t, 0, &wire.ConnectionStartOk{Mechanism: "PLAIN", Response: wire.PlainResponse("me", "no"), Locale: "en_US"})
	if m, err := c.method(); err == nil {
		t.Errorf("got %s %+v", m.ID(), m)
	}
}

func TestLoginMechanism(t *testing.T) {
	for mechanism, want := range map[string]string{
		"EXTERNAL":      "ACCESS_REFUSED - Login was refused using authentication mechanism EXTERNAL. For details see the broker logfile.",
		"SCRAM-SHA-256": "COMMAND_INVALID - unknown authentication mechanism 'SCRAM-SHA-256'",
	} {
		s := start(t, broker.Options{})
		c := dialRaw(t, s)
		c.write(t, wire.ProtocolHeader[:])
		if m := c.expect(t, wire.ConnectionStartID).(*wire.ConnectionStart); m.Mechanisms != "PLAIN" {
			t.Errorf("mechanisms %q without TLS", m.Mechanisms)
		}
		c.send(t, 0, &wire.ConnectionStartOk{ClientProperties: wire.ClientProperties("test", "1", ""), Mechanism: mechanism, Locale: "en_US"})
		if m := c.expect(t, wire.ConnectionCloseID).(*wire.ConnectionClose); m.ReplyText != want {
			t.Errorf("%s: %q, want %q", mechanism, m.ReplyText, want)
		}
	}
}

func TestHeartbeatsSent(t *testing.T) {
	t.Parallel() // it waits
	s := start(t, broker.Options{})
	c := dialRaw(t, s)
	c.handshake(t, nil, 1)
	for range 2 {
		if f, err := c.next(); err != nil || f.Type != wire.FrameHeartbeat {
			t.Fatalf("got frame %+v, %v", f, err)
		}
		c.write(t, wire.AppendHeartbeat(nil))
	}
}

func TestHeartbeatsMissed(t *testing.T) {
	t.Parallel() // it waits
	s := start(t, broker.Options{})
	silent, alive := dialRaw(t, s), dialRaw(t, s)
	silent.handshake(t, nil, 1)
	alive.handshake(t, nil, 1)
	begin := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for { // whatever comes is answered
			if _, err := alive.next(); err != nil {
				return
			}
			if _, err := alive.nc.Write(wire.AppendHeartbeat(nil)); err != nil {
				return
			}
		}
	}()
	for {
		if _, err := silent.next(); err != nil {
			break
		}
	}
	if after := time.Since(begin); after < 1900*time.Millisecond { // two intervals since the last read, seen every 0.1 s
		t.Errorf("ended after %v, before two intervals were missed", after)
	}
	connections(t, s, 1) // the one that answers
	alive.nc.Close()
	<-done
}

// syncLog collects log lines.
type syncLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *syncLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *syncLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// rand16 is a password made up now.
func rand16(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%x%x", time.Now().UnixNano(), len(t.Name()))
}
