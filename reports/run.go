package reports

import (
	"fmt"
	"math"
	"strings"
	"time"

	"leveret/analyze/result"
)

// fieldColumn is the width of the names beside wrapped text.
const fieldColumn = 12

// run says what was run: the lines without which no figure below can be judged.
func (p *page) run(r *result.Result) {
	p.heading("Run")
	c := &r.Config
	broker := join(" at ", r.Broker.Describe(), r.Broker.URI)
	if len(c.Endpoints) > 1 {
		broker += ", " + endpointsText(c)
	}
	p.field("broker", fieldColumn, p.clean(join("; ", broker, r.Broker.DescribeHosts(), tls(c))))
	if r.OnlyChurn() {
		p.field("start", fieldColumn, p.clean(orText(c.DescribeStart(), "no start was recorded")))
		p.field("client", fieldColumn, p.clean(clientLine(r)))
		p.field("recording", fieldColumn, p.recordingLine(r))
		return
	}
	topology := c.DescribeTopology()
	if c.Connections > 0 {
		topology += ", on " + result.Plural(int64(c.Connections), "connection")
	}
	p.field("topology", fieldColumn, p.clean(join("; ", topology, c.DescribeDeclared(), c.DescribeRouting(), c.DescribeSizes())))
	p.field("settings", fieldColumn, p.clean(join("; ", c.DescribeDurability(), c.DescribeConfirms(), c.Publishing, c.DescribeAcks())))
	p.field("load", fieldColumn, p.clean(loadLine(c)))
	p.field("start", fieldColumn, p.clean(startLine(c)))
	p.field("client", fieldColumn, p.clean(clientLine(r)))
	if r.Calibration != nil {
		p.field("calibrated", fieldColumn, p.clean(calibrationLine(r.Calibration, p.ascii)))
	}
	limited := p.clean(r.LimitedBy)
	if limited == "" {
		limited = "not known from this recording"
	}
	p.field("limited by", fieldColumn, limited)
	if len(c.Environment) > 0 {
		p.field("environment", fieldColumn, p.clean("options set by variables: "+strings.Join(c.Environment, ", ")))
	}
	p.field("recording", fieldColumn, p.recordingLine(r))
}

// endpointsText: "one of 2 endpoints (amqp://a with 3 connections, amqp://b with 1 connection), round-robin".
func endpointsText(c *result.Config) string {
	var shown []string
	for i, e := range c.Endpoints {
		if i == endpointsShown {
			shown = append(shown, "...")
			break
		}
		if i < len(c.EndpointConnections) {
			e += " with " + result.Plural(int64(c.EndpointConnections[i]), "connection")
		}
		shown = append(shown, e)
	}
	return join(", ", "one of "+result.Plural(int64(len(c.Endpoints)), "endpoint")+" ("+strings.Join(shown, ", ")+")", c.Allocation)
}

const endpointsShown = 9

// join puts the parts that are not empty together.
func join(separator string, parts ...string) string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, separator)
}

func tls(c *result.Config) string {
	switch {
	case !c.TLS:
		return ""
	case c.TLSVerified:
		return "TLS, certificate verified"
	}
	return "TLS, certificate not verified"
}

func loadLine(c *result.Config) string {
	loop := c.DescribeLoop()
	switch {
	case loop == "":
		return "none of this run's own (no producers)"
	case c.OpenLoop && c.RateTotal != nil && isFinite(*c.RateTotal):
		return join("; ", loop+", "+rate(*c.RateTotal)+" messages per second due in all", c.Schedule)
	case c.OpenLoop:
		return loop
	}
	return loop + ": each producer sends as fast as it may"
}

func startLine(c *result.Config) string {
	ready := "queue depth at the start unknown"
	if c.ReadyStart != nil {
		ready = result.Plural(*c.ReadyStart, "message") + " ready in the queues at the start"
	}
	begun := c.DescribeStart()
	if begun == "" {
		begun = "no start was recorded"
	}
	return begun + ", " + ready
}

// clientLine tells what the client itself used, so that a run which the client limited can be told from one that the
// broker limited.
func clientLine(r *result.Result) string {
	h := &r.Host
	host := join(" ", h.Name, strings.Trim(h.OS+"/"+h.Arch, "/"))
	if h.CPUs > 0 {
		host = join(", ", host, result.Plural(int64(h.CPUs), "CPU"))
	}
	if r.ClientCPUNS == nil {
		return join(", ", host, "client CPU time unknown")
	}
	used := "client CPU time " + duration(float64(*r.ClientCPUNS), true)
	from, to := r.Window.StartNS, r.Window.EndNS
	if part := r.Window.Part; part != nil { // the client worked the whole run
		from -= part.FromNS
		to = from + part.RunNS
	}
	length := float64(span(from, to))
	if end := r.Window.DrainEndNS; end != nil {
		length += math.Max(0, float64(span(to, *end)))
	}
	if length > 0 {
		used += fmt.Sprintf(" (%s cores busy)", significant(float64(*r.ClientCPUNS)/length, 2))
	}
	return join(", ", host, used)
}

// calibrationLine tells what the tool itself could do on that host.
func calibrationLine(c *result.Calibration, ascii bool) string {
	at := time.Unix(0, c.AtNS).UTC().Format("2006-01-02 15:04 UTC")
	if c.Quick {
		at += " (quick)"
	}
	return fmt.Sprintf("%s: ceilings %s msg/s published, %s msg/s consumed; at %s msg/s sent late by p99 %s; latency error p50 %s, p99 %s",
		at, ceiling(c.PublishMsgsPerS), ceiling(c.ConsumeMsgsPerS), result.Group(c.PacingRateMsgsPerS), duration(float64(c.PacingP99NS), ascii),
		duration(float64(c.LatencyErrorP50NS), ascii), duration(float64(c.LatencyErrorP99NS), ascii))
}

func ceiling(rateMsgsPerS *float64) string {
	if finite(rateMsgsPerS) == nil {
		return notAvailable
	}
	return rate(*rateMsgsPerS)
}

func (p *page) recordingLine(r *result.Result) string {
	named := ""
	if r.ID != "" {
		named = "run " + r.ID
	}
	from := ""
	if len(r.Captures) > 0 {
		from = "from " + strings.Join(r.Captures, ", ")
	}
	return p.clean(join(", ", named, result.Plural(r.Rows, "row"), from, r.Config.Tool))
}
