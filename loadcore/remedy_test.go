package loadcore

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// Texts as RabbitMQ words them (deps/rabbit: rabbit_reader.erl, rabbit_channel.erl, rabbit_misc.erl).
func TestRemedies(t *testing.T) {
	for _, c := range []struct {
		code uint16
		text string
		want string
	}{
		{320, "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'", "node was being stopped"},
		{320, "CONNECTION_FORCED - Closed via management plugin", "an operator"},
		{403, "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.", "guest may only on localhost"},
		{403, "ACCESS_REFUSED - access to queue 'q' in vhost '/' refused for user 'u'", "set_permissions"},
		{404, "NOT_FOUND - no queue 'q' in vhost '/'", "check the name"},
		{405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'.", "exclusive queue of another connection"},
		{406, "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but current is 'true'", "--predeclared"},
		{406, "PRECONDITION_FAILED - message size 17000000 is larger than configured max size 16777216", "max_message_size"},
		{406, "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms.", "consumer_timeout"},
		{406, "PRECONDITION_FAILED - unknown delivery tag 5", ""},
		{530, "NOT_ALLOWED - vhost nosuch not found", "add_vhost"},
		{530, "NOT_ALLOWED - access to vhost 'v' refused for user 'u'", "set_permissions -p VHOST"},
		{530, "NOT_ALLOWED - access to vhost 'v' refused for user 'u': connection limit (3) is reached", "set_vhost_limits"},
		{530, "NOT_ALLOWED - connection refused for user 'u': user connection limit (3) is reached", "set_user_limits"},
		{530, "NOT_ALLOWED - connection refused: node connection limit (3) is reached", "connection_max"},
		{530, "NOT_ALLOWED - negotiated frame_max = 4096 is lower than the minimum allowed value (8192)", "ask for 8192"},
		{530, "NOT_ALLOWED - New secret was refused by one of the backends", "renewed token"},
		{530, "NOT_ALLOWED - Secret update failed", "renewed token"},
		{540, "NOT_IMPLEMENTED - queue 'q' in vhost '/' does not support global qos", "--qos"},
		{541, "INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.\nBy default, this feature is not permitted anymore.", "--flag persistent"},
		{541, "INTERNAL_ERROR - access to vhost 'v' refused for user 'u': vhost 'v' is down", "restart_vhost"},
		{541, "INTERNAL_ERROR", ""},
	} {
		got := Remedy(c.code, c.text)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%d %s: %q, want %q", c.code, c.text, got, c.want)
		}
	}
}

// C045: RabbitMQ from 4.1 on takes no frame_max below 8192. It closes the connection with a reason, or, in the state before
// that, says it to its log only and drops the connection.
func TestFrameMaxTooSmallForTheBroker(t *testing.T) {
	for name, answer := range map[string]func(c *stubConn){
		"with a reason": func(c *stubConn) {
			c.method(0, &wire.ConnectionClose{ReplyCode: wire.ReplyNotAllowed, ReplyText: "NOT_ALLOWED - negotiated frame_max = 4096 is lower than the minimum allowed value (8192)"})
		},
		"without": func(c *stubConn) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			ep := startStub(t, &stub{onMethod: func(c *stubConn, _ uint16, m wire.Method) bool {
				if tune, ok := m.(*wire.ConnectionTuneOk); ok && tune.FrameMax != 0 && tune.FrameMax < 8192 {
					answer(c)
					return true
				}
				_, open := m.(*wire.ConnectionOpen)
				return open && c.answer.FrameMax == 0 // refused already
			}})
			plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 1)}, nil)
			plan.FrameMax = 4096
			_, err := Run(t.Context(), plan, &memory{})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range []string{"negotiated frame_max = 4096", "minimum allowed value (8192)", "--framemax"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

// What closes a connection or a channel while it is loaded is a failure with the broker's text and what to do.
func TestFailuresHaveRemedies(t *testing.T) {
	for _, c := range []struct {
		channel uint16
		close   wire.Method
		code    int
		want    []string
	}{
		{0, &wire.ConnectionClose{ReplyCode: wire.ReplyConnectionForced, ReplyText: "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"},
			320, []string{"reason 'shutdown'", "the node was being stopped"}},
		{1, &wire.ChannelClose{ReplyCode: wire.ReplyPreconditionFailed, ReplyText: "PRECONDITION_FAILED - message size 17000000 is larger than\nconfigured max size 16777216"},
			406, []string{"larger than configured max size 16777216", "--size"}},
	} {
		noLeaks(t)
		ep := startStub(t, &stub{onMessage: func(s *stubConn, _ stubMessage) { s.method(c.channel, c.close) }})
		plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 1)}, nil)
		plan.DrainTimeout = 5 * time.Second
		out, _ := runPlan(t, plan)
		if len(out.Failures) == 0 || out.Failures[0].Code != c.code {
			t.Errorf("%+v", *out)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(out.Failures[0].Text, want) {
				t.Errorf("failure %q does not say %q", out.Failures[0].Text, want)
			}
		}
	}
}

// Refusals of a real broker at the level of connections.
func TestRabbitMQRefusesConnections(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	ep := mustParse(t, node.URIFor(vhost))
	newAdmin(t, ep).declare("q", nil)
	t.Run("no permissions in the vhost", func(t *testing.T) {
		user, password := node.AddUser(t, node.VHost(t), rabbitmqtest.Permissions{})
		_, err := Probe(t.Context(), mustParse(t, node.UserURI(user, password, vhost)), ConnectOptions{})
		wantRemedy(t, err, StageOpen, 530, "access to vhost", "rabbitmqctl set_permissions")
	})
	t.Run("no such vhost", func(t *testing.T) {
		_, err := Probe(t.Context(), mustParse(t, node.URIFor("no-such")), ConnectOptions{})
		wantRemedy(t, err, StageOpen, 530, "vhost no-such not found", "rabbitmqctl add_vhost")
	})
	t.Run("limit of the vhost", func(t *testing.T) {
		node.Ctl(t, "set_vhost_limits", "-p", vhost, `{"max-connections": 1}`)
		defer node.Ctl(t, "clear_vhost_limits", "-p", vhost)
		_, err := Run(t.Context(), oneQueue(ep, "q", []manifest.Producer{confirmed(12, 1)}, nil), &memory{}) // the admin's is there
		wantRemedy(t, err, StageOpen, 530, "connection limit (1) is reached", "rabbitmqctl set_vhost_limits")
	})
	t.Run("closed by an operator", func(t *testing.T) { // last: it closes the admin's connection, too
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 10, Rate: manifest.Rate{Messages: 10, PerNS: 1e9}}}, nil)
		plan.Time = time.Minute
		var tool sync.WaitGroup
		plan.Started = func() {
			tool.Go(func() { node.Ctl(t, "close_all_connections", "--vhost", vhost, "maintenance at noon") })
		}
		out, _ := runPlan(t, plan)
		tool.Wait()
		if len(out.Failures) != 1 || out.Failures[0].Code != 320 || !strings.Contains(out.Failures[0].Text, "maintenance at noon") || !strings.Contains(out.Failures[0].Text, "an operator") {
			t.Errorf("%+v", *out)
		}
	})
}

func wantRemedy(t *testing.T, err error, stage Stage, code uint16, want ...string) {
	t.Helper()
	var e *ConnectError
	if !errors.As(err, &e) || e.Stage != stage || e.Code != code {
		t.Fatalf("error %v, want %d at %s", err, code, stage)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// The broker's code stands once, whether the text comes from it directly or from a channel that it has ended.
func TestConnectErrorsNameTheCodeOnce(t *testing.T) {
	for _, text := range []string{"NOT_ALLOWED - node channel limit (2) is reached", "channel.open: connection lost: NOT_ALLOWED - node channel limit (2) is reached (530)"} {
		got := (&ConnectError{Endpoint: "amqp://host", Stage: StageOpen, Code: 530, Text: text}).Error()
		if strings.Count(got, "(530)") != 1 || !strings.HasSuffix(got, " (530)") {
			t.Errorf("%q: want the code at its end, once", got)
		}
	}
}
