package loadcore

import (
	"reflect"
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// What can be seen of a run while it goes on is, at its end, what was recorded.
func TestProgressAgreesWithTheRecord(t *testing.T) {
	ep := embedded(t, faults(t, "close-channel@500"))
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 2000), confirmed(12, 2000)}, []manifest.Consumer{{AckEvery: 1}})
	plan.Progress = new(Progress)
	if plan.Progress.Failures(0) != nil || plan.Progress.Self() != (event.Self{}) {
		t.Error("there is something before the run")
	}
	if _, ok := plan.Progress.AtStop(); ok {
		t.Error("publishing has stopped before the run")
	}
	out, rec := runPlan(t, plan)
	if got := plan.Progress.Failures(0); len(got) != 1 || !reflect.DeepEqual(got, out.Failures) {
		t.Errorf("failures %+v, want %+v", got, out.Failures)
	}
	if got := plan.Progress.Failures(1); got != nil {
		t.Errorf("failures after the last one: %+v", got)
	}
	if got, want := plan.Progress.Self(), rec.total(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if c, ok := plan.Progress.AtStop(); !ok || c.PublishStopNS != out.PublishStopNS || c.Sent != out.Sent || c.Received > out.Received {
		t.Errorf("at the stop: %v, %+v", ok, c)
	}
	if c := plan.Progress.Snapshot(); c.Phase != PhaseDone || c.BarrierNS != out.BarrierNS || c.PublishStopNS != out.PublishStopNS || c.Sent != out.Sent || c.Confirmed != out.Confirmed || c.Received != out.Received {
		t.Errorf("%+v, want %+v", c, *out)
	}
}
