package analyze

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// addPlaces adds where the run was set up: what it declared, the brokers it connected to, the environment.
func addPlaces(x *result.Config, m *manifest.Manifest) {
	switch {
	case m.Topology.Strict:
		x.Predeclared = "strict"
	case m.Topology.Predeclared && x.Predeclared == "":
		x.Predeclared = "missing"
	}
	for _, e := range m.Endpoints {
		if !slices.Contains(x.Endpoints, e) {
			x.Endpoints = append(x.Endpoints, e)
		}
	}
	if x.Allocation == "" {
		x.Allocation = m.Allocation
	}
	for _, e := range m.Environment {
		if !slices.Contains(x.Environment, e) {
			x.Environment = append(x.Environment, e)
		}
	}
}

// describePublishing says what is special about a producer's messages, "" where nothing is: "identity in a header; bodies from
// 3 files in turn; properties priority 5, type order, header a=1".
func describePublishing(p *manifest.Producer, bodies []manifest.Body) string {
	var parts []string
	switch p.Stamp {
	case manifest.StampHeader:
		parts = append(parts, "identity in a header")
	case manifest.StampPerfTest:
		parts = append(parts, "identity in a header, bodies begin as PerfTest's do")
	}
	if n := len(p.Sizes); n > 0 {
		var stages []string
		for _, s := range p.Sizes[:min(n, stagesShown)] {
			stages = append(stages, fmt.Sprintf("%s bytes for %v", result.Group(int64(s.Bytes)), time.Duration(s.ForNS)))
		}
		parts = append(parts, "size in stages, over and over: "+listed(stages, n))
	}
	if n := len(bodies); p.PooledBodies && n == 1 {
		parts = append(parts, "body "+bodies[0].Name)
	} else if p.PooledBodies {
		parts = append(parts, result.Group(int64(n))+" bodies in turn")
	}
	if p.Properties != nil {
		if properties := describeProperties(p.Properties); properties != "" {
			parts = append(parts, "properties "+properties)
		}
	}
	return strings.Join(parts, "; ")
}

// Of lists so much is shown.
const (
	stagesShown  = 4
	headersShown = 3
	valueShown   = 40 // bytes
)

func listed(shown []string, of int) string {
	s := strings.Join(shown, ", ")
	if n := of - len(shown); n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// describeProperties names what is sent with every message.
func describeProperties(p *manifest.Properties) string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+shortened(value))
		}
	}
	add("content type", p.ContentType)
	add("content encoding", p.ContentEncoding)
	if p.Priority != nil {
		add("priority", fmt.Sprint(*p.Priority))
	}
	add("correlation id", p.CorrelationID)
	add("reply to", p.ReplyTo)
	if p.Expiration != "" {
		add("expiration", p.Expiration+" ms")
	}
	add("message id", p.MessageID)
	if p.Timestamp != nil {
		add("timestamp", fmt.Sprint(*p.Timestamp))
	}
	add("type", p.Type)
	add("user id", p.UserID)
	add("app id", p.AppID)
	add("cluster id", p.ClusterID)
	for i, h := range p.Headers {
		if i == headersShown {
			parts = append(parts, fmt.Sprintf("and %d more", len(p.Headers)-headersShown))
			break
		}
		parts = append(parts, "header "+describeArg(h))
	}
	return strings.Join(parts, ", ")
}

func describeArg(a manifest.Arg) string { return shortened(fmt.Sprintf("%s=%v", a.Key, a.Value)) }

func shortened(s string) string {
	if len(s) <= valueShown {
		return s
	}
	return strings.ToValidUTF8(s[:valueShown], "") + "..."
}

// addConsumer adds how one consumer consumes.
func addConsumer(x *result.Config, c *manifest.Consumer) {
	mode, consuming := ackMode(c), describeConsuming(c)
	switch {
	case x.AckMode == "none":
		x.AckMode, x.Consuming = mode, consuming
	case x.AckMode != mode:
		x.AckMode = "mixed"
	}
	if consuming != x.Consuming && !strings.HasSuffix(x.Consuming, differing) {
		x.Consuming = strings.TrimSpace(x.Consuming + " " + differing)
	}
	x.Prefetch = max(x.Prefetch, c.Prefetch)
	x.GlobalPrefetch = max(x.GlobalPrefetch, c.GlobalPrefetch)
	x.ConsumeTxSize = max(x.ConsumeTxSize, c.TxSize)
	x.Polling = x.Polling || c.Polling
	if c.Polling {
		x.PollIntervalNS = max(x.PollIntervalNS, c.PollIntervalNS)
	}
}

// differing stands behind what is said of the first consumer only.
const differing = "(consumers differ)"

func ackMode(c *manifest.Consumer) string {
	switch {
	case c.AutoAck:
		return "automatic"
	case c.Nack:
		how := "single"
		if c.AckEvery > 1 {
			how = fmt.Sprintf("multiple every %d", c.AckEvery)
		}
		if c.Requeue {
			return "nack, " + how + ", requeue"
		}
		return "nack, " + how + ", no requeue"
	case c.AckEvery > 1:
		return fmt.Sprintf("manual, multiple every %d", c.AckEvery)
	}
	return "manual, single"
}

// describeConsuming says what is special about a consumer, "" where nothing is: "at most 10 msg/s each; work 5ms a message;
// begins 2s after the start; stops when idle; arguments x-priority=10".
func describeConsuming(c *manifest.Consumer) string {
	var parts []string
	if c.Rate.Messages > 0 {
		parts = append(parts, fmt.Sprintf("at most %g msg/s each", c.Rate.PerSecond()))
	}
	if work := describeWork(c.Work); work != "" {
		parts = append(parts, "work "+work+" a message")
	}
	if c.StartDelayNS > 0 {
		parts = append(parts, fmt.Sprintf("begins %v after the start", time.Duration(c.StartDelayNS)))
	}
	if c.Limit > 0 {
		parts = append(parts, "stops after "+result.Plural(c.Limit, "message"))
	}
	switch c.ExitWhen {
	case manifest.ExitIdle:
		parts = append(parts, "stops when nothing comes any more")
	case manifest.ExitEmpty:
		parts = append(parts, "stops when the queue is empty")
	}
	var arguments []string
	for _, a := range c.Arguments[:min(len(c.Arguments), headersShown)] {
		arguments = append(arguments, describeArg(a))
	}
	if len(arguments) > 0 {
		parts = append(parts, "arguments "+listed(arguments, len(c.Arguments)))
	}
	return strings.Join(parts, "; ")
}

func describeWork(stages []manifest.WorkStage) string {
	if !slices.ContainsFunc(stages, func(s manifest.WorkStage) bool { return s.WorkNS > 0 }) {
		return ""
	}
	var parts []string
	for _, s := range stages[:min(len(stages), stagesShown)] {
		part := time.Duration(s.WorkNS).String()
		if s.ForNS > 0 {
			part += fmt.Sprintf(" for %v", time.Duration(s.ForNS))
		}
		parts = append(parts, part)
	}
	return listed(parts, len(stages))
}
