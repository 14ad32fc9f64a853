package manifest

import (
	"fmt"
	"slices"
)

// longRoute is from how many queues on the list of a route is written once for all routes that reach the same: with a fanout exchange,
// thousands of keys may reach thousands of queues each.
const longRoute = 32

// sharedRoutes is how routes are written: of those that reach the same queues as one before them only that is said. It returns the
// routes themselves where there are none.
func sharedRoutes(routes []Route) []Route {
	written := routes
	whole := -1 // the last one whose list is written
	for i := range routes {
		r := &routes[i]
		if !r.Known || len(r.Queues) < longRoute {
			continue
		}
		if whole < 0 || !sameQueues(r.Queues, routes[whole].Queues) {
			whole = i
			continue
		}
		if &written[0] == &routes[0] {
			written = slices.Clone(routes)
		}
		as := whole
		written[i].Queues, written[i].Known, written[i].QueuesAs = []int{}, false, &as
	}
	return written
}

func sameQueues(a, b []int) bool {
	return len(a) == len(b) && (&a[0] == &b[0] || slices.Equal(a, b))
}

// restoreRoutes undoes sharedRoutes.
func restoreRoutes(routes []Route) error {
	for i := range routes {
		r := &routes[i]
		if r.QueuesAs == nil {
			continue
		}
		as := *r.QueuesAs
		if as < 0 || as >= i || !routes[as].Known {
			return fmt.Errorf("route %d is to reach the queues of route %d, which has none", i, as)
		}
		r.Queues, r.Known, r.QueuesAs = routes[as].Queues, true, nil
	}
	return nil
}
