package quantile

import (
	"math/bits"
	"slices"
)

// arrange reorders values so that those at the given places (rising) are the ones that sorting would put there.
func arrange(values []uint32, places []int) {
	arrangeWithin(values, 0, places, 2*bits.Len(uint(len(values))))
}

// arrangeWithin does it for places counted from offset. Each step parts the values into less than, equal to and greater than a pivot;
// after too many steps (a hostile order) it sorts.
func arrangeWithin(v []uint32, offset int, places []int, steps int) {
	for len(places) > 0 && len(v) > 1 {
		if steps--; steps < 0 || len(v) <= 32 {
			slices.Sort(v)
			return
		}
		less, greater := partition(v, medianOfThree(v[0], v[len(v)/2], v[len(v)-1]))
		lo, _ := slices.BinarySearch(places, offset+less)
		hi, _ := slices.BinarySearch(places, offset+greater)
		arrangeWithin(v[:less], offset, places[:lo], steps)
		v, offset, places = v[greater:], offset+greater, places[hi:]
	}
}

// partition orders v as less, equal, greater than pivot and returns where equal and greater begin.
func partition(v []uint32, pivot uint32) (less, greater int) {
	greater = len(v)
	for i := 0; i < greater; {
		switch x := v[i]; {
		case x < pivot:
			v[i], v[less] = v[less], x
			less++
			i++
		case x > pivot:
			greater--
			v[i], v[greater] = v[greater], x
		default:
			i++
		}
	}
	return less, greater
}

func medianOfThree(a, b, c uint32) uint32 {
	if a > b {
		a, b = b, a
	}
	return max(a, min(b, c))
}
