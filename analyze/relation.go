package analyze

import "math"

// maxDriftPPM is how far apart the clocks of two hosts may run: a clock that nothing corrects is off by some 50 parts in a
// million at most. A clock that was set while the run went on is told by going further than that.
const maxDriftPPM = 100

// epochs is into how many parts a run is divided, so that clocks that run apart are seen to.
const epochs = 64

// wallClock is how well a host's clock is known to follow the time of day.
type wallClock struct {
	known   bool
	errorNS int64
}

// passage is a message that went from the clock of one host to that of another.
type passage struct {
	from, to       int
	sent, received int64
}

// relation is what is known of a host's clock in relation to that of the first host: how much it is ahead, at every moment of
// the run.
type relation struct {
	// known: both bounds are. Then aheadNS lies in their middle and is wrong by at most errorNS.
	known            bool
	aheadNS, errorNS int64
	// leastNS and mostNS are the bounds; MinInt64 and MaxInt64 where there is none.
	leastNS, mostNS int64
	driftNS         int64 // the two ran apart by at least that
	stepped         bool  // by more than maxDriftPPM allows: the bounds contradict each other, and nothing is known
	by              knownBy
}

type knownBy string

const (
	byMessages   knownBy = "messages that went both ways"
	byWallClocks knownBy = "how far off the systems say that their wall clocks may be"
)

// unbounded is more than any two clocks differ by, and can be added to itself.
const unbounded = math.MaxInt64 / 4

// bounds[i][j] is the most that clock j can be ahead of clock i. Messages say so: none is received before it was sent, so
// that received less sent is the clocks' difference and something more. The least difference of all messages is the tightest
// bound; that of the other direction bounds the same difference from below. (NTP's clock filter does the same with its
// round trips: RFC 5905, section 10.)
type bounds [][]int64

func newBounds(n int) bounds {
	b := make(bounds, n)
	for i := range b {
		b[i] = make([]int64, n)
		for j := range b[i] {
			if i != j {
				b[i][j] = unbounded
			}
		}
	}
	return b
}

func (b bounds) add(from, to int, ns int64) { b[from][to] = min(b[from][to], ns) }

// close makes what follows: what bounds i to j and j to k bounds i to k (Floyd and Warshall). It is false where the bounds
// contradict each other.
func (b bounds) close() bool {
	for k := range b {
		for i := range b {
			for j := range b {
				if b[i][k] < unbounded && b[k][j] < unbounded {
					b[i][j] = min(b[i][j], b[i][k]+b[k][j])
				}
			}
		}
	}
	for i := range b {
		if b[i][i] < 0 {
			return false
		}
	}
	return true
}

// relateClocks bounds the clocks of all hosts by that of the first.
func relateClocks(walls []wallClock, passages []passage) []relation {
	n := len(walls)
	first := &pieces{walls: walls, passages: passages}
	first.divide()
	relations := make([]relation, n)
	for i := range relations {
		r := &relations[i]
		r.leastNS, r.mostNS = math.MaxInt64, math.MinInt64
		highestLeast, lowestMost := int64(math.MinInt64), int64(math.MaxInt64)
		for k := range first.parts {
			most, least := first.parts[k][0][i], -first.parts[k][i][0]
			r.leastNS, r.mostNS = min(r.leastNS, least), max(r.mostNS, most)
			highestLeast, lowestMost = max(highestLeast, least), min(lowestMost, most)
			r.stepped = r.stepped || least > most
		}
		if r.leastNS <= -unbounded {
			r.leastNS = math.MinInt64
		}
		if r.mostNS >= unbounded {
			r.mostNS = math.MaxInt64
		}
		r.settle(highestLeast, lowestMost, first.bothWays(i))
	}
	return relations
}

func (r *relation) settle(highestLeast, lowestMost int64, bothWays bool) {
	if r.stepped {
		r.leastNS, r.mostNS = math.MinInt64, math.MaxInt64
		return
	}
	if highestLeast > -unbounded && lowestMost < unbounded {
		r.driftNS = max(0, highestLeast-lowestMost)
	}
	if r.leastNS == math.MinInt64 || r.mostNS == math.MaxInt64 {
		return
	}
	r.known, r.by = true, byWallClocks
	if bothWays {
		r.by = byMessages
	}
	r.aheadNS = r.leastNS + (r.mostNS-r.leastNS)/2
	r.errorNS = max(r.mostNS-r.aheadNS, r.aheadNS-r.leastNS)
}

// latencyError bounds by how much a latency from one host to another is off once the clocks were moved by their relations;
// refused where it cannot be bounded.
func latencyError(relations []relation, passages []passage) (ns int64, refused bool) {
	for _, p := range passages {
		a, b := &relations[p.from], &relations[p.to]
		if !a.known || !b.known {
			return 0, true
		}
		ns = max(ns, a.errorNS+b.errorNS) // that of the first host is none
	}
	return ns, false
}

// pieces are the bounds of each part of the run.
type pieces struct {
	walls    []wallClock
	passages []passage
	parts    []bounds
	whole    bounds // by messages alone, over all of it
}

// divide makes the parts' bounds: a part without a message of its own, or with late ones only, has what the others say of
// it, widened by what the clocks can have run apart meanwhile.
func (p *pieces) divide() {
	n := len(p.walls)
	p.whole = newBounds(n)
	for _, x := range p.passages {
		p.whole.add(x.from, x.to, x.received-x.sent)
	}
	p.whole.close()
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range p.passages {
		at := x.sent - p.about(x.from)
		from, to = min(from, at), max(to, at)
	}
	length := int64(1)
	if from < to {
		length += (to - from) / epochs
	}
	own := make([]bounds, epochs)
	for k := range own {
		own[k] = newBounds(n)
	}
	for _, x := range p.passages {
		own[(x.sent-p.about(x.from)-from)/length].add(x.from, x.to, x.received-x.sent)
	}
	for k := range epochs {
		p.parts = append(p.parts, p.part(k, own, length))
	}
}

// about is by how much a host's clock is ahead of the first's, roughly: enough to tell which messages of two hosts are of
// the same time.
func (p *pieces) about(host int) int64 {
	most, least := p.whole[0][host], -p.whole[host][0]
	switch {
	case most < unbounded && least > -unbounded:
		return least + (most-least)/2
	case most < unbounded:
		return min(most, 0)
	case least > -unbounded:
		return max(least, 0)
	}
	return 0
}

func (p *pieces) part(k int, own []bounds, length int64) bounds {
	b := newBounds(len(p.walls))
	for m := range own {
		apart := int64(float64(length) * float64(max(k-m, m-k)+1) * maxDriftPPM / 1e6)
		for i := range b {
			for j := range b {
				if i != j && own[m][i][j] < unbounded {
					b.add(i, j, own[m][i][j]+apart)
				}
			}
		}
	}
	for i, x := range p.walls {
		for j, y := range p.walls {
			if i != j && x.known && y.known {
				b.add(i, j, x.errorNS+y.errorNS)
			}
		}
	}
	b.close() // a contradiction shows in the bounds to and from the first
	return b
}

// bothWays tells whether messages alone bound a host's clock.
func (p *pieces) bothWays(host int) bool {
	return p.whole[0][host] < unbounded && p.whole[host][0] < unbounded
}
