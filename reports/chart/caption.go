package chart

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// marks are put into every chart's title: a chart is passed on without the report that it came with.
func marks(r *result.Result) []string {
	var m []string
	if r.Verdict == result.Fail {
		m = append(m, "FAIL")
	}
	if !r.Complete {
		m = append(m, "incomplete recording")
	}
	if r.Broker.Embedded {
		m = append(m, "embedded broker: measures leveret, not RabbitMQ")
	}
	return m
}

const separator = " \u00b7 "

// caption says what was run, what matters most first, as a small page has no room for all of it, then what is behind the chart and how it is to be read.
func caption(r *result.Result, notes ...string) []string {
	c := &r.Config
	hosts := ""
	if r.Broker.SameHost != nil {
		hosts = r.Broker.DescribeHosts()
	}
	load := c.DescribeLoop()
	if c.OpenLoop && c.RateTotal != nil && finite(*c.RateTotal) {
		load += ", " + significant(*c.RateTotal) + " messages per second"
	}
	run := joinNotEmpty(r.Broker.Describe(), c.DescribeStart(), load, c.DescribeSizes(), c.DescribeTopology(), c.DescribeConfirms(), c.DescribeAcks(),
		c.DescribeDurability(), hosts, routing(c))
	if r.Verdict == result.Inconclusive {
		notes = append(notes, "verdict INCONCLUSIVE")
	}
	return []string{run, joinNotEmpty(notes...)}
}

// random are names that nobody gave: keys and queues of runs that named none.
var random = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// routing says which way messages went. A random routing key says nothing to who reads a chart, nor do keys that are the names
// of queues, which stand there already.
func routing(c *result.Config) string {
	named := *c
	named.RoutingKeys = slices.DeleteFunc(slices.Clone(c.RoutingKeys), func(key string) bool {
		return random.MatchString(key) || slices.Contains(c.QueueNames, key)
	})
	if len(named.RoutingKeys) < len(c.RoutingKeys) {
		named.RoutingKeys = nil
	}
	return named.DescribeRouting()
}

func joinNotEmpty(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, separator)
}

// each says what a point of a chart over time stands for.
func each(r *result.Result, what string) string {
	if r.IntervalNS <= 0 {
		return what + " an interval"
	}
	length := float64(r.IntervalNS)
	whole := false
	for i := range r.Intervals {
		whole = whole || float64(r.Intervals[i].EndNS)-float64(r.Intervals[i].StartNS) >= length
	}
	if !whole { // a run shorter than one interval
		what += " at most"
	}
	unit := timeScale(length)
	return what + " " + significant(length/unit.per) + " " + unit.name
}

// significant writes v with at most four significant digits and no trailing zeros.
func significant(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64)
	if err != nil || math.Abs(rounded) >= 1e15 || rounded != 0 && math.Abs(rounded) < 1e-6 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	decimals := 0
	if i := strings.IndexByte(text, '.'); i >= 0 {
		decimals = len(text) - i - 1
	}
	return grouped(rounded, decimals)
}
