package rabbitmqtest

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// watched is a test that can be told to have failed.
type watched struct {
	testing.TB
	failed   bool
	log      strings.Builder
	cleanups []func()
}

func (w *watched) Failed() bool                    { return w.failed }
func (w *watched) Cleanup(f func())                { w.cleanups = append(w.cleanups, f) }
func (w *watched) Logf(format string, args ...any) { fmt.Fprintf(&w.log, format, args...) }

func TestTheLogOfAFailedTestIsShown(t *testing.T) {
	if Shared(t).existing != nil {
		return // its log is its owner's
	}
	for _, failed := range []bool{true, false} {
		test := &watched{TB: t, failed: failed}
		vhost := Shared(test).VHost(t)
		shows := func() bool {
			test.log.Reset()
			test.cleanups[0]()
			return strings.Contains(test.log.String(), "Adding vhost '"+vhost+"'")
		}
		// The node writes its log a moment after it has answered.
		shown := shows()
		for deadline := time.Now().Add(10 * time.Second); failed && !shown && time.Now().Before(deadline); shown = shows() {
			time.Sleep(10 * time.Millisecond)
		}
		if shown != failed {
			t.Errorf("failed %v, log shown %v:\n%s", failed, shown, &test.log)
		}
		if strings.Contains(test.log.String(), "Starting RabbitMQ") {
			t.Errorf("the log from before the test is shown:\n%s", &test.log)
		}
	}
}
