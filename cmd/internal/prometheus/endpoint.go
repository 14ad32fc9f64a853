// Package prometheus lets a run be watched by Prometheus: an HTTP endpoint with the metrics that RabbitMQ's PerfTest has,
// under its names, and with counters and histograms of our own, which stay right however seldom they are scraped.
package prometheus

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options of an endpoint.
type Options struct {
	Port   int      // TCP, on all addresses of the host; 0: a free one
	Path   string   // "/metrics"; the slash may be missing
	Prefix string   // of the names that PerfTest has; "perftest_"
	Tags   []string // KEY=VALUE: labels of all metrics
	ID     string   // of the run
	// CommandLine, unless it is empty, is the label of a gauge that is always 1. It must hold no secret.
	CommandLine string
	Exposed     []Gauge
	// Interval is how long what PerfTest measures by intervals - rates, quantiles - is gathered; 0: 1 s.
	Interval time.Duration
}

// Gauge is a metric of constant value; its name is without the prefix.
type Gauge struct {
	Name  string
	Value float64
}

// Endpoint serves the metrics of one run.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
	path     string
	run      *run
	served   chan struct{}
}

// Listen binds the port and begins to serve; the metrics are those of a run that has not begun until Watch is called. Its
// errors name the option that they come from.
func Listen(o Options) (*Endpoint, error) {
	registry := prom.NewRegistry()
	labels, err := labelsOf(o.Tags)
	if err != nil {
		return nil, err
	}
	r, err := newRun(&o)
	if err != nil {
		return nil, err
	}
	if err := prom.WrapRegistererWith(labels, registry).Register(r); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	e := &Endpoint{path: "/" + strings.TrimPrefix(o.Path, "/"), run: r, served: make(chan struct{})}
	if e.listener, err = net.Listen("tcp", ":"+strconv.Itoa(o.Port)); err != nil {
		return nil, fmt.Errorf("--metrics-prometheus-port=%d: %w; give another port, or 0 for a free one", o.Port, err)
	}
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{Timeout: handling})
	e.server = &http.Server{
		ReadHeaderTimeout: handling, ReadTimeout: handling, WriteTimeout: 2 * handling, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path != e.path {
				http.NotFound(w, q)
				return
			}
			metrics.ServeHTTP(w, q)
		}),
	}
	go func() {
		defer close(e.served)
		e.server.Serve(e.listener) // ends with Close
	}()
	return e, nil
}

const (
	handling = 10 * time.Second // for one request
	closing  = 2 * time.Second  // for those that are being answered at the end
)

// URL is where the metrics are, as seen from this host.
func (e *Endpoint) URL() string {
	port := e.listener.Addr().(*net.TCPAddr).Port
	return "http://localhost:" + strconv.Itoa(port) + e.path
}

// Close ends the endpoint. Answers that are under way have 2 s.
func (e *Endpoint) Close() {
	e.run.end()
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if e.server.Shutdown(ctx) != nil {
		e.server.Close()
	}
	<-e.served
}

// reserved are labels of Prometheus, of PerfTest and of our own metrics.
var reserved = []string{"quantile", "le", labelCommandLine, labelRun, labelState, labelLatency}

// labelsOf reads KEY=VALUE tags. Signs that a label's name cannot have become "_", as in PerfTest.
func labelsOf(tags []string) (prom.Labels, error) {
	labels := prom.Labels{}
	for _, tag := range tags {
		key, value, ok := strings.Cut(tag, "=")
		name := nameOf(key)
		switch {
		case !ok || key == "":
			return nil, fmt.Errorf("--metrics-tags: %q: want KEY=VALUE", tag)
		case slices.Contains(reserved, name) || strings.HasPrefix(name, "__"):
			return nil, fmt.Errorf("--metrics-tags: %q: the label %s is in use; take another name", tag, name)
		}
		if _, twice := labels[name]; twice {
			return nil, fmt.Errorf("--metrics-tags: the label %s is given twice", name)
		}
		labels[name] = strings.ToValidUTF8(value, "\uFFFD")
	}
	return labels, nil
}

// nameOf makes a name that Prometheus takes anywhere: letters, digits, "_", no digit in front.
func nameOf(s string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, s)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}
