package analyze

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
	"leveret/loadcore/broker"
	"leveret/loadcore/topology"
)

func TestLimit(t *testing.T) {
	// waited are the shares of window, socket, recorder and schedule.
	observed := func(window, socket, recorder, schedule float64) *result.Self {
		work := 1 - window - socket - recorder - schedule
		return &result.Self{WindowShare: &window, SocketShare: &socket, RecorderShare: &recorder, ScheduleShare: &schedule, WorkShare: &work}
	}
	const closed = -1
	for _, c := range []struct {
		name string
		e    evidence
		want result.Limit
		text string
	}{
		{"the window", evidence{achieved: closed, self: observed(0.75, 0.05, 0, 0)}, result.LimitWindow, "the confirm window: producers waited 75 % of the time for confirms"},
		{"transactions", evidence{achieved: closed, commits: true, self: observed(0.75, 0.05, 0, 0)}, result.LimitWindow,
			"the transactions: producers waited 75 % of the time for the answers to their commits"},
		{"the socket", evidence{achieved: closed, self: observed(0.1, 0.5, 0, 0)}, result.LimitBroker, "the broker: producers waited 50 % of the time until it took more from the socket"},
		{"blocked, and so the window is full", evidence{achieved: closed, blocked: 0.5, self: observed(0.75, 0.25, 0, 0)}, result.LimitBroker,
			"the broker: it blocked publishing (connection.blocked) 50 % of the time"},
		{"blocked for a moment", evidence{achieved: closed, blocked: 0.25, self: observed(0.75, 0, 0, 0)}, result.LimitWindow, "the confirm window: producers waited 50 % of the time for confirms"},
		{"the recorder", evidence{achieved: closed, self: observed(0.25, 0.25, 0.5, 0)}, result.LimitRecorder, "the recorder: producers waited 50 % of the time until it had room"},
		{"equal shares", evidence{achieved: closed, self: observed(0.25, 0.25, 0.25, 0)}, result.LimitRecorder, "the recorder: producers waited 25 % of the time until it had room"},
		{"at work", evidence{achieved: closed, self: observed(0.25, 0.25, 0, 0)}, result.LimitClientCPU, "the client: producers were at work 50 % of the time, and waited for nothing else"},
		{"all processors", evidence{achieved: closed, cpu: 0.9375, cores: 1.875, self: observed(0.75, 0.25, 0, 0)}, result.LimitClientCPU,
			"the client's CPU: the process kept 1.88 processors busy, 94 % of all"},
		{"all processors, while the recorder could not follow", evidence{achieved: closed, cpu: 1, cores: 2, self: observed(0, 0.25, 0.75, 0)}, result.LimitRecorder,
			"the recorder: producers waited 75 % of the time until it had room"},
		{"a rate that was kept, on busy processors", evidence{achieved: 0.99, cpu: 1, cores: 2, self: observed(0.75, 0, 0, 0)}, result.LimitSchedule, "the schedule: the rate that was asked for was kept"},
		{"a rate, and a stall at its end", evidence{achieved: 0.75, self: observed(0, 0.125, 0, 0.75)}, result.LimitBroker, "the broker: producers waited 12 % of the time until it took more from the socket"},
		{"a rate, and no reason for missing it", evidence{achieved: 0.25, self: observed(0.005, 0, 0, 0.99)}, result.LimitClientCPU,
			"the client: nothing that its producers waited for explains it (confirms 0.5 %, socket 0 %, recorder 0 % of the time)"},
		{"nothing due", evidence{achieved: closed, idle: true, self: observed(0, 0, 0, 0.996)}, result.LimitUnknown, ""},
		{"unobserved", evidence{achieved: closed}, result.LimitUnknown, ""},
		{"unobserved, rate kept", evidence{achieved: 1}, result.LimitSchedule, "the schedule: the rate that was asked for was kept"},
		{"unobserved, blocked", evidence{achieved: closed, blocked: 0.75}, result.LimitBroker, "the broker: it blocked publishing (connection.blocked) 75 % of the time"},
		{"unobserved, stalled", evidence{achieved: closed, stalled: 0.75}, result.LimitRecorder, "the recorder: it could not follow 75 % of the time"},
		{"unobserved, all processors", evidence{achieved: 0.5, cpu: 1, cores: 2}, result.LimitClientCPU, "the client's CPU: the process kept 2.00 processors busy, 100 % of all"},
	} {
		c.e.producers = true
		if got, text := c.e.limit(); got != c.want || text != c.text {
			t.Errorf("%s: %q, %q\nwant %q, %q", c.name, got, text, c.want, c.text)
		}
	}
	consumers := evidence{paused: 0.75}
	if got, text := consumers.limit(); got != result.LimitRecorder || text != "the recorder: connections paused reading for it 75 % of the time" {
		t.Errorf("%q, %q", got, text)
	}
	if got, _ := new(evidence).limit(); got != result.LimitUnknown {
		t.Errorf("%q", got)
	}
}

// A rate of 0: the only message is due at the end of time, and nothing limits what was not asked for.
func TestNoLimitWhereNothingWasDue(t *testing.T) {
	m := plan(1, 0)
	m.Producers[0].Rate, m.Producers[0].PhaseNS = manifest.Rate{Messages: 1, PerNS: math.MaxInt64}, math.MaxInt64
	r := record(t, m)
	r.w.Self(&event.Self{At: epoch + 1000*ms, SpanNS: 1000 * ms, PublishingNS: 1000 * ms, Schedule: event.Wait{SumNS: 996 * ms},
		LateMaxNS: event.None, UnsentMaxBytes: event.None, CPUNS: ms, SchedLatencyP99NS: event.None})
	got := analyzed(t, r.close())
	if got.LimitedBy != "" || slices.Contains(codes(got), "generator_limit") {
		t.Errorf("limited by %q: %v", got.LimitedBy, codes(got))
	}
}

// slowRecorder never has room at once.
type slowRecorder struct{ *capture.Writer }

func (slowRecorder) TryReserve(int) bool { return false }

func (r slowRecorder) Reserve(ctx context.Context, rows int) error {
	time.Sleep(time.Millisecond)
	return r.Writer.Reserve(ctx, rows)
}

// Real runs against the embedded broker, each limited by what was made to limit it.
func TestLimitOfRealRuns(t *testing.T) {
	for _, c := range []struct {
		name, faults string
		producer     manifest.Producer
		slow         bool
		want         result.Limit
	}{
		{"a window of one", "", manifest.Producer{Size: 12, Confirm: 1, Limit: 3000}, false, result.LimitWindow},
		{"a broker that stops reading", "stall@1000:1s", manifest.Producer{Size: 4096, Limit: 10_000}, false, result.LimitBroker},
		{"a slow recorder", "", manifest.Producer{Size: 12, Batch: 10, Limit: 1000}, true, result.LimitRecorder},
		{"a rate", "", manifest.Producer{Size: 24, Confirm: 100, Rate: manifest.Rate{Messages: 20, PerNS: 1e9}, Limit: 10}, false, result.LimitSchedule},
		{"a rate that the broker keeps from being kept", "stall@50:2s",
			manifest.Producer{Size: 100_000, Rate: manifest.Rate{Messages: 1000, PerNS: 1e9}, Limit: 500}, false, result.LimitBroker},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			got := analyzed(t, realRun(t, c.faults, c.producer, c.slow))
			if got.Verdict != result.Pass || got.Generator.Limit != c.want {
				t.Errorf("%s, limited by %q: %s\n%+v\n%+v", got.Verdict, got.Generator.Limit, got.LimitedBy, *got.Generator.Self, got.Findings)
			}
			if s := got.Generator.Self; s.WrittenMessages != got.Counts.Sent || s.Writes != got.Generator.Batches.Writes || s.LargestWrite != got.Generator.Batches.Max {
				t.Errorf("%d messages in %d writes, the largest of %d; sent %d, writes %+v", s.WrittenMessages, s.Writes, s.LargestWrite, got.Counts.Sent, got.Generator.Batches)
			}
			missed := c.producer.Rate.Messages > 0 && c.want != result.LimitSchedule
			if missed || c.want == result.LimitRecorder {
				finding(t, got, "generator_limit")
			}
		})
	}
}

// realRun records one producer and one consumer on a queue of the embedded broker.
func realRun(t *testing.T, faults string, p manifest.Producer, slow bool) string {
	t.Helper()
	f, err := broker.ParseFaults(faults)
	if err != nil {
		t.Fatal(err)
	}
	server, err := broker.Start(broker.Options{Faults: f})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	endpoint, err := loadcore.ParseURI(server.URI())
	if err != nil {
		t.Fatal(err)
	}
	places := &manifest.Topology{
		Queues: []manifest.Queue{{Name: "q", Type: "classic", Declare: true}},
		Routes: []manifest.Route{{RoutingKey: "q"}},
	}
	session, err := topology.Declare(t.Context(), endpoint, "test", places)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	plan := &loadcore.Plan{
		Endpoint: endpoint, Clock: event.NewClock(), Tag: 7, ID: "test", Topology: places, Connections: 2,
		Producers: []manifest.Producer{p}, Consumers: []manifest.Consumer{{Connection: 1, Queues: []int{0}, AutoAck: true}},
	}
	m := &manifest.Manifest{ID: "test", Tag: 7, Topology: *places, Connections: 2, Producers: plan.Producers, Consumers: plan.Consumers, ClockStart: plan.Clock.Snapshot()}
	dir := filepath.Join(t.TempDir(), "capture")
	w, err := capture.Create(dir, m, plan.Clock, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rec loadcore.Recorder = w
	if slow {
		rec = slowRecorder{w}
	}
	if m.Outcome, err = loadcore.Run(t.Context(), plan, rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(m); err != nil {
		t.Fatal(err)
	}
	return dir
}
