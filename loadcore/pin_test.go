package loadcore

import (
	"strings"
	"testing"

	"leveret/capture/manifest"
	"leveret/loadcore/broker"
)

func TestPinIsRefusedWhereItCannotBeHad(t *testing.T) {
	for _, c := range []struct {
		pin   Pin
		drive Drive
		want  string
	}{
		{PinCPU, DriveShared, "--drive dedicated"},
		{PinThread, DriveShared, "--drive dedicated"},
		{"core", DriveDedicated, "want thread or cpu"},
	} {
		p := oneQueue(Endpoint{Host: "h"}, "q", []manifest.Producer{confirmed(12, 1)}, nil)
		p.Pin, p.Drive = c.pin, c.drive
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "--pin="+string(c.pin)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPinThread(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 1000)}, []manifest.Consumer{{AckEvery: 1, Prefetch: 100}})
	plan.Pin = PinThread
	out, rec := runPlan(t, plan)
	complete(t, out, rec, 1000)
}
