package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// results are the values of all benchmarks, by name, unit and round.
type results struct {
	names  []string // in the order of their first appearance, rounds taken out
	values map[string]map[string]map[int]float64
}

func newResults() *results { return &results{values: map[string]map[string]map[int]float64{}} }

// read takes the output of one test program and passes it on to progress. procs is what the program ran with: it stands
// behind every name if it is not 1.
func (r *results) read(output io.Reader, round, procs int, progress io.Writer) (selfRounds bool, err error) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		line := lines.Text()
		fmt.Fprintln(progress, line)
		name, values, ok := parseLine(line, procs)
		if !ok {
			continue
		}
		name, own, isOwn := takeRound(name)
		if isOwn {
			selfRounds = true
		} else {
			own = round
		}
		for unit, v := range values {
			r.add(name, unit, own, v)
		}
	}
	return selfRounds, lines.Err()
}

func (r *results) add(name, unit string, round int, v float64) {
	if r.values[name] == nil {
		r.names = append(r.names, name)
		r.values[name] = map[string]map[int]float64{}
	}
	if r.values[name][unit] == nil {
		r.values[name][unit] = map[int]float64{}
	}
	r.values[name][unit][round] = v
}

// parseLine reads "BenchmarkName-2  100  12.5 ns/op  3.0 B/op".
func parseLine(line string, procs int) (name string, values map[string]float64, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", nil, false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return "", nil, false
	}
	name = fields[0]
	if procs > 1 {
		name = strings.TrimSuffix(name, "-"+strconv.Itoa(procs))
	}
	values = map[string]float64{}
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return "", nil, false
		}
		values[fields[i+1]] = v
	}
	return strings.TrimPrefix(name, "Benchmark"), values, true
}

// takeRound takes the part "round=N" out of a name.
func takeRound(name string) (rest string, round int, ok bool) {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		if digits, found := strings.CutPrefix(p, "round="); found {
			if n, err := strconv.Atoi(digits); err == nil {
				return strings.Join(slices.Delete(parts, i, i+1), "/"), n, true
			}
		}
	}
	return name, 0, false
}

// spread is a median with the least and the greatest value; of few rounds that says more than a deviation.
type spread struct {
	n                 int
	median, low, high float64
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{median: math.NaN(), low: math.NaN(), high: math.NaN()}
	}
	v := slices.Sorted(slices.Values(values))
	middle := v[len(v)/2]
	if len(v)%2 == 0 {
		middle = (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return spread{n: len(v), median: middle, low: v[0], high: v[len(v)-1]}
}

func (r *results) of(name, unit string) spread {
	var values []float64
	for _, v := range r.values[name][unit] {
		values = append(values, v)
	}
	return spreadOf(values)
}

// ratio divides within each round and not medians: what slowed a round down slowed both.
func (r *results) ratio(name, to, unit string) spread {
	var values []float64
	for round, v := range r.values[name][unit] {
		if w, ok := r.values[to][unit][round]; ok && w != 0 {
			values = append(values, v/w)
		}
	}
	return spreadOf(values)
}

func (s spread) String() string {
	if s.n == 1 {
		return short(s.median)
	}
	return fmt.Sprintf("%s (%s to %s)", short(s.median), short(s.low), short(s.high))
}

// short writes four digits, large numbers with k and M.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(v) >= unit.size {
			if unit.name == "k" {
				unit.size = 1e3
			}
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + " " + unit.name
		}
	}
	if v != 0 && math.Abs(v) < 0.001 {
		return "0.000"
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
