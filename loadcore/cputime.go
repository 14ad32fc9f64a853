package loadcore

import "time"

// CPUTime is the user plus system time that the process has used so far; 0 where the system does not tell.
func CPUTime() time.Duration { return time.Duration(cpuTime()) }
