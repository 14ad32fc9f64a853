package loadcore

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/broker"

	"golang.org/x/sys/unix"
)

// While it runs, a pinned run has a thread on one processor for each reader and each producer, and none afterwards.
func TestPinCPU(t *testing.T) {
	cpus, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		t.Skip("with one processor every thread is on one")
	}
	ep := embedded(t, broker.Options{})
	noLeaks(t)
	plan := oneQueue(ep, "q", []manifest.Producer{{Size: 12, Confirm: 10, Rate: everySecond}, {Size: 12, Rate: everySecond}}, []manifest.Consumer{{AckEvery: 1}})
	plan.Pin = PinCPU
	const want = 2 + 3 // producers and connections
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kept := 0
	plan.Started = func() { // a thread that is being started has its maker's processors for a moment
		for deadline := time.Now().Add(20 * time.Second); kept != want && time.Now().Before(deadline); {
			kept = pinnedThreads(t, 0)
		}
		cancel()
	}
	if _, err := Run(ctx, plan, &memory{}); err != nil {
		t.Fatal(err)
	}
	if kept != want {
		t.Errorf("%d threads were kept on one processor, want %d", kept, want)
	}
	// The main thread cannot end: where it was taken for a goroutine, the runtime has put it aside for good.
	for deadline := time.Now().Add(20 * time.Second); pinnedThreads(t, os.Getpid()) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d threads are still kept on one processor", pinnedThreads(t, os.Getpid()))
		}
	}
}

// pinnedThreads counts the threads of this process, but for one, that may run on one processor only.
func pinnedThreads(t *testing.T, except int) (n int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
	}
	for _, task := range tasks {
		tid, _ := strconv.Atoi(task.Name())
		var set unix.CPUSet
		if tid != except && unix.SchedGetaffinity(tid, &set) == nil && set.Count() == 1 {
			n++
		}
	}
	return n
}
