package loadcore

import "leveret/capture/manifest"

// gaps are the distances between the arrivals of a Poisson process of rate 1: independent, exponentially distributed with
// mean 1. Gap n is a pure function of seed, producer and n, in integers only, the same on every machine: what is random
// comes from hashing a counter (SplitMix64), and von Neumann's way (1951) makes an exponential variate of it by comparing:
//
//	draw u1, u2, ... as long as they fall; if the falling run has an odd number of draws, the gap is u1 plus the number of
//	runs that were rejected before; else try again
//
// A run is rejected with probability 1/e, and one that begins with u1 = x is accepted with probability e^-x.
type gaps struct {
	on  bool
	key uint64
}

func newGaps(seed uint64, producer uint16) gaps {
	return gaps{on: true, key: mix(seed ^ mix(uint64(producer)+1))}
}

// golden is 2^64 divided by the golden ratio, odd: multiples of it are spread evenly.
const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of SplitMix64: a bijection that makes of counters what passes for random.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// gap is the distance from arrival n-1 to arrival n, in messages: whole + part/2^64. Gap 0 is from the beginning.
func (g *gaps) gap(n uint64) (whole, part uint64) {
	state := mix(g.key + (n+1)*golden)
	for ; ; whole++ {
		state += golden
		first := mix(state)
		accept := true
		for last := first; ; accept = !accept {
			state += golden
			u := mix(state)
			if u >= last {
				break
			}
			last = u
		}
		if accept {
			return whole, first
		}
	}
}

// SpreadPhases sets the phases of all producers with a schedule so that K of them do not send in step: with a constant rate
// producer i begins i/K of its own period after the barrier, with a varying one its messages are i/K of a message behind.
// Poisson arrivals are spread by themselves.
func SpreadPhases(producers []manifest.Producer) {
	spread := func(p *manifest.Producer) bool { return p.Timed() && p.Arrivals == manifest.ArrivalsEven }
	k := uint64(0)
	for i := range producers {
		if spread(&producers[i]) {
			k++
		}
	}
	at := uint64(0)
	for i := range producers {
		p := &producers[i]
		if !spread(p) {
			continue
		}
		if len(p.Stages) > 0 {
			p.PhasePart = uint32(at << 32 / k) // there are at most 2^16 producers
		} else {
			// floor(at*PerNS / (Messages*K)) as two floors, which is the same. at < K, so that the quotient fits.
			q, _ := wideMul(at, uint64(p.Rate.PerNS)).by(k)
			p.PhaseNS = int64(q.lo / uint64(p.Rate.Messages))
		}
		at++
	}
}

// leastRandomDelay (ns) and the most that is asked for are the ends of a random start delay, as in PerfTest.
const leastRandomDelay = 1_000_000

// RandomPhases has each producer begin a random time after the barrier: evenly distributed from 1 ms to most (ns, at least
// 1 ms), determined by the seed and the producer's number.
func RandomPhases(producers []manifest.Producer, seed uint64, most int64) {
	for i := range producers {
		draw := mix(mix(seed) + uint64(i+1)*golden)
		producers[i].PhaseNS = leastRandomDelay + int64(wideMul(draw, uint64(most-leastRandomDelay)+1).hi)
	}
}
