package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// twin is the last part of the name of the benchmark that others are compared to.
const twin = "amqp091-go"

// target is a bound that a benchmark has to keep. With to it is on the ratio to the benchmark of that name in the same group.
type target struct {
	benchmark, unit, to string
	atMost, atLeast     float64
}

// targets are the project's own; see the README.
var targets = []target{
	{benchmark: "PublishNoSocket/12B/leveret", unit: "cpu-ns/msg", atMost: 100},
	{benchmark: "PublishNoSocket/12B/leveret", unit: "allocs/msg", atMost: 0.01},
	{benchmark: "PublishNoSocket/12B/leveret", unit: "cpu-ns/msg", to: twin, atMost: 1. / 7},
	{benchmark: "ConsumeNoSocket/12B-autoack/leveret", unit: "cpu-ns/msg", atMost: 100},
	{benchmark: "ConsumeNoSocket/12B-autoack/leveret", unit: "allocs/msg", atMost: 0.01},
	{benchmark: "ConsumeNoSocket/12B-autoack/leveret", unit: "cpu-ns/msg", to: twin, atMost: 1. / 15},
	{benchmark: "PublishToSinkProcess/window=1000/leveret", unit: "msg/s", atLeast: 3e6},
	{benchmark: "EndToEndEmbedded/window=1000-ack-every-100/leveret", unit: "msg/s", atLeast: 1e6},
	{benchmark: "RecordRun/closed-loop-batches/none", unit: "cpu-ns/row", atMost: 15},
	{benchmark: "RecordRun/closed-loop-batches/lz4", unit: "disk-B/message", atMost: 32},
	{benchmark: "Run/1x1,rate=false,first=false,none", unit: "Mrows/s", atLeast: 20},
	{benchmark: "BesideDuckDB/4-producers/leveret", unit: "Mrows/s", to: "duckdb", atLeast: 2.5},
	{benchmark: "BesideDuckDB/20000-producers/leveret", unit: "Mrows/s", to: "duckdb", atLeast: 2.5},
	{benchmark: "BesideDuckDB/fan-out-4/leveret", unit: "Mrows/s", to: "duckdb", atLeast: 2.5},
	{benchmark: "BesideDuckDB/published-first/leveret", unit: "Mrows/s", to: "duckdb", atLeast: 2.5},
	{benchmark: "BesideDuckDB/published-first/leveret", unit: "MiB-resident", atMost: 512},
	{benchmark: "StartUp/help", unit: "ms", atMost: 50},
	{benchmark: "AgainstRabbitMQ/12B/window=none/leveret", unit: "cpu-ns/msg", to: twin, atMost: 0.22},
	{benchmark: "AgainstRabbitMQ/12B/window=none/leveret", unit: "msg/s", to: twin, atLeast: 1},
	{benchmark: "AgainstRabbitMQ/12B/window=1000/leveret", unit: "cpu-ns/msg", to: twin, atMost: 0.29},
	{benchmark: "AgainstRabbitMQ/12B/window=1000/leveret", unit: "msg/s", to: twin, atLeast: 1},
	{benchmark: "AgainstRabbitMQ/12B/window=1000/leveret", unit: "msg/s", to: "leveret-unrecorded", atLeast: 0.95},
	{benchmark: "RecordingCost/4x4/window=1000/recorded", unit: "msg/s", to: "unrecorded", atLeast: 0.95},
	{benchmark: "RecordingCost/4x4/window=1000/recorded", unit: "p99-confirm-ms", to: "unrecorded", atMost: 1.20},
	{benchmark: "AgainstRabbitMQ/1024B/window=none/leveret", unit: "cpu-ns/msg", to: twin, atMost: 0.40},
	{benchmark: "AgainstRabbitMQ/1024B/window=none/leveret", unit: "msg/s", to: twin, atLeast: 1},
	{benchmark: "AgainstRabbitMQ/1024B/window=1000/leveret", unit: "cpu-ns/msg", to: twin, atMost: 0.38},
	{benchmark: "AgainstRabbitMQ/1024B/window=1000/leveret", unit: "msg/s", to: twin, atLeast: 1},
}

// write prints all values, then the ratios, then what became of the targets.
func (r *results) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, "\nBenchmark\tunit\tmedian (least to greatest)\n")
	for _, name := range r.names {
		for _, unit := range r.units(name) {
			fmt.Fprintf(t, "%s\t%s\t%v\n", name, unit, r.of(name, unit))
		}
	}
	r.writeRatios(t)
	r.writeTargets(t)
	return t.Flush()
}

// units of a benchmark that say something, sorted.
func (r *results) units(name string) []string {
	_, byOperation := r.values[name]["ns/op"]
	var units []string
	for unit := range r.values[name] {
		// What counts messages reports no time of an operation, and then its allocations say nothing either.
		if unit != "B/op" && (unit != "allocs/op" || byOperation) {
			units = append(units, unit)
		}
	}
	slices.Sort(units)
	return units
}

func (r *results) writeRatios(w io.Writer) {
	fmt.Fprintf(w, "\nRatio to %s\tunit\tmedian (least to greatest)\n", twin)
	for _, name := range r.names {
		to := sibling(name, twin)
		if name == to || r.values[to] == nil {
			continue
		}
		for _, unit := range r.units(name) {
			if ratio := r.ratio(name, to, unit); ratio.n > 0 {
				fmt.Fprintf(w, "%s\t%s\t%v\n", name, unit, ratio)
			}
		}
	}
}

func (r *results) writeTargets(w io.Writer) {
	fmt.Fprint(w, "\nTarget\tunit\tbound\tmedian (least to greatest)\t\n")
	for _, t := range targets {
		s := r.of(t.benchmark, t.unit)
		name := t.benchmark
		if t.to != "" {
			s = r.ratio(t.benchmark, sibling(t.benchmark, t.to), t.unit)
			name += " : " + t.to
		}
		if s.n > 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%s\n", name, t.unit, t.bound(), s, t.judge(s.median))
		}
	}
}

func (t target) bound() string {
	if t.atMost > 0 {
		return "<= " + short(t.atMost)
	}
	return ">= " + short(t.atLeast)
}

func (t target) judge(v float64) string {
	if t.atMost > 0 && v <= t.atMost || t.atLeast > 0 && v >= t.atLeast {
		return "reached"
	}
	return "NOT REACHED"
}

// sibling is the benchmark of the same group with another last part.
func sibling(name, last string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i+1] + last
	}
	return last
}
