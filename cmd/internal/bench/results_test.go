package main

import (
	"io"
	"strings"
	"testing"
)

func TestLinesAreRead(t *testing.T) {
	for _, c := range []struct {
		line  string
		procs int
		name  string
		unit  string
		value float64
	}{
		{"BenchmarkA/12B-ack-every-100/leveret-2   \t 500\t 12.5 cpu-ns/msg\t 1e6 msg/s", 2, "A/12B-ack-every-100/leveret", "msg/s", 1e6},
		{"BenchmarkStamp/patch-2 100 5 ns/op", 1, "Stamp/patch-2", "ns/op", 5}, // one processor adds nothing to the name
	} {
		name, values, ok := parseLine(c.line, c.procs)
		if !ok || name != c.name || values[c.unit] != c.value {
			t.Errorf("%q: %v %q %v", c.line, ok, name, values)
		}
	}
	for _, line := range []string{"", "PASS", "ok  \tleveret/loadcore\t1.2s", "BenchmarkA", "BenchmarkA-2 some text here", "goos: linux", "Benchmark x 5 ns/op"} {
		if name, values, ok := parseLine(line, 2); ok {
			t.Errorf("%q read as %s %v", line, name, values)
		}
	}
}

// Ratios are taken within rounds: 10/100, 40/100 and 30/50 have the median 0.4, where the medians' ratio would be 0.3.
func TestRatiosAreOfRounds(t *testing.T) {
	r := newResults()
	for round, output := range []string{
		"BenchmarkX/leveret-2 1 10 ns/msg\nBenchmarkX/amqp091-go-2 1 100 ns/msg\n",
		"BenchmarkX/leveret-2 1 40 ns/msg\nBenchmarkX/amqp091-go-2 1 100 ns/msg\n",
		"BenchmarkX/leveret-2 1 30 ns/msg\nBenchmarkX/amqp091-go-2 1 50 ns/msg\n",
	} {
		if own, err := r.read(strings.NewReader(output), round, 2, io.Discard); own || err != nil {
			t.Fatal(own, err)
		}
	}
	if s := r.ratio("X/leveret", "X/amqp091-go", "ns/msg"); s != (spread{n: 3, median: 0.4, low: 0.1, high: 0.6}) {
		t.Errorf("%+v", s)
	}
	if s := r.of("X/leveret", "ns/msg"); s != (spread{n: 3, median: 30, low: 10, high: 40}) {
		t.Errorf("%+v", s)
	}
}

func TestRoundsInTheNameAreRounds(t *testing.T) {
	r := newResults()
	own, err := r.read(strings.NewReader("BenchmarkX/round=1/12B/leveret 1 5 s\nBenchmarkX/round=2/12B/leveret 1 7 s\n"), 0, 1, io.Discard)
	if s := r.of("X/12B/leveret", "s"); !own || err != nil || s.n != 2 || s.median != 6 {
		t.Errorf("%v %v %+v", own, err, s)
	}
}

func TestTheTableJudgesTargets(t *testing.T) {
	r := newResults()
	r.add("StartUp/help", "ms", 0, 51)
	r.add("AgainstRabbitMQ/12B/window=none/leveret", "cpu-ns/msg", 0, 21)
	r.add("AgainstRabbitMQ/12B/window=none/amqp091-go", "cpu-ns/msg", 0, 100)
	var b strings.Builder
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<= 50   51   ", "<= 0.22  0.21  "} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "NOT REACHED"); n != 1 || strings.Count(b.String(), " reached") != 1 {
		t.Errorf("%d not reached, want 1 of 2:\n%s", n, b.String())
	}
}
