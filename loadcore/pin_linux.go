package loadcore

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// allowedCPUs are the processors that the process may run on, by the system's numbers.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("the processors of this process cannot be learned: sched_getaffinity: %w", err)
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// setAffinity keeps the calling thread on one processor.
func setAffinity(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("a thread cannot be kept on processor %d: sched_setaffinity: %w", cpu, err)
	}
	return nil
}
