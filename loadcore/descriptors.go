package loadcore

import "math"

// DescriptorLimit is how many file descriptors this process may have at most, raised as far as the system allows; false where
// the system does not tell. Connections of a run take one each.
func DescriptorLimit() (int, bool) {
	limit, known := raiseDescriptors(math.MaxInt32)
	return int(min(limit, math.MaxInt32)), known
}
