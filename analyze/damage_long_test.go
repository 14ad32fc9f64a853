//go:build long

package analyze

import (
	"testing"

	"leveret/capture/schema"
)

const (
	cutsOfAFile  = 200
	randomDamage = 3000

	recordedHistories = 1000
	shownHistories    = 20000
)

// The largest file cut at every byte of its last 64 KiB, which begin in the middle of its batches, and the others at every
// byte of their last 4 KiB.
func TestCutAtEveryByte(t *testing.T) {
	const most = 64 << 10
	dir, whole := captureOf(t, 300, "none", false)
	deliveries := schema.FileName(schema.Deliveries, 0)
	sizes := newPatient(t, dir, whole)
	if n := len(sizes.good[deliveries]); n < most {
		t.Fatalf("%s has %d bytes", deliveries, n)
	}
	span := func(name string, from, to int) { // counted from the end
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t, dir, whole)
			size := len(p.good[name])
			for cut := max(0, size-from); cut < size-to && !t.Failed(); cut++ {
				p.cut(name, cut)
			}
		})
	}
	for _, name := range sizes.names {
		if name != deliveries {
			span(name, 4<<10, 0)
		}
	}
	span(deliveries, most, most/2)
	span(deliveries, most/2, 0)
}
