package management

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Recorder takes the rows. A call that finds no room is false, and its row is left out.
type Recorder interface {
	BrokerNode(*event.BrokerNode) bool
	BrokerQueue(*event.BrokerQueue) bool
	BrokerConnections(*event.BrokerConnections) bool
}

// Bounds of a look.
const (
	MostQueues      = 100 // queues that have rows of their own
	mostConnections = 500 // whose states are asked for
	mostApart       = 8   // intervals between looks while the API does not answer
	lastLook        = 2 * time.Second
	mostRules       = 64 // kept of one queue
)

// Watch says what to look at. Topology and Management are not touched before Stop.
type Watch struct {
	Clock      *event.Clock
	VHost      string
	Topology   *manifest.Topology
	Management *manifest.Management // as Facts gave it
	Interval   time.Duration
	Recorder   Recorder
	// SameHost: the broker may run on this host, so that its processes are looked for.
	SameHost bool
	// Warn is told, on one line, what goes wrong the first time, and that it went on. From one goroutine.
	Warn func(text string)
}

// Sampler looks at the API until it is stopped.
type Sampler struct {
	c      *Client
	w      Watch
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	end    chan struct{}

	// Of the goroutine that looks; after done, of Stop.
	names   []string       // of the queues that have rows of their own
	queues  map[string]int // their indexes
	nodes   []manifest.ManagedNode
	found   map[int]*manifest.FoundQueue // what was seen of queues, by index
	off     map[string]bool              // questions that the API refuses
	looks   int64
	failed  int64
	first   string // what failed first
	inARow  int
	skipped int // looks that are left out
}

// Watch begins to look at once, so that the first rows are of before the load, and then at every interval.
func (c *Client) Watch(w Watch) *Sampler {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sampler{c: c, w: w, ctx: ctx, cancel: cancel, done: make(chan struct{}), end: make(chan struct{}),
		queues: map[string]int{}, found: map[int]*manifest.FoundQueue{}, off: map[string]bool{}, nodes: slices.Clone(w.Management.Nodes)}
	for i := range w.Topology.Queues {
		if name := w.Topology.Queues[i].Name; name != "" && len(s.names) < MostQueues {
			s.names = append(s.names, name)
			s.queues[name] = i
		}
	}
	s.look()
	go s.run()
	return s
}

func (s *Sampler) run() {
	defer close(s.done)
	ticker := time.NewTicker(s.w.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.end:
			if s.inARow == 0 { // else it would be waited for in vain
				s.look()
			}
			return
		}
		if s.skipped > 0 {
			s.skipped--
			continue
		}
		s.look()
	}
}

// Stop takes a last look, of at most two seconds, and writes what was learned into the manifest's Management and Topology.
func (s *Sampler) Stop() {
	timer := time.AfterFunc(lastLook, s.cancel)
	defer timer.Stop()
	close(s.end)
	<-s.done
	s.cancel()
	m := s.w.Management
	m.Nodes, m.SampledQueues = s.nodes, len(s.names)
	m.Samples, m.Failed, m.FirstFailure = s.looks, s.failed, s.first
	for i, f := range s.found {
		keepFound(&s.w.Topology.Queues[i], f)
	}
}

// keepFound adds what was seen of a queue during the run to what was known before.
func keepFound(q *manifest.Queue, f *manifest.FoundQueue) {
	if q.Found == nil {
		q.Found = f
		return
	}
	keepRules(q.Found, f.Rules)
	if q.Found.Policy == "" {
		q.Found.Policy = f.Policy
	}
	if q.Found.OperatorPolicy == "" {
		q.Found.OperatorPolicy = f.OperatorPolicy
	}
}

// look asks all questions once. One that fails does not keep the others from being asked, but when nothing answers at all the
// first tells.
func (s *Sampler) look() {
	s.looks++
	var failure error
	for _, q := range []struct {
		name string
		ask  func() error
	}{{"nodes", s.askNodes}, {"vhost", s.askVHost}, {"queues", s.askQueues}, {"connections", s.askConnections}} {
		if s.off[q.name] {
			continue
		}
		err := q.ask()
		var refusal *Error
		switch {
		case err == nil:
			continue
		case errors.As(err, &refusal) && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden || refusal.Status == http.StatusNotFound):
			s.off[q.name] = true // it will not be otherwise the next time
		}
		if failure == nil {
			failure = err
		}
		if refusal == nil || refusal.Status == 0 {
			break
		}
	}
	s.judge(failure)
}

// judge counts a look, and says what went wrong the first time.
func (s *Sampler) judge(failure error) {
	if failure == nil {
		if s.inARow > 1 {
			s.w.Warn(fmt.Sprintf("the management API answers again, after %d looks in vain", s.inARow))
		}
		s.inARow = 0
		return
	}
	if s.ctx.Err() != nil { // the end of the run, not of the API
		s.looks--
		return
	}
	s.failed++
	s.inARow++
	s.skipped = min(1<<min(s.inARow-1, 8), mostApart) - 1
	if s.first == "" {
		s.first = failure.Error()
		s.w.Warn("the broker's side is not complete in the record, the run goes on: " + s.first)
	}
}

func (s *Sampler) askNodes() error {
	var nodes []node
	columns := nodeFigures
	unknown := func(n manifest.ManagedNode) bool { return n.Processors == 0 } // a node that has just been started tells little
	if slices.ContainsFunc(s.nodes, unknown) {
		columns += "," + nodeFacts
	}
	if err := s.c.get(s.ctx, "nodes", url.Values{"columns": {columns}}, &nodes); err != nil {
		return err
	}
	at := s.w.Clock.Now()
	for i := range nodes[:min(len(nodes), mostNodes)] {
		n := &nodes[i]
		index := slices.IndexFunc(s.nodes, func(m manifest.ManagedNode) bool { return m.Name == string(n.Name) })
		if index < 0 {
			index = len(s.nodes)
			s.nodes = append(s.nodes, manifest.ManagedNode{})
		}
		if unknown(s.nodes[index]) {
			s.nodes[index] = n.facts()
		}
		figures := n.figures(at, int64(index))
		if s.w.SameHost {
			figures.CPUNS = processCPU(string(n.PID), n.Uptime.orNone())
			s.nodes[index].SameHost = s.nodes[index].SameHost || figures.CPUNS != event.None
		}
		s.w.Recorder.BrokerNode(&figures)
	}
	return nil
}

func (s *Sampler) askVHost() error {
	var v queue
	if err := s.c.get(s.ctx, "vhosts/"+url.PathEscape(s.w.VHost), url.Values{"columns": {vhostFigures}}, &v); err != nil {
		return err
	}
	v.State = ""
	figures := v.figures(s.w.Clock.Now(), event.None)
	s.w.Recorder.BrokerQueue(&figures)
	return nil
}

func (s *Sampler) askQueues() error {
	if len(s.names) == 0 {
		return nil
	}
	at := int64(0)
	return s.c.eachQueue(s.ctx, s.w.VHost, s.names, queueFigures, 1, func(q *queue) {
		i, ok := s.queues[string(q.Name)]
		if !ok {
			return
		}
		if at == 0 {
			at = s.w.Clock.Now()
		}
		figures := q.figures(at, int64(i))
		s.w.Recorder.BrokerQueue(&figures)
		s.saw(i, q)
	})
}

// saw keeps what is said of a queue: a policy may be set, or changed, while the run goes on.
func (s *Sampler) saw(i int, q *queue) {
	f := s.found[i]
	if f == nil {
		s.found[i] = q.found()
		s.found[i].Consumers = 0 // they are the run's own
		return
	}
	if string(q.Policy) == f.Policy && string(q.OperatorPolicy) == f.OperatorPolicy && len(q.Effective) == 0 {
		return
	}
	now := manifest.Queue{Found: f}
	keepFound(&now, q.found())
}

func (s *Sampler) askConnections() error {
	var p page[connection]
	query := url.Values{"columns": {"state"}, "page": {"1"}, "page_size": {fmt.Sprint(mostConnections)}}
	if err := s.c.get(s.ctx, "vhosts/"+url.PathEscape(s.w.VHost)+"/connections", query, &p); err != nil {
		return err
	}
	c := event.BrokerConnections{At: s.w.Clock.Now(), Total: p.Total.orNone(), Looked: int64(len(p.Items))}
	for _, x := range p.Items {
		switch strings.ToLower(string(x.State)) {
		case "running":
			c.Running++
		case "flow":
			c.Flow++
		case "blocking":
			c.Blocking++
		case "blocked":
			c.Blocked++
		default:
			c.Other++
		}
	}
	s.w.Recorder.BrokerConnections(&c)
	return nil
}
