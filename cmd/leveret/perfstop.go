package main

import (
	"strings"

	"leveret/capture/manifest"
	"leveret/cmd/internal/perftest"
)

// stopReasons puts the end of a run into PerfTest's words: what ended it as a whole, lanes that ended as they were asked to,
// and lanes that failed.
func stopReasons(o *manifest.Outcome) (reasons []perftest.Reason) {
	add := func(text string, n int) {
		if n > 0 {
			reasons = append(reasons, perftest.Reason{Text: text, Count: n})
		}
	}
	switch {
	case o.Interrupted:
		add(perftest.ProducerInterrupt, 1)
	case strings.HasPrefix(o.StopReason, "time limit"):
		add(perftest.TimeLimit, 1)
	}
	add(perftest.ProducerLimit, o.Ends[manifest.EndProducerLimit])
	add(perftest.ConsumerLimit, o.Ends[manifest.EndConsumerLimit])
	add(perftest.ConsumerIdle, o.Ends[manifest.EndConsumerIdle])
	add(perftest.ConsumerEmpty, o.Ends[manifest.EndConsumerEmpty])
	for _, f := range o.Failures {
		switch {
		case strings.Contains(f.Text, "were not confirmed within"):
			add(perftest.ConfirmTimeout, 1)
		case f.Consumer != nil:
			add(perftest.ConsumerShutDown, 1)
		default:
			add(perftest.ProducerError(oneLine(f.Text)), 1)
		}
	}
	return reasons
}
