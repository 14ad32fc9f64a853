package plan

import (
	"fmt"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// sends is what the messages of a producer are like.
func sends(s *manifest.Producer) string {
	parts := []string{"bodies of " + result.Group(int64(s.Size)) + " bytes"}
	switch {
	case s.PooledBodies:
		parts = []string{"bodies given"}
	case len(s.Sizes) > 0:
		parts = []string{"bodies of up to " + result.Group(int64(s.Size)) + " bytes"}
	}
	if s.Persistent {
		parts = append(parts, "persistent")
	}
	if s.Mandatory {
		parts = append(parts, "mandatory")
	}
	switch {
	case s.Confirm > 0:
		parts = append(parts, "confirms with a window of "+result.Group(int64(s.Confirm)))
	case s.TxSize > 0:
		parts = append(parts, "a commit every "+plural(s.TxSize, "message"))
	default:
		parts = append(parts, "no confirms")
	}
	if how := s.DescribeSchedule(); how != "" {
		parts = append(parts, how)
	}
	return strings.Join(parts, ", ")
}

// takes is how a consumer reads.
func takes(c *manifest.Consumer) string {
	var parts []string
	if c.Polling {
		text := "basic.get"
		if c.PollIntervalNS > 0 {
			text += " every " + time.Duration(c.PollIntervalNS).String()
		}
		parts = append(parts, text)
	} else {
		parts = append(parts, "subscribed")
	}
	switch {
	case c.AutoAck:
		parts = append(parts, "automatic acks")
	case c.Nack && c.Requeue:
		parts = append(parts, "nacks with requeue, so that messages come again")
	case c.Nack:
		parts = append(parts, "nacks without requeue")
	case c.AckEvery > 1:
		parts = append(parts, "one ack every "+plural(c.AckEvery, "message"))
	default:
		parts = append(parts, "an ack a message")
	}
	for _, p := range []struct {
		is   bool
		text string
	}{
		{c.Prefetch > 0, fmt.Sprintf("prefetch %d", c.Prefetch)}, {c.GlobalPrefetch > 0, fmt.Sprintf("prefetch %d for the channel", c.GlobalPrefetch)},
		{c.TxSize > 0, "a commit every " + plural(c.TxSize, "message")}, {c.Rate.Messages > 0, "at most " + numeral(c.Rate.PerSecond()) + " a second"},
		{len(c.Work) > 0, "simulated work"}, {c.Limit > 0, "at most " + result.Group(c.Limit) + " messages"},
		{c.StartDelayNS > 0, "begins " + time.Duration(c.StartDelayNS).String() + " later"},
	} {
		if p.is {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(parts, ", ")
}
