package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// Every variant runs once in each round, by a process of its own, and the directory is compared as it is.
func TestRepeatedRunsOfVariants(t *testing.T) {
	t.Setenv(asMain, "1")
	dir := filepath.Join(t.TempDir(), "windows")
	args := []string{"run", "--time", "0.2", "--rate", "1000", "--repeat", "3", "--capture", dir, "--variant", "w10: --confirm 10", "--variant", "large: --confirm 1000 --size 2000 --", "--seed", "2", "--"}
	code, stdout, stderr := invoke(t, args...)
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	for _, want := range []string{"large against w10", "message size", "confirm window 1,000", "3 runs against 3"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not said:\n%s", want, stdout)
		}
	}
	for _, want := range []string{"6 runs, 3 each of 2 variants, shuffled within each round (--seed 2)", "run 6 of 6"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not said:\n%s", want, stderr)
		}
	}
	index, err := readRepeats(dir)
	if err != nil || index == nil || len(index.Runs) != 6 || index.Seed != 2 {
		t.Fatalf("%v %+v", err, index)
	}
	orders := map[string]bool{}
	for round := range 3 {
		pair := []string{index.Runs[2*round].Variant, index.Runs[2*round+1].Variant}
		orders[strings.Join(pair, " ")] = true
		if slices.Sort(pair); !slices.Equal(pair, []string{"large", "w10"}) || index.Runs[2*round].Number != round+1 {
			t.Errorf("round %d: %+v", round+1, index.Runs[2*round:2*round+2])
		}
	}
	if len(orders) < 2 {
		t.Errorf("every round has the same order: %v", orders)
	}
	c, _, _ := comparisonOf(t, dir)
	if len(c.Groups) != 2 || c.Groups[0].Label != "w10" || len(c.Groups[1].Runs) != 3 || c.Method != result.ByRanks {
		t.Errorf("%+v", c.Groups)
	}
	if c, _, _ := comparisonOf(t, filepath.Join(dir, "large"), "b="+filepath.Join(dir, "w10")); len(c.Groups[0].Runs) != 3 || c.Groups[0].Label != "large" {
		t.Errorf("%+v", c.Groups)
	}
	if code, _, stderr := invoke(t, args...); code != exitFailed || !strings.Contains(stderr, "holds something already") {
		t.Errorf("a second time into the same directory: exit %d %s", code, stderr)
	}
}

func TestMistakesOfRepeat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--variant", "--confirm 10"}, "must begin with a label"},
		{[]string{"--variant", "a: --confirm 10", "--variant", "a: --confirm 20"}, "another variant"},
		{[]string{"--variant", "a: --confirms 10"}, "--variant a: unknown option --confirms"},
		{[]string{"--variant", "a: --size '10"}, "not closed"},
		{[]string{"--variant", "a: confirm 10"}, "begin with --"},
		{[]string{"--variant", "a: --capture x"}, "outside"},
		{[]string{"--variant", "NUL.1: --confirm 10"}, "the name of a device on Windows"},
		{[]string{"--variant", "a.: --confirm 10"}, "ends in a dot"},
		{[]string{"--repeat", "2", "--id", "com7"}, "the name of a device on Windows"},
		{[]string{"--repeat", "2", "--", "--"}, "unexpected argument"},
		{[]string{"--repeat", "2", "--assert", "lost == 0"}, "--assert is of one run's report"},
		{[]string{"--repeat", "2", "--output-file", "x.csv"}, "of a single run"},
		{[]string{"--repeat", "-1"}, "must be from 0"},
		{[]string{"--repeat", "2", "--multi-ack-every", "20", "--qos", "10"}, "20"},
	} {
		code, _, stderr := invoke(t, append([]string{"run", "--capture", dir}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, %q is not said: %s", c.args, code, c.want, stderr)
		}
	}
	if exists(dir) {
		t.Error("a directory was made nevertheless")
	}
}

// What was recorded before Ctrl-C stays, and the run that it cut short is none of the repeats.
func TestInterruptedRepeats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	p := launch(t, "", "run", "--time", "0.7", "--rate", "500", "--repeat", "50", "--capture", dir)
	for deadline := time.Now().Add(time.Minute); !exists(filepath.Join(dir, "02", "journal")); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(p.said())
		}
	}
	awaitRecording(t, p, filepath.Join(dir, "02"), 1)
	p.Process.Signal(os.Interrupt)
	if code := p.await(t); code != exitInterrupted {
		t.Errorf("exit %d\n%s", code, p.said())
	}
	index, err := readRepeats(dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, interrupted := 0, 0
	for _, x := range index.Runs {
		switch x.State {
		case runRecorded:
			whole++
		case runInterrupted:
			interrupted++
			r := analyzedCapture(t, filepath.Join(dir, x.Directory))
			if !r.Complete || r.Counts.Sent == 0 {
				t.Errorf("the interrupted run is not readable: %+v", r.Findings)
			}
		}
	}
	runs, err := runsOf(dir)
	if whole < 1 || interrupted > 1 || err != nil || len(runs) != whole {
		t.Errorf("%d whole, %d interrupted, %v %v", whole, interrupted, runs, err)
	}
}

// Repeats that ended early are compared with what there is of them, and it is said how much that is; a variant of which nothing is there
// is an error that says what to do.
func TestComparingInterruptedRepeats(t *testing.T) {
	dir := t.TempDir()
	index := &repeats{FormatVersion: 1, Repeat: 2, Variants: []repeatVariant{{Label: "w10"}, {Label: "w1000"}}, Runs: []repeatedRun{
		{Variant: "w10", Number: 1, Directory: "w10/01", State: runRecorded}, {Variant: "w1000", Number: 1, Directory: "interrupted-w1000-01", State: runInterrupted},
		{Variant: "w1000", Number: 2, Directory: "w1000/02", State: runPlanned}, {Variant: "w10", Number: 2, Directory: "w10/02", State: runPlanned},
	}}
	if err := index.write(dir); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := invoke(t, "compare", dir)
	if code != exitUsage || !strings.Contains(stderr, "no run of w1000 was recorded, the repeats ended after 1 of 4 runs") ||
		!strings.Contains(stderr, "make them again, into another directory, with leveret run --repeat; or compare those there are, such as "+filepath.Join(dir, "w10")) {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	index.Runs[2].State = runFailed
	if err := index.write(dir); err != nil {
		t.Fatal(err)
	}
	groups, err := groupsOf([]string{dir})
	if err != nil || len(groups) != 2 || groups[0].note != dir+": the repeats ended before all were made: 2 of 4 runs are there (1 of w10, 1 of w1000)" {
		t.Errorf("%v %+v", err, groups)
	}
	index.Runs[1].State, index.Runs[3].State = runRecorded, runRecorded
	if text := index.shortfall(dir); text != "" {
		t.Errorf("all are there: %s", text)
	}
}

// Through RabbitMQ a confirm waits behind those before it: with a window of 1,000 far longer than with one of 1, which four runs
// each prove.
func TestCompareWindowsThroughRabbitMQ(t *testing.T) {
	t.Setenv(asMain, "1")
	uri := rabbitmqtest.Shared(t).URI(t)
	dir := filepath.Join(t.TempDir(), "windows")
	code, _, stderr := invoke(t, "run", "--uri", uri, "--time", "0.3", "--repeat", "4", "--capture", dir, "--autoack", "--no-analyze",
		"--variant", "w1: --confirm 1", "--variant", "w1000: --confirm 1000")
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	c, code, stderr := comparisonOf(t, dir, "--metrics", "p50(confirm.service)", "--fail-if", "p50(confirm.service) > +100%")
	m := c.Metrics[0]
	if x := m.Changes[0]; x.Verdict != result.ChangeWorse || x.DeltaLow == nil || *x.DeltaLow < 1 || code != exitVerdict {
		b, _ := json.Marshal(m)
		t.Errorf("exit %d, %s\n%s", code, b, stderr)
	}
	if len(c.Groups[0].Marks) != 0 || !strings.HasPrefix(c.Groups[0].Runs[0].Broker, "RabbitMQ") {
		t.Errorf("%+v", c.Groups[0])
	}
}

// A run that cannot begin ends the repeats, and a password stands neither in what is said nor in the directory.
func TestRepeatsThatCannotBegin(t *testing.T) {
	t.Setenv(asMain, "1")
	dir := filepath.Join(t.TempDir(), "runs")
	secret := "pass" + strings.Repeat("word", 2) // made here, so that no file of the project holds it
	code, stdout, stderr := invoke(t, "run", "--repeat", "2", "--pmessages", "1", "--capture", dir, "--variant", "a: --uri amqp://u:"+secret+"@127.0.0.1:1/")
	if code != exitFailed || !strings.Contains(stderr, "run 1 of 2, of variant a, did not begin, and those after it are left out") || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	index, err := os.ReadFile(filepath.Join(dir, repeatsName))
	if err != nil || !strings.Contains(string(index), "amqp://u") {
		t.Fatalf("%v %s", err, index)
	}
	_, _, mistake := invoke(t, "run", "--variant", "--oauth2-client-secret "+secret)
	for _, text := range []string{stdout, stderr, string(index), mistake} {
		if strings.Contains(text, secret) {
			t.Errorf("the password stands in: %s", text)
		}
	}
}
