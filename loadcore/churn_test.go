package loadcore

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

// churnMemory keeps the rows of a churn.
type churnMemory struct {
	mu   sync.Mutex
	rows []event.Churn
}

func (m *churnMemory) Churn(c *event.Churn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows = append(m.rows, *c)
}

func (m *churnMemory) Err() error { return nil }

// count of the rows of a step with an outcome.
func (m *churnMemory) count(s event.ChurnStep, o event.ChurnOutcome) (n int) {
	for i := range m.rows {
		if m.rows[i].Step == s && m.rows[i].Outcome == o {
			n++
		}
	}
	return n
}

// churnAt is a plan of operations at a broker.
func churnAt(ep Endpoint, what string, rate, limit int64) *ChurnPlan {
	p := &ChurnPlan{
		Plan:   &Plan{Endpoint: ep, Clock: event.NewClock(), ID: "churn", Topology: &manifest.Topology{}, CloseTimeout: 10 * time.Second},
		Prefix: "churn-test-",
		Churn: manifest.Churn{What: what, Rate: manifest.Rate{Messages: rate, PerNS: 1e9}, Limit: limit, Concurrency: 20, Alive: 20, Connections: 2,
			TimeoutNS: int64(10 * time.Second)},
	}
	switch what {
	case manifest.ChurnConnection:
		p.Churn.Connections, p.Churn.Channels = 0, 1
	case manifest.ChurnQueue, manifest.ChurnConsumer, manifest.ChurnBinding:
		p.Churn.Queue, p.Churn.Exchange = &manifest.Queue{Name: p.Prefix, Type: "classic", Durable: true}, "amq.direct"
	}
	if what == manifest.ChurnConsumer {
		p.Churn.Exchange = ""
	}
	return p
}

func runChurn(t *testing.T, p *ChurnPlan) (*manifest.Outcome, *churnMemory) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rec := &churnMemory{}
	o, err := Churn(ctx, p, rec)
	if err != nil {
		t.Fatal(err)
	}
	return o, rec
}

// Each kind at a real broker: every operation has the rows of its steps, in their order in time, and counters that agree with them.
func TestRabbitMQChurnOfEachKind(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	ep := mustParse(t, node.URI(t))
	noLeaks(t)
	const n = 60
	for what, steps := range map[string][]event.ChurnStep{
		manifest.ChurnConnection: {event.StepTCP, event.StepHandshake, event.StepChannelOpen, event.StepConnectionClose},
		manifest.ChurnChannel:    {event.StepChannelOpen, event.StepChannelClose},
		manifest.ChurnQueue:      {event.StepQueueDeclare, event.StepQueueBind, event.StepQueueDelete},
		manifest.ChurnConsumer:   {event.StepConsume, event.StepCancel},
		manifest.ChurnBinding:    {event.StepQueueBind, event.StepQueueUnbind},
	} {
		t.Run(what, func(t *testing.T) {
			p := churnAt(ep, what, 200, n)
			p.Churn.LifetimeNS, p.Churn.Alive = int64(50*time.Millisecond), 40
			o, rec := runChurn(t, p)
			c := o.Churn
			if c.Made != n || c.Undone != n || c.Failed+c.NotBegun+c.UndoFailed+c.LeftCount+c.CleanedUp != 0 || o.StopReason != StopOperations || !o.Drained {
				t.Errorf("%+v %+v", *o, *c)
			}
			if c.Steps != int64(n*len(steps)) || len(rec.rows) != n*len(steps) || c.MostAlive > 40 {
				t.Errorf("%d steps, %d rows, at most %d alive", c.Steps, len(rec.rows), c.MostAlive)
			}
			for _, s := range steps {
				if rec.count(s, event.StepDone) != n {
					t.Errorf("%s: %d", s, rec.count(s, event.StepDone))
				}
			}
			checkChurnRows(t, rec.rows, steps)
		})
	}
	left := newAdmin(t, ep)
	left.gone("churn-test-")
	left.gone("churn-test-7")
}

// gone: the broker does not have the queue.
func (a *admin) gone(queue string) {
	a.t.Helper()
	reply := a.ask(&wire.QueueDeclare{Queue: queue, Passive: true}, wire.ChannelCloseID).(*wire.ChannelClose)
	if reply.ReplyCode != wire.ReplyNotFound {
		a.t.Errorf("%s: %+v", queue, reply)
	}
	a.link.sock.Write(wire.AppendMethod(nil, 1, &wire.ChannelCloseOk{}))
	a.ask(&wire.ChannelOpen{}, wire.ChannelOpenOkID)
}

// checkChurnRows: the steps of each operation in their order, times that do not go back, due times of the schedule.
func checkChurnRows(t *testing.T, rows []event.Churn, steps []event.ChurnStep) {
	t.Helper()
	of := map[uint64][]event.Churn{}
	for _, r := range rows {
		of[r.Op] = append(of[r.Op], r)
	}
	first := of[0][0].Due
	for n, all := range of {
		at := int64(0)
		for i, r := range all {
			last := i+1 == len(all) || all[i+1].Step.Undoes() && !r.Step.Undoes()
			if r.Step != steps[i] || r.Last != last || r.Begun < at || r.Ended < r.Begun || r.Started > r.Begun {
				t.Errorf("operation %d: %+v", n, r)
			}
			if due := first + int64(n)*5e6; r.Step.Undoes() != (r.Due == event.None) || r.Due != event.None && r.Due != due { // 200 a second
				t.Errorf("operation %d: due %d, want %d", n, r.Due, due)
			}
			at = r.Ended
		}
	}
}

// What the broker refuses is counted with its code and text, closes no more than its own channel, and the load goes on; what may have
// been made is removed at the end.
func TestRabbitMQRefusesOperations(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	user, password := node.AddUser(t, vhost, rabbitmqtest.Permissions{Configure: ".*", Write: ".*", Read: "none"})
	noLeaks(t)
	p := churnAt(mustParse(t, node.UserURI(user, password, vhost)), manifest.ChurnQueue, 200, 40) // queue.bind reads from the exchange
	o, rec := runChurn(t, p)
	if c := o.Churn; c.Made != 0 || c.Failed != 40 || c.CleanedUp != 40 || c.LeftCount != 0 {
		t.Errorf("%+v", *c)
	}
	for _, r := range rec.rows {
		if r.Step == event.StepQueueBind && (r.Outcome != event.StepRefused || r.Code != 403 || !strings.Contains(r.Text, "ACCESS_REFUSED") || strings.Contains(r.Text, password)) {
			t.Errorf("%+v", r)
		}
	}
	newAdmin(t, mustParse(t, node.URIFor(vhost))).gone("churn-test-7")

	// Of a declaration that was refused nothing can be left, and nothing is to be removed.
	user, password = node.AddUser(t, vhost, rabbitmqtest.Permissions{Configure: "none", Write: ".*", Read: ".*"})
	o, rec = runChurn(t, churnAt(mustParse(t, node.UserURI(user, password, vhost)), manifest.ChurnQueue, 200, 10))
	if c := o.Churn; c.Failed != 10 || c.CleanedUp+c.LeftCount != 0 || !o.Drained || rec.count(event.StepQueueDeclare, event.StepRefused) != 10 {
		t.Errorf("%+v, drained: %v %s", *c, o.Drained, o.DrainNote)
	}
}

// When the load ends, what is held is undone at once; what is due and has no place by then is recorded as not begun.
func TestChurnEnds(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	p := churnAt(ep, manifest.ChurnQueue, 100, 0)
	p.Churn.Exchange, p.Time = "", 500*time.Millisecond
	p.Churn.LifetimeNS, p.Churn.Alive = int64(time.Hour), 10
	o, rec := runChurn(t, p)
	c := o.Churn
	if c.Made != 10 || c.Undone != 10 || c.NotBegun != 40 || c.LeftCount != 0 || o.StopReason != StopTime { // 50 are due in half a second
		t.Errorf("%+v %+v", *o, *c)
	}
	if n := rec.count(event.StepQueueDeclare, event.StepNotBegun); n != 40 {
		t.Errorf("%d rows not begun", n)
	}
	if o.PublishStopNS-o.BarrierNS != int64(p.Time) {
		t.Errorf("load of %v", time.Duration(o.PublishStopNS-o.BarrierNS))
	}
}

// Interrupted, a churn undoes what is there; in closed loop nothing was due.
func TestChurnInterrupted(t *testing.T) {
	noLeaks(t)
	ep := embedded(t, broker.Options{})
	p := churnAt(ep, manifest.ChurnConsumer, 100, 0)
	p.Churn.Rate, p.Churn.LifetimeNS, p.Live = manifest.Rate{}, int64(time.Hour), new(ChurnLive)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for p.Live.Look().Made < 20 { // all places
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	rec := &churnMemory{}
	o, err := Churn(ctx, p, rec)
	if err != nil || !o.Interrupted || o.StopReason != StopInterrupted || o.Churn.Made != 20 || o.Churn.Undone != 20 || o.Churn.NotBegun != 0 {
		t.Errorf("%v %+v", err, o)
	}
	for _, r := range rec.rows {
		if r.Due != event.None {
			t.Errorf("%+v", r)
		}
	}
}

// A broker that refuses connections ends no load: each operation has failed, with the reason. Shared connections must be there.
func TestChurnWithoutABroker(t *testing.T) {
	noLeaks(t)
	o, rec := runChurn(t, churnAt(mustParse(t, "amqp://127.0.0.1:1"), manifest.ChurnConnection, 200, 10))
	if c := o.Churn; c.Failed != 10 || c.Made != 0 || rec.count(event.StepTCP, event.StepLost) != 10 || !strings.Contains(rec.rows[0].Text, "refused") {
		t.Errorf("%+v %+v", *c, rec.rows)
	}
	if o, err := Churn(t.Context(), churnAt(mustParse(t, "amqp://127.0.0.1:1"), manifest.ChurnChannel, 200, 10), &churnMemory{}); o != nil || err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v %v", o, err)
	}
}

// slowMemory takes its time for the first row.
type slowMemory struct {
	churnMemory
	first sync.Once
	takes time.Duration
}

func (m *slowMemory) Churn(c *event.Churn) {
	m.first.Do(func() { time.Sleep(m.takes) })
	m.churnMemory.Churn(c)
}

// What recording a step takes is no part of the next one, nor of the time that opening a connection may take.
func TestRecordingIsNoPartOfConnecting(t *testing.T) {
	noLeaks(t)
	p := churnAt(embedded(t, broker.Options{}), manifest.ChurnConnection, 100, 1)
	p.Churn.Channels, p.ConnectTimeout = 0, 1500*time.Millisecond
	rec := &slowMemory{takes: 1700 * time.Millisecond}
	o, err := Churn(t.Context(), p, rec)
	if err != nil || o.Churn.Made != 1 || o.Churn.Failed != 0 || o.Churn.Steps != 3 || len(rec.rows) != 3 {
		t.Fatalf("%v %+v", err, rec.rows)
	}
	checkChurnRows(t, rec.rows, []event.ChurnStep{event.StepTCP, event.StepHandshake, event.StepConnectionClose})
	if tcp, handshake := rec.rows[0], rec.rows[1]; handshake.Begun != tcp.Ended || handshake.Ended-handshake.Begun > int64(p.ConnectTimeout) {
		t.Errorf("%+v", rec.rows)
	}
}

// The first of the shared connections that cannot be opened ends the opening of all.
func TestChurnPoolEndsWithTheFirstError(t *testing.T) {
	noLeaks(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted, ended := 0, make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted++
			c.Close()
		}
	}()
	p := churnAt(mustParse(t, "amqp://"+l.Addr().String()), manifest.ChurnChannel, 100, 1)
	p.Churn.Connections = 1000
	if o, err := Churn(t.Context(), p, &churnMemory{}); o != nil || err == nil {
		t.Errorf("%v %v", o, err)
	}
	l.Close()
	if <-ended; accepted >= p.Churn.Connections {
		t.Errorf("all %d connections were tried", accepted)
	}
}

// After the first error, or an interruption, nothing more is begun.
func TestUntilError(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	if err := untilError(t.Context(), 10, 1, func(_ context.Context, i int) error {
		if calls++; i == 2 {
			return broken
		}
		return nil
	}); err != broken || calls != 3 {
		t.Errorf("%v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls = 0
	if err := untilError(ctx, 10, 1, func(context.Context, int) error {
		calls++
		cancel()
		return nil
	}); err == nil || !strings.Contains(err.Error(), "interrupted") || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// churnerAt is a churn that has not begun.
func churnerAt(t *testing.T, p *ChurnPlan, rec ChurnRecorder) *churner {
	x := *p
	x.Plan = p.Plan.withDefaults()
	c := &churner{plan: &x, spec: &x.Churn, rec: rec, clock: p.Clock, live: new(ChurnLive), ending: make(chan struct{})}
	c.undoing, c.stopUndoing = context.WithCancelCause(t.Context())
	t.Cleanup(func() { c.stopUndoing(nil) })
	return c
}

// Where there was no more time, that is the reason, and nobody interrupted anything.
func TestChurnHasNoMoreTime(t *testing.T) {
	c := churnerAt(t, churnAt(mustParse(t, "amqp://127.0.0.1:1"), manifest.ChurnQueue, 100, 1), &churnMemory{})
	c.stopUndoing(errors.New("not done within 1s of the end of the load"))
	c.remains.add("churn-test-1")
	if err := c.tearDown(); err == nil || err.Error() != "1 queues could not be deleted: not done within 1s of the end of the load" {
		t.Error(err)
	}
	op, row := &operation{churner: c}, &event.Churn{}
	_, err := open(c.undoing, &c.plan.Endpoint, c.plan.connectOptions(0))
	if op.explain(row, err); row.Outcome != event.StepTimedOut || row.Text != "not done within 1s of the end of the load" {
		t.Errorf("%v: %+v", err, row)
	}
}

// Names that were not kept may be left, though all that were are gone.
func TestChurnLeftWithoutAName(t *testing.T) {
	c := churnerAt(t, churnAt(embedded(t, broker.Options{}), manifest.ChurnQueue, 100, 1), &churnMemory{})
	c.remains.more = 2
	if err := c.tearDown(); err == nil || err.Error() != "2 queues could not be deleted: no more than 100000 names were kept" {
		t.Error(err)
	}
}

// freeing frees the only place with each row.
type freeing struct {
	churnMemory
	places chan struct{}
}

func (m *freeing) Churn(c *event.Churn) {
	m.churnMemory.Churn(c)
	<-m.places
}

// From the first operation on that finds no place at the end nothing is begun, also where there is one a little later: else the load went on
// as long as what was missed is recorded.
func TestMissedOperationsAreNotBegun(t *testing.T) {
	p := churnAt(mustParse(t, "amqp://127.0.0.1:1"), manifest.ChurnConnection, 100, 0)
	rec := &freeing{places: make(chan struct{}, 3)}
	c := churnerAt(t, p, rec)
	c.places, c.slots = rec.places, make(chan struct{}, 3)
	for range 3 {
		c.places <- struct{}{}
	}
	barrier := c.clock.Now() - 1e9
	d := &dueTimes{timed: true, schedule: scheduleOf(c.spec.Schedule(), 0, barrier)}
	d.due = d.schedule.due
	end := barrier + 25e6 // 0, 10 and 20 ms are before it
	if got := c.missed(t.Context(), d, 0, end); got != end {
		t.Errorf("ended at %d, want %d", got, end)
	}
	if c.operations.Wait(); len(rec.rows) != 3 || rec.count(event.StepTCP, event.StepNotBegun) != 3 {
		t.Errorf("%+v", rec.rows)
	}
}

// scripted is the broker's end of a churn's connection.
func scripted(t *testing.T) (*churnLink, net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	l := newChurnLink(event.NewClock(), &link{tcp: ours, sock: ours, limits: wire.Limits{FrameMax: 4096, ChannelMax: 2}})
	t.Cleanup(func() {
		l.abandon()
		theirs.Close()
	})
	return l, theirs
}

// awaitMethod reads one frame at the broker's end.
func awaitMethod(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	buf := make([]byte, 4096)
	if n, err := c.Read(buf); err != nil || n == 0 {
		t.Error(err)
	}
}

// Where the channel that an operation needs is not opened in time, it is that request which had no answer, and not the operation's own.
func TestChurnWaitsForItsChannel(t *testing.T) {
	l, peer := scripted(t)
	go awaitMethod(t, peer)
	p := churnAt(mustParse(t, "amqp://127.0.0.1:1"), manifest.ChurnQueue, 100, 1)
	p.Churn.TimeoutNS = int64(20 * time.Millisecond)
	rec := &churnMemory{}
	c := churnerAt(t, p, rec)
	c.pool = &churnPool{churner: c, conns: []*poolConn{{open: l}}}
	op := &operation{churner: c, due: event.None}
	if op.make() || len(rec.rows) != 1 || rec.rows[0].Step != event.StepQueueDeclare || rec.rows[0].Outcome != event.StepTimedOut || rec.rows[0].Text != "channel.open: no answer within 20ms" {
		t.Errorf("%+v", rec.rows)
	}
}

// Answers, refusals, deliveries in between, an answer that never comes, and the end of the connection.
func TestChurnLinkAnswers(t *testing.T) {
	noLeaks(t)
	l, peer := scripted(t)
	const soon = 10 * time.Second
	call := func(say []byte, within time.Duration) (wire.Method, error) {
		go func() {
			awaitMethod(t, peer)
			peer.Write(say)
		}()
		m, _, err := l.call(t.Context(), 1, &wire.ChannelOpen{}, wire.ChannelOpenOkID, within)
		return m, err
	}
	deliver := wire.AppendMethod(nil, 1, &wire.BasicDeliver{ConsumerTag: "c", DeliveryTag: 1})
	deliver = wire.AppendBody(wire.AppendHeader(deliver, 1, 3, &wire.Properties{}), 1, []byte("abc"), 4096)
	if m, err := call(wire.AppendMethod(wire.AppendHeartbeat(deliver), 1, &wire.ChannelOpenOk{}), soon); err != nil || m.ID() != wire.ChannelOpenOkID {
		t.Errorf("%v %v", m, err)
	}
	if _, err := call(wire.AppendMethod(nil, 2, &wire.ChannelOpenOk{}), 20*time.Millisecond); !errors.Is(err, errChurnTimeout) { // another channel's
		t.Error(err)
	}
	var why loss
	go func() { // it takes the channel.close-ok, too
		awaitMethod(t, peer)
		peer.Write(wire.AppendMethod(nil, 1, &wire.ChannelClose{ReplyCode: 404, ReplyText: "NOT_FOUND"}))
		awaitMethod(t, peer)
	}()
	if _, _, err := l.call(t.Context(), 1, &wire.ChannelOpen{}, wire.ChannelOpenOkID, soon); !errors.As(err, &why) || why.code != 404 || !l.alive() {
		t.Error(err)
	}
	for want := uint16(1); want <= 2; want++ {
		if n, ok := l.channel(); !ok || n != want {
			t.Errorf("channel %d, %v", n, ok)
		}
	}
	if n, ok := l.channel(); ok {
		t.Errorf("channel %d of at most 2", n)
	}
	if _, err := call([]byte{9, 9, 9, 9, 9, 9, 9, 9}, soon); err == nil || l.alive() {
		t.Errorf("garbage: %v", err)
	}
	if _, _, err := l.call(t.Context(), 1, &wire.ChannelOpen{}, wire.ChannelOpenOkID, soon); err == nil {
		t.Error("a call on a connection that is gone")
	}
}

// A connection that was closed keeps its port: so many at a rate, in the time that the system keeps them or the load lasts.
func TestChurnPreflight(t *testing.T) {
	p := churnAt(mustParse(t, "amqp://192.0.2.1"), manifest.ChurnConnection, 1_000_000, 0)
	if err := p.Preflight(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "TIME_WAIT") || !strings.Contains(err.Error(), "--source-address") {
		t.Error(err)
	}
	p.Churn.Limit = 100
	if err := p.Preflight(t.Context(), nil); err != nil {
		t.Error(err)
	}
	p = churnAt(mustParse(t, "amqp://192.0.2.1"), manifest.ChurnConsumer, 100, 0)
	p.Churn.Alive = 5000 // on 2 connections 2,500 each, of 2,047
	if err := p.Preflight(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "--connections=2") || !strings.Contains(err.Error(), "at least 3") {
		t.Error(err)
	}
}
