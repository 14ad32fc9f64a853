package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/analyze/export"
	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
)

// duckDB installs testdata/duckdb, and returns its directory.
func duckDB(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: this test judges exported rows with DuckDB; install Node.js 18 or newer with npm "+
				"(Debian and Ubuntu: apt-get install nodejs npm), or leave this test out with -skip DuckDB", err)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "judge.js", "query.js"} {
		b, err := os.ReadFile(filepath.Join("testdata", "duckdb", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci of testdata/duckdb/package-lock.json: %v\n%s\nIt needs npm's registry or its cache.", err, out)
	}
	return dir
}

// node runs a program of testdata/duckdb.
func node(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	c := exec.Command("node", args...)
	c.Dir = dir
	out, err := c.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("node %v: %v\n%s", args, err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return out
}

// opinion is what judge.js prints.
type opinion struct {
	Counts  map[string]string
	Latency map[string]map[string]map[string]*string // confirm, delivery; service, response; count, p50_ns, ...
}

// secondOpinion exports the events of a capture, lets DuckDB judge them, and holds its counts and latencies, to the
// nanosecond, against those of leveret analyze.
func secondOpinion(t *testing.T, duck, capture string) (*opinion, *result.Result) {
	t.Helper()
	dir := t.TempDir()
	for _, rows := range []string{"sends", "settlements", "deliveries"} {
		if code, _, stderr := invoke(t, "export", capture, "--rows", rows, "--output", filepath.Join(dir, rows+".parquet")); code != exitOK {
			t.Fatalf("export of %s: exit %d\n%s", rows, code, stderr)
		}
	}
	var theirs opinion
	if err := json.Unmarshal(node(t, duck, "judge.js", capture, dir), &theirs); err != nil {
		t.Fatal(err)
	}
	_, stdout, stderr := invoke(t, "analyze", capture, "--quiet", "--format", "json")
	var ours struct {
		Counts  map[string]int64
		Latency map[string]map[string]map[string]any
	}
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &ours); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	t.Logf("DuckDB: %+v", theirs.Counts)
	for name, n := range theirs.Counts {
		if got, ok := ours.Counts[name]; !ok || strconv.FormatInt(got, 10) != n {
			t.Errorf("%s: %d, DuckDB has %s", name, got, n)
		}
	}
	if len(theirs.Counts) < 15 || len(theirs.Latency["confirm"]) == 0 || len(theirs.Latency["delivery"]) == 0 {
		t.Errorf("DuckDB judged too little: %+v", theirs)
	}
	compareOpinions(t, theirs, &r)
	return &theirs, &r
}

func compareOpinions(t *testing.T, theirs opinion, r *result.Result) {
	t.Helper()
	for what, kinds := range theirs.Latency {
		for kind, d := range kinds {
			ours := r.Latency.Pick(what, kind)
			if ours == nil {
				t.Errorf("%s %s: none, DuckDB has one", what, kind)
				continue
			}
			line := what + " " + kind + ", DuckDB:"
			for name, got := range map[string]*int64{"count": &ours.Count, "censored": &ours.Censored, "p50_ns": ours.P50NS,
				"p99_ns": ours.P99NS, "p99_9_ns": ours.P999NS, "max_ns": ours.MaxNS} {
				want := d[name]
				if (got == nil) != (want == nil) || got != nil && strconv.FormatInt(*got, 10) != *want {
					t.Errorf("%s %s: %s is %s, DuckDB has %s", what, kind, name, shown(got), texts(d[name]))
				}
				line += " " + name + " " + texts(d[name])
			}
			t.Log(line)
		}
	}
}

func texts(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

func shown(n *int64) string {
	if n == nil {
		return "null"
	}
	return strconv.FormatInt(*n, 10)
}

// Somebody else's reader and SQL from the rows of events alone: the same to the message and the nanosecond.
func TestDuckDBAgrees(t *testing.T) {
	t.Parallel()
	duck := duckDB(t)
	run := func(t *testing.T, args ...string) *opinion {
		_, _, capture := record(t, append(args, "--producers", "4", "--consumers", "2", "--queue-pattern", "judged-%d", "--queue-pattern-from", "1", "--queue-pattern-to", "2",
			"--confirm", "100", "--flag", "persistent", "--flag", "mandatory", "--auto-delete", "false", "--time", "1.8", "--on-disconnect", "stop")...)
		theirs, _ := secondOpinion(t, duck, capture)
		return theirs
	}
	t.Run("clean", func(t *testing.T) {
		if c := run(t, "--rate", "1000").Counts; c["lost"] != "0" || c["duplicates"] != "0" || c["received"] != c["sent"] {
			t.Errorf("counts %v", c)
		}
	})
	t.Run("never sent", func(t *testing.T) { // a stall of a second at 500 a second, and none of what was due meanwhile is made up for
		if c := run(t, "--rate", "500", "--catch-up", "none", "--faults", "stall@300:1s").Counts; c["sent"] == "3600" {
			t.Errorf("all were sent: counts %v", c)
		}
	})
	t.Run("closed loop", func(t *testing.T) { run(t, "--pmessages", "20000") })
	t.Run("every fault", func(t *testing.T) {
		c := run(t, "--rate", "500", "--faults", "drop@50-1000/50,duplicate@77-3000/97,corrupt@33-2000/99,reorder@20-3000/101,delay@700:fixed=20ms,"+
			"nack@111-3000/111,return@123-3000/123,stall@900:100ms,block@1200:100ms,close-channel@2100,cut@2500").Counts
		for _, name := range []string{"lost", "missing", "duplicates", "corrupt", "out_of_order", "nacked", "returned", "unconfirmed"} {
			if c[name] == "0" {
				t.Errorf("the faults left no %s", name)
			}
		}
	})
	t.Run("formats", func(t *testing.T) { threeFormats(t, duck) })
	t.Run("purged queue", func(t *testing.T) { aPurgedQueue(t, duck) })
}

// A queue of RabbitMQ is purged while the run goes on, and that is marked: exactly the messages that the broker says were purged
// are removed by a rule. Without the mark nothing in the record tells of the purge: they are lost.
func aPurgedQueue(t *testing.T, duck string) {
	uri := rabbitmqtest.Shared(t).URI(t)
	b := inBackground(t, "--uri "+uri+" --queue purged --flag persistent --auto-delete false --rate 1000 --time 3 --confirm 100 --consumer-start-delay 1.5")
	purged := purge(t, uri, "purged", 500)
	mark(t, b.dir, "thrown away", "--purged", "purged")
	<-b.done
	theirs, r := secondOpinion(t, duck, b.dir)
	if n := strconv.Itoa(purged); theirs.Counts["missing"] != n || theirs.Counts["removed_by_rule"] != n || theirs.Counts["lost"] != "0" {
		t.Errorf("%d messages were purged, DuckDB has %+v", purged, theirs.Counts)
	}
	if r.Counts.RemovedByRule != int64(purged) || r.Counts.Lost != 0 || r.Verdict != result.Pass {
		t.Errorf("%d messages were purged: %s, counts %+v", purged, r.Verdict, r.Counts)
	}
	firstOfOne(t, b.dir, "removed_by_rule", purged)
	if err := os.Remove(filepath.Join(b.dir, manifest.MarksName)); err != nil {
		t.Fatal(err)
	}
	theirs, r = secondOpinion(t, duck, b.dir)
	if n := strconv.Itoa(purged); theirs.Counts["missing"] != n || theirs.Counts["lost"] != n || r.Counts.Lost != int64(purged) || r.Verdict != result.Fail {
		t.Errorf("%d messages were purged, not marked: %s, counts %+v, DuckDB has %+v", purged, r.Verdict, r.Counts, theirs.Counts)
	}
	firstOfOne(t, b.dir, "lost", purged)
}

// firstOfOne: what became of messages in one way are the first n of the one producer.
func firstOfOne(t *testing.T, capture, where string, n int) {
	t.Helper()
	_, stdout, _ := invoke(t, "export", capture, "--where", where, "--format", "jsonl")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) != n {
		t.Fatalf("--where %s has %d, want %d", where, len(lines), n)
	}
	for i, line := range lines {
		if !strings.Contains(line, fmt.Sprintf(`"seq":%d,`, i)) || !strings.Contains(line, `"settlement":"ack"`) {
			t.Fatalf("row %d of %s: %s", i, where, line)
		}
	}
}

// purge waits for messages in a queue, and purges it. It returns how many the broker says it has thrown away.
func purge(t *testing.T, uri, queue string, atLeast int) int {
	t.Helper()
	connection, channel := filled(t, uri, queue, atLeast)
	defer connection.Close()
	n, err := channel.QueuePurge(queue, false)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// filled waits until a queue has so many messages.
func filled(t *testing.T, uri, queue string, atLeast int) (*amqp.Connection, *amqp.Channel) {
	t.Helper()
	connection, err := amqp.Dial(uri)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		channel, err := connection.Channel()
		if err != nil {
			t.Fatal(err)
		}
		state, err := channel.QueueDeclarePassive(queue, true, false, false, false, nil)
		if err == nil && state.Messages >= atLeast {
			return connection, channel
		}
		channel.Close() // not there yet: the broker has closed it already
	}
	t.Fatalf("queue %s did not get %d messages", queue, atLeast)
	return nil, nil
}

// Three formats of one table, with two row groups, nulls, empty and strange texts, and the ends of the numbers: the same to
// another reader, which also counts them by itself.
func threeFormats(t *testing.T, duck string) {
	const n = 130_000
	columns := []export.Column{{Name: "number"}, {Name: "time_ns", Nullable: true}, {Name: "flag", Kind: export.Flag, Nullable: true},
		{Name: "name", Kind: export.Text}, {Name: "key", Kind: export.Text, Nullable: true}}
	strange := []string{"", "q,1", "a \"b\"", "zwei\r\nZeilen", "grüße", "\\"}
	dir := t.TempDir()
	for _, format := range export.Formats {
		f, err := os.Create(filepath.Join(dir, "t."+format))
		if err != nil {
			t.Fatal(err)
		}
		w, err := export.New(format, f, columns)
		if err != nil {
			t.Fatal(err)
		}
		b := export.NewBlock(columns)
		for i := range int64(n) {
			b.Number(0, []int64{i, math.MinInt64 + i, math.MaxInt64 - i}[i%3])
			b.Text(3, strange[i%6])
			if i%4 == 0 {
				b.Null(1)
				b.Null(2)
				b.Null(4)
			} else {
				b.Number(1, 1_800_000_000_000_000_000+i)
				b.Bool(2, i%2 == 0)
				b.Text(4, strange[(i/6)%6])
			}
			if b.Rows++; b.Rows == 1000 {
				if err := w.Write(b); err != nil {
					t.Fatal(err)
				}
				b.Reset()
			}
		}
		if err := errors.Join(w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	// allow_quoted_nulls: an empty field is a null, a quoted one an empty text. The new line is CR LF, also within a text.
	csv := "read_csv('" + dir + "/t.csv', header = true, allow_quoted_nulls = false, new_line = '\\r\\n', columns = {number: 'BIGINT', time_ns: 'BIGINT', flag: 'BOOLEAN', name: 'VARCHAR', key: 'VARCHAR'})"
	jsonl := "read_json('" + dir + "/t.jsonl', format = 'newline_delimited', columns = {number: 'BIGINT', time_ns: 'BIGINT', flag: 'BOOLEAN', name: 'VARCHAR', key: 'VARCHAR'})"
	parquet := "read_parquet('" + dir + "/t.parquet')"
	differ := func(a, b string) string {
		return "SELECT count(*) FROM ((FROM " + a + " EXCEPT ALL FROM " + b + ") UNION ALL (FROM " + b + " EXCEPT ALL FROM " + a + "))"
	}
	out := node(t, duck, "query.js", differ(csv, parquet), differ(jsonl, parquet),
		"SELECT count(*), min(number), max(number), count(time_ns), min(time_ns), max(time_ns), count(flag), count(*) FILTER (flag), count(key), count(*) FILTER (name = 'grüße') FROM "+parquet,
		"SELECT count(DISTINCT row_group_id), min(type), max(type) FROM parquet_metadata('"+dir+"/t.parquet') WHERE path_in_schema = 'time_ns'",
		"SELECT string_agg(typeof(number) || ' ' || typeof(flag) || ' ' || typeof(name)) FROM (FROM "+parquet+" LIMIT 1)")
	// By hand: a quarter of 130,000 is null; of the others those with i = 2 mod 4 are true, a quarter; i = 4 mod 6 are 4, 10, ...
	// 129,994 = 4 + 6 * 21,665.
	want := `["0"]
["0"]
["130000","-9223372036854775807","9223372036854775805","97500","1800000000000000001","1800000000000129999","97500","32500","97500","21666"]
["2","INT64","INT64"]
["BIGINT BOOLEAN VARCHAR"]
`
	if string(out) != want {
		t.Errorf("DuckDB reads\n%swant\n%s", out, want)
	}
}
