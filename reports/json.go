package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"leveret/analyze/result"
)

var errNoResult = errors.New("write report: there is no result")

// JSON writes the result as it is, indented by two spaces, in ASCII only (other characters are escaped), ending in a
// newline. The same result gives the same bytes. Lists are never null; a number that is not finite is null.
func JSON(w io.Writer, r *result.Result) error {
	if r == nil {
		return errNoResult
	}
	return encodeJSON(w, plain(r))
}

// encodeJSON writes a value that JSON can hold.
func encodeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	if _, err := w.Write(escapeNonASCII(b.Bytes())); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	return nil
}

// escapeNonASCII turns what lies outside ASCII into \u escapes. In JSON such characters stand in strings only.
func escapeNonASCII(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		b = b[n:]
		switch {
		case c < utf8.RuneSelf:
			out = append(out, byte(c))
		case c > 0xFFFF:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
	}
	return out
}

// plain is a copy of r that JSON can hold: no NaN or infinity, no nil list. r itself stays as it is.
func plain(r *result.Result) *result.Result {
	c := *r
	c.Findings = listed(c.Findings)
	c.Assertions = plainAssertions(c.Assertions)
	c.Captures = listed(c.Captures)
	c.Queues = listed(c.Queues)
	c.Spans = listed(c.Spans)
	c.Config.QueueTypes = listed(c.Config.QueueTypes)
	c.Config.QueueNames = listed(c.Config.QueueNames)
	c.Config.SizesBytes = listed(c.Config.SizesBytes)
	c.Config.Exchanges = listed(c.Config.Exchanges)
	c.Config.RoutingKeys = listed(c.Config.RoutingKeys)
	c.Config.RateTotal = finite(c.Config.RateTotal)
	for _, p := range []**float64{&c.Rates.Sent, &c.Rates.Republished, &c.Rates.Confirmed, &c.Rates.Committed, &c.Rates.Received, &c.Rates.SentBytes, &c.Rates.Arrived, &c.Rates.Drain} {
		*p = finite(*p)
	}
	if c.Calibration != nil {
		copied := *c.Calibration
		c.Calibration = &copied
		for _, p := range []**float64{&copied.ClockReadNS, &copied.PublishMsgsPerS, &copied.ConsumeMsgsPerS} {
			*p = finite(*p)
		}
	}
	if t := c.Topology; t != nil {
		copied := *t
		c.Topology = &copied
		copied.Producers, copied.Exchanges, copied.Queues = listed(t.Producers), listed(t.Exchanges), listed(t.Queues)
		copied.Bindings, copied.Consumers = listed(t.Bindings), slices.Clone(listed(t.Consumers))
		for i := range copied.Consumers {
			copied.Consumers[i].Queues = listed(copied.Consumers[i].Queues)
		}
	}
	plainLatencies(&c.Latency)
	plainDistribution(&c.AckLatency)
	if f := c.ConfirmFrames; f != nil && !isFinite(f.Mean) {
		c.ConfirmFrames = nil
	}
	c.Fairness = slices.DeleteFunc(slices.Clone(c.Fairness), func(f result.Fairness) bool { return !isFinite(f.Variation) || !isFinite(f.Jain) })
	if w := c.Waiting; w != nil && !(isFinite(w.MeanBacklog) && isFinite(w.MsgsPerS) && isFinite(w.WaitNS) && isFinite(w.MeanLatencyNS)) {
		c.Waiting = nil
	}
	c.Groupings = plainGroupings(c.Groupings)
	c.Generator = plainGenerator(c.Generator)
	c.BrokerSide = plainBrokerSide(c.BrokerSide)
	c.Churn = plainChurn(c.Churn)
	c.Intervals = append([]result.Interval{}, c.Intervals...)
	for i := range c.Intervals {
		plainLatencies(&c.Intervals[i].Latency)
		c.Intervals[i].Self = plainSelf(c.Intervals[i].Self)
	}
	c.Curves = append([]result.Curve{}, c.Curves...)
	for i := range c.Curves {
		points := make([]result.CurvePoint, 0, len(c.Curves[i].Points))
		for _, p := range c.Curves[i].Points {
			if isFinite(p.Percent) {
				points = append(points, p)
			}
		}
		c.Curves[i].Points = points
	}
	return &c
}

func plainLatencies(l *result.Latencies) {
	for _, p := range []**result.Distribution{&l.Confirm.Service, &l.Confirm.Response, &l.Delivery.Service, &l.Delivery.Response, &l.Commit.Service, &l.Commit.Response} {
		plainDistribution(p)
	}
}

func plainDistribution(p **result.Distribution) {
	if *p == nil {
		return
	}
	copied := **p
	copied.MeanNS, copied.StdDevNS = finite(copied.MeanNS), finite(copied.StdDevNS)
	copied.MeanInterval = plainConfidence(copied.MeanInterval)
	copied.Asked = slices.DeleteFunc(slices.Clone(copied.Asked), func(a result.AskedPercentile) bool { return !isFinite(a.Percent) })
	for i := range copied.Asked {
		copied.Asked[i].Interval = plainConfidence(copied.Asked[i].Interval)
	}
	*p = &copied
}

func plainConfidence(x *result.Confidence) *result.Confidence {
	if x == nil {
		return nil
	}
	copied := *x
	copied.LowNS, copied.HighNS = finite(copied.LowNS), finite(copied.HighNS)
	for _, v := range []*float64{&copied.Level, &copied.EffectiveSamples} {
		if !isFinite(*v) {
			*v = 0
		}
	}
	return &copied
}

func plainAssertions(all []result.Assertion) []result.Assertion {
	copied := slices.Clone(all)
	for i := range copied {
		copied[i].Value, copied[i].AtLeast = finite(copied[i].Value), finite(copied[i].AtLeast)
	}
	return copied
}

func plainGroupings(all []result.Grouping) []result.Grouping {
	copied := slices.Clone(all)
	for i := range copied {
		copied[i].Members = append([]result.Member{}, copied[i].Members...)
		for k := range copied[i].Members {
			plainLatencies(&copied[i].Members[k].Latency)
		}
	}
	return copied
}

func plainGenerator(g *result.Generator) *result.Generator {
	if g == nil {
		return nil
	}
	copied := *g
	plainDistribution(&copied.Lateness)
	copied.Self, copied.LostShare = plainSelf(copied.Self), finite(copied.LostShare)
	if b := copied.Batches; b != nil && !isFinite(b.Mean) {
		copied.Batches = nil
	}
	return &copied
}

func plainSelf(s *result.Self) *result.Self {
	if s == nil {
		return nil
	}
	copied := *s
	for _, p := range []**float64{&copied.WindowShare, &copied.SocketShare, &copied.RecorderShare, &copied.ScheduleShare,
		&copied.WorkShare, &copied.LateMeanNS, &copied.CPUCores} {
		*p = finite(*p)
	}
	return &copied
}

func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func finite(p *float64) *float64 {
	if p == nil || !isFinite(*p) {
		return nil
	}
	return p
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
