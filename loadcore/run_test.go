package loadcore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// C064 and C066: bodies at the frame boundaries, by eight channels of one connection at once, arrive whole and in order.
func TestBodiesAtFrameBoundaries(t *testing.T) {
	for _, size := range []int{131063, 131064, 131065, 262128, 262129, 300_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			ep := embedded(t, broker.Options{})
			noLeaks(t)
			const channels, each = 8, 10
			plan := oneQueue(ep, "q", make([]manifest.Producer, channels), []manifest.Consumer{{AckEvery: 1, Prefetch: 20}})
			for i := range plan.Producers {
				plan.Producers[i] = manifest.Producer{Size: size, Confirm: 5, Limit: each}
			}
			plan.Consumers[0].Connection = 1
			plan.Connections = 2
			out, rec := runPlan(t, plan)
			times, bodies := rec.received()
			if len(times) != channels*each || bodies[event.Intact] != channels*each || len(bodies) != 1 || len(out.Failures) > 0 || !out.Drained {
				t.Errorf("received %d, bodies %v, %+v", len(times), bodies, *out)
			}
			for _, d := range rec.deliveries {
				for _, r := range d.Rows {
					if int(r.Size) != size {
						t.Fatalf("a body of %d bytes", r.Size)
					}
				}
			}
		})
	}
}

// Publishing and acking share one connection, and with it one socket.
func TestProducersAndConsumersOnOneConnection(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	const n = 20_000
	plan := oneQueue(ep, "q",
		[]manifest.Producer{confirmed(12, n), confirmed(3000, n/10)},
		[]manifest.Consumer{{AckEvery: 1, Prefetch: 100}, {AckEvery: 7, Prefetch: 50}})
	for i := range plan.Producers {
		plan.Producers[i].Connection = 0
	}
	for i := range plan.Consumers {
		plan.Consumers[i].Connection = 0
	}
	plan.Connections = 1
	out, rec := runPlan(t, plan)
	times, _ := rec.received()
	if want := n + n/10; len(times) != want || out.Confirmed != int64(want) || out.Acked != int64(want) || !out.Drained {
		t.Errorf("received %d, want %d: %+v", len(times), want, *out)
	}
}

// A run of T seconds at N messages a second sends exactly T*N, each with its exact due time and never before it.
func TestRate(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, Confirm: 500}, {Size: 24}}, []manifest.Consumer{{AckEvery: 10, Prefetch: 100}})
	for i := range plan.Producers {
		plan.Producers[i].Rate = manifest.Rate{Messages: 1000, PerNS: 1e9}
	}
	SpreadPhases(plan.Producers)
	plan.Time = time.Second
	out, rec := runPlan(t, plan)
	// A machine that gives us no processor for a second at the end may leave slots unsent; all 2000 are accounted for.
	if out.Sent+out.NotSent != 2000 || out.Received != out.Sent || out.StopReason != StopTime || !out.Drained {
		t.Errorf("%+v", *out)
	}
	if out.PublishStopNS < out.BarrierNS+int64(time.Second) {
		t.Errorf("publishing stopped %d ns after the barrier", out.PublishStopNS-out.BarrierNS)
	}
	for _, s := range rec.sends {
		for i, due := range s.Due {
			n := int64(s.First) + int64(i)
			want := out.BarrierNS + n*1_000_000 + int64(s.Producer)*500_000
			if due != want || s.Sent != event.None && s.Sent < due {
				t.Fatalf("producer %d message %d: due %d, want %d; sent %d", s.Producer, n, due, want, s.Sent)
			}
		}
	}
	for _, d := range rec.deliveries {
		for _, r := range d.Rows {
			if want := out.BarrierNS + int64(r.Seq)*1_000_000 + int64(r.Producer)*500_000; r.Due != want {
				t.Fatalf("message %d carries due %d, want %d", r.Seq, r.Due, want)
			}
		}
	}
}

// A broker that stalls for a second: the response latency, from due, shows it for what was due meanwhile; the service
// latency, from sent, does not for what was held back by the window.
func TestStallShowsInResponseLatency(t *testing.T) {
	noLeaks(t)
	const stall = time.Second
	var until time.Time
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		if m.tag == 200 {
			until = time.Now().Add(stall)
		}
		time.Sleep(time.Until(until))
		c.send(wire.AppendAck(nil, m.channel, m.tag, false))
	}})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, Confirm: 1, Limit: 1600, Rate: manifest.Rate{Messages: 1000, PerNS: 1e9}}}, nil)
	out, rec := runPlan(t, plan)
	if out.Sent != 1600 || out.Confirmed != 1600 {
		t.Fatalf("%+v", *out)
	}
	sent, acked := rec.sent(t), rec.settled(t, event.Ack)
	longService, longResponse := 0, 0
	for id, at := range acked {
		s := sent[id]
		if at-s.Sent >= int64(stall/2) {
			longService++
		}
		if at-s.Due[id.seq-s.First] >= int64(stall/2) {
			longResponse++
		}
	}
	// The window of 1 keeps all but the stalled message from being sent: of the 1000 that were due during the stall the
	// first 500 were answered half a second late or more.
	if longService != 1 || longResponse < 500 {
		t.Errorf("service of half a second or more: %d, response: %d; want 1 and at least 500", longService, longResponse)
	}
}

// What was due and could not be sent before the end is recorded as not sent.
func TestOverdueAtTheEndIsNotSent(t *testing.T) {
	noLeaks(t)
	ep := startStub(t, &stub{}) // never confirms: the window stays full
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, Confirm: 10, Rate: manifest.Rate{Messages: 1000, PerNS: 1e9}}}, nil)
	plan.Time = 200 * time.Millisecond
	plan.DrainTimeout = 500 * time.Millisecond
	out, rec := runPlan(t, plan)
	if out.Sent != 10 || out.NotSent != 190 || out.StopReason != StopTime {
		t.Errorf("sent %d, not sent %d, %s", out.Sent, out.NotSent, out.StopReason)
	}
	last := rec.sends[len(rec.sends)-1]
	if last.Sent != event.None || last.Written != event.None || last.First+uint64(last.N) != 200 {
		t.Errorf("last rows %+v", last)
	}
	for i, due := range last.Due {
		if want := out.BarrierNS + (int64(last.First)+int64(i))*1_000_000; due != want {
			t.Fatalf("slot %d: due %d, want %d", i, due, want)
		}
	}
	if out.Drained || !strings.Contains(out.DrainNote, "producer 0: 10 messages unconfirmed") {
		t.Errorf("drained %v: %s", out.Drained, out.DrainNote)
	}
}

func TestInterrupt(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	for _, rate := range []int64{0, 500} {
		plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 100, Rate: manifest.Rate{Messages: rate, PerNS: 1e9}}}, []manifest.Consumer{{AckEvery: 10, Prefetch: 100}})
		ctx, cancel := context.WithCancel(t.Context())
		plan.Started = func() { time.AfterFunc(200*time.Millisecond, cancel) }
		rec := &memory{}
		out, err := Run(ctx, plan, rec)
		if err != nil || !out.Interrupted || out.StopReason != "interrupted" || !out.Drained || out.Sent == 0 || out.Sent != out.Confirmed || out.Sent != out.Received {
			t.Errorf("rate %d: %+v, %v", rate, *out, err)
		}
	}
}

func TestRunThatCannotBegin(t *testing.T) {
	noLeaks(t)
	plan := oneQueue(mustParse(t, "amqp://"+closedPort(t)), "q", []manifest.Producer{confirmed(12, 1)}, nil)
	rec := &memory{}
	out, err := Run(t.Context(), plan, rec)
	var refused *ConnectError
	if !errors.As(err, &refused) || out == nil || out.BarrierNS != event.None || !strings.Contains(out.StopReason, "could not begin") {
		t.Errorf("%+v, %v", out, err)
	}
	if got := rec.states(0); !slices.Equal(got, []event.ConnectionState{event.Connecting, event.Lost}) {
		t.Errorf("states %v", got)
	}
	if strings.Count(err.Error(), "\n") != 0 {
		t.Errorf("not one line: %v", err)
	}
}

func TestMissingQueueIsNamed(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "no-such-queue", []manifest.Producer{confirmed(12, 1)}, []manifest.Consumer{{}})
	_, err := Run(t.Context(), plan, &memory{})
	var refused *ConnectError
	if !errors.As(err, &refused) || refused.Code != 404 || !strings.Contains(err.Error(), "consumer 0, queue no-such-queue") {
		t.Errorf("%v", err)
	}
}

// The recorder's error stops the run with that reason.
func TestRecorderFails(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 0)}, []manifest.Consumer{{}})
	rec := &memory{}
	plan.Started = func() { time.AfterFunc(100*time.Millisecond, func() { rec.fail(errors.New("disk full")) }) }
	out, err := Run(t.Context(), plan, rec)
	if err == nil || !strings.Contains(err.Error(), "disk full") || !strings.Contains(out.StopReason, "disk full") {
		t.Errorf("%v, %s", err, out.StopReason)
	}
}

// A recorder that has no room holds publishing back, and the stop ends the wait.
func TestRecorderHoldsPublishingBack(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 24, Rate: manifest.Rate{Messages: 100, PerNS: 1e9}}}, nil)
	plan.Time = 300 * time.Millisecond
	rec := &memory{}
	calls := 0
	rec.reserve = func(ctx context.Context, rows int) error {
		if calls++; calls == 3 { // the third batch waits until it is told to stop
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	out, err := Run(t.Context(), plan, rec)
	if err != nil || out.Sent+out.NotSent != 30 || out.NotSent == 0 {
		t.Errorf("%+v, %v", out, err)
	}
	rec.sent(t) // the sequences have no hole
}

func TestPlanValidate(t *testing.T) {
	good := func() *Plan {
		return oneQueue(Endpoint{Host: "h"}, "q", []manifest.Producer{confirmed(12, 1)}, []manifest.Consumer{{AckEvery: 5, Prefetch: 10}})
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(p *Plan)
		want   []string
	}{
		{func(p *Plan) { p.Consumers[0].Prefetch, p.Consumers[0].AckEvery = 10, 20 }, []string{"--multi-ack-every=20", "--qos=10"}}, // C081
		{func(p *Plan) { p.Producers[0].Size = 11 }, []string{"--size=11", "12"}},
		{func(p *Plan) { p.Producers = make([]manifest.Producer, 65537) }, []string{"--producers", "65537", "65536"}},
		{func(p *Plan) { p.Producers, p.Consumers = nil, nil }, []string{"--producers=0"}},
		{func(p *Plan) { p.Producers[0].Confirm = -1 }, []string{"--confirm=-1"}},
		{func(p *Plan) { p.Producers[0].Rate.Messages = 5 }, []string{"--rate"}},
		{func(p *Plan) { p.Producers[0].Limit = 1 << 37 }, []string{"--pmessages"}},
		{func(p *Plan) { p.Producers[0].Connection = 2 }, []string{"connection 2"}},
		{func(p *Plan) { p.Producers[0].Route = 1 }, []string{"route 1"}},
		{func(p *Plan) { p.Consumers[0].Queues = nil }, []string{"--queue"}},
		{func(p *Plan) { p.Consumers[0].Queues = []int{3} }, []string{"queue 3"}},
		{func(p *Plan) { p.Consumers[0].Prefetch = 70000 }, []string{"--qos=70000"}},
		{func(p *Plan) { p.Tag = 4096 }, []string{"4096", "4095"}},
		{func(p *Plan) { p.FrameMax = 100 }, []string{"--framemax=100", "4096"}},
		{func(p *Plan) { p.Time = -1 }, []string{"--time"}},
		{func(p *Plan) { p.Topology.Routes[0].RoutingKey = strings.Repeat("k", 256) }, []string{"--routing-key", "255"}},
		{func(p *Plan) { p.Topology = nil }, []string{"topology"}},
		{func(p *Plan) { p.Producers[0].Stamp = "footer" }, []string{"--stamp=footer", "body, header or perftest"}},
		{func(p *Plan) { p.Producers[0].Stamp, p.Producers[0].Size = manifest.StampPerfTest, 11 }, []string{"--size=11", "12"}},
		{func(p *Plan) { p.Producers[0].Stamp, p.Producers[0].Size = manifest.StampHeader, -1 }, []string{"--size=-1"}},
		{func(p *Plan) { p.Producers[0].PooledBodies, p.Bodies = true, [][]byte{{}} }, []string{"--body", "--stamp=header"}},
		{func(p *Plan) { p.Producers[0].PooledBodies, p.Producers[0].Stamp = true, manifest.StampHeader }, []string{"--body", "there is none"}},
		{func(p *Plan) {
			p.Producers[0].Sizes = []manifest.SizeStage{{Bytes: 12, ForNS: 1}, {Bytes: 5, ForNS: 1}}
		}, []string{"--variable-size=5", "12"}},
		{func(p *Plan) { p.Producers[0].Sizes = []manifest.SizeStage{{Bytes: 12}} }, []string{"--variable-size", "0 ns"}},
		{func(p *Plan) { p.Producers[0].Routes = 2 }, []string{"2 routes"}},
		{func(p *Plan) { p.Producers[0].TxSize = 5 }, []string{"--ptxsize=5", "--confirm=100"}},
		{func(p *Plan) { p.Producers[0].TxSize, p.Producers[0].Confirm = -1, 0 }, []string{"--ptxsize=-1"}},
		{func(p *Plan) { p.Producers[0].Properties = &manifest.Properties{MessageID: strings.Repeat("m", 256)} }, []string{"--message-properties", "message-id", "255"}},
		{func(p *Plan) { p.Producers[0].Properties = &manifest.Properties{Expiration: "1 s"} }, []string{"--message-properties", "1 s", "milliseconds"}},
		{func(p *Plan) {
			p.Producers[0].Stamp, p.Producers[0].Properties = manifest.StampHeader, &manifest.Properties{Headers: []manifest.Arg{{Key: "leveret", Value: "x"}}}
		}, []string{"--message-properties", "leveret", "--stamp=header"}},
		{func(p *Plan) {
			p.Producers[0].Properties = &manifest.Properties{Headers: []manifest.Arg{{Key: "a", Value: "x"}, {Key: "a", Value: "y"}}}
		}, []string{"--message-properties", "header a", "twice"}},
	} {
		p := good()
		c.change(p)
		err := p.Validate()
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("error %v does not say %q", err, w)
			}
		}
	}
}

// A producer stops before its sequence can wrap.
func TestSequenceDoesNotWrap(t *testing.T) {
	e, rec := bare([]manifest.Producer{{Size: 12}}, nil)
	p := e.producers[0]
	p.seq = event.MaxSequence - 2
	p.publish()
	if p.seq != event.MaxSequence+1 || rec.sends != 3 {
		t.Errorf("sequence %d after %d messages", p.seq, rec.sends)
	}
}
