package management

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"leveret/capture/manifest"
)

// Bounds of what is asked for.
const (
	pageSize      = 500    // the most that RabbitMQ gives on one page
	mostPages     = 200    // of queues
	mostByName    = 100    // queues that are asked for by their names; of more by what the names have in common
	mostNameBytes = 3000   // of these names together, so that the request line stays short
	mostExchanges = 64     // that are followed
	mostBindings  = 20_000 // of them
	mostPolicies  = 1_000
	mostNodes     = 100
)

// Facts asks who the broker is, and how it has the queues of t: types, arguments, policies (manifest.Queue.Found). Where the
// run does not know all bindings itself (predeclared topology, exchanges that were there), it asks for those of the exchanges
// that t publishes to. It is called when t has been declared and before anybody consumes. An error means that the API
// cannot be used at all; what it would not tell is said by notes.
func (c *Client) Facts(ctx context.Context, vhost string, t *manifest.Topology) (m *manifest.Management, notes []string, err error) {
	var o overview
	if err := c.get(ctx, "overview", nil, &o); err != nil {
		return nil, nil, err
	}
	if o.Version == "" && o.Management == "" {
		return nil, nil, c.failed(http.MethodGet, "overview", errors.New("the answer tells no version: is it the management API of RabbitMQ that answers there?"))
	}
	m = &manifest.Management{SampledQueues: min(len(t.Queues), MostQueues), URI: c.URI(), Cluster: string(o.Cluster), Erlang: string(o.Erlang), RatesMode: string(o.RatesMode)}
	if o.RatesMode == "none" {
		notes = append(notes, "the broker keeps no statistics (rates_mode none, or the metrics collector is disabled): there are no counters of messages, only depths")
	}
	note := func(what string, err error) {
		if err != nil {
			notes = append(notes, what+": "+err.Error())
		}
	}
	note("figures of nodes are left out", c.nodeFacts(ctx, m))
	err = c.policies(ctx, vhost, m)
	m.PoliciesUnknown = err != nil
	note("policies are known by their effects on queues alone", err)
	note("queues are not known as the broker has them", c.queueFacts(ctx, vhost, t))
	notes = append(notes, applyPolicies(t, m.Policies)...)
	if needsBindings(t) {
		note("bindings are not known", c.routing(ctx, vhost, t, m))
	}
	return m, notes, nil
}

func (c *Client) nodeFacts(ctx context.Context, m *manifest.Management) error {
	var nodes []node
	if err := c.get(ctx, "nodes", url.Values{"columns": {nodeFacts}}, &nodes); err != nil {
		return err
	}
	for _, n := range nodes[:min(len(nodes), mostNodes)] {
		m.Nodes = append(m.Nodes, n.facts())
	}
	return nil
}

// policies reads those of the virtual host. Operator policies need more rights; the queues name theirs.
func (c *Client) policies(ctx context.Context, vhost string, m *manifest.Management) error {
	for _, kind := range []string{"policies", "operator-policies"} {
		var got []policy
		err := c.get(ctx, kind+"/"+url.PathEscape(vhost), nil, &got)
		if err != nil && kind == "policies" {
			return err
		}
		for _, p := range got[:min(len(got), mostPolicies)] {
			m.Policies = append(m.Policies, manifest.Policy{Name: string(p.Name), Pattern: string(p.Pattern), ApplyTo: string(p.ApplyTo),
				Priority: p.Priority.v, Definition: p.Definition, Operator: kind != "policies"})
		}
	}
	return nil
}

// queueFacts fills in Found of the queues that are there.
func (c *Client) queueFacts(ctx context.Context, vhost string, t *manifest.Topology) error {
	wanted := map[string]int{}
	var names []string
	for i := range t.Queues {
		if q := &t.Queues[i]; q.Name != "" {
			wanted[q.Name] = i
			names = append(names, q.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return c.eachQueue(ctx, vhost, names, queueFacts, mostPages, func(q *queue) {
		if i, ok := wanted[string(q.Name)]; ok {
			t.Queues[i].Found = q.found()
		}
	})
}

// eachQueue calls f for the queues of the names, and perhaps others, from at most so many pages. A page costs the broker as much
// as the queues that are on it, so that queues are asked for by name as long as they are few.
func (c *Client) eachQueue(ctx context.Context, vhost string, names []string, columns string, pages int, f func(*queue)) error {
	query := url.Values{"columns": {columns}, "page_size": {fmt.Sprint(pageSize)}, "sort": {"name"}}
	query.Set("name", common(names))
	if pattern := anyOf(names); pattern != "" {
		query.Set("name", pattern)
		query.Set("use_regex", "true")
	}
	for n := 1; n <= pages; n++ {
		var p page[queue]
		query.Set("page", fmt.Sprint(n))
		if err := c.get(ctx, "queues/"+url.PathEscape(vhost), query, &p); err != nil {
			return err
		}
		for i := range p.Items {
			f(&p.Items[i])
		}
		if !p.Pages.ok || int64(n) >= p.Pages.v {
			return nil
		}
	}
	return nil
}

// anyOf is a pattern that matches the names and no others; "" where they are too many.
func anyOf(names []string) string {
	if len(names) > mostByName {
		return ""
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	pattern := "^(?:" + strings.Join(quoted, "|") + ")$"
	if len(pattern) > mostNameBytes {
		return ""
	}
	return pattern
}

// common is what all the names begin with.
func common(names []string) string {
	prefix := names[0]
	for _, n := range names[1:] {
		i := 0
		for i < min(len(prefix), len(n)) && prefix[i] == n[i] {
			i++
		}
		prefix = prefix[:i]
	}
	return strings.ToValidUTF8(prefix, "")
}

// needsBindings tells whether bindings that the run did not make may matter to where its messages go.
func needsBindings(t *manifest.Topology) bool {
	for i := range t.Routes {
		if r := &t.Routes[i]; r.Exchange != "" && (!r.Known || t.Predeclared) {
			return true
		}
	}
	return false
}

// routing reads the bindings of the exchanges that are published to, and of those that they lead to.
func (c *Client) routing(ctx context.Context, vhost string, t *manifest.Topology, m *manifest.Management) error {
	seen := map[string]bool{}
	var next []string
	reach := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			next = append(next, name)
		}
	}
	for i := range t.Routes {
		reach(t.Routes[i].Exchange)
	}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if len(m.Exchanges) == mostExchanges {
			return fmt.Errorf("more than %d exchanges lead to each other", mostExchanges)
		}
		x, bindings, err := c.exchange(ctx, vhost, name, m)
		if err != nil {
			return err
		}
		if len(m.Bindings)+len(bindings) > mostBindings {
			m.Exchanges, m.Bindings = nil, nil
			return fmt.Errorf("exchange %s has more than %d bindings", name, mostBindings)
		}
		m.Exchanges, m.Bindings = append(m.Exchanges, *x), append(m.Bindings, bindings...)
		reach(x.Alternate)
		for _, b := range bindings {
			if b.ToExchange {
				reach(b.Destination)
			}
		}
	}
	return nil
}

func (c *Client) exchange(ctx context.Context, vhost, name string, m *manifest.Management) (*manifest.FoundExchange, []manifest.FoundBinding, error) {
	path := "exchanges/" + url.PathEscape(vhost) + "/" + url.PathEscape(name)
	var x exchange
	var missing *Error
	err := c.get(ctx, path, url.Values{"columns": {"type,arguments,policy"}}, &x)
	if errors.As(err, &missing) && missing.Status == http.StatusNotFound {
		return &manifest.FoundExchange{Name: name}, nil, nil // an alternate exchange that is not there: messages end here
	}
	if err != nil {
		return nil, nil, err
	}
	found := &manifest.FoundExchange{Name: name, Type: string(x.Type)}
	if alternate, ok := argument(x.Arguments["alternate-exchange"]).(string); ok {
		found.Alternate = alternate
	}
	for i := range m.Policies {
		p := &m.Policies[i]
		alternate, ok := argument(p.Definition["alternate-exchange"]).(string)
		if ok && found.Alternate == "" && p.Name == string(x.Policy) && !p.Operator {
			found.Alternate = alternate
		}
	}
	var got []binding
	if err := c.get(ctx, path+"/bindings/source", nil, &got); err != nil {
		return nil, nil, err
	}
	bindings := make([]manifest.FoundBinding, 0, len(got))
	for _, b := range got {
		bindings = append(bindings, manifest.FoundBinding{Exchange: name, Destination: string(b.Destination), ToExchange: b.DestinationType == "exchange",
			RoutingKey: string(b.RoutingKey), Arguments: b.Arguments.arguments()})
	}
	return found, bindings, nil
}
