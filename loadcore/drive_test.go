package loadcore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// fleet is a plan of many connections with some producers each, and a consumer on one more.
func fleet(ep Endpoint, connections, channels int, each manifest.Producer) *Plan {
	plan := oneQueue(ep, "q", nil, nil)
	for c := range connections {
		for range channels {
			each.Connection = c
			plan.Producers = append(plan.Producers, each)
		}
	}
	plan.Consumers = []manifest.Consumer{{Connection: connections, Queues: []int{0}, AckEvery: 10, Prefetch: 1000}}
	plan.Connections = connections + 1
	SpreadPhases(plan.Producers)
	return plan
}

var everySecond = manifest.Rate{Messages: 1, PerNS: 1e9}

func TestChosenDrive(t *testing.T) {
	for _, c := range []struct {
		connections, producers int
		asked, want            Drive
	}{
		{256, 256, DriveAuto, DriveDedicated},
		{257, 257, DriveAuto, DriveShared},
		{10, 4096, DriveAuto, DriveDedicated},
		{10, 4097, DriveAuto, DriveShared},
		{1000, 1000, DriveDedicated, DriveDedicated},
		{1, 1, DriveShared, DriveShared},
	} {
		p := &Plan{Connections: c.connections, Producers: make([]manifest.Producer, c.producers), Drive: c.asked}
		if got := p.ChosenDrive(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Many slow connections, each way that the shared drive has to wait for them.
func TestSharedDrive(t *testing.T) {
	for _, c := range []struct {
		name                  string
		connections, channels int
		noPolling             bool
	}{
		{"500 connections", 500, 1, false},
		{"100 connections that cannot be polled", 100, 1, true},
		{"35 connections of 40 channels", 35, 40, false}, // C030, a tenth of it
	} {
		t.Run(c.name, func(t *testing.T) {
			ep := embedded(t, broker.Options{})
			noLeaks(t)
			plan := fleet(ep, c.connections, c.channels, manifest.Producer{Size: 24, Confirm: 1, Rate: everySecond})
			plan.Time, plan.Drive, plan.noPolling = 2*time.Second, DriveShared, c.noPolling
			before, during := runtime.NumGoroutine(), 0
			plan.Started = func() { during = runtime.NumGoroutine() }
			out, rec := runPlan(t, plan)
			complete(t, out, rec, 2*len(plan.Producers))
			// The broker of this process has two or three goroutines a connection; the producers have none.
			if limit := before + 3*plan.Connections + 50; c.channels > 1 && during > limit {
				t.Errorf("%d goroutines for %d producers on %d connections, at most %d expected", during, len(plan.Producers), plan.Connections, limit)
			}
			for _, s := range rec.sends {
				if s.Sent != event.None && s.Sent < s.Due[0] {
					t.Fatalf("producer %d message %d: sent %d ns before it was due", s.Producer, s.First, s.Due[0]-s.Sent)
				}
			}
		})
	}
}

// With the shared drive as with the dedicated one: bodies of several frames, from several channels of one connection at
// once, arrive whole and in order; without a rate, and with both directions on one socket.
func TestSharedDriveKeepsMessagesWhole(t *testing.T) {
	for _, noPolling := range []bool{false, true} {
		t.Run(fmt.Sprintf("noPolling=%v", noPolling), func(t *testing.T) {
			ep := embedded(t, broker.Options{})
			noLeaks(t)
			plan := oneQueue(ep, "q", []manifest.Producer{
				{Size: 300_000, Confirm: 3, Limit: 20}, {Size: 131_065, Limit: 40}, {Size: 12, Confirm: 100, Limit: 20_000}, {Size: 5000, Limit: 2000},
			}, []manifest.Consumer{{AckEvery: 1, Prefetch: 100}, {AutoAck: true}})
			for i := range plan.Producers {
				plan.Producers[i].Connection = 0
			}
			plan.Consumers[0].Connection, plan.Consumers[1].Connection = 0, 1
			plan.Connections, plan.Drive, plan.noPolling = 2, DriveShared, noPolling
			out, rec := runPlan(t, plan)
			times, bodies := rec.received()
			const n = 20 + 40 + 20_000 + 2000
			if len(rec.sent(t)) != n || len(times) != n || bodies[event.Intact] != n || len(out.Failures) > 0 || !out.Drained {
				t.Errorf("received %d of %d, bodies %v: %+v", len(times), n, bodies, *out)
			}
		})
	}
}

// A broker that does not read from one connection holds back nobody else, though they share a scheduler. The stub goes on
// with the first connection only when all messages of the others have come.
func TestFullSocketHoldsBackNobodyElse(t *testing.T) {
	noLeaks(t)
	const connections, each = 8, 2000
	var others atomic.Int64
	free := make(chan struct{})
	ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
		st, _ := ReadStamp(m.body)
		switch {
		case st.Producer == 0 && st.Seq == 10:
			<-free
		case st.Producer != 0 && others.Add(1) == (connections-1)*each:
			close(free)
		}
	}})
	plan := oneQueue(ep, "q", make([]manifest.Producer, connections), nil)
	for i := range plan.Producers {
		plan.Producers[i] = manifest.Producer{Connection: i, Size: 16_000, Limit: each} // 32 MB each: more than sockets hold
	}
	plan.Drive = DriveShared
	out, rec := runPlan(t, plan)
	if len(rec.sent(t)) != connections*each || len(out.Failures) > 0 {
		t.Errorf("%+v", *out)
	}
	for _, s := range rec.sends {
		if s.Written < s.Sent {
			t.Fatalf("producer %d: a write call of %d ns", s.Producer, s.Written-s.Sent)
		}
	}
}

// A recorder that has no room holds back publishing and nothing else: what comes from the broker is still read.
func TestSharedDriveReadsWhileTheRecorderIsFull(t *testing.T) {
	ep := embedded(t, broker.Options{})
	admin := newAdmin(t, ep)
	noLeaks(t)
	const waiting = 500
	for range waiting {
		frames := wire.AppendPublish(nil, 1, "", "q", false)
		body := make([]byte, StampSize)
		PutStamp(body, Stamp{Tag: 1, Due: event.None})
		frames = wire.AppendHeader(frames, 1, StampSize, nil)
		if _, err := admin.link.sock.Write(wire.AppendBody(frames, 1, body, 131072)); err != nil {
			t.Fatal(err)
		}
	}
	plan := oneQueue(ep, "q", []manifest.Producer{confirmed(12, 100)}, []manifest.Consumer{{AckEvery: 1, Prefetch: 10}})
	for i := range plan.Consumers {
		plan.Consumers[i].Connection = 0
	}
	plan.Connections, plan.Drive = 1, DriveShared
	rec := &memory{}
	rec.reserve = func(ctx context.Context, rows int) error {
		for { // room comes once all that waited has been received
			rec.mu.Lock()
			rows := 0
			for _, d := range rec.deliveries {
				rows += len(d.Rows)
			}
			rec.mu.Unlock()
			if rows >= waiting {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := Run(ctx, plan, rec)
	if err != nil || out.Sent != 100 || out.Confirmed != 100 || out.Received != waiting+100 || !out.Drained {
		t.Errorf("%+v, %v", *out, err)
	}
}

// With automatic acks the connection is not read while the recorder is congested, and read again afterwards.
func TestSharedDrivePausesReading(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 1000, Confirm: 100, Limit: 20_000}}, []manifest.Consumer{{AutoAck: true}})
	plan.Drive = DriveShared
	rec := &memory{}
	rec.congested.Store(true)
	plan.Started = func() { time.AfterFunc(200*time.Millisecond, func() { rec.congested.Store(false) }) }
	out, err := Run(t.Context(), plan, rec)
	if err != nil || out.Received != 20_000 || !out.Drained {
		t.Errorf("%+v, %v", *out, err)
	}
}

// A broker that cuts connections ends their lanes, and the run.
func TestSharedDriveLosesConnections(t *testing.T) {
	for _, noPolling := range []bool{false, true} {
		noLeaks(t)
		ep := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) {
			if m.tag == 5 {
				c.Close()
			}
		}})
		plan := oneQueue(ep, "q", make([]manifest.Producer, 20), nil)
		for i := range plan.Producers {
			plan.Producers[i] = manifest.Producer{Connection: i, Size: 12, Confirm: 1, Rate: manifest.Rate{Messages: 100, PerNS: 1e9}}
		}
		for i := range plan.Producers { // the stub confirms nothing: a window of more than it cuts at
			plan.Producers[i].Confirm = 100
		}
		plan.Drive, plan.noPolling = DriveShared, noPolling
		plan.DrainTimeout = time.Second
		out, rec := runPlan(t, plan)
		if len(out.Failures) != 20 || out.Sent < 20*5 || !strings.Contains(out.StopReason, "not all of them as planned") {
			t.Errorf("%+v", *out)
		}
		if got := rec.states(7); !slices.Equal(got, []event.ConnectionState{event.Connecting, event.Open, event.Lost}) {
			t.Errorf("states %v", got)
		}
	}
}

// C096: a thousand connections that the broker has blocked, and does not read any more: all of them are closed in the one time
// that there is for closing, and with none nobody is asked.
func TestClosingManyBlockedConnections(t *testing.T) {
	for _, c := range []struct {
		timeout time.Duration
		asked   bool
	}{{500 * time.Millisecond, true}, {-1, false}} {
		noLeaks(t)
		const connections = 1000
		var mu sync.Mutex
		asked := map[*stubConn]bool{}
		ep := startStub(t, &stub{
			onOpen: func(c *stubConn) { c.method(0, &wire.ConnectionBlocked{Reason: "low on memory"}) },
			onMethod: func(c *stubConn, _ uint16, m wire.Method) bool {
				if _, closing := m.(*wire.ConnectionClose); closing {
					mu.Lock()
					asked[c] = true
					mu.Unlock()
					return true // and never an answer
				}
				return false
			},
		})
		plan := fleet(ep, connections, 1, manifest.Producer{Size: 12, Limit: 1})
		plan.Consumers, plan.Connections = nil, connections
		plan.CloseTimeout = c.timeout
		out, rec := runPlan(t, plan) // in a minute; one after the other they would take eight
		ended := 0
		for _, e := range rec.connections {
			if e.State == event.Lost || e.State == event.Closed {
				ended++
			}
		}
		mu.Lock()
		if ended != connections || len(asked) > 0 != c.asked || len(out.Failures) > 0 {
			t.Errorf("timeout %v: %d of %d connections ended, %d were asked to: %+v", c.timeout, ended, connections, len(asked), *out)
		}
		mu.Unlock()
	}
}

// What an idle connection takes of this process: at most 8 KiB of heap and stack in use.
func TestIdleConnectionMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has memory of its own")
	}
	ep := brokerProcess(t)
	const connections = 1000
	perConnection := idleMemory(t, ep, connections)
	t.Logf("%d bytes of heap and stack in use for each of %d connections", perConnection, connections)
	if perConnection > 8<<10 {
		t.Errorf("%d bytes for each of %d idle connections, want at most 8192", perConnection, connections)
	}
}

// idleMemory opens connections with a producer each that has nothing to send yet.
func idleMemory(t *testing.T, ep Endpoint, connections int) int64 {
	t.Helper()
	plan := fleet(ep, connections, 1, manifest.Producer{Size: 24, Confirm: 1, Rate: manifest.Rate{Messages: 1, PerNS: 3600e9}})
	before, during := inUse(), int64(0)
	ctx, cancel := context.WithCancel(t.Context())
	plan.Started = func() {
		during = inUse()
		cancel()
	}
	if _, err := Run(ctx, plan, &discard{}); err != nil {
		t.Fatal(err)
	}
	return (during - before) / int64(plan.Connections)
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one has freed in pools
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// Connections are begun no faster than asked for.
func TestConnectRate(t *testing.T) {
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := fleet(ep, 20, 1, manifest.Producer{Size: 12, Limit: 1})
	plan.ConnectRate = 100
	start := plan.Clock.Now()
	_, rec := runPlan(t, plan)
	begun := 0
	for _, c := range rec.connections {
		if c.State != event.Connecting {
			continue
		}
		begun++
		if earliest := start + int64(c.Connection)*int64(10*time.Millisecond); c.At < earliest {
			t.Errorf("connection %d was begun %v too early", c.Connection, time.Duration(earliest-c.At))
		}
	}
	if begun != plan.Connections {
		t.Errorf("%d connections were begun", begun)
	}
}

// A connection that cannot be opened ends the attempt, and the error says how far it got.
func TestConnectErrorSaysHowManyAreOpen(t *testing.T) {
	noLeaks(t)
	var opened atomic.Int64
	ep := startStub(t, &stub{onMethod: func(c *stubConn, _ uint16, m wire.Method) bool {
		if _, open := m.(*wire.ConnectionOpen); open && opened.Add(1) > 60 {
			c.method(0, &wire.ConnectionClose{ReplyCode: wire.ReplyNotAllowed, ReplyText: "NOT_ALLOWED - connection limit (60) is reached"})
			return true
		}
		return false
	}})
	_, err := Run(t.Context(), fleet(ep, 300, 1, manifest.Producer{Size: 12, Limit: 1}), &memory{})
	var refused *ConnectError
	if !errors.As(err, &refused) || refused.Code != 530 {
		t.Fatal(err)
	}
	for _, want := range []string{"of 301", "are open", "connection limit (60)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// What the shared drive does for each batch and each read allocates nothing.
func TestSharedDriveAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	e, rec := bare([]manifest.Producer{{Size: 24, Confirm: 1000, Rate: everySecond}}, nil)
	c, p := e.conn(0), e.producers[0]
	s := &scheduler{eng: e}
	p.shared, c.shared = s, s
	p.sched = newSchedule(p.spec.Rate, e.clock.Now()+int64(time.Hour), 0)
	e.barrier.Store(1)
	allocs := testing.AllocsPerRun(100, func() {
		s.turn(p) // goes to sleep
		s.ready(p)
		s.takeCalls()
		s.turning = s.turning[:0]
	})
	if allocs != 0 {
		t.Errorf("%v allocations for a turn", allocs)
	}
	acks := wire.AppendAck(nil, 1, 0, true)
	buf := make([]byte, 1024)
	allocs = testing.AllocsPerRun(100, func() {
		p.win.publish(1)
		n := copy(buf, acks)
		n += copy(buf[n:], acks[:5]) // cut off
		if err := c.took(buf, n); err != nil {
			t.Fatal(err)
		}
		c.in.start = c.in.end
	})
	if allocs != 0 || rec.settled == 0 {
		t.Errorf("%v allocations for a read, %d settled", allocs, rec.settled)
	}
}

// Room in the record that was reserved for messages that were put back is used for them, and not reserved a second time: the
// recorder would never get it back.
func TestSharedDriveReservesOnlyOnce(t *testing.T) {
	e, _ := bare([]manifest.Producer{{Size: 24, Confirm: 1000}}, nil)
	rec := &countsReserved{Recorder: e.rec}
	e.rec = rec
	p := e.producers[0]
	s := &scheduler{eng: e}
	p.shared, p.credit = s, 3
	for range 2 {
		s.send(p, 2)
		s.helpers.Wait()
	}
	if rec.reserved != 1 || p.credit != 0 {
		t.Errorf("%d more messages reserved, %d left, of 4 sent with room for 3", rec.reserved, p.credit)
	}
}

type countsReserved struct {
	Recorder
	reserved int
}

func (r *countsReserved) TryReserve(n int) bool {
	r.reserved += n
	return true
}
