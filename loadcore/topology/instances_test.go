package topology_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/topology"
)

// Three instances find one another, whoever comes first; a fourth is one too many, and one alone waits in vain.
func TestInstancesGather(t *testing.T) {
	ep := endpoint(t, rabbitmqtest.Shared(t).URI(t))
	var together sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		together.Go(func() {
			time.Sleep(time.Duration(i) * 50 * time.Millisecond)
			var in *topology.Instances
			if in, errs[i] = topology.Gather(t.Context(), ep, "meeting", 3, 20*time.Second, nil); errs[i] == nil {
				in.Leave()
			}
		})
	}
	together.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("instance %d: %v", i, err)
		}
	}
	// They have left: the queue is gone with them, and the next three would be counted from one.
	var counts []int
	_, err := topology.Gather(t.Context(), ep, "meeting", 2, 500*time.Millisecond, func(n int) { counts = append(counts, n) })
	if err == nil || !strings.Contains(err.Error(), "1 of 2 instances") || !strings.Contains(err.Error(), "--instance-sync-timeout") || len(counts) != 1 || counts[0] != 1 {
		t.Errorf("%v, counted %v", err, counts)
	}
}

func TestTooManyInstances(t *testing.T) {
	ep := endpoint(t, rabbitmqtest.Shared(t).URI(t))
	var two sync.WaitGroup
	for range 2 {
		two.Go(func() {
			if _, err := topology.Gather(t.Context(), ep, "meeting", 2, 20*time.Second, nil); err != nil {
				t.Error(err)
			}
		})
	}
	two.Wait()
	if _, err := topology.Gather(t.Context(), ep, "meeting", 2, 20*time.Second, nil); err == nil || !strings.Contains(err.Error(), "3 instances have come") {
		t.Errorf("a third one: %v", err)
	}
}

func TestGatheringEndsWithItsContext(t *testing.T) {
	ep := endpoint(t, rabbitmqtest.Shared(t).URI(t))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := topology.Gather(ctx, ep, "meeting", 2, time.Minute, func(int) { cancel() })
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v", err)
	}
}
