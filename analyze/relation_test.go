package analyze

import (
	"math"
	"testing"
)

// exchange makes passages between two hosts every step of a run: there is always a message whose latency is `latency`, each
// way, and others that waited. ahead is by how much the second host's clock is ahead at a time of the first.
func exchange(span, step, latency int64, ahead func(at int64) int64) (ps []passage) {
	for at := int64(0); at < span; at += step {
		for _, wait := range []int64{0, 40 * ms} {
			ps = append(ps, passage{from: 0, to: 1, sent: at, received: at + latency + wait + ahead(at+latency+wait)},
				passage{from: 1, to: 0, sent: at + ahead(at), received: at + latency + wait})
		}
	}
	return ps
}

func constant(ns int64) func(int64) int64 { return func(int64) int64 { return ns } }

// The least differences of both directions bound how much a clock is ahead: received less sent is 2-5 = -3 ms one way, and
// 2+5 = 7 ms the other, so that it is -7 to -3 ms ahead: -5 ms, give or take 2 ms. In a run of 640 ms, in parts of 10 ms,
// what the clocks can run apart adds 1 us to that.
func TestClocksByMessagesBothWays(t *testing.T) {
	ps := exchange(640*ms, ms, 2*ms, constant(-5*ms))
	r := relateClocks(make([]wallClock, 2), ps)
	if !r[0].known || r[0].aheadNS != 0 || r[0].errorNS != 0 {
		t.Errorf("the first, to itself: %+v", r[0])
	}
	x := r[1]
	if !x.known || x.aheadNS < -5*ms-2000 || x.aheadNS > -5*ms+2000 || x.errorNS < 2*ms || x.errorNS > 2*ms+4000 || x.driftNS != 0 || x.by != byMessages {
		t.Errorf("%+v", x)
	}
	if ns, refused := latencyError(r, ps); refused || ns != x.errorNS {
		t.Errorf("latencies exact to %d, refused %v", ns, refused)
	}
}

// A clock that is an hour ahead is like any other.
func TestClocksFarApart(t *testing.T) {
	const hour = 3_600_000 * ms
	x := relateClocks(make([]wallClock, 2), exchange(640*ms, ms, 2*ms, constant(hour)))[1]
	if !x.known || x.aheadNS < hour-2000 || x.aheadNS > hour+2000 || x.errorNS > 2*ms+4000 {
		t.Errorf("%+v", x)
	}
}

// 50 parts in a million over 64 s are 3.2 ms: with 1 ms of latency each way the clock is between -1 and 4.2 ms ahead. At the
// start it is at most 1 ms ahead, at the end at least 2.2 ms: the two ran apart by 1.2 ms at least, less the 100 us a part by
// which bounds are widened, on both sides.
func TestClocksThatRunApart(t *testing.T) {
	x := relateClocks(make([]wallClock, 2), exchange(64_000*ms, 20*ms, ms, func(at int64) int64 { return at * 50 / 1_000_000 }))[1]
	const slack = 250_000
	if !x.known || x.leastNS > -ms || x.leastNS < -ms-slack || x.mostNS < 4_200_000-slack/2 || x.mostNS > 4_200_000+slack {
		t.Errorf("%+v", x)
	}
	if x.driftNS < 1_200_000-slack || x.driftNS > 1_200_000 {
		t.Errorf("ran apart by %d ns", x.driftNS)
	}
}

// A clock that was set by a second in the middle of the run contradicts itself: nothing is known.
func TestClockThatWasSet(t *testing.T) {
	ps := exchange(10_000*ms, 10*ms, ms, func(at int64) int64 {
		if at > 5000*ms {
			return 1000 * ms
		}
		return 0
	})
	r := relateClocks(make([]wallClock, 2), ps)
	if !r[1].stepped || r[1].known {
		t.Errorf("%+v", r[1])
	}
	if _, refused := latencyError(r, ps); !refused {
		t.Error("latencies are given")
	}
}

// One way only, there is a bound on one side.
func TestClocksByMessagesOneWay(t *testing.T) {
	var ps []passage
	for at := range int64(100) {
		ps = append(ps, passage{from: 0, to: 1, sent: at * ms, received: at*ms - 3*ms})
	}
	r := relateClocks(make([]wallClock, 2), ps)
	if x := r[1]; x.known || x.leastNS != math.MinInt64 || x.mostNS < -3*ms || x.mostNS > -3*ms+10_000 {
		t.Errorf("%+v", x)
	}
	if _, refused := latencyError(r, ps); !refused {
		t.Error("latencies are given")
	}
	// The systems say that either is off by 4 and 6 ms at most: between -10 and -3 ms.
	r = relateClocks([]wallClock{{true, 4 * ms}, {true, 6 * ms}}, ps)
	if x := r[1]; !x.known || x.by != byWallClocks || x.leastNS != -10*ms || x.errorNS < 3_500_000 || x.errorNS > 3_510_000 {
		t.Errorf("%+v", x)
	}
}

// Three hosts, of which the first and the third exchange nothing: what is known of both ends of the second's clock bounds the
// third's. The second is 5 ms ahead, give or take 1, the third 10 ms ahead of that, give or take 2.
func TestClocksInARow(t *testing.T) {
	ps := exchange(640*ms, ms, ms, constant(5*ms))
	for _, p := range exchange(640*ms, ms, 2*ms, constant(10*ms)) {
		ps = append(ps, passage{from: p.from + 1, to: p.to + 1, sent: p.sent + 5*ms, received: p.received + 5*ms})
	}
	x := relateClocks(make([]wallClock, 3), ps)[2]
	if !x.known || x.aheadNS < 15*ms-4000 || x.aheadNS > 15*ms+4000 || x.errorNS < 3*ms || x.errorNS > 3*ms+8000 {
		t.Errorf("%+v", x)
	}
}

func TestClocksWithoutMessages(t *testing.T) {
	r := relateClocks(make([]wallClock, 2), nil)
	if r[1].known || r[1].leastNS != math.MinInt64 || r[1].mostNS != math.MaxInt64 {
		t.Errorf("%+v", r[1])
	}
	if x := relateClocks([]wallClock{{true, 1000}, {true, 2000}}, nil)[1]; !x.known || x.aheadNS != 0 || x.errorNS != 3000 {
		t.Errorf("%+v", x)
	}
}
