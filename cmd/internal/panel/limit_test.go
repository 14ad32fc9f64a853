package panel

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

func TestLiveLimit(t *testing.T) {
	for _, c := range []struct {
		what   string
		shares limitShares
		name   limitName
		want   string
	}{
		{"rate kept", limitShares{producing: true, achieved: 0.995, window: 0.9}, limitSchedule, "the rate is kept"},
		{"closed loop, waiting for confirms", limitShares{producing: true, achieved: -1, window: 0.8, socket: 0.1}, limitWindow, "confirms 80 % of"},
		{"closed loop, at work", limitShares{producing: true, achieved: -1, window: 0.2, socket: 0.1}, limitClient, "at work 70 % of"},
		{"socket", limitShares{producing: true, achieved: -1, window: 0.3, socket: 0.6}, limitBroker, "the socket 60 % of"},
		// Confirms are not to be expected while publishing is blocked.
		{"blocked", limitShares{producing: true, achieved: -1, window: 0.9, blocked: 0.7}, limitBroker, "blocks publishing 70 % of"},
		{"recorder", limitShares{producing: true, achieved: 0.2, recorder: 0.7, cpu: 0.95}, limitClient, "the recorder: producers wait for it 70 % of"},
		{"processors", limitShares{producing: true, achieved: 0.5, window: 0.4, cpu: 0.95}, limitClient, "95 % of all processors"},
		// Half of the rate is missing; what was waited for is a tenth, less than half of that.
		{"late by itself", limitShares{producing: true, achieved: 0.5, window: 0.1, schedule: 0.1}, limitClient, "50 % of the rate"},
		{"window too small for the rate", limitShares{producing: true, achieved: 0.5, window: 0.3, schedule: 0.6}, limitWindow, "confirms 30 % of"},
		{"consumers alone", limitShares{consuming: true, achieved: -1, paused: 0.6}, limitClient, "do not read for it 60 % of"},
		{"consumers alone, idle", limitShares{consuming: true, achieved: -1}, limitNone, ""},
	} {
		name, text := c.shares.judge()
		if name != c.name || !strings.Contains(text, c.want) || c.want == "" && text != "" {
			t.Errorf("%s: %d, %q, want %d with %q", c.what, name, text, c.name, c.want)
		}
	}
}

// Between the marks: two seconds, two producers, so 4 s of producers' time.
func TestLimitSharesAreOfTheTimeBetweenMarks(t *testing.T) {
	var marks limitMarks
	plan := &plan{Plan: &loadcore.Plan{Producers: make([]manifest.Producer, 2), Connections: 4}, timed: true}
	if _, ok := marks.shares(plan); ok {
		t.Error("shares without marks")
	}
	marks.add(limitMark{
		self: event.Self{SpanNS: 1e9, PublishingNS: 2e9, Window: event.Wait{SumNS: 1e9}, CPUNS: 1e9},
		sent: 1000, due: 1000, blocked: 1,
	})
	marks.add(limitMark{
		self: event.Self{SpanNS: 3e9, PublishingNS: 6e9, Window: event.Wait{SumNS: 2e9}, Socket: event.Wait{SumNS: 2e9}, Schedule: event.Wait{SumNS: 1e9}, PausedNS: 4e9, CPUNS: 1e9 + int64(runtime.NumCPU())*1e9},
		sent: 1600, due: 2000, active: 2, blocked: 1.5,
	})
	got, ok := marks.shares(plan)
	want := limitShares{producing: true, achieved: 0.6, window: 0.25, socket: 0.5, schedule: 0.25, blocked: 0.5, paused: 0.5, cpu: 0.5}
	if !ok || *got != want {
		t.Errorf("%v, %+v, want %+v", ok, got, want)
	}
	// One message of each producer may be due this moment: that is no delay.
	marks[1].sent = 1998
	if got, _ := marks.shares(plan); got.achieved != 1 {
		t.Errorf("achieved %v of a rate that is kept", got.achieved)
	}
	// Half of the producers have ended: 500 of the 1000 that were due are not missing.
	marks[1].active, marks[1].sent = 1, 1500
	if got, _ := marks.shares(plan); got.achieved != 1 {
		t.Errorf("achieved %v of the rate of those that are left", got.achieved)
	}
	for range 100 {
		marks.add(limitMark{})
	}
	if len(marks) != limitTicks+1 {
		t.Errorf("%d marks", len(marks))
	}
}

// In two seconds 1000 messages were published, each to two queues: growth counts from a tenth of those deliveries on.
func TestGrowthOfTheBacklog(t *testing.T) {
	plan, begun := planWith(nil), time.Now()
	for _, c := range []struct {
		from, to int64
		want     float64
	}{{100, 299, 0}, {100, 500, 200}, {500, 100, -200}, {-1, 500, 0}, {500, -1, 0}} {
		marks := limitMarks{{at: begun, backlog: c.from, sent: 500}, {at: begun.Add(2 * time.Second), backlog: c.to, sent: 1500}}
		if got := marks.growth(plan); got != c.want {
			t.Errorf("from %d to %d: %v a second, want %v", c.from, c.to, got, c.want)
		}
	}
	if got := (limitMarks{{at: begun}}).growth(plan); got != 0 {
		t.Errorf("growth %v of one mark", got)
	}
}

func TestMostConnectionsAreLost(t *testing.T) {
	for _, x := range []struct {
		open, planned int
		want          string
	}{{0, 5000, "lost connections: 0 of 5,000 are open"}, {2499, 5000, "lost connections: 2,499 of 5,000 are open"}, {2500, 5000, ""}, {1, 1, ""}} {
		if got := lostText(x.open, x.planned); got != x.want {
			t.Errorf("%d of %d: %q, want %q", x.open, x.planned, got, x.want)
		}
	}
}
