package main

import (
	"context"
	"fmt"

	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/cmd/internal/plan"
	"leveret/loadcore"
	"leveret/loadcore/broker"
)

// meet connects once, to learn who the broker is and to fail early with a clear reason; before it waits for brokers to start, if
// it was told to. What it has to say goes to stderr, and into the notes of the capture.
func (r *recording) meet(ctx context.Context) (manifest.Broker, error) {
	peer, err := r.greet(ctx)
	if err != nil {
		return peer, err
	}
	fmt.Fprintln(r.err, plan.Line(r.plan))
	return peer, r.plan.Preflight(ctx, &peer)
}

// greet is meet without regard to what is going to be done.
func (r *recording) greet(ctx context.Context) (manifest.Broker, error) {
	for _, note := range r.connecting {
		fmt.Fprintln(r.err, "note:", note)
	}
	if err := r.awaitServers(ctx); err != nil {
		return manifest.Broker{}, err
	}
	p := r.plan
	p.Endpoint, p.BrokerInProcess = r.endpoints[0], embedded(r.options)
	if len(r.endpoints) > 1 {
		p.Endpoints = r.endpoints
	}
	used := r.endpoints
	if p.Allocation == loadcore.AllocationRoundRobin {
		used = used[:min(len(used), max(p.Connections, 1))]
	}
	peer, down, err := loadcore.ProbeFirst(ctx, used, p.Allocation, p.ProbeOptions(p.ProbeName()))
	if err != nil {
		return peer, err
	}
	for _, err := range down {
		r.warn("passed over as long as it does not answer: " + err.Error())
	}
	p.Endpoint = r.endpoints[len(down)]
	peer.Embedded = peer.Product == broker.Product
	peer.SameHost = sameHost(p.Endpoint.Host)
	if peer.Embedded {
		fmt.Fprintln(r.err, "through the embedded broker: this run measures leveret, not RabbitMQ")
	} else {
		fmt.Fprintf(r.err, "%s %s at %s\n", peer.Product, peer.Version, peer.URI)
	}
	if n := len(p.Endpoints); n > 0 {
		fmt.Fprintf(r.err, "%s to %d brokers, %s\n", result.Plural(int64(p.Connections), "connection"), n, p.Allocation)
	}
	if why := r.unverified(); why != "" {
		fmt.Fprintf(r.err, "warning: the broker's certificate is not verified (%s)\n", why)
	}
	return peer, nil
}

// unverified says why anybody may be at the other end of the TLS connections; "" where that is not so.
func (r *recording) unverified() string {
	switch tls := r.endpoints[0].TLS; {
	case tls == nil || !tls.InsecureSkipVerify:
		return ""
	case !r.options.Insecure:
		return "verify=verify_none in the URI"
	}
	return r.trusting
}

// awaitServers waits for as many brokers as --servers-up-limit says, and drops the others from the run.
func (r *recording) awaitServers(ctx context.Context) error {
	o := r.options
	if o.ServersStartupTimeout <= 0 && o.ServersUpLimit <= 0 {
		return nil
	}
	if n := len(r.endpoints); n > 1 || o.ServersStartupTimeout > 0 {
		fmt.Fprintf(r.err, "waiting up to %v for %s\n", max(o.ServersStartupTimeout, 0), result.Plural(int64(n), "broker"))
	}
	up, down, err := loadcore.AwaitServers(ctx, r.endpoints, o.ServersUpLimit, o.ServersStartupTimeout, r.plan.ProbeOptions(r.plan.ProbeName()))
	if err != nil {
		return err
	}
	for _, err := range down {
		r.warn("not part of the run, as it did not answer (--servers-up-limit): " + err.Error())
	}
	r.endpoints = up
	return nil
}

// warn says something at once that reports shall repeat.
func (r *recording) warn(text string) {
	fmt.Fprintln(r.err, "warning:", text)
	r.connecting = append(r.connecting, text)
}
