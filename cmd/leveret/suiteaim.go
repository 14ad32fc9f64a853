package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/suite"
	"leveret/loadcore"
	"leveret/loadcore/broker"
)

// aims are the addresses of a suite's targets.
type aims struct {
	suite            *suite.Suite
	uris, management map[string]string // by target
}

// newAims takes the addresses from options and environment. The first target's has no name.
func newAims(s *suite.Suite, o *options.Suite, lookup func(string) (string, bool)) (aims, error) {
	a := aims{s, map[string]string{}, map[string]string{}}
	for _, from := range []struct {
		option, variable string
		given, to        map[string]string
	}{{"uri", "LEVERET_URI", o.URIs, a.uris}, {"management-uri", "LEVERET_MANAGEMENT_URI", o.ManagementURIs, a.management}} {
		for name, uri := range from.given {
			if name == "" {
				name = s.Targets[0].Name
			}
			if !slices.ContainsFunc(s.Targets, func(t suite.Target) bool { return t.Name == name }) {
				return a, fmt.Errorf("--%s %s=...: the suite has no such target; it has %s", from.option, name, targetNames(s))
			}
			if from.to[name] != "" {
				return a, fmt.Errorf("--%s: two addresses for target %s", from.option, name)
			}
			from.to[name] = uri
		}
		for i, t := range s.Targets {
			uri, ok := lookup(variableOf(from.variable, t.Name))
			if !ok && i == 0 {
				uri, ok = lookup(from.variable)
			}
			if ok && uri != "" && from.to[t.Name] == "" {
				from.to[t.Name] = uri
			}
		}
	}
	for name, uri := range a.uris {
		if _, err := loadcore.ParseURI(uri); err != nil {
			return a, fmt.Errorf("--uri of target %s: %w", name, err)
		}
	}
	return a, nil
}

// variableOf is the environment variable of a target.
func variableOf(variable, target string) string {
	return variable + "_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(target))
}

// naming is how the address of a target is given, as an option and as a variable.
func (a *aims) naming(target string) (option, variable string) {
	if target == a.suite.Targets[0].Name {
		return "--uri", "LEVERET_URI"
	}
	return "--uri " + target + "=URI", variableOf("LEVERET_URI", target)
}

// missing: rows of the target are left out, as no address was given for it.
func (a *aims) missing(target string) bool {
	return a.of(a.uris, target) == "" && !(a.embedded() && target == a.suite.Targets[0].Name)
}

// told is a target, and that it has no address where that is so.
func (a *aims) told(target string) string {
	if a.missing(target) {
		return target + " (no address, left out)"
	}
	return target
}

func targetNames(s *suite.Suite) string {
	var names []string
	for _, t := range s.Targets {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// embedded: no broker was named at all.
func (a *aims) embedded() bool { return len(a.uris) == 0 }

// of is the address in one of the maps for a target, else that of the target that it falls back to.
func (a *aims) of(addresses map[string]string, target string) string {
	for range a.suite.Targets {
		if uri := addresses[target]; uri != "" {
			return uri
		}
		i := slices.IndexFunc(a.suite.Targets, func(t suite.Target) bool { return t.Name == target })
		if i < 0 || a.suite.Targets[i].From == "" {
			return ""
		}
		target = a.suite.Targets[i].From
	}
	return ""
}

// environ is the environment of a run against a target: this process's, with the addresses of the target alone.
func (a *aims) environ(target string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LEVERET_URI") || strings.HasPrefix(v, "LEVERET_MANAGEMENT_URI")
	})
	if uri := a.of(a.uris, target); uri != "" {
		env = append(env, "LEVERET_URI="+uri)
	}
	if uri := a.of(a.management, target); uri != "" {
		env = append(env, "LEVERET_MANAGEMENT_URI="+uri)
	}
	return env
}

// meet connects to the broker of each target that rows need, to learn who it is. One that is down fails its rows; where all
// are, nothing is begun.
func (c *suiteRun) meet(ctx context.Context) (map[string]suite.Broker, error) {
	brokers := map[string]suite.Broker{}
	up, met, down := 0, map[string]suite.Broker{}, []error(nil)
	for _, row := range c.rows {
		name := row.Target
		if _, known := brokers[name]; known {
			continue
		}
		uri := c.aims.of(c.aims.uris, name)
		switch {
		case uri == "" && c.aims.embedded() && name == c.suite.Targets[0].Name:
			brokers[name] = suite.Broker{Describe: "embedded broker: measures leveret, not RabbitMQ", Version: toolVersion()}
			up++
			continue
		case uri == "":
			continue
		}
		b, known := met[uri]
		if !known {
			b = c.meetBroker(ctx, name, uri)
			met[uri] = b
			if ctx.Err() != nil {
				return nil, errors.New("interrupted before anything was run")
			}
			if b.Down != "" { // said once of all targets that have the address
				down = append(down, errors.New(b.Down))
			}
		}
		brokers[name] = b
		if b.Down != "" {
			continue
		}
		fmt.Fprintf(c.err, "target %s: %s\n", name, b.Describe)
		up++
	}
	if up == 0 && len(down) > 0 {
		return nil, errors.Join(down...)
	}
	for _, err := range down {
		fmt.Fprintln(c.err, "warning:", withoutPasswords(err.Error()))
	}
	return brokers, nil
}

// meetBroker asks one broker who it is.
func (c *suiteRun) meetBroker(ctx context.Context, target, uri string) suite.Broker {
	down := func(err error) suite.Broker {
		return suite.Broker{URI: redactURI(uri), Down: fmt.Sprintf("target %s is down: %s", target, oneLine(err.Error()))}
	}
	r, err := newRun([]string{"--uri=" + uri}, streams{in: c.in, out: c.out, err: c.err})
	if err != nil {
		return down(err)
	}
	peer, _, err := loadcore.ProbeFirst(ctx, r.endpoints, r.plan.Allocation, r.plan.ProbeOptions("suite"))
	if err != nil {
		return down(err)
	}
	peer.SameHost = sameHost(r.endpoints[0].Host)
	shown := result.Broker{Embedded: peer.Product == broker.Product, Product: peer.Product, Version: peer.Version, SameHost: peer.SameHost}
	b := suite.Broker{URI: peer.URI, Version: peer.Version, Describe: fmt.Sprintf("%s at %s, %s", shown.Describe(), peer.URI, shown.DescribeHosts())}
	if b.Nodes, b.Accepts = c.nodes(ctx, target); b.Nodes > 1 {
		b.Describe += ", " + result.Plural(int64(b.Nodes), "node")
	}
	return b
}

// judge says why a row can't be run against the broker of its target.
func (c *suiteRun) judge(row *suite.Row) string {
	b, aimed := c.record.Brokers[row.Target]
	if !aimed {
		i := slices.IndexFunc(c.suite.Targets, func(t suite.Target) bool { return t.Name == row.Target })
		about := c.suite.Targets[i].About
		if about != "" {
			about = " (" + about + ")"
		}
		return fmt.Sprintf("no address for target %s%s: give --uri %s=URI", row.Target, about, row.Target)
	}
	if b.Down != "" {
		return ""
	}
	n := row.Needs
	why := n.Why
	if why != "" {
		why = ": " + why
	}
	switch {
	case c.aims.embedded() && !row.Setup.OnlyRemoves():
		return "needs a broker that can be set up beforehand, and each run has an embedded one of its own: give --uri"
	case c.aims.embedded() && len(row.Phases) > 1:
		return "has several parts that go through one broker, and each has an embedded one of its own: give --uri"
	case n.Before != "" && !olderThan(b.Version, n.Before):
		return fmt.Sprintf("needs a broker before version %s, this is %s%s", n.Before, b.Version, why)
	case len(row.Setup.Policies) > 0 && c.aims.of(c.aims.management, row.Target) == "":
		return "sets a policy, which needs the management API: give --management-uri"
	case n.Nodes > 1 && b.Nodes == 0:
		return fmt.Sprintf("needs a cluster of %d nodes, and how many there are is not known without --management-uri%s", n.Nodes, why)
	case n.Nodes > b.Nodes && b.Nodes > 0:
		return fmt.Sprintf("needs a cluster of %d nodes, this has %d%s", n.Nodes, b.Nodes, why)
	}
	return ""
}

// olderThan compares versions by their numbers: 3.10.8 is older than 3.11, and than 4.
func olderThan(version, bound string) bool {
	have, want := strings.Split(version, "."), strings.Split(bound, ".")
	for i, w := range want {
		h := ""
		if i < len(have) {
			h = have[i]
		}
		a, _ := strconv.Atoi(leadingDigits(h))
		b, _ := strconv.Atoi(leadingDigits(w))
		if a != b {
			return a < b
		}
	}
	return false
}

func leadingDigits(s string) string {
	for i, c := range s {
		if c < '0' || c > '9' {
			return s[:i]
		}
	}
	return s
}
