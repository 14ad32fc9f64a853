package perftest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// parsed is what a line of an interval says, whichever release of PerfTest, or leveret, wrote it.
type parsed struct {
	id, time  string
	rates     map[string]string
	headings  []string
	latencies map[string]parsedLatency // by "consumer", "confirm"
}

type parsedLatency struct {
	values  []string
	unit    string // "us", "ms"
	unknown string
}

var (
	lineForm    = regexp.MustCompile(`^(?:id: (.*?), )?time:? ([0-9]+\.[0-9]{3}) ?s(.*)$`)
	rateForm    = regexp.MustCompile(`^, (sent|returned|confirmed|nacked|received): ([0-9]+(?:\.[0-9]+)?) msg/s`)
	latencyForm = regexp.MustCompile(`^, (?:(min/[a-z0-9/]+) )?(?:(consumer|message|confirm) )?latency: (?:, )?(?:([0-9>=/]+) (µs|us|\?s|micro-s|ms)|(n/a \([^)]*\)))`)
)

// parseLine reads the line of an interval in any form that PerfTest has had.
func parseLine(line string) (p parsed, err error) {
	m := lineForm.FindStringSubmatch(line)
	if m == nil {
		return p, fmt.Errorf("%q does not begin as a line of PerfTest does", line)
	}
	p = parsed{id: m[1], time: m[2], rates: map[string]string{}, latencies: map[string]parsedLatency{}}
	rest := m[3]
	for rest != "" {
		if m := rateForm.FindStringSubmatch(rest); m != nil {
			p.rates[m[1]] = m[2]
			rest = rest[len(m[0]):]
			continue
		}
		m := latencyForm.FindStringSubmatch(rest)
		if m == nil {
			return p, fmt.Errorf("%q is neither a rate nor a latency", rest)
		}
		if m[1] != "" {
			p.headings = strings.Split(m[1], "/")
		}
		q := parsedLatency{unit: "us", unknown: m[5]}
		if m[3] != "" {
			q.values = strings.Split(m[3], "/")
		}
		if m[4] == "ms" {
			q.unit = "ms"
		}
		what := m[2]
		if what != "confirm" {
			what = "consumer" // as later releases call it
		}
		p.latencies[what] = q
		rest = rest[len(m[0]):]
	}
	return p, nil
}

var summaryForm = regexp.MustCompile(`^(?:id: (.*), )?(?:(sending|receiving) rate avg: ([0-9.]+) msg/s|(consumer|confirm) latency (min/[a-z0-9/]+) ([0-9>=/]+) (µs|us|ms))$`)

// parseSummary reads a line of the summary: a rate by its name, or a latency's values.
func parseSummary(line string) (what string, rate string, headings, values []string, err error) {
	m := summaryForm.FindStringSubmatch(line)
	switch {
	case m == nil:
		return "", "", nil, nil, fmt.Errorf("%q is no line of a summary", line)
	case m[2] != "":
		return m[2], m[3], nil, nil, nil
	}
	return m[4], "", strings.Split(m[5], "/"), strings.Split(m[6], "/"), nil
}

// numbers turns values into numbers.
func numbers(values []string) (n []int64, err error) {
	for _, v := range values {
		k, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, err
		}
		n = append(n, k)
	}
	return n, nil
}
