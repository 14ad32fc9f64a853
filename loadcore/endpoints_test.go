package loadcore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/wire"
)

func TestAllocation(t *testing.T) {
	p := &Plan{}
	for port := 1; port <= 3; port++ {
		p.Endpoints = append(p.Endpoints, mustParse(t, fmt.Sprintf("amqp://h:%d", port)))
	}
	ports := func(n uint32) string {
		var s []string
		for _, e := range p.candidates(n) {
			s = append(s, fmt.Sprint(e.Port))
		}
		return strings.Join(s, " ")
	}
	p.Allocation = AllocationRoundRobin
	for n, want := range []string{"1", "2", "3", "1", "2"} {
		if got := ports(uint32(n)); got != want {
			t.Errorf("round-robin, connection %d: %s, want %s", n, got, want)
		}
	}
	p.Allocation, p.AllocationSeed = AllocationRandom, 7
	orders := map[string]int{}
	for n := range uint32(600) {
		order := ports(n)
		if order != ports(n) {
			t.Errorf("connection %d: another order at another time", n)
		}
		orders[order]++
	}
	// Three endpoints have 3! orders; of 600 draws each has 100 on the average, with a standard deviation of 9.
	for order, times := range orders {
		if len(orders) != 6 || times < 50 || times > 150 {
			t.Errorf("order %s: %d of 600, %d orders in all", order, times, len(orders))
		}
	}
	p.AllocationSeed = 8
	other := map[string]int{}
	for n := range uint32(600) {
		other[ports(n)]++
	}
	if fmt.Sprint(orders) == fmt.Sprint(other) {
		t.Error("another seed, and the same orders")
	}
	if err := (&Plan{Allocation: "nearest"}).checkAllocation(); err == nil || !strings.Contains(err.Error(), "--connection-allocation=nearest") {
		t.Errorf("error %v", err)
	}
}

// C109: one of two brokers is down when the run starts.
func TestOneEndpointDown(t *testing.T) {
	noLeaks(t)
	up := startStub(t, &stub{onMessage: func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) }})
	down := mustParse(t, "amqp://"+closedPort(t))
	plan := oneQueue(up, "q", slices.Repeat([]manifest.Producer{confirmed(12, 10)}, 8), nil)
	plan.Endpoints, plan.Allocation = []Endpoint{down, up}, AllocationRandom
	t.Run("random", func(t *testing.T) {
		out, rec := runPlan(t, plan)
		if out.Sent != 80 || out.Confirmed != 80 || len(out.Failures) > 0 {
			t.Errorf("%+v", *out)
		}
		turnedAway := 0
		for c := range uint32(8) {
			for _, e := range rec.ofConnection(c) {
				switch {
				case e.State == event.Open && e.Text != up.String():
					t.Errorf("connection %d is open to %q", c, e.Text)
				case e.State == event.Connecting && e.Text != "":
					turnedAway++
					if !strings.HasPrefix(e.Text, down.String()+": TCP connect: ") {
						t.Errorf("connection %d tries again after %q", c, e.Text)
					}
				}
			}
		}
		if turnedAway == 0 || turnedAway == 8 {
			t.Errorf("%d of 8 connections began with the broker that is down", turnedAway)
		}
	})
	t.Run("one that keeps silent is not waited for again", func(t *testing.T) {
		silent := mustParse(t, "amqp://"+rawListener(t, nil, func(c net.Conn) { io.Copy(io.Discard, c) }))
		p := *plan
		p.Endpoints, p.ConnectTimeout, p.ConnectRate = []Endpoint{silent, up}, 300*time.Millisecond, 2
		p.Producers, p.Connections = p.Producers[:6], 6
		out, rec := runPlan(t, &p)
		if out.Confirmed != 60 || len(out.Failures) > 0 {
			t.Errorf("%+v", *out)
		}
		waits, would := 0, 0
		for c := range uint32(6) {
			waits += len(rec.ofConnection(c)) - 4 // connecting, open, closing, closed
			if p.candidates(c)[0].Port == silent.Port {
				would++
			}
		}
		if would < 2 || waits == 0 || waits == would { // one, unless this machine stood still for a while
			t.Errorf("%d connections waited for the silent endpoint, of %d that were to begin with it", waits, would)
		}
	})
	t.Run("round-robin", func(t *testing.T) {
		plan.Allocation = AllocationRoundRobin
		_, err := Run(t.Context(), plan, &memory{})
		var e *ConnectError
		if !errors.As(err, &e) || e.Endpoint != down.String() || e.Stage != StageDial {
			t.Errorf("error %v", err)
		}
		_, _, err = ProbeFirst(t.Context(), plan.Endpoints, AllocationRoundRobin, ConnectOptions{})
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "--connection-allocation random") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("all down", func(t *testing.T) {
		other := mustParse(t, "amqp://"+closedPort(t))
		plan.Endpoints, plan.Allocation = []Endpoint{down, other}, AllocationRandom
		_, err := Run(t.Context(), plan, &memory{})
		var none NoneError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), down.String()) || !strings.Contains(err.Error(), other.String()) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a login that is refused is refused by all", func(t *testing.T) {
		asked := 0
		s := &stub{onMethod: func(c *stubConn, _ uint16, m wire.Method) bool {
			if _, ok := m.(*wire.ConnectionStartOk); ok {
				asked++
				c.method(0, &wire.ConnectionClose{ReplyCode: wire.ReplyAccessRefused, ReplyText: "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."})
				return true
			}
			return false
		}}
		ep := startStub(t, s)
		_, _, err := ProbeFirst(t.Context(), []Endpoint{ep, ep, ep}, AllocationRandom, ConnectOptions{})
		if err == nil || asked != 1 || strings.Count(err.Error(), "Login was refused") != 1 {
			t.Errorf("%d asked, error %v", asked, err)
		}
	})
}

func TestEndpointElsewhere(t *testing.T) {
	e, err := mustParse(t, "amqps://u:p%40ss@a:1/v?heartbeat=7&channel_max=5").At("b", 2)
	if err != nil || e.String() != "amqps://u@b:2/v" || e.Password() != "p@ss" || *e.Heartbeat != 7*time.Second || *e.ChannelMax != 5 || e.TLS.ServerName != "b" {
		t.Errorf("%v, %v", e, err)
	}
}

func TestNames(t *testing.T) {
	p := (&Plan{ID: "x", Connections: 4, Producers: []manifest.Producer{{Connection: 0}, {Connection: 0}, {Connection: 1}},
		Consumers: []manifest.Consumer{{Connection: 2}, {Connection: 3}}}).withDefaults()
	name := func(n uint32) string { return p.connectOptions(n).Name }
	if name(0) != "leveret x connection 0" || p.TopologyName() != "x topology" || p.ProbeName() != "x probe" {
		t.Errorf("%q, %q, %q", name(0), p.TopologyName(), p.ProbeName())
	}
	p.Naming = NamingPerfTest
	for n, want := range []string{"perf-test-producer-0", "perf-test-producer-1", "perf-test-consumer-0", "perf-test-consumer-1"} {
		if got := name(uint32(n)); got != want {
			t.Errorf("connection %d: %q, want %q", n, got, want)
		}
	}
	if p.TopologyName() != "perf-test-configuration-0" || p.ProbeName() != "perf-test-test" {
		t.Errorf("%q, %q", p.TopologyName(), p.ProbeName())
	}
}

// Two real nodes say which connections they have, under which names; then one of them is gone.
func TestEndpointsOfACluster(t *testing.T) {
	nodes := rabbitmqtest.StartCluster(t, 2, rabbitmqtest.Options{})
	vhost := nodes[0].VHost(t)
	eps := []Endpoint{mustParse(t, nodes[0].URIFor(vhost)), mustParse(t, nodes[1].URIFor(vhost))}
	newAdmin(t, eps[0]).declare("q", nil)
	plan := oneQueue(eps[0], "q", slices.Repeat([]manifest.Producer{{Size: 12, Confirm: 10, Rate: manifest.Rate{Messages: 10, PerNS: 1e9}}}, 3), []manifest.Consumer{{AckEvery: 1}, {AckEvery: 1}})
	plan.Endpoints, plan.Allocation, plan.Naming, plan.Time = eps, AllocationRoundRobin, NamingPerfTest, time.Minute
	var listed map[string]string
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	plan.Started = func() {
		go func() {
			defer cancel()
			for ctx.Err() == nil && len(listed) < 5 {
				listed = connectionsListed(t, nodes[0], vhost)
				time.Sleep(100 * time.Millisecond)
			}
		}()
	}
	out, err := Run(ctx, plan, &memory{})
	if err != nil || len(out.Failures) > 0 || out.Confirmed != out.Sent || out.Received != out.Sent {
		t.Errorf("%+v, %v", out, err)
	}
	want := map[string]string{
		"perf-test-producer-0": nodes[0].Name(), "perf-test-producer-1": nodes[1].Name(), "perf-test-producer-2": nodes[0].Name(),
		"perf-test-consumer-0": nodes[1].Name(), "perf-test-consumer-1": nodes[0].Name(),
	}
	if !maps.Equal(listed, want) {
		t.Errorf("listed %v, want %v", listed, want)
	}

	nodes[1].Kill(t)
	plan.Allocation, plan.Started, plan.Time = AllocationRandom, nil, time.Second
	rec := &memory{}
	out, err = Run(t.Context(), plan, rec)
	if err != nil || len(out.Failures) > 0 || out.Sent == 0 || out.Received != out.Sent {
		t.Errorf("%+v, %v", out, err)
	}
	for c := range uint32(5) {
		if last := rec.openTo(c); last != eps[0].String() {
			t.Errorf("connection %d is open to %q", c, last)
		}
	}
}

// connectionsListed are a vhost's named connections and the node that each is on.
func connectionsListed(t *testing.T, node *rabbitmqtest.Node, vhost string) map[string]string {
	var rows []struct {
		Node string
		Name string `json:"user_provided_name"`
	}
	node.ManagementGet(t, "vhosts/"+url.PathEscape(vhost)+"/connections", &rows)
	listed := map[string]string{}
	for _, r := range rows {
		if r.Name != "admin" && r.Name != "" {
			listed[r.Name] = r.Node
		}
	}
	return listed
}

func (m *memory) ofConnection(c uint32) (events []event.Connection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.connections {
		if e.Connection == c {
			events = append(events, e)
		}
	}
	return events
}

func (m *memory) openTo(c uint32) string {
	for _, e := range m.ofConnection(c) {
		if e.State == event.Open {
			return e.Text
		}
	}
	return ""
}
