package perftest

import (
	"fmt"
	"strings"
)

// Reasons for which PerfTest says that a test stopped.
const (
	TimeLimit         = "Reached time limit"
	ProducerLimit     = "Producer reached message limit"
	ProducerInterrupt = "Producer thread interrupted"
	ConfirmTimeout    = "Waiting for publisher confirms for too long"
	ConsumerLimit     = "Consumer reached message limit"
	ConsumerIdle      = "Consumer is idle for more than 1 second"
	ConsumerEmpty     = "Consumer queue(s) empty"
	ConsumerShutDown  = "Consumer shut down"
)

// RecordingFailed is a reason that PerfTest, which records nothing, does not have.
const RecordingFailed = "Recording failed"

// ProducerError is the reason that is an error of a producer.
func ProducerError(text string) string { return "Error in producer (" + text + ")" }

// Reason is why a test stopped, and how many producers or consumers say so.
type Reason struct {
	Text  string
	Count int
}

// StopLine is the line between the last interval and the summary. Equal reasons are one, with the sum of their counts.
func StopLine(reasons []Reason) string {
	var order []string
	counts := map[string]int{}
	for _, r := range reasons {
		if counts[r.Text] == 0 {
			order = append(order, r.Text)
		}
		counts[r.Text] += max(r.Count, 1)
	}
	if len(order) == 0 {
		return "test stopped"
	}
	for i, text := range order {
		if n := counts[text]; n > 1 {
			order[i] = fmt.Sprintf("%s [%d]", text, n)
		}
	}
	return "test stopped (" + strings.Join(order, ", ") + ")"
}
