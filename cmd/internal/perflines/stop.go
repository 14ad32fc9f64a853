package perflines

import (
	"fmt"
	"strings"

	"leveret/capture/manifest"
	"leveret/cmd/internal/perftest"
	"leveret/loadcore"
)

// endsInPerfTestsWords are the ends that lanes come to by themselves, in the order in which they are printed.
var endsInPerfTestsWords = []struct{ end, text string }{
	{manifest.EndProducerLimit, perftest.ProducerLimit},
	{manifest.EndConsumerLimit, perftest.ConsumerLimit},
	{manifest.EndConsumerIdle, perftest.ConsumerIdle},
	{manifest.EndConsumerEmpty, perftest.ConsumerEmpty},
}

// failuresShown is how many different failures the line names.
const failuresShown = 4

// stopReasons puts the end of a run into PerfTest's words: what ended it as a whole, lanes that ended as they were asked to,
// and lanes that failed. producers is how many the run had.
func stopReasons(o *manifest.Outcome, producers int) (reasons []perftest.Reason) {
	add := func(text string, n int) { reasons = append(reasons, perftest.Reason{Text: text, Count: n}) }
	switch {
	case o.Interrupted:
		if n := producers - o.Ends[manifest.EndProducerLimit]; n > 0 {
			add(perftest.ProducerInterrupt, n)
		}
	case o.StopReason == loadcore.StopTime:
		add(perftest.TimeLimit, 1)
	case strings.HasPrefix(o.StopReason, loadcore.StopRecording): // why is the error that the command ends with
		add(perftest.RecordingFailed, 1)
	}
	for _, e := range endsInPerfTestsWords {
		if n := o.Ends[e.end]; n > 0 {
			add(e.text, n)
		}
	}
	kinds, others := map[string]bool{}, 0
	for _, f := range o.Failures {
		text := failureInPerfTestsWords(&f)
		if !kinds[text] && len(kinds) == failuresShown {
			others++
			continue
		}
		kinds[text] = true
		add(text, 1)
	}
	if others > 0 {
		add(perftest.ProducerError(fmt.Sprintf("and %d other failures", others)), 1)
	}
	return reasons
}

func failureInPerfTestsWords(f *manifest.Failure) string {
	switch {
	case strings.Contains(f.Text, "not confirmed within"):
		return perftest.ConfirmTimeout
	case f.Consumer != nil:
		return perftest.ConsumerShutDown
	}
	return perftest.ProducerError(strings.Join(strings.Fields(f.Text), " ")) // on one line
}
