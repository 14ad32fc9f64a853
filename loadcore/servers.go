package loadcore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"leveret/capture/manifest"
)

// ProbeFirst probes one endpoint after the other until one answers. before are the errors of those in front of it, so that its
// place is their number. With AllocationRoundRobin all of them have to answer, because each has connections of its own. The
// error is a *ConnectError, or a NoneError.
func ProbeFirst(ctx context.Context, eps []Endpoint, a Allocation, o ConnectOptions) (b manifest.Broker, before NoneError, err error) {
	if a == AllocationRoundRobin {
		b, err = probeAll(ctx, eps, o)
		return b, nil, err
	}
	for i := range eps {
		if b, err = Probe(ctx, eps[i], o); err == nil {
			return b, before, nil
		}
		before.add(err)
		if ctx.Err() != nil || before.final() {
			break
		}
	}
	return b, before, before.error()
}

func probeAll(ctx context.Context, eps []Endpoint, o ConnectOptions) (manifest.Broker, error) {
	brokers := make([]manifest.Broker, len(eps))
	err := forEach(len(eps), openAtOnce, func(i int) (err error) {
		brokers[i], err = Probe(ctx, eps[i], o)
		return err
	})
	var e *ConnectError
	if errors.As(err, &e) && len(eps) > 1 {
		if e.Hint != "" {
			e.Hint += "; "
		}
		e.Hint += "with round-robin each endpoint has connections of its own, so all must answer: --connection-allocation random passes over one that does not, --servers-up-limit drops it"
		err = e
	}
	return brokers[0], err
}

// serverTry is how often servers that have not answered are tried again.
const serverTry = time.Second

// AwaitServers probes all endpoints once a second until need of them have answered (0: all), and returns those that have, in
// their order, and what the others said last. It gives up after the timeout; with none of it there is one try. What has
// answered once counts.
func AwaitServers(ctx context.Context, eps []Endpoint, need int, timeout time.Duration, o ConnectOptions) (up []Endpoint, down []error, err error) {
	if need <= 0 || need > len(eps) {
		need = len(eps)
	}
	answers := make([]error, len(eps))
	for i := range answers {
		answers[i] = errUntried
	}
	for end := time.Now().Add(timeout); ; {
		next := time.Now().Add(serverTry)
		tryServers(ctx, eps, answers, time.Until(end), o)
		up, down = nil, nil
		for i, err := range answers {
			if err == nil {
				up = append(up, eps[i])
			} else {
				down = append(down, err)
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, errors.New("interrupted while waiting for the brokers to start")
		case len(up) >= need:
			return up, down, nil
		case next.After(end):
			return nil, nil, notStarted(len(up), len(eps), need, timeout, down)
		}
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
		}
	}
}

var errUntried = errors.New("not tried")

// tryServers probes those that have not answered yet. A try does not go on past the time that is left, but has a second.
func tryServers(ctx context.Context, eps []Endpoint, answers []error, left time.Duration, o ConnectOptions) {
	if left > 0 {
		o = o.withDefaults(&eps[0])
		o.Timeout = min(o.Timeout, max(left, serverTry))
	}
	var all sync.WaitGroup
	for i := range eps {
		if answers[i] == nil {
			continue
		}
		all.Go(func() { _, answers[i] = Probe(ctx, eps[i], o) })
	}
	all.Wait()
}

func notStarted(up, all, need int, timeout time.Duration, down []error) error {
	texts := make([]string, len(down))
	for i, err := range down {
		texts[i] = strings.TrimPrefix(err.Error(), cannotConnect)
	}
	return fmt.Errorf("%d of %d brokers answered within %v, and %d are needed (--servers-startup-timeout, --servers-up-limit): %s",
		up, all, timeout, need, strings.Join(texts, "; "))
}
