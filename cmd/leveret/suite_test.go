package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"leveret/cmd/internal/options"
	"leveret/cmd/internal/suite"
	"leveret/loadcore/rabbitmqtest"
	"leveret/reports/table"
)

// suiteFile writes a suite, whose runs are processes of the test binary as leveret itself.
func suiteFile(t *testing.T, text string) (file, dir string) {
	t.Helper()
	t.Setenv(asMain, "1")
	t.Setenv("LEVERET_URI", "") // of whoever runs the tests
	file, dir = filepath.Join(t.TempDir(), "try.yaml"), filepath.Join(t.TempDir(), "suite")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file, dir
}

func suiteRecord(t *testing.T, dir string) *suite.Record {
	t.Helper()
	r, _, err := suite.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const trySuite = `
title: Trying
options: {confirm: 10, rate: 500, time: 0.3}
shuffle: 3
repeat: 2
tables:
  - name: a
    title: Two sizes
    axes: [{name: Size, option: size, values: [12, 100]}]
    published: [{where: {Size: 100}, figures: {rate: 400}}]
    columns:
      - {head: Sent, figure: sent}
      - {head: Rate, figure: rate(sent), published: rate, ratio: true}
      - {head: Verdict, figure: verdict}
`

// Each run is a capture of its own; the tables are made again from them, the same. 500 messages a second for 0.3 seconds are 150.
func TestSuite(t *testing.T) {
	file, dir := suiteFile(t, trySuite)
	code, stdout, stderr := invoke(t, "suite", file, "--capture", dir)
	if code != exitOK || !strings.Contains(stdout, "Two sizes\n") || strings.Count(stdout, " PASS") != 2 || !strings.Contains(stdout, "150") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	for _, run := range suiteRecord(t, dir).Runs {
		r := analyzedCapture(t, run.Captures(dir)...)
		if run.State != suite.Done || r.Counts.Sent != 150 {
			t.Errorf("%s: %s, %d sent", run.ID, run.State, r.Counts.Sent)
		}
	}
	if want := "\ntables " + filepath.Join(dir, "tables") + ".{txt,md,csv,tex,html}\n"; !strings.Contains(stderr, want) {
		t.Errorf("%q is not said: %s", want, stderr)
	}
	for _, ending := range []string{"txt", "md", "csv", "tex", "html"} {
		if text, err := os.ReadFile(filepath.Join(dir, "tables."+ending)); err != nil || !strings.Contains(string(text), "150") {
			t.Errorf("tables.%s: %v", ending, err)
		}
	}
	code, again, stderr := invoke(t, "analyze", "--quiet", dir)
	if code != exitOK || again != stdout {
		t.Errorf("exit %d\n%s\nwas\n%s\n%s", code, again, stdout, stderr)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	code, again, stderr = invoke(t, "compare", dir, other) // row by row
	if code != exitOK || strings.Count(again, "==== Size 12 [a-01-12]") != 1 || strings.Count(again, "==== ") != 2 || !strings.Contains(again, "2 runs") {
		t.Errorf("exit %d\n%s\n%s", code, again, stderr)
	}
	code, again, stderr = invoke(t, "suite", "--resume", dir)
	if code != exitOK || again != stdout || strings.Contains(stderr, "begins") {
		t.Errorf("exit %d, what was run is run again\n%s", code, stderr)
	}
}

// A suite's page has each table with its verdicts, which it counts, and its charts. What is markup in a file is none there.
func TestSuitePage(t *testing.T) {
	file, dir := suiteFile(t, strings.NewReplacer("Trying", "<b>Trying", "values: [12, 100]", "values: [12, {is: 13, target: b}]", "Size: 100", "Size: 12", "repeat: 2", "targets: [{name: a}, {name: b}]").
		Replace(trySuite)+"    charts: [runs-rates]\n")
	if code, _, stderr := invoke(t, "suite", file, "--capture", dir, "--chart-format", "svg"); code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tables.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<h1>&lt;b&gt;Trying</h1>", `<h2 id="two-sizes">Two sizes</h2>`, `<th scope="colgroup" colspan="3">Rate</th>`, `judged pass">PASS</td>`, `>left out</td>`,
		"Size 13: left out: no address for target b", `id="chart-a-runs-rates"`, "<dt>rows with verdict PASS</dt><dd>1</dd>", "<dt>rows without a result</dt><dd>1</dd>",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
}

// Without titles nothing ends in a colon, or in blanks; a chart has its figures beside it, and the name of its table.
func TestSuiteWithoutTitles(t *testing.T) {
	file, dir := suiteFile(t, strings.NewReplacer("title: Trying", "", "title: Two sizes", "charts: [runs-rates]", "repeat: 2", "").Replace(trySuite))
	_, list, _ := invoke(t, "suite", file, "--list")
	if want := "try\n  target main\ntable a\n  a-01-12                                  Size 12\n"; !strings.HasPrefix(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
	code, _, stderr := invoke(t, "suite", file, "--capture", dir, "--chart-format", "svg")
	drawing, err := os.ReadFile(filepath.Join(dir, "charts", "a-runs-rates.svg"))
	if code != exitOK || err != nil || !strings.Contains(string(drawing), "Table a: ") {
		t.Errorf("exit %d, %v, or the chart has not the name of its table\n%s", code, err, stderr)
	}
	if figures, err := os.ReadFile(filepath.Join(dir, "charts", "a-runs-rates.csv")); err != nil || !strings.Contains(string(figures), "Size 100") {
		t.Errorf("%v: %s", err, figures)
	}
}

// The example of the help is a whole suite; what the program prints of its own is what it runs.
func TestSuiteExample(t *testing.T) {
	_, help, _ := invoke(t, "suite", "--help")
	_, example, _ := strings.Cut(help, "options are those of leveret run.\n\n")
	example, _, _ = strings.Cut(example, "\n\n")
	file, dir := suiteFile(t, example)
	code, stdout, stderr := invoke(t, "suite", file, "--capture", dir, "--time", "0.2", "--chart-format", "svg")
	if code != exitOK || strings.Count(stdout, " PASS") != 2 || !strings.Contains(stdout, "each row: median of 2 runs") {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	_, printed, _ := invoke(t, "suite", "release-check", "--print")
	file, _ = suiteFile(t, printed)
	_, want, _ := invoke(t, "suite", "release-check", "--dry-run")
	if code, got, stderr := invoke(t, "suite", file, "--dry-run"); code != exitOK || got != want {
		t.Errorf("exit %d, %s\n%s\nwant\n%s", code, stderr, got, want)
	}
}

// A verdict stands first on the page, and is said there of the rows that were chosen only.
func TestSuitePageVerdict(t *testing.T) {
	file, dir := suiteFile(t, strings.Replace(trySuite, "title: Two sizes", "title: Two sizes\n    verdict: both are well", 1))
	if code, _, stderr := invoke(t, "suite", file, "--only", "Size=12", "--capture", dir); code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	page, err := os.ReadFile(filepath.Join(dir, "tables.html"))
	want := `<p class="verdict pass">PASS</p>` + "\n<p>Two sizes: PASS: 1 of 2 rows, chosen with --only, have passed; only all 2 could show that both are well</p>"
	if err != nil || !strings.Contains(string(page), want) {
		t.Errorf("%v, no %q", err, want)
	}
}

// A row counts once, by the worst that its runs came to.
func TestVerdictTiles(t *testing.T) {
	x := &table.Table{Columns: []table.Column{{Verdict: true}}}
	for _, text := range []string{"PASS", "FAIL (lost), PASS", "INCONCLUSIVE (not_drained), PASS", "failed (1 of 3 runs), PASS", "failed", "left out"} {
		x.Rows = append(x.Rows, []table.Cell{{Text: text}})
	}
	var got []string
	for _, tile := range verdictTiles([]*table.Table{x}) {
		got = append(got, tile.Name+" "+tile.Value)
	}
	want := []string{"rows with verdict PASS 1", "rows with verdict INCONCLUSIVE 1", "rows with verdict FAIL 1", "rows with a run that failed 2", "rows without a result 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The list says how large each suite is, and a suite where its figures were published.
func TestSuiteList(t *testing.T) {
	_, list, _ := invoke(t, "suite", "--list")
	_, rows, _ := invoke(t, "suite", "--list", "cloudamqp-sizes")
	for want, in := range map[string]string{
		" 10 rows, 10 runs; some ": list, " 4 rows, 2 runs (rows share runs); some ": list, " 1 row, its runs chosen as it goes; some ": list, "\n--time SECONDS makes ": list,
		"  published: CloudAMQP, RabbitMQ performance testing: 001_eceee3e994c9ce06.txt, Throughput and Figure 1\n": rows,
	} {
		if !strings.Contains(in, want) {
			t.Errorf("%q is not said: %s", want, in)
		}
	}
}

// Interrupted in the middle of a row, a suite leaves a record that says so; --resume runs that row and those behind it, each once.
func TestSuiteInterruptedAndResumed(t *testing.T) {
	file, dir := suiteFile(t, strings.Replace(trySuite, "time: 0.3", "time: 0.6", 1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := &watched{want: "2 of 4", then: func() { time.AfterFunc(300*time.Millisecond, cancel) }}
	var stdout strings.Builder
	if code := run(ctx, []string{"suite", file, "--capture", dir}, strings.NewReader(""), &stdout, seen); code != exitInterrupted {
		t.Fatalf("exit %d\n%s", code, seen)
	}
	began := map[string]time.Time{}
	for i, r := range suiteRecord(t, dir).Runs {
		want := suite.Planned
		if i == 0 {
			want = suite.Done
			began[r.ID] = *r.Began
		}
		if r.State != want {
			t.Errorf("%s: %s, want %s", r.ID, r.State, want)
		}
	}
	code, _, stderr := invoke(t, "suite", "--resume", dir)
	if code != exitOK || strings.Count(stderr, "begins") != 3 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	ids := map[string]int{}
	for _, r := range suiteRecord(t, dir).Runs {
		ids[r.ID]++
		if r.State != suite.Done || !began[r.ID].IsZero() && !began[r.ID].Equal(*r.Began) {
			t.Errorf("%s: %s, began %v", r.ID, r.State, r.Began)
		}
		if c := analyzedCapture(t, r.Captures(dir)...).Counts; c.Sent != 300 {
			t.Errorf("%s: %d sent", r.ID, c.Sent)
		}
	}
	if len(ids) != 4 {
		t.Errorf("%v", ids)
	}
}

// A suite that still runs is not taken for one that was interrupted.
func TestSuiteResumedWhileItRuns(t *testing.T) {
	file, dir := suiteFile(t, strings.Replace(trySuite, "time: 0.3", "time: 1", 1))
	var code int
	var stderr string
	seen := &watched{want: "2 of 4", then: func() { code, _, stderr = invoke(t, "suite", "--resume", dir) }}
	var stdout strings.Builder
	if code := run(t.Context(), []string{"suite", file, "--capture", dir}, strings.NewReader(""), &stdout, seen); code != exitOK {
		t.Errorf("exit %d\n%s", code, seen)
	}
	if code != exitFailed || !strings.Contains(stderr, dir+": another process runs this suite") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	for _, r := range suiteRecord(t, dir).Runs {
		if r.State != suite.Done {
			t.Errorf("%s: %s", r.ID, r.State)
		}
	}
}

// watched calls then once, when the text has been written.
type watched struct {
	strings.Builder
	want string
	then func()
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Builder.Write(b)
	if w.then != nil && strings.Contains(w.String(), w.want) {
		w.then()
		w.then = nil
	}
	return n, err
}

// What is wrong is said with file, line or row, before anything is run.
func TestSuiteMistakes(t *testing.T) {
	for _, c := range []struct {
		old, new string
		args     []string
		code     int
		want     string
	}{
		{"values: [12, 100]", "values: [12, 100, tiny]", nil, exitUsage, "try.yaml:9: table a, Size tiny: --size=tiny: must be"},
		{"confirm: 10", "confrim: 10", nil, exitUsage, "try.yaml:3: table a, Size 12: unknown option --confrim; did you mean --confirm?"},
		{"values: [12, 100]", "values: [4, 100]", nil, exitUsage, "try.yaml:9: table a, Size 4: producer 0: --size=4: want at least 12 bytes"},
		{"repeat: 2", "assert: [lost = 3]", nil, exitUsage, "table a, Size 12: --assert=lost = 3: one of < <= > >= == != should stand here\n"},
		{"    columns", "    search: {option: nonsense}\n    columns", nil, exitUsage, "table a, Size 12: unknown option --nonsense"},
		{"repeat: 2", "repaet: 2", nil, exitUsage, `try.yaml:5: a suite has no key "repaet"`},
		{"", "", []string{"--only", "b"}, exitUsage, "try.yaml: no row of suite try matches --only b; its rows are a-01-12, a-02-100\n"},
		{"", "", []string{"--uri", "amqp://u:geheim@127.0.0.1:1"}, exitFailed, "target main is down: cannot connect: amqp://u@127.0.0.1:1"},
		{"", "", []string{"--uri", "tls=amqp://u:geheim@127.0.0.1:1"}, exitUsage, "the suite has no such target; it has main"},
		{"", "", []string{"--time", "0.1", "--resume", "nowhere"}, exitUsage, "unexpected argument"},
	} {
		file, dir := suiteFile(t, strings.Replace(trySuite, c.old, c.new, 1))
		code, stdout, stderr := invoke(t, append([]string{"suite", file, "--capture", dir}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "geheim") || stdout != "" {
			t.Errorf("exit %d, want %d with %q\n%s%s", code, c.code, c.want, stderr, stdout)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: something was run", c.want)
		}
	}
}

// An address that several targets have is down once.
func TestSuiteTargetsOfOneAddress(t *testing.T) {
	text := strings.Replace(trySuite, "repeat: 2", "targets: [{name: main}, {name: other, from: main}]", 1)
	file, dir := suiteFile(t, strings.Replace(text, "values: [12, 100]", "values: [100, {is: 13, target: other}]", 1))
	code, _, stderr := invoke(t, "suite", file, "--capture", dir, "--uri", "amqp://127.0.0.1:1")
	if code != exitFailed || strings.Count(stderr, "target main is down") != 1 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// Of two searches those runs are compared that tried the same value, whatever their numbers, and those of the same share of what was found.
func TestSearchesAreComparedByValue(t *testing.T) {
	var dirs []string
	for _, tried := range [][]float64{{100, 200, 150, 75}, {100, 200, 400, 150, 125}} {
		dir := t.TempDir()
		r := &suite.Record{Format: 1, File: "a.yaml", Text: "tables: [{name: s, search: {from: 100}, columns: [{figure: sent}]}]"}
		for i, value := range tried {
			id := fmt.Sprintf("s-01.%02d", i+1)
			run := &suite.Run{ID: id, Rows: []string{"s-01"}, Title: fmt.Sprint(value), Probe: &value, Parts: []suite.Part{{Capture: id}}, State: suite.Done}
			if i == len(tried)-1 {
				run.Fraction = 0.5
			}
			r.Runs = append(r.Runs, run)
		}
		if err := r.Save(dir); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	rows, err := suiteRows(dirs)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range rows {
		got = append(got, x.title+": "+filepath.Base(x.sources[0].runs[0][0])+" "+filepath.Base(x.sources[1].runs[0][0]))
	}
	if want := []string{"100: s-01.01 s-01.01", "200: s-01.02 s-01.02", "150: s-01.03 s-01.04", "75, 0.5 of what each has found: s-01.04 s-01.05"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is to go on must have begun.
func TestSuiteResumedFromNowhere(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nope")
	code, _, stderr := invoke(t, "suite", "--resume", nowhere)
	if want := "--resume=" + nowhere + ": " + nowhere + " holds no suite.json: give the directory that a suite recorded into"; code != exitUsage || !strings.Contains(stderr, want) {
		t.Errorf("exit %d, want %q\n%s", code, want, stderr)
	}
}

// A row that can't be run fails with its reason, and the others go on; the exit code is 1.
func TestSuiteGoesOnAfterAFailedRow(t *testing.T) {
	text := strings.Replace(trySuite, "repeat: 2", "targets: [{name: main}, {name: other, about: a second one}, {name: third}]", 1)
	text = strings.Replace(text, "values: [12, 100]", "values: [12, {is: 13, target: other}, {is: 14, target: third}, {is: 15, options: {queue-args: x-queue-type=odd}}]", 1)
	text = strings.Replace(text, "where: {Size: 100}", "where: {Size: 12}", 1)
	file, dir := suiteFile(t, text)
	code, stdout, stderr := invoke(t, "suite", file, "--capture", dir, "--uri", launchBroker(t), "--uri", "other=amqp://127.0.0.1:1")
	if code != exitFailed {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	for _, want := range []string{
		"Size 13: failed: target other is down: cannot connect", "Size 14: left out: no address for target third: give --uri third=URI", "Size 15: failed: ", "PASS",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for i := range 4 { // each has its number, whatever became of it
		if want := fmt.Sprintf("\n%d of 4  Size 1", i+1); strings.Count(stderr, want) != 1 {
			t.Errorf("%d times %q in\n%s", strings.Count(stderr, want), want, stderr)
		}
	}
	code, _, stderr = invoke(t, "suite", "--resume", dir, "--uri", "amqp://127.0.0.1:1")
	if want := "target other was amqp://guest@127.0.0.1:1/%2F: give its address again, as --uri other=URI or in LEVERET_URI_OTHER"; code != exitUsage || !strings.Contains(stderr, want) {
		t.Errorf("exit %d, no %q in\n%s", code, want, stderr)
	}
}

// What a dry run says of a row: which target it is left out for, and what has to hold.
func TestSuiteDryRun(t *testing.T) {
	file, dir := suiteFile(t, strings.NewReplacer("repeat: 2", "targets: [{name: a}, {name: b}]\nassert: [lost == 0, sent > 1]", "values: [12, 100]", "values: [12, {is: 100, target: b}]").Replace(trySuite))
	for _, c := range []struct {
		address string
		want    []string
	}{
		{"amqp://localhost", []string{"target a: 0 s\n", "target b (no address, left out): 0 s\n", "\n    has to hold: lost == 0; sent > 1\n"}},
		{"b=amqp://localhost", []string{"target a (no address, left out): 0 s\n", "target b: 0 s\n"}},
	} {
		code, stdout, stderr := invoke(t, "suite", file, "--dry-run", "--capture", dir, "--uri", c.address)
		for _, want := range c.want {
			if code != exitOK || !strings.Contains(stdout, want) {
				t.Errorf("exit %d, no %q in\n%s\n%s", code, want, stdout, stderr)
			}
		}
	}
}

// What a suite asserts holds for its captures whenever they are analyzed, unless something else is asked for. 500 messages a second
// for 0.3 seconds are 150.
func TestSuiteAssertsAgain(t *testing.T) {
	file, dir := suiteFile(t, strings.Replace(trySuite, "repeat: 2", "assert: [sent < 150]", 1))
	const why = "Size 12; Size 100: not met: sent < 150: it is 150"
	code, first, stderr := invoke(t, "suite", file, "--capture", dir)
	if code != exitVerdict || !strings.Contains(first, why) {
		t.Errorf("exit %d, no %q in\n%s\n%s", code, why, first, stderr)
	}
	if code, again, stderr := invoke(t, "analyze", dir); code != exitVerdict || again != first {
		t.Errorf("exit %d, %s\n%s\nwant\n%s", code, stderr, again, first)
	}
	if code, other, stderr := invoke(t, "analyze", dir, "--assert", "sent <= 150"); code != exitOK || strings.Contains(other, "not met") {
		t.Errorf("exit %d\n%s\n%s", code, other, stderr)
	}
}

// The published integrity run, a thousandth of it, through a broker that loses, doubles and damages messages: exact counts.
func TestIntegrityBlockWithFaults(t *testing.T) {
	t.Setenv(asMain, "1")
	server := launchFaultyBroker(t, "drop@100,drop@200,duplicate@300,corrupt@400:byte=9")
	dir := filepath.Join(t.TempDir(), "suite")
	code, stdout, stderr := invoke(t, "suite", "danubedata", "--only", "integrity", "--scale", "0.001", "--uri", server, "--capture", dir, "--format", "csv")
	if code != exitVerdict {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	// Sent, consumed (two fewer, one more), remaining, dropped, duplicates, corrupted, unique (two lost, one damaged), each beside what was
	// published. The damage is in the checksum, so that which message it was is known, and it is not missing.
	// Both were confirmed, and nothing may have removed them: they are lost.
	for _, want := range []string{"integrity,1000,1000000,999,1000000,0,0,2,0,1,0,1,0,997,1000000,", ",FAIL (lost)\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

// On RabbitMQ: queues, exchanges and policies are made for a row and removed after it; passwords are nowhere.
func TestSuiteOnRabbitMQ(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	management, err := url.Parse(node.ManagementURL())
	if err != nil {
		t.Fatal(err)
	}
	management.User = url.UserPassword(node.User(), node.Password())
	file, dir := suiteFile(t, `
options: {confirm: 10, rate: 300, time: 0.3, exchange: suite-fanout, type: fanout, queue: suite-1, predeclared: missing, flag: persistent}
tables:
  - setup:
      exchanges: [{name: suite-fanout, type: fanout}]
      queues: [{pattern: suite-%d, from: 1, to: 3, durable: true}]
      bindings: [{exchange: suite-fanout, queue: suite-%d, key: k}]
      policies: [{name: suite-limit, pattern: ^suite-, definition: {max-length: 100000}}]
    rows: [{name: one}, {name: mirrored, needs: {before: 3.9, why: too new}}, {name: clustered, needs: {nodes: 2}}]
    columns: [{head: Sent, figure: sent}, {head: Lost, figure: lost}]
    charts: [runs-rates]
`)
	code, stdout, stderr := invoke(t, "suite", file, "--capture", dir, "--uri", node.URIFor(vhost), "--management-uri", management.String())
	if code != exitOK || !strings.Contains(stdout, "90") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	for _, want := range []string{"mirrored: left out: needs a broker before version 3.9, this is ", "clustered: left out: needs a cluster of 2 nodes, this has 1"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for _, kind := range []string{"queues", "policies", "exchanges"} {
		var left []struct{ Name string }
		node.ManagementGet(t, kind+"/"+url.PathEscape(vhost)+"?disable_stats=true", &left)
		left = slices.DeleteFunc(left, func(x struct{ Name string }) bool { return x.Name == "" || strings.HasPrefix(x.Name, "amq.") })
		if len(left) > 0 {
			t.Errorf("%s are left: %v", kind, left)
		}
	}
	code, _, stderr2 := invoke(t, "suite", "--resume", dir)
	if code != exitUsage || !strings.Contains(stderr2, "give its address again") {
		t.Errorf("exit %d, resumed without an address\n%s", code, stderr2)
	}
	checkNowhere(t, node.Password(), dir, stdout+stderr+stderr2)
}

// Where there is no terminal, a status is said once nothing has been for a minute, and not before.
func TestSuiteProgressInAPipe(t *testing.T) {
	var b strings.Builder
	p := newSuiteProgress(streams{err: &b}, false)
	p.Line("1 of 2: begins")
	p.Status("1 s")
	p.said = p.said.Add(-time.Minute)
	p.Status("1 min")
	p.Status("1 min 1 s")
	p.said = p.said.Add(-time.Minute)
	p.Status("")
	if got := b.String(); got != "1 of 2: begins\n  1 min\n" {
		t.Errorf("%q", got)
	}
	quiet := newSuiteProgress(streams{err: &b}, true)
	quiet.said = quiet.said.Add(-time.Hour)
	quiet.Status("much")
	if strings.Contains(b.String(), "much") {
		t.Error("not quiet")
	}
}

// A table that fits itself to what the system allows has no more connections than the broker's node still takes, 16 of which stay free.
// Another test's connections may come and go meanwhile.
func TestSuiteFitsItselfToTheBroker(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	management, err := url.Parse(node.ManagementURL())
	if err != nil {
		t.Fatal(err)
	}
	management.User = url.UserPassword(node.User(), node.Password())
	file, _ := suiteFile(t, `
tables:
  - scale: [producers]
    fit-descriptors: true
    options: {consumers: 0}
    axes: [{name: Producers, option: producers, values: [1000000]}]
    columns: [{figure: sent}]
`)
	c := &suiteRun{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}, options: &options.Suite{
		URIs: map[string]string{"": node.URIFor(node.VHost(t))}, ManagementURIs: map[string]string{"": management.String()},
	}}
	if err := c.read([]string{file}, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	c.changes.Descriptors = 2_000_000 // whatever this system allows: the broker is the limit
	type limits struct {
		Name    string
		Sockets int `json:"sockets_total"` // before RabbitMQ 4
		Files   int `json:"fd_total"`
	}
	told := []limits{{}}
	for deadline := time.Now().Add(time.Minute); told[0].Files == 0; time.Sleep(100 * time.Millisecond) { // a new node has none at first
		if node.ManagementGet(t, "nodes?columns=name,sockets_total,fd_total", &told); time.Now().After(deadline) {
			t.Fatal("the node does not tell its limits")
		}
	}
	brokers, err := c.meet(t.Context())
	if err == nil {
		err = c.fit(brokers)
	}
	if err != nil {
		t.Fatal(err)
	}
	limit := cmp.Or(told[0].Sockets, told[0].Files)
	n, err := strconv.Atoi(strings.Fields(c.rows[0].Labels[0])[0]) // 17,894 (of 1000000)
	if err != nil || n > limit-16 || n < limit-1016 {
		t.Errorf("%q producers (%v), where the node takes %d connections in all", c.rows[0].Labels, err, limit)
	}
}

// leftQueues are the names of all queues of a virtual host.
func leftQueues(t *testing.T, node *rabbitmqtest.Node, vhost string) (names []string) {
	t.Helper()
	var queues []struct{ Name string }
	node.ManagementGet(t, "queues/"+url.PathEscape(vhost)+"?disable_stats=true", &queues)
	for _, q := range queues {
		names = append(names, q.Name)
	}
	slices.Sort(names)
	return names
}

const setUpSuite = `
options: {confirm: 10, rate: 300, time: 0.6, queue: suite-1, flag: persistent}
tables:
  - setup:
      exchanges: [{name: suite-x}]
      queues: [{pattern: suite-%d, from: 1, to: 3, durable: true}]
      remove-queues: [{name: suite-own}]
    rows:
      - {name: one, options: {time: 60, predeclared: missing}}
      - {name: two, options: {queue: suite-none, predeclared: strict}}
      - {name: three, options: {queue: suite-own, auto-delete: false}}
    columns: [{head: Sent, figure: sent}]
`

// What a row needs is removed after it whatever became of it: killed with its suite, interrupted, failed, or done. What is somebody
// else's is neither used nor removed.
func TestSuiteLeavesNothingBehind(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	uri := node.URIFor(vhost)
	file, dir := suiteFile(t, setUpSuite)
	t.Setenv("LEVERET_URI", uri)

	killed := exec.Command(os.Args[0], "suite", file, "--capture", dir)
	said := &strings.Builder{}
	killed.Stderr = said
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); len(leftQueues(t, node, vhost)) < 3 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	killed.Process.Kill()
	killed.Wait()
	if left := leftQueues(t, node, vhost); !slices.Equal(left, []string{"suite-1", "suite-2", "suite-3"}) {
		t.Fatalf("of the killed suite is left %q\n%s", left, said)
	}
	if code, _, stderr := invoke(t, "suite", file, "--capture", dir+"-another"); code != exitFailed || !strings.Contains(stderr, `[1-01-one]: set-up: queue "suite-1" is there already: the suite would use and delete it`) {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if left := leftQueues(t, node, vhost); len(left) != 3 {
		t.Errorf("another suite has removed of them, and left %q", left)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := &watched{want: "1 of 3", then: func() { time.AfterFunc(500*time.Millisecond, cancel) }}
	if code := run(ctx, []string{"suite", "--resume", dir}, strings.NewReader(""), io.Discard, seen); code != exitInterrupted {
		t.Fatalf("exit %d\n%s", code, seen)
	}
	if left := leftQueues(t, node, vhost); len(left) > 0 {
		t.Errorf("of the interrupted suite is left %q", left)
	}

	record := suiteRecord(t, dir)
	for i, arg := range record.Runs[0].Parts[0].Args {
		record.Runs[0].Parts[0].Args[i] = strings.Replace(arg, "--time=60", "--time=0.6", 1)
	}
	if err := record.Save(dir); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := invoke(t, "suite", "--resume", dir)
	states := ""
	for _, r := range suiteRecord(t, dir).Runs {
		if states += string(r.State) + " "; r.SetUp {
			t.Errorf("%s: recorded as left behind", r.ID)
		}
	}
	if code != exitFailed || states != "done failed done " {
		t.Errorf("exit %d, %s\n%s", code, states, stderr)
	}
	if left := leftQueues(t, node, vhost); len(left) > 0 {
		t.Errorf("of the suite is left %q", left)
	}
}

// checkNowhere looks for a secret in files and a text.
func checkNowhere(t *testing.T, secret, dir, text string) {
	t.Helper()
	if strings.Contains(text, secret) {
		t.Error("the password is in what was printed")
	}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), secret) {
			t.Errorf("%s: %v, or it holds the password", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
