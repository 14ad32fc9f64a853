package plan

import (
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore"
)

func TestLineOfAVaryingRate(t *testing.T) {
	half, none := manifest.Rate{Messages: 200, PerNS: 1e9}, manifest.Rate{PerNS: 1e9}
	p := manifest.Producer{Stages: []manifest.Stage{{From: half, To: half, ForNS: 5e8}, {From: none, To: none, ForNS: 5e8}}}
	line := Line(&loadcore.Plan{Producers: []manifest.Producer{p, p}, Topology: &manifest.Topology{}, Time: 2 * time.Second})
	if want := "200 messages per second in all (2 stages in turn (200 msg/s for 0.5 s, none for 0.5 s)), 400 messages planned, 2s at most"; !strings.HasSuffix(line, want) {
		t.Errorf("%s; want at its end %s", line, want)
	}
	// 500 for two seconds, 100 for two, none for one: 1200 messages in a cycle of five seconds
	rate := func(n int64) manifest.Rate { return manifest.Rate{Messages: n, PerNS: 1e9} }
	p.Stages = []manifest.Stage{{From: rate(500), To: rate(500), ForNS: 2e9}, {From: rate(100), To: rate(100), ForNS: 2e9}, {From: rate(0), To: rate(0), ForNS: 1e9}}
	line = Line(&loadcore.Plan{Producers: []manifest.Producer{p}, Topology: &manifest.Topology{}, Time: 5 * time.Second})
	if !strings.Contains(line, ", 240 messages per second in all") || !strings.Contains(line, ", 1,200 messages planned") {
		t.Error(line)
	}
}
