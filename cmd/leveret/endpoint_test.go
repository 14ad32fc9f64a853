package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/loadcore/rabbitmqtest"
)

// runOptions are those of a command line of run.
func runOptions(t *testing.T, args ...string) (*options.Set, *options.Run) {
	t.Helper()
	set, o := options.NewRun(redactURI)
	if err := parseOnlyOptions(set, args); err != nil {
		t.Fatal(err)
	}
	return set, o
}

// The first URI gives everything, the others host and port.
func TestSeveralURIs(t *testing.T) {
	set, o := runOptions(t, "--uris", "amqp://u:p%40ss@a/v?heartbeat=7,amqp://b:99,amqp://other:x@c/w,amqps://d")
	eps, notes, err := endpointsOf(o, set.Changed)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range eps {
		got = append(got, e.String())
		if e.Password() != "p@ss" || e.Heartbeat == nil {
			t.Errorf("%v: password %q, heartbeat %v", e, e.Password(), e.Heartbeat)
		}
	}
	if want := []string{"amqp://u@a:5672/v", "amqp://u@b:99/v", "amqp://u@c:5672/v", "amqp://u@d:5671/v"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	text := strings.Join(notes, "\n")
	for _, want := range []string{"c:5672 count; its user or password", "d:5671 count; its scheme"} {
		if !strings.Contains(text, want) || len(notes) != 2 {
			t.Errorf("notes %q do not say %q", notes, want)
		}
	}
	set, o = runOptions(t, "--uris", "amqp://a,amqp://u:se#cret@b")
	if _, _, err = endpointsOf(o, set.Changed); err == nil || !strings.Contains(err.Error(), "URI 2 of 2") || strings.Contains(err.Error(), "cret") {
		t.Errorf("error %v", err)
	}
}

func readManifest(dir string) (*manifest.Manifest, error) {
	m := new(manifest.Manifest)
	b, err := os.ReadFile(filepath.Join(dir, manifest.FinalName))
	if err == nil {
		err = json.Unmarshal(b, m)
	}
	return m, err
}

// nobody is an address of loopback that nothing listens on.
func nobody(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// C109 from the command line: one of two brokers is down at the start.
func TestC109OneOfTwoBrokersIsDown(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	down := nobody(t)
	uri := node.URI(t)
	first := strings.Replace(uri, node.Addr(), down, 1)
	load := []string{"--queue", "q", "--producers", "3", "--pmessages", "100", "--confirm", "10"}
	t.Run("random starts on the other", func(t *testing.T) {
		r, code, dir := record(t, append(load, "--uris", first+",amqp://"+node.Addr())...)
		if code != exitOK || r.Verdict != result.Pass || r.Counts.Sent != 300 || r.Counts.Received != 300 {
			t.Errorf("exit %d, %s, %+v", code, r.Verdict, r.Counts)
		}
		if got := r.Config.EndpointConnections; !slices.Equal(got, []int{0, 4}) { // 3 producers, 1 consumer
			t.Errorf("connections by endpoint %v of %v", got, r.Config.Endpoints)
		}
		m, err := readManifest(dir)
		if len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "passed over") || !strings.Contains(m.Notes[0], down) {
			t.Errorf("notes %q", m.Notes)
		}
		if err != nil || len(m.Endpoints) != 2 || m.Allocation != "random" || !strings.Contains(m.Endpoints[0], down) {
			t.Errorf("endpoints %v, %v, %v", m.Endpoints, m.Allocation, err)
		}
	})
	t.Run("round-robin fails and says why", func(t *testing.T) {
		code, _, stderr := invoke(t, append([]string{"run", "--uris", first + ",amqp://" + node.Addr(), "--connection-allocation", "round-robin"}, load...)...)
		for _, want := range []string{down, "connection refused", "--connection-allocation random"} {
			if code != exitFailed || !strings.Contains(stderr, want) {
				t.Errorf("exit %d, %q is not said\n%s", code, want, stderr)
			}
		}
	})
	t.Run("dropped by the limit", func(t *testing.T) {
		r, code, dir := record(t, append(load, "--uris", first+",amqp://"+node.Addr(), "--connection-allocation", "round-robin",
			"--servers-startup-timeout", "5", "--servers-up-limit", "1")...)
		if code != exitOK || r.Verdict != result.Pass {
			t.Errorf("exit %d, %s", code, r.Verdict)
		}
		m, err := readManifest(dir)
		if err != nil || !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, "not part of the run") && strings.Contains(n, down) }) {
			t.Errorf("notes %q, %v", m.Notes, err)
		}
	})
	t.Run("not enough", func(t *testing.T) {
		code, _, stderr := invoke(t, "run", "--uris", first+",amqp://"+node.Addr(), "--servers-startup-timeout", "1", "--pmessages", "1")
		if code != exitFailed || !strings.Contains(stderr, "1 of 2 brokers answered within 1s, and 2 are needed") {
			t.Errorf("exit %d\n%s", code, stderr)
		}
	})
}

// C099 and C101 with a real broker, whose certificate is for other names than the one that is connected by.
func TestTLSFromTheCommandLine(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	certs := node.Certificates(t)
	vhost := node.VHost(t)
	user := node.AddCertUser(t, vhost, rabbitmqtest.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
	uri := node.TLSURIFor(vhost)
	_, port, _ := net.SplitHostPort(node.TLSAddr())
	bare := "amqps://nobody:wrong@127.0.0.1:" + port + "/" + url.PathEscape(vhost)
	load := []string{"--queue", "q", "--auto-delete", "false", "--pmessages", "10", "--confirm", "10", "--tcp-send-buffer-size", "32768", "--tcp-no-delay", "false"}
	client := []string{"--cacert", certs.CACert, "--cert", certs.ClientCert, "--key", certs.ClientKey}
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		text  []string // on stderr
		notes []string // of the capture
		login string   // user, as the broker's log has it
	}{
		{"verified", []string{"run", "--uri", uri, "--cacert", certs.CACert}, exitOK, nil, nil, node.User()},
		{"C101: EXTERNAL", append([]string{"run", "--uri", bare, "--sasl-external"}, client...), exitOK, nil, nil, user},
		{"C101: a client certificate, and user and password", append([]string{"run", "--uri", uri}, client...), exitOK, nil, nil, node.User()},
		{"C101: EXTERNAL without a certificate", []string{"run", "--uri", bare, "--sasl-external", "--cacert", certs.CACert}, exitFailed, []string{"--cert and --key"}, nil, ""},
		{"C101: EXTERNAL is not offered without TLS", []string{"run", "--uri", node.URIFor(vhost), "--sasl-external"}, exitFailed, []string{"EXTERNAL is not offered; the broker offers", "PLAIN", "amqps://"}, nil, ""},
		{"C099: another name", []string{"run", "--uri", uri, "--cacert", certs.CACert, "--server-name-indication", "rabbit.example"}, exitFailed, []string{"rabbit.example", "the certificate is for localhost, 127.0.0.1, ::1"}, nil, ""},
		{"C099: not verified", []string{"run", "--uri", uri, "--insecure"}, exitOK, []string{"warning: the broker's certificate is not verified"}, []string{"the broker's certificate was not verified"}, node.User()},
		{"C099: PerfTest trusts all", []string{"perf-test", "-h", uri}, exitOK, []string{"the broker's certificate is not verified"}, []string{"the broker's certificate was not verified"}, node.User()},
		{"the system's authorities", []string{"perf-test", "-h", uri, "-udsc"}, exitFailed, []string{"certificate signed by unknown authority", "--cacert"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(node.Log(t))
			dir := filepath.Join(t.TempDir(), "capture")
			code, _, stderr := invoke(t, slices.Concat(c.args, load, []string{"--capture", dir})...)
			if code != c.code {
				t.Errorf("exit %d, want %d\n%s", code, c.code, stderr)
			}
			for _, want := range c.text {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q is not said\n%s", want, stderr)
				}
			}
			if _, err := os.Stat(dir); c.code != exitOK {
				if err == nil {
					t.Error("a capture of nothing")
				}
				return
			}
			m, err := readManifest(dir)
			if err != nil || m.Broker.Socket == nil || m.Broker.Socket.NoDelay || m.Broker.Socket.SendBufferBytes < 32768 {
				t.Errorf("socket %+v, %v", m.Broker.Socket, err)
			}
			for _, want := range c.notes {
				if !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, want) }) {
					t.Errorf("notes %q do not say %q", m.Notes, want)
				}
			}
			if len(c.notes) == 0 && len(m.Notes) > 0 {
				t.Errorf("notes %q", m.Notes)
			}
			log := node.Log(t)[before:]
			for _, name := range []string{"perf-test-configuration-0", "perf-test-producer-0", "perf-test-consumer-0"} {
				if strings.Contains(log, name) != (c.args[0] == "perf-test") {
					t.Errorf("connection name %s in the broker's log: %v", name, strings.Contains(log, name))
				}
			}
			if strings.Count(log, fmt.Sprintf("user '%s' authenticated and granted access", c.login)) < 3 {
				t.Errorf("user %q is not in the broker's log:\n%s", c.login, log)
			}
		})
	}
}
