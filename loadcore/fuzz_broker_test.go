package loadcore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/hostile"
)

// FuzzBroker plays the broker: a producer and a consumer talk to the embedded broker, and what that says is changed on its way, as
// the program says that the bytes are (hostile.Program). Whatever it is, the run ends in time, and its record holds together.
func FuzzBroker(f *testing.F) {
	b, err := broker.Start(broker.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { b.Close() })
	for i, doing := range hostile.Doings() {
		switch doing {
		case "mute", "deaf", "drop", "hold", "delay": // what they make wait for would be waited for in every run of the tests
			continue
		}
		f.Add(hostile.Step([]byte{byte(i * 37)}, i%2, 3+i%5, doing, byte(i), byte(i*3)))
	}
	for kind := range byte(18) {
		f.Add(hostile.Step([]byte{kind << 4}, int(kind)%2, 6, "invent", kind, 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		playBroker(t, b, data)
		runtime.ReadMemStats(&after)
		if all := after.TotalAlloc - before.TotalAlloc; all > 256<<20 {
			t.Errorf("%d bytes were allocated", all)
		}
		if n := runtime.NumGoroutine(); n > 500 {
			t.Errorf("%d goroutines are left", n)
		}
	})
}

// played numbers the runs, so that each has a queue of its own.
var played atomic.Int64

// playBroker is one run against a program.
func playBroker(t *testing.T, b *broker.Server, data []byte) *manifest.Outcome {
	program := hostile.Parse(data)
	between, err := hostile.Listen(b.Addr().String(), program.Say)
	if err != nil {
		t.Fatal(err)
	}
	defer between.Close()
	ep := mustParse(t, b.URI())
	if ep, err = ParseURI(fmt.Sprintf("amqp://%s:%s@%s", ep.User, ep.Password(), between.Addr())); err != nil {
		t.Fatal(err)
	}
	plan, rec := playedPlan(ep, program.Setup), &memory{}
	out, err := runOrTell(t, plan, rec)
	var refused *ConnectError
	if err != nil && (out.BarrierNS != event.None || !errors.As(err, &refused)) {
		t.Errorf("%v: %+v", err, *out)
	}
	checkPlayed(t, plan, out, rec)
	return out
}

// playedPlan is a small run of one of many kinds.
func playedPlan(ep Endpoint, setup byte) *Plan {
	p := manifest.Producer{Size: 12 + int(setup&1)*5000, Confirm: 5, Limit: 20, Mandatory: setup&2 != 0}
	c := manifest.Consumer{AckEvery: 1 + int(setup&1), Prefetch: 10}
	switch setup >> 4 & 3 {
	case 1:
		c = manifest.Consumer{AutoAck: true}
	case 2:
		c = manifest.Consumer{Polling: true, AckEvery: 1}
		p.TxSize, p.Confirm = 4, 0
	case 3:
		c.TxSize = 4
	}
	if setup&64 != 0 {
		p.Rate = manifest.Rate{Messages: 2000, PerNS: 1e9}
	}
	plan := oneQueue(ep, fmt.Sprintf("q%d", played.Add(1)), []manifest.Producer{p}, []manifest.Consumer{c})
	plan.Topology.Queues[0].Exclusive = true
	if setup&128 != 0 {
		plan.Consumers[0].Connection, plan.Connections = 0, 1
	}
	if setup&4 != 0 {
		plan.Drive = DriveShared
	}
	if setup&8 != 0 {
		plan.OnDisconnect, plan.ReconnectDelay, plan.ReconnectTime = DisconnectReconnect, quick, 500*time.Millisecond
		plan.Republish = setup&2 != 0
	}
	const short = 200 * time.Millisecond
	plan.ConnectTimeout, plan.ConfirmTimeout, plan.WriteTimeout, plan.BlockedTimeout = short, short, short, short
	plan.DrainTimeout, plan.CloseTimeout, plan.Time, plan.Progress = short, short, 2*time.Second, new(Progress)
	return plan
}

// runOrTell runs a plan, and tells what it is waiting for if it does not end. Its own deadlines come to some five seconds.
func runOrTell(t *testing.T, plan *Plan, rec *memory) (out *manifest.Outcome, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = Run(context.Background(), plan, rec)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		var all bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&all, 1)
		t.Fatalf("the run does not end\n%s", &all)
	}
	return out, err
}

// checkPlayed checks what holds of every run.
func checkPlayed(t *testing.T, plan *Plan, out *manifest.Outcome, rec *memory) {
	if out.BarrierNS == event.None {
		return
	}
	rec.reserved -= int64(plan.Progress.run.Load().producers[0].credit) // of what was put back, and never sent
	if !plan.Republish {
		rec.sent(t) // without holes, or twice
	}
	answers := map[event.SettlementKind]int64{}
	for id, fate := range rec.fates() {
		if len(fate) > 1 && !plan.Republish || id.seq >= uint64(out.Sent+out.NotSent) {
			t.Errorf("message %d of %d sent is settled %v", id.seq, out.Sent, fate)
		}
		for _, kind := range fate {
			answers[kind]++
		}
	}
	if out.Confirmed != answers[event.Ack] || out.Nacked != answers[event.Nack] || out.Committed != answers[event.Commit] || out.InDoubt != answers[event.InDoubt] {
		t.Errorf("recorded %v: %+v", answers, *out)
	}
	rows := int64(0)
	for _, d := range rec.deliveries {
		rows += int64(len(d.Rows))
	}
	if out.Received != rows || out.Acked > out.Received {
		t.Errorf("%d deliveries are recorded: %+v", rows, *out)
	}
	for connection := range plan.Connections {
		states := rec.states(uint32(connection))
		if last := states[len(states)-1]; last != event.Closed && last != event.Lost {
			t.Errorf("connection %d ends as %v", connection, states)
		}
	}
}
