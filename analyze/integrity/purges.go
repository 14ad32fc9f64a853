package integrity

import (
	"fmt"
	"slices"

	"leveret/analyze/result"
	"leveret/capture/event"
)

// A mark says that a queue was purged. What is missing from the queue and was sent before is taken to have gone with it: nothing
// recorded tells, but the rule that took it away is known.

// CanBePurged tells whether the captures know a queue of that name from which a purge can take messages: not a stream.
func (x *Expected) CanBePurged(name string) bool {
	n, ok := x.byName[name]
	return ok && x.queues[n].kind != "stream"
}

// purgeAfter is the first purge of a queue after a time; event.None where there is none.
func purgeAfter(purges []int64, sent int64) int64 {
	if i, _ := slices.BinarySearch(purges, sent+1); i < len(purges) {
		return purges[i]
	}
	return event.None
}

// explain notes that a message of a page went with a purge of its destination, or with a loss.
func (c *destCounts) explain(l *Ledger, pg *page, slot int) {
	if c.explained == nil {
		c.explained = map[*page][]uint64{}
	}
	bits := c.explained[pg]
	if bits == nil {
		bits = l.arena.bits(l.words)
		c.explained[pg] = bits
	}
	setBit(bits, slot)
}

func (c *destCounts) isExplained(pg *page, slot int) bool {
	bits := c.explained[pg]
	return bits != nil && testBit(bits, slot)
}

// goneRule names what may have taken messages out of a queue that nobody consumes, of which only the number is known.
func (l *Ledger) goneRule(q *queue, f *Facts) string {
	return joined(joined(l.removalRule(q, f), l.lossRule(q, f)), f.purges(q))
}

// joined are two texts, either of which may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// purges says when a queue was purged; "" where no mark says that it was.
func (f *Facts) purges(q *queue) string {
	const shown = 3
	times := f.Purges[q.name]
	if len(times) == 0 {
		return ""
	}
	text := "purged, as marked, "
	for i, at := range times[:min(len(times), shown)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.3f s", float64(at-f.StartNS)/1e9)
	}
	if more := len(times) - shown; more > 0 {
		text += " and " + result.Plural(int64(more), "time") + " more"
	}
	return text + " after the start"
}
