package broker_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// rawSession is a client that can send anything. Both brokers get the same bytes, and have to close with the same code, text
// and method.
type rawSession struct {
	*rawClient
	t                     *testing.T
	user, password, vhost string
}

// rawPrograms are what no client library would send. Each ends with the broker closing the connection.
var rawPrograms = []struct {
	name string
	run  func(*rawSession)
}{
	{"frame too large", func(s *rawSession) {
		s.channel()
		s.write(s.t, []byte{1, 0, 1, 0, 0x10, 0, 0, 0}) // 1 MiB
	}},
	{"wrong frame end", func(s *rawSession) {
		s.channel()
		f := wire.AppendMethod(nil, 1, &wire.ConfirmSelect{})
		f[len(f)-1] = 0x17
		s.write(s.t, f)
	}},
	{"unknown frame type", func(s *rawSession) {
		s.channel()
		s.write(s.t, []byte{7, 0, 1, 0, 0, 0, 0, wire.FrameEnd})
	}},
	{"unknown frame type on channel 0", func(s *rawSession) {
		s.open()
		s.write(s.t, []byte{4, 0, 0, 0, 0, 0, 0, wire.FrameEnd})
	}},
	{"heartbeat on a channel", func(s *rawSession) {
		s.channel()
		s.write(s.t, []byte{8, 0, 1, 0, 0, 0, 0, wire.FrameEnd})
	}},
	{"channel not open", func(s *rawSession) {
		s.open()
		s.send(s.t, 5, &wire.ConfirmSelect{})
	}},
	{"content on a channel not open", func(s *rawSession) {
		s.open()
		s.write(s.t, wire.AppendHeader(nil, 5, 3, nil))
	}},
	{"channel opened twice", func(s *rawSession) {
		s.channel()
		s.send(s.t, 1, &wire.ChannelOpen{})
	}},
	{"header without publish", func(s *rawSession) {
		s.channel()
		s.write(s.t, wire.AppendHeader(nil, 1, 3, nil))
	}},
	{"body without publish", func(s *rawSession) {
		s.channel()
		s.write(s.t, wire.AppendBody(nil, 1, []byte("abc"), 0))
	}},
	{"method instead of header", func(s *rawSession) {
		s.channel()
		s.write(s.t, wire.AppendPublish(nil, 1, "", "k", false))
		s.send(s.t, 1, &wire.ConfirmSelect{})
	}},
	{"body instead of header", func(s *rawSession) {
		s.channel()
		s.write(s.t, wire.AppendPublish(nil, 1, "", "k", false))
		s.write(s.t, wire.AppendBody(nil, 1, []byte("abc"), 0))
	}},
	{"header of another class", func(s *rawSession) {
		s.channel()
		s.write(s.t, wire.AppendPublish(nil, 1, "", "k", false))
		f := wire.AppendHeader(nil, 1, 3, nil)
		f[8] = 50 // of the class id 0, 60
		s.write(s.t, f)
	}},
	{"method instead of body", func(s *rawSession) {
		s.channel()
		s.write(s.t, wire.AppendPublish(nil, 1, "", "k", false))
		s.write(s.t, wire.AppendHeader(nil, 1, 3, nil))
		s.send(s.t, 1, &wire.ConfirmSelect{})
	}},
	{"header instead of body", func(s *rawSession) {
		s.channel()
		s.write(s.t, wire.AppendPublish(nil, 1, "", "k", false))
		s.write(s.t, wire.AppendHeader(nil, 1, 3, nil))
		s.write(s.t, wire.AppendHeader(nil, 1, 3, nil))
	}},
	{"content on channel 0", func(s *rawSession) {
		s.open()
		s.write(s.t, wire.AppendBody(nil, 0, []byte("abc"), 0))
	}},
	{"long content on channel 0", func(s *rawSession) {
		s.open()
		s.write(s.t, wire.AppendBody(nil, 0, []byte{1, 2, 3, 200, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, 0))
	}},
	{"publish on channel 0", func(s *rawSession) {
		s.open()
		s.write(s.t, wire.AppendPublish(nil, 0, "", "k", false))
	}},
	{"second handshake", func(s *rawSession) {
		s.open()
		s.send(s.t, 0, &wire.ConnectionOpen{VirtualHost: s.vhost})
	}},
	{"queue.declare cut short", func(s *rawSession) {
		s.channel()
		m := wire.AppendArgs(nil, &wire.QueueDeclare{Queue: "q"})
		s.write(s.t, wire.AppendFrame(nil, wire.FrameMethod, 1, append([]byte{0, 50, 0, 10}, m[:len(m)-4]...)))
	}},
	{"too many channels", func(s *rawSession) {
		s.login()
		s.expect(s.t, wire.ConnectionTuneID)
		s.send(s.t, 0, &wire.ConnectionTuneOk{Limits: wire.Limits{ChannelMax: 2, FrameMax: 4096}})
		s.send(s.t, 0, &wire.ConnectionOpen{VirtualHost: s.vhost})
		s.expect(s.t, wire.ConnectionOpenOkID)
		for ch := uint16(1); ch <= 2; ch++ {
			s.send(s.t, ch, &wire.ChannelOpen{})
			s.expect(s.t, wire.ChannelOpenOkID)
		}
		s.send(s.t, 3, &wire.ChannelOpen{})
	}},
	{"frame-max too low", func(s *rawSession) { s.tuneOk(wire.Limits{ChannelMax: 10, FrameMax: 4095}) }},
	{"frame-max without limit", func(s *rawSession) { s.tuneOk(wire.Limits{ChannelMax: 10}) }},
	{"channel-max too high", func(s *rawSession) { s.tuneOk(wire.Limits{ChannelMax: 2048, FrameMax: 4096}) }},
	{"vhost not there", func(s *rawSession) {
		s.login()
		s.expect(s.t, wire.ConnectionTuneID)
		s.send(s.t, 0, &wire.ConnectionTuneOk{Limits: wire.Limits{ChannelMax: 2, FrameMax: 4096}})
		s.send(s.t, 0, &wire.ConnectionOpen{VirtualHost: "nowhere"})
	}},
	{"wrong password, told", func(s *rawSession) {
		s.begin()
		s.startOk("PLAIN", wire.PlainResponse(s.user, "wrong"), true)
	}},
	{"wrong user, told", func(s *rawSession) {
		s.begin()
		s.startOk("PLAIN", wire.PlainResponse("nobody", s.password), true)
	}},
	{"consumer tag used twice", func(s *rawSession) {
		s.channel()
		s.send(s.t, 1, &wire.QueueDeclare{Queue: "q", AutoDelete: true})
		s.expect(s.t, wire.QueueDeclareOkID)
		for range 2 {
			s.send(s.t, 1, &wire.BasicConsume{Queue: "q", ConsumerTag: "c", NoWait: true})
		}
	}},
	{"close with everything open", func(s *rawSession) {
		s.channel()
		s.send(s.t, 0, &wire.ConnectionClose{ReplyCode: 200, ReplyText: "bye"})
	}},
}

func TestRawConformance(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, p := range rawPrograms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			uri := node.URI(t)
			want, got := rawPerform(t, uri, p.run), rawPerform(t, twin(t, uri), p.run)
			if diff := difference(want, got); diff != "" {
				t.Errorf("RabbitMQ and the embedded broker differ:\n%s", diff)
			}
		})
	}
}

func rawPerform(t *testing.T, uri string, run func(*rawSession)) (record []string) {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal("the URI cannot be parsed")
	}
	s := &rawSession{t: t, rawClient: dialAddr(t, u.Host), user: u.User.Username()}
	s.password, _ = u.User.Password()
	if s.vhost, err = url.PathUnescape(strings.TrimPrefix(u.EscapedPath(), "/")); err != nil {
		t.Fatal("the URI cannot be parsed")
	}
	run(s)
	for {
		m, err := s.method()
		if err != nil {
			return append(record, "end")
		}
		record = append(record, fmt.Sprintf("%s %+v", m.ID(), m))
		switch m.ID() {
		case wire.ConnectionCloseID:
			s.send(t, 0, &wire.ConnectionCloseOk{})
		case wire.ConnectionCloseOkID: // RabbitMQ leaves the rest to the client
			return record
		}
	}
}

func (s *rawSession) begin() {
	s.write(s.t, wire.ProtocolHeader[:])
	s.expect(s.t, wire.ConnectionStartID)
}

// startOk logs in; told says that the client wants to know why it is refused.
func (s *rawSession) startOk(mechanism, response string, told bool) {
	s.send(s.t, 0, &wire.ConnectionStartOk{
		ClientProperties: wire.Table{{Key: "capabilities", Value: wire.Table{{Key: "authentication_failure_close", Value: told}}}},
		Mechanism:        mechanism, Response: response, Locale: "en_US",
	})
}

func (s *rawSession) login() {
	s.begin()
	s.startOk("PLAIN", wire.PlainResponse(s.user, s.password), true)
}

func (s *rawSession) tuneOk(l wire.Limits) {
	s.login()
	s.expect(s.t, wire.ConnectionTuneID)
	s.send(s.t, 0, &wire.ConnectionTuneOk{Limits: l})
}

func (s *rawSession) open() {
	s.tuneOk(wire.Limits{ChannelMax: 100, FrameMax: 131072})
	s.send(s.t, 0, &wire.ConnectionOpen{VirtualHost: s.vhost})
	s.expect(s.t, wire.ConnectionOpenOkID)
}

func (s *rawSession) channel() {
	s.open()
	s.send(s.t, 1, &wire.ChannelOpen{})
	s.expect(s.t, wire.ChannelOpenOkID)
}
