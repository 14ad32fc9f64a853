package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"leveret/capture/manifest"
	"leveret/cmd/internal/suite"
	"leveret/loadcore"
	"leveret/loadcore/management"
	"leveret/loadcore/topology"
)

// undoTimeout bounds the removal of what a run needed, also after Ctrl-C; each queue takes its time.
const (
	undoTimeout = 6 * time.Minute
	undoEach    = 50 * time.Millisecond
)

// suiteConnection is how the broker shows the connections that set up and remove.
const suiteConnection = "leveret suite"

// look refuses what is there already: it is somebody's, also where the run itself would make it, as it is removed after it.
func (c *suiteRun) look(ctx context.Context, target string, s *suite.Setup) error {
	if c.aims.embedded() {
		return nil
	}
	ep, api, err := c.reach(target)
	if err != nil {
		return err
	}
	defer closeAPI(api)
	if err := refuseForeign(ctx, ep, s); err != nil {
		return err
	}
	for _, p := range s.Policies {
		if err := lookForPolicy(ctx, api, ep.VHost, p.Name); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes what a run needs, which was looked for: policies before queues, which they are of.
func (c *suiteRun) prepare(ctx context.Context, target string, s *suite.Setup) error {
	if c.aims.embedded() { // it ends with the run, and what the run left behind with it
		return nil
	}
	ep, api, err := c.reach(target)
	if err != nil {
		return err
	}
	defer closeAPI(api)
	var made []string
	for _, p := range s.Policies {
		var begun bool
		if begun, err = putPolicy(ctx, api, ep.VHost, &p); begun {
			made = append(made, p.Name)
		}
		if err != nil {
			break
		}
	}
	t := setupTopology(s)
	if err == nil && len(t.Queues)+len(t.Exchanges) > 0 {
		err = c.declareOnly(ctx, ep, t)
	} else {
		t = &manifest.Topology{}
	}
	if err == nil {
		return nil
	}
	if left := c.removeAll(ep, api, t, made); left != nil {
		err = errors.Join(err, suite.ErrLeft, left)
	}
	return err
}

// remove removes what a run needed, and what it has declared itself and left behind.
func (c *suiteRun) remove(target string, s *suite.Setup) error {
	if c.aims.embedded() {
		return nil
	}
	ep, api, err := c.reach(target)
	if err != nil {
		return err
	}
	defer closeAPI(api)
	var policies []string
	for _, p := range s.Policies {
		policies = append(policies, p.Name)
	}
	return c.removeAll(ep, api, leftBehind(setupTopology(s), s), policies)
}

func (c *suiteRun) removeAll(ep loadcore.Endpoint, api *management.Client, t *manifest.Topology, policies []string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), undoTimeout+time.Duration(len(t.Queues))*undoEach)
	defer cancel()
	if len(t.Queues)+len(t.Exchanges) > 0 {
		err = topology.Remove(ctx, ep, suiteConnection, t, advance("removal: exchanges and queues", c.progress.Status))
	}
	for _, name := range policies {
		err = errors.Join(err, deletePolicy(ctx, api, ep.VHost, name))
	}
	return err
}

// refuseForeign looks whether what will be removed is there before the run: exchanges, and the first and the last queue of each kind, as
// the broker logs each look that finds nothing.
func refuseForeign(ctx context.Context, ep loadcore.Endpoint, s *suite.Setup) error {
	look := &manifest.Topology{}
	for _, q := range slices.Concat(s.Queues, s.RemoveQueues) {
		names := q.Names()
		for _, name := range slices.Compact([]string{names[0], names[len(names)-1]}) {
			look.Queues = append(look.Queues, manifest.Queue{Name: name, Declare: true})
		}
	}
	names := slices.Clone(s.RemoveExchanges)
	for _, e := range s.Exchanges {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		look.Exchanges = append(look.Exchanges, manifest.Exchange{Name: name, Declare: true})
	}
	if len(look.Queues)+len(look.Exchanges) == 0 {
		return nil
	}
	if err := topology.Look(ctx, ep, suiteConnection, look); err != nil {
		return err
	}
	foreign := func(what, name string) error {
		return fmt.Errorf("%s %q is there already: the suite would use and delete it; delete it, or use another virtual host (what an interrupted suite has left, its --resume removes)", what, name)
	}
	for _, q := range look.Queues {
		if !q.Declare {
			return foreign("queue", q.Name)
		}
	}
	for _, e := range look.Exchanges {
		if !e.Declare {
			return foreign("exchange", e.Name)
		}
	}
	return nil
}

// declareOnly declares, and leaves it there.
func (c *suiteRun) declareOnly(ctx context.Context, ep loadcore.Endpoint, t *manifest.Topology) error {
	bounds := topology.Bounds{Declaring: advance("set-up: exchanges, queues and bindings", c.progress.Status)}
	session, err := bounds.Declared(ctx, ep, suiteConnection, t)
	if err != nil {
		return err
	}
	return session.Close()
}

// setupTopology is what is declared over AMQP.
func setupTopology(s *suite.Setup) *manifest.Topology {
	t := &manifest.Topology{}
	for _, e := range s.Exchanges {
		t.Exchanges = append(t.Exchanges, manifest.Exchange{Name: e.Name, Type: e.Type, Durable: e.Durable, AutoDelete: e.AutoDelete, Declare: true})
	}
	of := map[string][]int{} // by the name or pattern that queues were declared by
	for _, q := range s.Queues {
		var args []manifest.Arg
		for key, v := range q.Arguments {
			if n, ok := v.(int); ok {
				v = int64(n)
			}
			args = append(args, manifest.Arg{Key: key, Value: v})
		}
		slices.SortFunc(args, func(a, b manifest.Arg) int { return strings.Compare(a.Key, b.Key) })
		kind := q.Type
		if kind == "" {
			kind = "classic"
		}
		for _, name := range q.Names() {
			of[q.Name] = append(of[q.Name], len(t.Queues))
			t.Queues = append(t.Queues, manifest.Queue{Name: name, Type: kind, Durable: q.Durable, AutoDelete: q.AutoDelete, Declare: true, Arguments: args})
		}
	}
	for _, b := range s.Bindings {
		for _, i := range of[b.Queue] {
			key := b.Key
			if key == "" {
				key = t.Queues[i].Name
			}
			t.Bindings = append(t.Bindings, manifest.Binding{Exchange: b.Exchange, Queue: i, RoutingKey: key})
		}
	}
	return t
}

// leftBehind is what was declared, and what the run has declared itself.
func leftBehind(t *manifest.Topology, s *suite.Setup) *manifest.Topology {
	all := &manifest.Topology{Queues: slices.Clone(t.Queues), Exchanges: slices.Clone(t.Exchanges)}
	for _, q := range s.RemoveQueues {
		for _, name := range q.Names() {
			all.Queues = append(all.Queues, manifest.Queue{Name: name, Declare: true})
		}
	}
	for _, name := range s.RemoveExchanges {
		all.Exchanges = append(all.Exchanges, manifest.Exchange{Name: name, Declare: true})
	}
	return all
}

// endpoint of a target that has an address.
func (c *suiteRun) endpoint(target string) (loadcore.Endpoint, error) {
	uri := c.aims.of(c.aims.uris, target)
	r, err := newRun([]string{"--uri=" + uri}, streams{in: c.in, out: io.Discard, err: io.Discard})
	if err != nil {
		return loadcore.Endpoint{}, err
	}
	return r.endpoints[0], nil
}

// reach is where a target is, over AMQP and, where it has an address, its management API.
func (c *suiteRun) reach(target string) (ep loadcore.Endpoint, api *management.Client, err error) {
	if ep, err = c.endpoint(target); err == nil {
		api, err = c.api(target, &ep)
	}
	return ep, api, err
}

// closeAPI ends the connection of an API that there may be none of.
func closeAPI(api *management.Client) {
	if api != nil {
		api.Close()
	}
}

// api is the management API of a target, nil without an address. A user that its address does not name is the one of AMQP.
func (c *suiteRun) api(target string, ep *loadcore.Endpoint) (*management.Client, error) {
	uri := c.aims.of(c.aims.management, target)
	if uri == "" {
		return nil, nil
	}
	t, err := management.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	t.SetLogin(ep.User, ep.Password())
	return management.NewClient(t, nil), nil
}

func policyPath(vhost, name string) string {
	return "policies/" + url.PathEscape(vhost) + "/" + url.PathEscape(name)
}

// lookForPolicy refuses a policy that is there already: it is somebody's. Only the answer that there is none says that there is none.
func lookForPolicy(ctx context.Context, api *management.Client, vhost, name string) error {
	if api == nil {
		return errors.New("a policy needs the management API: give --management-uri")
	}
	switch err := api.Do(ctx, http.MethodGet, policyPath(vhost, name), nil, nil); {
	case err == nil:
		return fmt.Errorf("policy %q is there already: delete it, or use another virtual host", name)
	case !notFound(err):
		return fmt.Errorf("whether policy %q is there already is not known: %w", name, err)
	}
	return nil
}

// putPolicy sets a policy that is not there. begun: it was asked for, so that it may be there also where that failed.
func putPolicy(ctx context.Context, api *management.Client, vhost string, p *suite.Policy) (begun bool, err error) {
	if err := lookForPolicy(ctx, api, vhost, p.Name); err != nil {
		return false, err
	}
	body := map[string]any{"pattern": p.Pattern, "definition": p.Definition, "priority": p.Priority, "apply-to": p.ApplyTo}
	return true, api.Do(ctx, http.MethodPut, policyPath(vhost, p.Name), body, nil)
}

func notFound(err error) bool {
	var answer *management.Error
	return errors.As(err, &answer) && answer.Status == http.StatusNotFound
}

// deletePolicy takes a policy away; one that is not there is no error.
func deletePolicy(ctx context.Context, api *management.Client, vhost, name string) error {
	if api == nil {
		return nil
	}
	err := api.Do(ctx, http.MethodDelete, policyPath(vhost, name), nil, nil)
	if notFound(err) {
		return nil
	}
	return err
}

// nodes counts the nodes of the cluster, and how many more connections each of them takes, the least; 0 and nil where the API is not
// known, or does not tell.
func (c *suiteRun) nodes(ctx context.Context, target string) (running int, accepts *int) {
	ep, err := c.endpoint(target)
	if err != nil {
		return 0, nil
	}
	api, err := c.api(target, &ep)
	if err != nil || api == nil {
		return 0, nil
	}
	defer api.Close()
	var all []brokerNode
	if err := api.Do(ctx, http.MethodGet, "nodes?columns=name,running,sockets_total,sockets_used,fd_total,fd_used", nil, &all); err != nil {
		fmt.Fprintln(c.err, "warning:", withoutPasswords(oneLine(err.Error())))
		return 0, nil
	}
	for _, x := range all {
		if !x.Running {
			continue
		}
		running++
		if n, told := x.accepts(); told && (accepts == nil || n < *accepts) {
			accepts = &n
		}
	}
	return running, accepts
}

// brokerNode is what the management API tells of a node. RabbitMQ before 4 keeps some of its file descriptors from connections, and has a
// limit of its own for those.
type brokerNode struct {
	Running      bool `json:"running"`
	SocketsTotal int  `json:"sockets_total"`
	SocketsUsed  int  `json:"sockets_used"`
	Total        int  `json:"fd_total"`
	Used         int  `json:"fd_used"`
}

func (n *brokerNode) accepts() (more int, told bool) {
	switch {
	case n.SocketsTotal > 0:
		return max(n.SocketsTotal-n.SocketsUsed, 0), true
	case n.Total > 0:
		return max(n.Total-n.Used, 0), true
	}
	return 0, false
}
