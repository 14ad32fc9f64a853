package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// published are command lines of public pages that measure RabbitMQ with PerfTest, as they stand there, line breaks included;
// what stands there twice stands here once. declare makes what the page has made before.
var published = []struct {
	line     string
	declare  func(t *testing.T, ch *amqp.Channel)
	onlySend bool // nobody consumes
}{
	// A cloud provider's page on the performance of its instances: flavors, numbers of producers, consumers and queues, TLS, quorum
	// queues, a fanout exchange.
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -u {queue name} -x {producer count} -y {consumer count} -z {running time}`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://{instance username}:{instance password}@{private connection address} -e {exchange name} -s 1024 -x {producer count} -y {consumer count} -z {running time} --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to x`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://${实例用户名}:${实例密码}@${内网连接地址} -e ${Exchange名称} -s 1024 -u ${队列名称} -x 3 -y 3 -z 300`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 3 -y 3 -z 300`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqps://test:******@192.168.0.150:5671 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqps://test:******@192.168.0.150:5671 -e exchange-direct -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to 3`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to 3`},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300 --predeclared`, declare: quorumQueues},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -x 3 -y 3 -z 300 --queue-pattern 'queue-%d' --queue-pattern-from 1 --queue-pattern-to 3 --predeclared`, declare: quorumQueues},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-direct -s 1024 -u queue-1 -x 1 -y 1 -z 300 --predeclared`, declare: lazyQueue},
	{line: `./runjava com.rabbitmq.perf.PerfTest -h amqp://test:******@192.168.0.150:5672 -e exchange-fanout -s 1024 -u queue-1 -x 1 -y 3 -z 300 --predeclared`, declare: fanout},
	// A managed service's page, with PerfTest's image.
	{line: `docker run --rm pivotalrabbitmq/perf-test:latest
  --uri 'amqp://admin:YOUR_PASSWORD@your-instance.queues.danubedata.ro:5672'
  --producers 1
  --consumers 1
  --autoack
  --time 30`},
	{line: `docker run --rm pivotalrabbitmq/perf-test:latest
  --uri 'amqp://admin:YOUR_PASSWORD@your-instance.queues.danubedata.ro:5672'
  --producers 1
  --consumers 1
  --autoack
  --confirm 5000
  --time 30`},
	// An article on one large server; the first URI is broken over two lines there.
	{line: `$ bin/runjava com.rabbitmq.perf.PerfTest -x 1 -y 1 -u "throughput-test-1" --id "test-1" -f persistent -s 512 -h amqp://user:
user@10.39.124.201:5672`},
	{line: `bin/runjava com.rabbitmq.perf.PerfTest --queue-pattern 'perf-test-%d' --queue-pattern-from 1 --queue-pattern-to 14 --producers 14 --consumers 0 -f persistent -h amqp://user:user@10.39.124.201:5672`, onlySend: true},
	{line: `bin/runjava com.rabbitmq.perf.PerfTest --queue-pattern 'perf-test-%05d' \
          --queue-pattern-from 1 --queue-pattern-to 2000 \
            --producers 2000 --consumers 0 \
            --nio-threads 10 --producer-scheduler-threads 10 --consumers-thread-pools 10 \
             --publishing-interval 1 -s 512 \
              --heartbeat-sender-threads 10 -f persistent --producer-random-start-delay 60 -h amqp://user:user@10.39.124.201:5672`, onlySend: true},
}

// filled are the placeholders of those pages.
var filled = strings.NewReplacer("{instance username}:{instance password}@{private connection address}", "u:p@h", "${实例用户名}:${实例密码}@${内网连接地址}", "u:p@h", ":\n", ":",
	"{exchange name}", "exchange-direct", "${Exchange名称}", "exchange-direct", "{queue name}", "queue-1", "${队列名称}", "queue-1",
	"{producer count}", "2", "{consumer count}", "2", "{running time}", "300", "--queue-pattern-to x", "--queue-pattern-to 3")

func quorumQueues(t *testing.T, ch *amqp.Channel) {
	declareExchange(t, ch, "exchange-direct", "direct")
	for _, name := range []string{"queue-1", "queue-2", "queue-3"} {
		declareQueue(t, ch, name, amqp.Table{"x-queue-type": "quorum"})
	}
}

func lazyQueue(t *testing.T, ch *amqp.Channel) {
	declareExchange(t, ch, "exchange-direct", "direct")
	declareQueue(t, ch, "queue-1", amqp.Table{"x-queue-mode": "lazy"})
}

func fanout(t *testing.T, ch *amqp.Channel) {
	declareExchange(t, ch, "exchange-fanout", "fanout")
	declareQueue(t, ch, "queue-1", nil)
}

func declareExchange(t *testing.T, ch *amqp.Channel, name, kind string) {
	t.Helper()
	if err := ch.ExchangeDeclare(name, kind, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
}

func declareQueue(t *testing.T, ch *amqp.Channel, name string, args amqp.Table) {
	t.Helper()
	if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
		t.Fatal(err)
	}
}

var (
	uriOf    = regexp.MustCompile(`'?amqps?://[^ '\n]*'?`)
	timeOf   = regexp.MustCompile(`(-z|--time) \d+`)
	launcher = regexp.MustCompile(`^(\$ )?(\./|bin/)?(runjava com\.rabbitmq\.perf\.PerfTest|docker run --rm pivotalrabbitmq/perf-test:latest)`)
)

// wordsOf is a published line as a shell would split it, aimed at our broker and shortened to a second.
func wordsOf(t *testing.T, line, plain, secured string) []string {
	t.Helper()
	line = filled.Replace(line)
	uri := uriOf.FindString(line)
	to := plain
	if strings.Contains(uri, "amqps:") {
		to = secured
	}
	line = strings.Replace(line, uri, to, 1)
	line = timeOf.ReplaceAllString(line, "$1 1")
	if !timeOf.MatchString(line) {
		line += " -z 1"
	}
	start := launcher.FindString(line)
	if uri == "" || start == "" || strings.ContainsAny(line, "{}") {
		t.Fatalf("not understood: %s", line)
	}
	words := []string{"perf-test"}
	if strings.Contains(start, "runjava") {
		words = []string{"runjava", perfTestClass}
	}
	rest := strings.NewReplacer("\\\n", " ", "'", "", `"`, "").Replace(strings.TrimPrefix(line, start))
	return append(words, strings.Fields(rest)...)
}

// Every command line that the pages publish does what they say: nothing is lost, and the verdict has no reason but that somebody
// has not looked or that the backlog of a closed loop is still there.
func TestPublishedCommandLines(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	for _, c := range published {
		plain, secured := node.URI(t), node.TLSURI(t)
		words := wordsOf(t, c.line, plain, secured)
		t.Run(strings.Join(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.Contains(w, "://") })[1:], " "), func(t *testing.T) {
			if c.declare != nil {
				conn, err := amqp.Dial(plain)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				ch, err := conn.Channel()
				if err != nil {
					t.Fatal(err)
				}
				c.declare(t, ch)
			}
			dir := filepath.Join(t.TempDir(), "capture")
			r, m, code, stdout, stderr := recordedBy(t, dir, append(words, "--capture", dir))
			n := r.Counts
			if code != exitOK || n.Sent == 0 || (n.Received == 0) != c.onlySend || n.Lost+n.Duplicates+n.Corrupt+n.CorruptUnattributed+n.OutOfOrder+n.Foreign+n.Unroutable != 0 {
				t.Errorf("exit %d, %s, %+v\n%s", code, r.Verdict, n, stderr)
			}
			want := []string{integrity.CodeNotDrained}
			if c.onlySend {
				want = []string{integrity.CodeNothingToJudge}
			}
			for _, f := range r.Findings {
				if f.Severity == result.SeverityFail || f.Severity == result.SeverityInconclusive && !slices.Contains(want, f.Code) {
					t.Errorf("%s %s: %s; drain: %s", f.Severity, f.Code, f.Text, m.Outcome.DrainNote)
				}
			}
			if c.onlySend != (r.Verdict == result.Inconclusive) && !slices.ContainsFunc(r.Findings, func(f result.Finding) bool { return f.Code == integrity.CodeNotDrained }) {
				t.Errorf("verdict %s", r.Verdict)
			}
			if !strings.Contains(stdout, "test stopped (Reached time limit)\n") || !strings.Contains(stdout, "sending rate avg: ") {
				t.Errorf("lines:\n%s", stdout)
			}
		})
	}
}
