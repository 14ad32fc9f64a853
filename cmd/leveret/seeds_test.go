package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/cmd/internal/perftest"
	"leveret/loadcore/rabbitmqtest"
)

// Every command line that the pages publish runs as it stands there against RabbitMQ: only the launcher is taken off, the
// placeholders are filled, host, user, password and virtual host are ours, and the time is shorter. The verdict is PASS; of
// producers alone INCONCLUSIVE, as nobody has looked at what became of their messages, and for no other reason.
func TestPublishedCommandLines(t *testing.T) {
	// In closed loop a second's backlog may take a busy machine longer than the five seconds that are -st's default. The command
	// lines stay as they are.
	t.Setenv("SHUTDOWN_TIMEOUT", "150")
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	for _, group := range publishedGroups {
		var done []string
		for _, line := range group.lines {
			words := wordsOf(t, cmp.Or(group.exchange, "exchange-direct"), &line)
			if command := strings.Join(words, " "); !slices.Contains(done, command) {
				done = append(done, command)
				t.Run(line.from, func(t *testing.T) {
					t.Parallel()
					runPublished(t, node, group.prepare, words, &line)
				})
			}
		}
	}
}

var (
	launcher    = regexp.MustCompile(`^(\$ )?((\./|bin/)?(runjava com\.rabbitmq\.perf\.PerfTest)|docker run --rm pivotalrabbitmq/perf-test:latest) `)
	publishedAt = regexp.MustCompile(`^amqps?://[^@]+@[^@]+$`)
	// A word of a shell: in quotes, or without blanks; a line that goes on ends with a backslash, which the pages have lost in part.
	shellWord = regexp.MustCompile(`'([^']*)'|"([^"]*)"|([^\s'"\\]+)|\\\n`)
	// The home lab's page breaks a URI over two lines.
	brokenURI = regexp.MustCompile(`(amqp://\w+:)\n(\w+@)`)
)

// wordsOf are the words of a published line, from its command on. HOST stands for the broker's address, with user, password and
// virtual host.
func wordsOf(t *testing.T, exchange string, l *publishedLine) []string {
	t.Helper()
	text := strings.ReplaceAll(brokenURI.ReplaceAllString(l.text, "$1$2"), "${", "{")
	for placeholder, value := range map[string]string{
		"{instance username}": "test", "{instance password}": "secret", "{private connection address}": "192.168.0.150",
		"{exchange name}": exchange, "{queue name}": "queue-1", "{producer count}": l.fill.producers, "{consumer count}": l.fill.consumers,
		"{running time}": "300", "--queue-pattern-to x": "--queue-pattern-to " + l.fill.queues,
		"{实例用户名}": "test", "{实例密码}": "secret", "{内网连接地址}": "192.168.0.150",
		"{Exchange名称}": exchange, "{队列名称}": "queue-1", "{生产者个数}": l.fill.producers, "{消费者个数}": l.fill.consumers, "{运行时间}": "300",
	} {
		if strings.Contains(text, placeholder) {
			if value == "" || strings.HasSuffix(value, " ") {
				t.Fatalf("%s: nothing to fill %s with", l.from, placeholder)
			}
			text = strings.ReplaceAll(text, placeholder, value)
		}
	}
	start := launcher.FindStringSubmatch(text)
	if start == nil || strings.ContainsAny(text, "{}") {
		t.Fatalf("%s: not understood: %s", l.from, text)
	}
	words := []string{"perf-test"}
	if start[4] != "" {
		words = strings.Fields(start[4])
	}
	timed := false
	for _, m := range shellWord.FindAllStringSubmatch(text[len(start[0]):], -1) {
		word := m[1] + m[2] + m[3]
		switch before := words[len(words)-1]; {
		case strings.HasPrefix(m[0], "\\"):
			continue
		case before == "-z" || before == "--time":
			word, timed = "0.3", true
		case publishedAt.MatchString(word):
			word = word[:strings.Index(word, "://")+3] + "HOST"
		}
		words = append(words, word)
	}
	if !timed { // those ran until they were stopped by hand
		words = append(words, "-z", "1")
	}
	return words
}

func runPublished(t *testing.T, node *rabbitmqtest.Node, prepare map[string]string, words []string, line *publishedLine) {
	vhost := node.VHost(t)
	for path, body := range prepare {
		putManagement(t, node, path, vhost, body)
	}
	at := map[string]string{"amqp://HOST": node.URIFor(vhost), "amqps://HOST": node.TLSURIFor(vhost)}
	args, aimed := slices.Clone(words), 0
	for i, w := range args {
		if at[w] != "" {
			args[i] = at[w]
			aimed++
		}
	}
	if aimed != 1 {
		t.Fatalf("%s: %d URIs", line.from, aimed)
	}
	dir := filepath.Join(t.TempDir(), "capture")
	r, m, code, stdout, stderr := recordedBy(t, dir, append(args, "--capture", dir))
	if code != exitOK || t.Failed() {
		t.Fatalf("%s: exit %d\n%s", line.from, code, stderr)
	}
	checkPublished(t, r, m, &line.want)
	checkPublishedLines(t, r, m, stdout)
	checkPublishedQueues(t, node, vhost, &line.want, prepare)
	if t.Failed() {
		t.Logf("%s\n%s\ndrain: %s", line.from, stderr, m.Outcome.DrainNote)
	}
}

// checkPublished compares the capture with what the line asks for.
func checkPublished(t *testing.T, r *result.Result, m *manifest.Manifest, want *published) {
	t.Helper()
	verdict, reasons := result.Pass, []string(nil)
	if want.consumers == 0 {
		verdict, reasons = result.Inconclusive, []string{integrity.CodeNothingToJudge}
	}
	var got []string
	for _, f := range r.Findings {
		if f.Severity == result.SeverityFail || f.Severity == result.SeverityInconclusive {
			got = append(got, f.Code)
		}
	}
	if r.Verdict != verdict || !slices.Equal(got, reasons) {
		t.Errorf("verdict %s for %q, want %s for %q", r.Verdict, got, verdict, reasons)
	}
	c := r.Counts
	received := c.Sent // every message is for one queue, also with a fanout exchange: there is only one
	if want.consumers == 0 {
		received = 0
	}
	confirmed := int64(0)
	if m.Producers[0].Confirm > 0 {
		confirmed = c.Sent
	}
	if c.Sent == 0 || c.Received != received || c.ReceivedUnique != received || c.Confirmed != confirmed || m.Outcome.Sent != c.Sent || m.Outcome.Received != c.Received {
		t.Errorf("%+v, and by the engine's counters %d sent, %d received", c, m.Outcome.Sent, m.Outcome.Received)
	}
	var names []string
	for _, q := range m.Topology.Queues {
		names = append(names, q.Name)
	}
	queues := want.names()
	if want.queue == "" {
		queues = names[:min(want.consumers, len(names))]
	}
	if len(m.Producers) != want.producers || len(m.Consumers) != want.consumers || m.Connections != want.producers+want.consumers || !slices.Equal(names, queues) {
		t.Errorf("%d producers and %d consumers on %d connections, queues %q", len(m.Producers), len(m.Consumers), m.Connections, names)
	}
	if m.Outcome.StopReason != "time limit reached" {
		t.Errorf("stopped: %s", m.Outcome.StopReason)
	}
}

func (p *published) names() []string {
	if p.last == 0 {
		return []string{p.queue}
	}
	var names []string
	for i := range p.last {
		names = append(names, fmt.Sprintf(p.queue, i+1))
	}
	return names
}

// checkPublishedLines compares PerfTest's lines with the capture.
func checkPublishedLines(t *testing.T, r *result.Result, m *manifest.Manifest, stdout string) {
	t.Helper()
	id := "id: " + m.ID + ", "
	received := 0.0
	if r.Rates.Received != nil {
		received = *r.Rates.Received
	}
	seconds := float64(m.Outcome.PublishStopNS-m.Outcome.BarrierNS) / 1e9
	for _, want := range []string{
		"test stopped (Reached time limit)\n",
		id + "sending rate avg: " + perftest.Rate(float64(r.Counts.Sent)/seconds) + " msg/s\n",
		id + "receiving rate avg: " + perftest.Rate(received) + " msg/s\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for what, n := range map[string]int{"producer": len(m.Producers), "consumer": len(m.Consumers)} {
		if got := strings.Count(stdout, id+"starting "+what+" #"); got != 2*n { // one of the connection, one of its channel
			t.Errorf("%d lines of %ss that start, want %d", got, what, 2*n)
		}
	}
}

// publishedQueue is what RabbitMQ says of a queue.
type publishedQueue struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Durable    bool   `json:"durable"`
	AutoDelete bool   `json:"auto_delete"`
	Policy     string `json:"policy"`
}

// checkPublishedQueues looks at what RabbitMQ has after the run: the queues that were prepared, or of those that the run declared
// the ones that had no consumer, which are not deleted by themselves. The management API shows a policy only after a while.
func checkPublishedQueues(t *testing.T, node *rabbitmqtest.Node, vhost string, want *published, prepare map[string]string) {
	t.Helper()
	model := publishedQueue{Type: "classic", Durable: want.consumers == 0, AutoDelete: true}
	var names []string
	for path := range prepare {
		if name, is := strings.CutPrefix(path, "queues/"); is {
			names, model = append(names, name), publishedQueue{Type: "quorum", Durable: true}
		}
		if name, is := strings.CutPrefix(path, "policies/"); is {
			model.Policy = name
		}
	}
	if model.Type == "classic" && want.last > want.consumers {
		names = want.names()[want.consumers:]
	}
	expected := map[publishedQueue]bool{}
	for _, name := range names {
		q := model
		q.Name = name
		expected[q] = true
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		var left []publishedQueue
		node.ManagementGet(t, "queues/"+url.PathEscape(vhost)+"?disable_stats=true&columns=name,type,durable,auto_delete,policy", &left)
		strange := slices.DeleteFunc(slices.Clone(left), func(q publishedQueue) bool { return expected[q] })
		if len(strange) == 0 && len(left) == len(expected) {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%d queues are left, want %d like %+v; others: %+v", len(left), len(expected), model, strange[:min(5, len(strange))])
			return
		}
	}
}

// putManagement makes an exchange, a queue or a policy, as the pages have it done in the management UI.
func putManagement(t *testing.T, node *rabbitmqtest.Node, path, vhost, body string) {
	t.Helper()
	kind, name, _ := strings.Cut(path, "/")
	request, err := http.NewRequestWithContext(t.Context(), "PUT", node.ManagementURL()+"/api/"+kind+"/"+url.PathEscape(vhost)+"/"+name, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth(node.User(), node.Password())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		t.Fatalf("%s: %s", path, response.Status)
	}
}
