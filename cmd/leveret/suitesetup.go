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

// prepare makes what a run needs: policies before queues, which they are of. Nothing that is there already is taken for the suite's
// own, unless an earlier attempt has left it.
func (c *suiteRun) prepare(ctx context.Context, target string, s *suite.Setup, ours bool) (undo func() error, err error) {
	if c.aims.embedded() { // it ends with the run, and what the run left behind with it
		return func() error { return nil }, nil
	}
	ep, err := c.endpoint(target)
	if err != nil {
		return nil, err
	}
	api, err := c.api(target, &ep)
	if err != nil {
		return nil, err
	}
	t := setupTopology(s)
	remove := func() error {
		left := leftBehind(t, s)
		ctx, cancel := context.WithTimeout(context.Background(), undoTimeout+time.Duration(len(left.Queues))*undoEach)
		defer cancel()
		err := topology.Remove(ctx, ep, "leveret suite", left)
		for _, p := range s.Policies {
			err = errors.Join(err, deletePolicy(ctx, api, ep.VHost, p.Name))
		}
		return err
	}
	if ours {
		if err := remove(); err != nil {
			return nil, fmt.Errorf("what an earlier attempt left: %w", err)
		}
	}
	if err := c.declare(ctx, ep, api, s, t); err != nil {
		return nil, err
	}
	return remove, nil
}

// declare makes it all; on an error it removes again what it has made.
func (c *suiteRun) declare(ctx context.Context, ep loadcore.Endpoint, api *management.Client, s *suite.Setup, t *manifest.Topology) (err error) {
	var made []string
	declared := false
	defer func() {
		if err == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout+time.Duration(len(t.Queues))*undoEach)
		defer cancel()
		if declared {
			err = errors.Join(err, topology.Remove(ctx, ep, "leveret suite", t))
		}
		for _, name := range made {
			err = errors.Join(err, deletePolicy(ctx, api, ep.VHost, name))
		}
	}()
	for _, p := range s.Policies {
		if err := putPolicy(ctx, api, ep.VHost, &p); err != nil {
			return err
		}
		made = append(made, p.Name)
	}
	if len(t.Queues)+len(t.Exchanges) == 0 {
		return nil
	}
	if err := declareNew(ctx, ep, s, t); err != nil {
		return err
	}
	declared = true
	return declareOnly(ctx, ep, t)
}

// declareNew declares exchanges, and the first and last queue of each kind, and finds out whether they were there before. To ask that
// of each of many queues would take a channel each, and a line of the broker's log. What it has made it removes on an error.
func declareNew(ctx context.Context, ep loadcore.Endpoint, s *suite.Setup, t *manifest.Topology) (err error) {
	first := &manifest.Topology{Predeclared: true, Exchanges: t.Exchanges}
	at := 0
	for _, q := range s.Queues {
		n := len(q.Names())
		first.Queues = append(first.Queues, t.Queues[at])
		if n > 1 {
			first.Queues = append(first.Queues, t.Queues[at+n-1])
		}
		at += n
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, topology.Remove(context.WithoutCancel(ctx), ep, "leveret suite", first))
		}
	}()
	if err := declareOnly(ctx, ep, first); err != nil {
		return err
	}
	for _, q := range first.Queues {
		if !q.Declare {
			return fmt.Errorf("queue %q is there already: the suite would use and delete it; delete it, or use another virtual host", q.Name)
		}
	}
	for i, want := range s.Exchanges {
		if is := t.Exchanges[i].Type; is != "" && is != want.Type {
			return fmt.Errorf("exchange %q is there already, and is %s, not %s: delete it, or use another virtual host", want.Name, is, want.Type)
		}
	}
	return nil
}

// declareOnly declares, and leaves it there.
func declareOnly(ctx context.Context, ep loadcore.Endpoint, t *manifest.Topology) error {
	session, err := topology.Declare(ctx, ep, "leveret suite", t)
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

// putPolicy sets a policy. One of that name that is there already is somebody's.
func putPolicy(ctx context.Context, api *management.Client, vhost string, p *suite.Policy) error {
	if api == nil {
		return errors.New("a policy needs the management API: give --management-uri")
	}
	body := map[string]any{"pattern": p.Pattern, "definition": p.Definition, "priority": p.Priority, "apply-to": p.ApplyTo}
	if err := api.Do(ctx, http.MethodGet, policyPath(vhost, p.Name), nil, nil); err == nil {
		return fmt.Errorf("policy %q is there already: delete it, or use another virtual host", p.Name)
	}
	return api.Do(ctx, http.MethodPut, policyPath(vhost, p.Name), body, nil)
}

// deletePolicy takes a policy away; one that is not there is no error.
func deletePolicy(ctx context.Context, api *management.Client, vhost, name string) error {
	if api == nil {
		return nil
	}
	err := api.Do(ctx, http.MethodDelete, policyPath(vhost, name), nil, nil)
	var answer *management.Error
	if errors.As(err, &answer) && answer.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// nodes counts the nodes of the cluster; 0 where the API is not known, or does not tell.
func (c *suiteRun) nodes(ctx context.Context, target string) int {
	ep, err := c.endpoint(target)
	if err != nil {
		return 0
	}
	api, err := c.api(target, &ep)
	if err != nil || api == nil {
		return 0
	}
	defer api.Close()
	var all []struct {
		Running bool `json:"running"`
	}
	if err := api.Do(ctx, http.MethodGet, "nodes?columns=name,running", nil, &all); err != nil {
		fmt.Fprintln(c.err, "warning:", withoutPasswords(oneLine(err.Error())))
		return 0
	}
	n := 0
	for _, x := range all {
		if x.Running {
			n++
		}
	}
	return n
}
