package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"leveret/cmd/internal/options"
	"leveret/loadcore/topology"
)

// checkInstances looks at what instances need to find one another.
func checkInstances(o *options.Run, given func(string) bool) error {
	switch {
	case o.ExpectedInstances < 2:
		return nil
	case !given("id"):
		return fmt.Errorf("--expected-instances=%d: the instances know one another by --id, give all of them the same", o.ExpectedInstances)
	case o.URI == "" && len(o.URIs) == 0:
		return errors.New("--expected-instances: instances meet at the broker that they load, and the embedded one is this process's own; give --uri")
	}
	return nil
}

// meetInstances has the run begin when all instances are ready. The function that it returns waits until the others have had
// time to see this one.
func (r *recording) meetInstances() (leave func()) {
	o := r.options
	if o.ExpectedInstances < 2 {
		return func() {}
	}
	name := strings.Join([]string{"leveret-instances", o.InstanceSyncNamespace, o.ID}, "-")
	var presence *topology.Instances
	r.plan.Ready = func(ctx context.Context) (err error) {
		fmt.Fprintf(r.err, "waiting for %d instances of %s at queue %s\n", o.ExpectedInstances, o.ID, name)
		presence, err = topology.Gather(ctx, r.plan.Endpoint, name, o.ExpectedInstances, o.InstanceSyncTimeout, func(n int) {
			fmt.Fprintf(r.err, "%d of %d instances are here\n", n, o.ExpectedInstances)
		})
		if err == nil && r.perfTest {
			fmt.Fprintln(r.out, "All expected instances are ready, starting.")
		}
		return err
	}
	return func() {
		if presence != nil {
			presence.Leave()
		}
	}
}
