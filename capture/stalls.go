package capture

import "leveret/capture/manifest"

// stalls keeps account of the spans in which somebody waited for the disk. Guarded by pools.mu.
type stalls struct {
	waiting int
	since   int64 // clock, when the first of those who wait began
	totalNS int64
	spans   []manifest.Stall
}

// How finely stalls are told apart. A disk that is a little too slow makes thousands of short ones; spans closer than
// leastGapNS are one, and a list that gets too long is halved by joining neighbors. The total stays exact.
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
	if n := len(s.spans); n > 0 && s.since-s.spans[n-1].ToNS < leastGapNS {
		s.spans[n-1].ToNS = now
		return
	}
	if len(s.spans) == maxSpans {
		for i := range maxSpans / 2 {
			s.spans[i] = manifest.Stall{FromNS: s.spans[2*i].FromNS, ToNS: s.spans[2*i+1].ToNS}
		}
		s.spans = s.spans[:maxSpans/2]
	}
	s.spans = append(s.spans, manifest.Stall{FromNS: s.since, ToNS: now})
}
