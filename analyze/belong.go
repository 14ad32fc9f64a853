package analyze

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/schema"
)

// sameDir tells whether two names are of one directory.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// copyOf tells whether two captures are of one recording: no two processes have both a name and a moment in common.
func (c *source) copyOf(o *source) bool {
	if c.manifest == nil || o.manifest == nil {
		return false
	}
	s := &c.manifest.ClockStart
	return c.id == o.id && c.tag == o.tag && s.MonotonicNS != 0 && *s == o.manifest.ClockStart
}

// differences says in what captures differ that are given as one run but cannot be: captures of different brokers, without
// anything in common that messages could pass through, or of different times. Each is held against the first.
func differences(captures []*source) (lines []string, severalBrokers bool) {
	for i, c := range captures {
		if i == 0 || c.manifest == nil || captures[0].manifest == nil {
			continue
		}
		first, name := captures[0], func(o *source) string { return filepath.Base(filepath.Clean(o.dir)) }
		if a, b := first.broker(), c.broker(); !a.is(b) {
			severalBrokers = true
			lines = append(lines, fmt.Sprintf("%s is of %s, %s of %s", name(first), a, name(c), b))
			continue
		}
		others := slices.DeleteFunc(slices.Clone(captures), func(o *source) bool { return o == c || o.manifest == nil })
		others = slices.DeleteFunc(others, (*source).churns) // operations share nothing with messages
		if c.churns() || len(others) == 0 {
			continue
		}
		if !slices.ContainsFunc(others, c.sharesWith) {
			lines = append(lines, fmt.Sprintf("%s has no queue and no route in common with the others (%s; %s)", name(c), c.describePlaces(), first.describePlaces()))
			continue
		}
		if !slices.ContainsFunc(others, c.meets) {
			lines = append(lines, fmt.Sprintf("%s overlaps with none of the others in time", name(c)))
		}
	}
	return lines, severalBrokers
}

// peer is a broker as a capture knows it.
type peer struct {
	embedded          bool
	node, host, vhost string
	product           string
}

func (c *source) broker() peer {
	b := &c.manifest.Broker
	p := peer{embedded: b.Embedded, node: b.Node, host: "unknown address", vhost: "/", product: strings.TrimSpace(b.Product + " " + b.Version)}
	if u, err := url.Parse(b.URI); err == nil {
		p.host = u.Host
		if port := map[string]string{"amqp": ":5672", "amqps": ":5671"}[u.Scheme]; u.Port() == "" {
			p.host += port
		}
		if v := strings.TrimPrefix(u.Path, "/"); v != "" {
			p.vhost = v
		}
	}
	return p
}

// is tells whether both are one broker and vhost. Nodes of a cluster have one cluster name and several addresses; the
// embedded broker has one name always.
func (p peer) is(o peer) bool {
	if p.embedded != o.embedded || p.vhost != o.vhost {
		return false
	}
	if !p.embedded && p.node != "" && o.node != "" {
		return p.node == o.node
	}
	return local(p.host) == local(o.host)
}

// local makes the names of this machine one.
func local(host string) string {
	for _, name := range []string{"localhost", "[::1]"} {
		if rest, ok := strings.CutPrefix(host, name); ok && (rest == "" || rest[0] == ':') {
			return "127.0.0.1" + rest
		}
	}
	return host
}

func (p peer) String() string {
	name := p.product
	if p.embedded {
		name = "the embedded broker"
	} else if name == "" {
		name = "a broker"
	}
	if p.node != "" && !p.embedded {
		name += " " + p.node
	}
	return name + " at " + p.host + ", vhost " + p.vhost
}

// severalBrokers names all of them, in the order of the captures.
func severalBrokers(captures []*source) string {
	var peers []peer
	for _, c := range captures {
		if c.manifest != nil && !slices.ContainsFunc(peers, c.broker().is) {
			peers = append(peers, c.broker())
		}
	}
	var names []string
	for _, p := range peers {
		names = append(names, p.String())
	}
	return fmt.Sprintf("%d different brokers (%s)", len(peers), strings.Join(names, "; "))
}

// sharesWith tells whether messages could pass from one capture to the other: through a queue, or an exchange with the same
// key. Where nothing is known of the topology they may.
func (c *source) sharesWith(o *source) bool {
	a, b := c.names(), o.names()
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(name string) bool { return o.named[name] })
}

// names are what messages could pass through, each once; found when they are first wanted: there may be as many routes as queues.
func (c *source) names() []string {
	if c.named != nil {
		return c.places
	}
	c.named = map[string]bool{}
	add := func(name string) {
		if !c.named[name] {
			c.named[name] = true
			c.places = append(c.places, name)
		}
	}
	t := &c.manifest.Topology
	for _, q := range t.Queues {
		if q.Name != "" {
			add("queue " + q.Name)
		}
	}
	byKey := map[string]bool{} // exchanges, of whose keys it is known that they must be equal
	for _, e := range slices.Backward(t.Exchanges) {
		byKey[e.Name] = e.Type == "direct"
	}
	through := func(exchange, key string) {
		equal, known := byKey[exchange]
		switch {
		case exchange == "": // the default exchange: the key is the queue's name
			add("queue " + key)
		case known && !equal:
			add("exchange " + exchange)
		default:
			add("exchange " + exchange + ", key " + key)
		}
	}
	for _, r := range t.Routes {
		through(r.Exchange, r.RoutingKey)
	}
	for _, b := range t.Bindings {
		through(b.Exchange, b.RoutingKey)
	}
	return c.places
}

// describePlaces lists the first few names.
func (c *source) describePlaces() string {
	const shown = 2
	names := c.names()
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if n := len(names) - shown; n > 0 {
		text += fmt.Sprintf(" and %s more", result.Group(int64(n)))
	}
	return text
}

// slackNS is by how much wall clocks of different hosts may be apart before their captures count as of different times.
const slackNS = 60e9

// meets tells whether two captures can be of one run by their times: they overlap, or one consumed later what the other had
// published.
func (c *source) meets(o *source) bool {
	from, to := c.span()
	oFrom, oTo := o.span()
	slack := int64(0)
	if !oneClock(&c.manifest.ClockStart, &o.manifest.ClockStart) {
		slack = slackNS
	}
	if from > to || oFrom > oTo || from <= oTo+slack && oFrom <= to+slack {
		return true
	}
	earlier, later := c, o
	if from > oFrom {
		earlier, later = o, c
	}
	return earlier.publishes() && !earlier.consumes() && later.consumes() && !later.publishes()
}

func oneClock(a, b *event.Snapshot) bool { return a.BootID != "" && a.BootID == b.BootID }

// span is from the first to the last time that a capture tells of; from > to where there is none.
func (c *source) span() (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, k := range []schema.Kind{schema.Sends, schema.Settlements, schema.Deliveries} {
		if first, last := extent([]*source{c}, k); last != math.MinInt64 {
			from, to = min(from, first), max(to, last)
		}
	}
	if o := c.outcome(); o != nil {
		for _, t := range []int64{o.BarrierNS, o.PublishStopNS, o.DrainEndNS} {
			if t != event.None {
				from, to = min(from, t), max(to, t)
			}
		}
	}
	return from, to
}
