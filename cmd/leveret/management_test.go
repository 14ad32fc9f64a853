package main

import (
	"crypto/rand"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/loadcore/management"
	"leveret/loadcore/rabbitmqtest"
)

// managing is a client of the node's API, for what somebody else does.
func managing(t *testing.T, node *rabbitmqtest.Node) *management.Client {
	t.Helper()
	target, err := management.ParseURI(node.ManagementURL())
	if err != nil {
		t.Fatal(err)
	}
	target.SetLogin(node.User(), node.Password())
	c := management.NewClient(target, nil)
	t.Cleanup(c.Close)
	return c
}

func put(t *testing.T, c *management.Client, path string, body map[string]any) {
	t.Helper()
	if err := c.Do(t.Context(), http.MethodPut, path, body, nil); err != nil {
		t.Fatal(err)
	}
}

// The counters of the API, with those of the record that count the same: message_stats of the virtual host against rows.
//
//	publish                                     sends that were sent
//	confirm                                     settlements of kind ack
//	deliver, deliver_no_ack, get, get_no_ack    deliveries
//	ack                                         messages of acks
//
// Publishing ends after one second of four, so that the last look sees all of it: the node collects its statistics every second.
func TestBrokerCountsWhatTheRecordCounts(t *testing.T) {
	brokerCountsWhatTheRecordCounts(t, rabbitmqtest.Shared(t))
}

func brokerCountsWhatTheRecordCounts(t *testing.T, node *rabbitmqtest.Node) {
	t.Helper()
	vhost := node.VHost(t)
	r, code, dir := record(t, "--uri", node.URIFor(vhost), "--management-uri", node.ManagementURL(), "--management-interval", "0.5",
		"--queue", "q", "--auto-delete", "false", "--confirm", "100", "--variable-rate", "2000:1", "--variable-rate", "0:4", "--time", "4")
	if code != exitOK || r.Verdict != result.Pass || r.BrokerSide == nil {
		t.Fatalf("exit %d, %s, %+v", code, r.Verdict, r.Findings)
	}
	b, c := r.BrokerSide, r.Counts
	if c.Sent < 1000 || c.Confirmed != c.Sent || c.Received != c.Sent {
		t.Fatalf("%+v", c)
	}
	for _, x := range b.Counters {
		want := map[string]int64{"published": c.Sent, "confirmed": c.Sent, "delivered": c.Sent, "acked": c.Sent}[x.Name]
		if x.Client == nil || *x.Client != want || want > 0 && (x.Broker == nil || *x.Broker != want) {
			t.Errorf("%s: the broker counts %v, the record %v, want %d", x.Name, figureOf(x.Broker), figureOf(x.Client), want)
		}
	}
	published := 0.0
	for i, s := range b.Queues[0].Samples { // rates, times their spans, are the messages again
		if i > 0 && s.Published != nil {
			published += *s.Published * float64(s.AtNS-b.Queues[0].Samples[i-1].AtNS) / 1e9
		}
	}
	if len(b.Queues) != 1 || b.Queues[0].Name != "q" || int64(published+0.5) != c.Sent {
		t.Errorf("queue: %f published by its rates, want %d, %+v", published, c.Sent, b.Queues)
	}
	if n := b.Nodes[0]; n.Name != node.Name() || n.MaxMemoryBytes == nil || *n.MaxMemoryBytes < 10<<20 || n.LeastDiskFreeBytes == nil || n.CPUCores == nil || *n.CPUCores <= 0 || n.MaxRunQueue == nil || n.Down {
		t.Errorf("node: %+v", n)
	}
	if b.Failed != 0 || b.Samples < 7 || b.Erlang == "" || !strings.Contains(strings.Join(b.Plugins, " "), "rabbitmq_management") || b.Connections[len(b.Connections)/2].Total == nil || *b.Connections[len(b.Connections)/2].Total < 2 {
		t.Errorf("%+v", b)
	}
	if code, text, errs := invoke(t, "analyze", dir); code != exitOK || !strings.Contains(text, "Broker's side") || !strings.Contains(text, "published "+result.Group(c.Sent)+" (client "+result.Group(c.Sent)+")") {
		t.Errorf("exit %d\n%s%s", code, text, errs)
	}
}

func figureOf(n *int64) any {
	if n == nil {
		return "nothing"
	}
	return *n
}

// Of a topology that others declared and bound, the API tells where messages must arrive: loss is judged.
func TestBindingsOfOthersAreFollowed(t *testing.T) {
	t.Parallel()
	bindingsOfOthersAreFollowed(t, rabbitmqtest.Shared(t))
}

func bindingsOfOthersAreFollowed(t *testing.T, node *rabbitmqtest.Node) {
	t.Helper()
	vhost, api := node.VHost(t), managing(t, node)
	in := url.PathEscape(vhost)
	put(t, api, "exchanges/"+in+"/first", map[string]any{"type": "topic", "durable": true})
	put(t, api, "exchanges/"+in+"/second", map[string]any{"type": "fanout", "durable": true})
	put(t, api, "queues/"+in+"/q", map[string]any{"durable": true})
	for path, key := range map[string]string{"e/first/e/second": "a.#", "e/second/q/q": ""} {
		if err := api.Do(t.Context(), http.MethodPost, "bindings/"+in+"/"+path, map[string]any{"routing_key": key}, nil); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--uri", node.URIFor(vhost), "--predeclared=strict", "--exchange", "first", "--type", "topic", "--routing-key", "a.b", "--queue", "q", "--confirm", "100", "--pmessages", "500"}
	r, _, _ := record(t, args...)
	if r.Verdict != result.Inconclusive || !hasFinding(r, "expected_queues_unknown") {
		t.Errorf("without the API: %s, %+v", r.Verdict, r.Findings)
	}
	r, code, _ := record(t, append(args, "--management-uri", node.ManagementURL())...)
	if code != exitOK || r.Verdict != result.Pass || r.Counts.Sent != 500 || r.Counts.ReceivedUnique != 500 {
		t.Errorf("with it: exit %d, %s, %+v", code, r.Verdict, r.Findings)
	}
}

func hasFinding(r *result.Result, code string) bool {
	for _, f := range r.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// A policy that the run knows nothing of takes messages away. Only the API can tell: with it they are not lost.
func TestPolicyExplainsWhatIsMissing(t *testing.T) {
	t.Parallel()
	policyExplainsWhatIsMissing(t, rabbitmqtest.Shared(t))
}

func policyExplainsWhatIsMissing(t *testing.T, node *rabbitmqtest.Node) {
	t.Helper()
	vhost, api := node.VHost(t), managing(t, node)
	put(t, api, "policies/"+url.PathEscape(vhost)+"/short", map[string]any{"pattern": "^q", "definition": map[string]any{"max-length": 10}, "apply-to": "queues"})
	args := []string{"--uri", node.URIFor(vhost), "--confirm", "100", "--pmessages", "500", "--consumer-start-delay", "1"}
	r, code, _ := record(t, append(args, "--queue", "q1")...)
	if code != exitVerdict || r.Counts.Lost != 490 {
		t.Errorf("without the API: exit %d, %+v", code, r.Counts)
	}
	r, code, _ = record(t, append(args, "--queue", "q2", "--management-uri", node.ManagementURL())...)
	if code != exitOK || r.Verdict != result.Pass || r.Counts.RemovedByRule != 490 || r.Counts.Lost != 0 {
		t.Errorf("with it: exit %d, %+v", code, r.Counts)
	}
	for _, f := range r.Findings {
		if f.Code == "removed_by_rule" && !strings.Contains(f.Text, "policy short: max-length=10") {
			t.Error(f.Text)
		}
	}
	if len(r.BrokerSide.Policies) != 1 || r.BrokerSide.Policies[0] != "short: max-length=10" {
		t.Errorf("%q", r.BrokerSide.Policies)
	}
}

// An API that is not there, or that does not let the user in, is a warning that says what to do. The run goes on as without it,
// and the password is nowhere.
func TestRunGoesOnWithoutTheAPI(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	password := rand.Text()
	_, address, _ := strings.Cut(node.ManagementURL(), "://")
	for uri, want := range map[string]string{
		"http://u:" + password + "@127.0.0.1:" + freePort(t): "rabbitmq-plugins enable rabbitmq_management",
		"http://u:" + password + "@" + address:               "401 Unauthorized",
		"http://u:" + password + "@" + node.Addr():           "that is the port of AMQP",
	} {
		dir := filepath.Join(t.TempDir(), "capture")
		t.Setenv("LEVERET_MANAGEMENT_URI", uri)
		code, stdout, stderr := invoke(t, "run", "--quiet", "--uri", node.URI(t), "--confirm", "10", "--pmessages", "10", "--capture", dir)
		if code != exitOK || !strings.Contains(stderr, "the run goes on") || !strings.Contains(stderr, want) || !strings.Contains(stdout, "Verdict: PASS") || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d\n%s%s", want, code, stderr, stdout)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) < 5 {
			t.Fatal(err, entries)
		}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil || strings.Contains(string(text), password) || strings.HasPrefix(e.Name(), "broker-") {
				t.Errorf("%s: %v", e.Name(), err)
			}
		}
		if strings.Contains(stdout+stderr, password) {
			t.Error("the password was printed")
		}
	}
}

// The API behind TLS: --cacert and --insecure are for it, also where AMQP goes without.
func TestAPIOverTLS(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	target, err := url.Parse(node.ManagementURL())
	if err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(target))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--uri", node.URI(t), "--management-uri", secure.URL, "--confirm", "10", "--pmessages", "10"}
	for _, more := range [][]string{{"--cacert", authority}, {"--insecure"}} {
		if r, code, _ := record(t, append(args, more...)...); code != exitOK || r.BrokerSide == nil || r.BrokerSide.Failed != 0 || r.BrokerSide.Erlang == "" {
			t.Errorf("%q: exit %d, %+v", more, code, r.BrokerSide)
		}
	}
	if r, code, _ := record(t, args...); code != exitOK || r.BrokerSide != nil || !strings.Contains(strings.Join(r.Notes, " "), "--cacert") {
		t.Errorf("without: exit %d, %q", code, r.Notes)
	}
}

func TestManagementMistakes(t *testing.T) {
	password := rand.Text()
	for _, c := range []struct{ args, want string }{
		{"--management-uri http://127.0.0.1:15672", "the embedded broker has no management API"},
		{"--uri amqp://127.0.0.1 --management-uri amqp://u:" + password + "@h", "must begin with http:// or https://"},
		{"--uri amqp://127.0.0.1 --management-uri http://u:" + password + "#@h", "percent-encode"},
		{"--uri amqp://127.0.0.1 --management-interval 1", "needs --management-uri"},
		{"--uri amqp://127.0.0.1 --management-uri http://h --management-interval 0", "management-interval"},
	} {
		code, stdout, stderr := invoke(t, append([]string{"run"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || strings.Contains(stdout+stderr, password) {
			t.Errorf("%s: exit %d, %s", c.want, code, stderr)
		}
	}
}
