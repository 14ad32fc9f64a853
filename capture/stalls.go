package capture

import "leveret/capture/manifest"

// stalls keeps account of the spans in which somebody waited for the disk. Guarded by pools.mu.
type stalls struct {
	waiting int
	since   int64 // clock, when the first of those who wait began
	totalNS int64
	spans   []manifest.Stall
	gapNS   int64 // spans closer than this are one
}

// How finely stalls are told apart. A disk that is a little too slow makes thousands of short ones; the list stays short
// by telling them less finely, the total stays exact.
const (
	leastGapNS = 10e6
	maxSpans   = 1000
)

func (s *stalls) begin(now int64) {
	if s.waiting == 0 {
		s.since = now
	}
	s.waiting++
}

func (s *stalls) end(now int64) {
	s.waiting--
	if s.waiting > 0 {
		return
	}
	s.totalNS += now - s.since
	s.gapNS = max(s.gapNS, leastGapNS)
	s.add(manifest.Stall{FromNS: s.since, ToNS: now})
	for len(s.spans) > maxSpans {
		s.gapNS *= 2
		old := s.spans
		s.spans = s.spans[:0]
		for _, span := range old {
			s.add(span)
		}
	}
}

func (s *stalls) add(span manifest.Stall) {
	if n := len(s.spans); n > 0 && span.FromNS-s.spans[n-1].ToNS < s.gapNS {
		s.spans[n-1].ToNS = span.ToNS
		return
	}
	s.spans = append(s.spans, span)
}
