package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"

	"leveret/capture"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/loadcore"
	"leveret/loadcore/management"
	"leveret/loadcore/topology"
)

// brokerSide is the broker's management API, on its way from the option to the record.
type brokerSide struct {
	target management.Target
	tls    *tls.Config
	client *management.Client   // nil: not asked
	facts  *manifest.Management // nil: it could not be used

	mu       sync.Mutex // guards the following
	problems []string   // of the looks at it, while the panel is drawn
}

// managedByTLS: the options of TLS are for the management API as well.
func managedByTLS(o *options.Run) bool {
	return strings.HasPrefix(strings.ToLower(o.ManagementURI), "https:")
}

// prepareBrokerSide reads the option. Its errors are usage errors.
func (r *recording) prepareBrokerSide() error {
	o := r.options
	if o.ManagementURI == "" {
		if r.given("management-interval") {
			return errors.New("--management-interval needs --management-uri, the API that is to be asked")
		}
		return nil
	}
	if embedded(o) {
		return errors.New("--management-uri is for a broker of your own, which --uri names: the embedded broker has no management API")
	}
	t, err := management.ParseURI(o.ManagementURI)
	if err != nil {
		return fmt.Errorf("--management-uri: %w", err)
	}
	if first := &r.endpoints[0]; !first.External && o.OAuth2.TokenEndpoint == "" {
		t.SetLogin(first.User, first.Password())
	}
	r.side.target = t
	if !t.TLS {
		return nil
	}
	e := loadcore.Endpoint{Host: t.Host, TLS: &tls.Config{}}
	err = e.ConfigureTLS(loadcore.TLSOptions{CACert: o.CACert, Cert: o.Cert, Key: o.Key, Insecure: o.Insecure})
	r.side.tls = e.TLS
	return err
}

// askBroker learns from the management API how the broker has what was declared, and where its bindings lead. It never fails: what
// it cannot learn is warned about, and the run goes on without it.
func (r *recording) askBroker(ctx context.Context) {
	if r.options.ManagementURI == "" {
		return
	}
	t := r.layout.Topology
	s := &r.side
	s.client = management.NewClient(s.target, s.tls)
	facts, notes, err := s.client.Facts(ctx, r.plan.Endpoint.VHost, t)
	if err != nil {
		r.warn("the broker's side is not recorded, the run goes on: " + err.Error())
		return
	}
	for _, n := range notes {
		r.warn("of the broker's side: " + n)
	}
	facts.IntervalNS = int64(r.options.ManagementInterval)
	s.facts = facts
	for i := range t.Queues {
		if q := &t.Queues[i]; !q.Declare && q.Found != nil { // what the options say of it does not count
			q.Type, q.Durable, q.AutoDelete, q.Arguments = q.Found.Type, q.Found.Durable, q.Found.AutoDelete, q.Found.Arguments
		}
	}
	topology.Follow(t, facts)
	fmt.Fprintf(r.err, "the broker's side from %s, every %v\n", s.client.URI(), r.options.ManagementInterval)
}

// watchBroker records the broker's figures until stop is called, which gives what reports shall repeat.
func (r *recording) watchBroker(w *capture.Writer, peer *manifest.Broker) (stop func() []string) {
	s := &r.side
	if s.facts == nil {
		return func() []string { return nil }
	}
	sampler := s.client.Watch(management.Watch{
		Clock: r.plan.Clock, VHost: r.plan.Endpoint.VHost, Topology: r.layout.Topology, Management: s.facts,
		Interval: r.options.ManagementInterval, Recorder: w, SameHost: peer.SameHost != nil && *peer.SameHost,
		Warn: s.note,
	})
	return func() []string {
		sampler.Stop()
		for _, p := range s.problems {
			fmt.Fprintln(r.err, "warning:", p)
		}
		return s.problems
	}
}

func (s *brokerSide) note(problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) < mostProblems {
		s.problems = append(s.problems, problem)
	}
}

func (s *brokerSide) close() {
	if s.client != nil {
		s.client.Close()
	}
}
