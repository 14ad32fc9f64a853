package management

import (
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// served is an API that answers as told.
func served(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(answer)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// spoken is a port at which something is said to whoever speaks first, or nothing.
func spoken(t *testing.T, say string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			if _, err := conn.Read(make([]byte, 4096)); err == nil && say != "" {
				fmt.Fprint(conn, say)
				conn.Close()
			}
		}
	}()
	return "http://" + l.Addr().String()
}

func client(t *testing.T, uri string) *Client {
	t.Helper()
	target, err := ParseURI(uri)
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(target, nil)
	c.timeout = time.Minute // the machine may be busy
	t.Cleanup(c.Close)
	return c
}

// Every way in which the API cannot be used is an error that says what to do, within the deadline, and holds no password.
func TestRemedies(t *testing.T) {
	password := rand.Text()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for name, c := range map[string]struct{ uri, want string }{
		"down":       {"http://" + gone.Addr().String(), "rabbitmq-plugins enable rabbitmq_management"},
		"slow":       {spoken(t, ""), "no answer within 300ms"},
		"AMQP":       {spoken(t, "AMQP\x00\x00\x09\x01"), "that is the port of AMQP"},
		"TLS":        {strings.Replace(secure.URL, "https", "http", 1), "write https://"},
		"no TLS":     {strings.Replace(served(t, http.NotFound), "http", "https", 1), "write http://"},
		"authority":  {secure.URL, "--cacert"},
		"no name":    {"http://no-such-host.invalid", "correct the host"},
		"no API":     {served(t, http.NotFound), "404 Not Found: is it the management API"},
		"other page": {served(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }), "is it the management API of RabbitMQ"},
		"other API":  {served(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }), "tells no version"},
		"elsewhere":  {served(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://other/", http.StatusFound) }), "it leads elsewhere"},
		"login": {served(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"not_authorized","reason":"Login failed"}`)
		}), "401 Unauthorized (Login failed): user and password go into --management-uri"},
		"endless": {served(t, func(w http.ResponseWriter, _ *http.Request) {
			for line := []byte(strings.Repeat("[", 1<<20)); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}), "more than 32 MiB"},
	} {
		api := client(t, strings.Replace(c.uri, "://", "://u:"+password+"@", 1))
		if name == "slow" {
			api.timeout = 300 * time.Millisecond
		}
		begun := time.Now()
		_, _, err := api.Facts(t.Context(), "/", &manifest.Topology{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if name == "slow" && time.Since(begun) > 10*time.Second { // a bound, not a measurement: the deadline is 300 ms
			t.Errorf("%s took %v", name, time.Since(begun))
		}
	}
}

// rows counts what is recorded.
type rows struct{ nodes, queues, connections atomic.Int64 }

func (r *rows) BrokerNode(*event.BrokerNode) bool               { r.nodes.Add(1); return true }
func (r *rows) BrokerQueue(*event.BrokerQueue) bool             { r.queues.Add(1); return true }
func (r *rows) BrokerConnections(*event.BrokerConnections) bool { r.connections.Add(1); return true }

// watched looks at an API until enough, and returns what the manifest says then and what was warned about.
func watched(t *testing.T, uri string, enough func() bool) (*manifest.Management, []string) {
	t.Helper()
	var warnings []string
	m := &manifest.Management{}
	s := client(t, uri).Watch(Watch{Clock: event.NewClock(), VHost: "/", Topology: &manifest.Topology{Queues: []manifest.Queue{{Name: "q"}}}, Management: m,
		Interval: 10 * time.Millisecond, Recorder: new(rows), Warn: func(text string) { warnings = append(warnings, text) }})
	for deadline := time.Now().Add(time.Minute); !enough(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not looked at often enough")
		}
	}
	s.Stop()
	return m, warnings
}

// An API that goes away is told of once, looked at less and less often, and told of when it is back.
func TestAPIThatGoesAway(t *testing.T) {
	var asked atomic.Int64
	uri := served(t, func(w http.ResponseWriter, r *http.Request) {
		if n := asked.Add(1); n > 4 && n <= 20 { // after one whole look of four questions: four that fail
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, map[bool]string{true: "[]", false: "{}"}[strings.HasPrefix(r.URL.Path, "/api/nodes")])
	})
	m, warnings := watched(t, uri, func() bool { return asked.Load() >= 24 })
	if m.Failed != 4 || m.Samples < 6 || !strings.Contains(m.FirstFailure, "GET nodes: 503") {
		t.Errorf("%+v", m)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "the run goes on") || !strings.Contains(warnings[1], "answers again, after 4 looks") {
		t.Errorf("%q", warnings)
	}
}

// What the user may not see is asked for once; the rest goes on.
func TestUserWhoMayNotSeeNodes(t *testing.T) {
	var nodes, connections atomic.Int64
	uri := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/nodes":
			nodes.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/connections"):
			connections.Add(1)
			fallthrough
		default:
			fmt.Fprint(w, "{}")
		}
	})
	m, warnings := watched(t, uri, func() bool { return connections.Load() >= 3 })
	if nodes.Load() != 1 || m.Failed != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "needs the tag monitoring") {
		t.Errorf("nodes asked for %d times, %+v, %q", nodes.Load(), m, warnings)
	}
}

// Documents that are not as they should be give unknown figures, and no failure.
func TestStrangeAnswers(t *testing.T) {
	for _, text := range []string{
		`{"name":7,"messages_ready":"many","message_stats":[],"consumers":null,"arguments":[],"effective_policy_definition":"","policy":[]}`,
		`{"messages_ready":1e300,"message_stats":{"publish":-0.5,"confirm":{}},"state":["x"]}`,
		`{}`, `[]`, `7`,
	} {
		uri := served(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
		var q queue
		if err := client(t, uri).get(t.Context(), "x", nil, &q); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if f := q.figures(1, 2); f.Ready != event.None || f.Confirmed != event.None || f.Running != event.None || len(q.found().Rules) != 0 {
			t.Errorf("%s: %+v", text, f)
		}
	}
	uri := served(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[[],{"state":"flow"},7],"filtered_count":3}`)
	})
	var p page[connection]
	if err := client(t, uri).get(t.Context(), "connections", nil, &p); err != nil || len(p.Items) != 3 || p.Items[1].State != "flow" || p.Items[0].State != "" || p.Total.v != 3 {
		t.Errorf("%+v, %v", p, err)
	}
}
