package loadcore

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"leveret/loadcore/wire"
)

// Allocation is how connections are given to several endpoints.
type Allocation string

const (
	// AllocationRandom: each connection has an order of its own, and tries one endpoint after the other until it is open.
	AllocationRandom Allocation = "random"
	// AllocationRoundRobin: connection n has endpoint n mod N and no other; where that one is down, the run does not begin.
	AllocationRoundRobin Allocation = "round-robin"
)

func (p *Plan) checkAllocation() error {
	switch p.Allocation {
	case "", AllocationRandom, AllocationRoundRobin:
		return nil
	}
	return fmt.Errorf("--connection-allocation=%s: want random or round-robin", p.Allocation)
}

// candidates are the endpoints that connection n may be opened to, in the order in which they are tried.
func (p *Plan) candidates(n uint32) []*Endpoint {
	switch {
	case len(p.Endpoints) == 0:
		return []*Endpoint{&p.Endpoint}
	case p.Allocation == AllocationRoundRobin:
		return []*Endpoint{&p.Endpoints[int(n)%len(p.Endpoints)]}
	}
	order := make([]*Endpoint, len(p.Endpoints))
	for i := range order {
		order[i] = &p.Endpoints[i]
	}
	random := rand.New(rand.NewPCG(p.AllocationSeed, uint64(n)))
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// order is in which order a connection tries endpoints: those that have kept another one waiting for nothing come last.
func (e *engine) order(n uint32) []*Endpoint {
	order := e.plan.candidates(n)
	slices.SortStableFunc(order, func(a, b *Endpoint) int { return e.silence(a) - e.silence(b) })
	return order
}

func (e *engine) silence(ep *Endpoint) int {
	if _, silent := e.silent.Load(ep); silent {
		return 1
	}
	return 0
}

// At is the endpoint with another host and port, and everything else as it is: user, vhost, limits. A TLS configuration is
// made anew, as it names the host.
func (e Endpoint) At(host string, port int) (Endpoint, error) {
	e.Host, e.Port = host, port
	return e, e.ConfigureTLS(TLSOptions{})
}

// Naming is how the connections of a run are called at the broker.
type Naming string

const (
	NamingOwn      Naming = ""          // after the run's ID
	NamingPerfTest Naming = "perf-test" // as PerfTest's: perf-test-producer-N and perf-test-consumer-N, each from 0
)

// connectionName is the name of connection n.
func (p *Plan) connectionName(n uint32) string {
	if p.Naming != NamingPerfTest {
		return fmt.Sprintf("leveret %s connection %d", p.ID, n)
	}
	if int(n) >= p.consumersFrom {
		return fmt.Sprintf("perf-test-consumer-%d", int(n)-p.consumersFrom)
	}
	return fmt.Sprintf("perf-test-producer-%d", n)
}

// firstConsumerConnection: the producers' connections come first.
func (p *Plan) firstConsumerConnection() int {
	first := 0
	for i := range p.Producers {
		first = max(first, p.Producers[i].Connection+1)
	}
	return first
}

// TopologyName is the name of the connection that declares, ProbeName of those that look who is there.
func (p *Plan) TopologyName() string {
	if p.Naming == NamingPerfTest {
		return "perf-test-configuration-0"
	}
	return p.ID + " topology"
}

func (p *Plan) ProbeName() string {
	if p.Naming == NamingPerfTest {
		return "perf-test-test"
	}
	return p.ID + " probe"
}

// sameEverywhere: another endpoint would refuse it as well, because users are those of the whole cluster.
func sameEverywhere(e *ConnectError) bool {
	return e.Stage == StageLogin && e.Code == uint16(wire.ReplyAccessRefused)
}
