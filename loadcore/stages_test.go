package loadcore

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"leveret/capture/manifest"
)

func perSecond(n int64) manifest.Rate { return manifest.Rate{Messages: n, PerNS: 1e9} }

// stagesOf makes stages of triples: from, to (messages per second), seconds.
func stagesOf(triples ...[3]int64) []manifest.Stage {
	var stages []manifest.Stage
	for _, s := range triples {
		stages = append(stages, manifest.Stage{From: perSecond(s[0]), To: perSecond(s[1]), ForNS: s[2] * 1e9})
	}
	return stages
}

func TestVaryingRates(t *testing.T) {
	type due struct{ message, ns int64 }
	for _, c := range []struct {
		name   string
		stages []manifest.Stage
		want   []due
	}{
		// Ten milliseconds each; the pause begins with the message that is due after it.
		{"100 a second and pauses in turn", stagesOf([3]int64{100, 100, 1}, [3]int64{0, 0, 1}),
			[]due{{0, 0}, {1, 10e6}, {99, 990e6}, {100, 2000e6}, {199, 2990e6}, {200, 4000e6}}},
		{"a pause first", stagesOf([3]int64{0, 0, 3}, [3]int64{2, 2, 1}),
			[]due{{0, 3000e6}, {1, 3500e6}, {2, 7000e6}}},
		// 0.7 and 0.7 and ... messages: message 1 is due when 1 of the 1.4 of two cycles is reached, 3/7 into the second.
		{"parts of a message carry over", []manifest.Stage{{From: manifest.Rate{Messages: 7, PerNS: 1e10}, To: manifest.Rate{Messages: 7, PerNS: 1e10}, ForNS: 1e9}, {From: perSecond(0), To: perSecond(0), ForNS: 1e9}},
			[]due{{0, 0}, {1, 2_428_571_428}, {7, 20e9}}},
		// t*t/2 messages by t: sqrt(2n) seconds. 50 a cycle. In the first 31 ns of a cycle not a unit has become due:
		// 31*31*10^7/10^10 is below 1.
		{"up from 0 to 10 a second over 10 s", stagesOf([3]int64{0, 10, 10}),
			[]due{{1, 1_414_213_562}, {2, 2e9}, {3, 2_449_489_742}, {8, 4e9}, {18, 6e9}, {32, 8e9}, {50, 10e9 + 31}, {52, 12e9}, {1_000_000_002, 200_000_002e9}}},
		// 10t - t*t/2 by t: 10 - sqrt(100-2n) seconds.
		{"down from 10 to 0", stagesOf([3]int64{10, 0, 10}),
			[]due{{0, 0}, {18, 2e9}, {32, 4e9}, {42, 6e9}, {48, 8e9}, {49, 8_585_786_437}, {50, 10e9}, {68, 12e9}}},
		// 5 + 10 messages; then 10 a second again.
		{"a ramp and a step", stagesOf([3]int64{0, 10, 1}, [3]int64{10, 10, 1}),
			[]due{{5, 1000e6}, {6, 1100e6}, {14, 1900e6}, {20, 3000e6}}},
	} {
		s := scheduleOf(&manifest.Producer{Stages: c.stages}, 0, 1000)
		for _, w := range c.want {
			for w.message < 1e6 && int64(s.n) < w.message {
				s.next()
			}
			if int64(s.n) != w.message {
				s.standAt(uint64(w.message))
			}
			if s.due != 1000+w.ns {
				t.Errorf("%s: message %d is due at %d, want %d", c.name, w.message, s.due-1000, w.ns)
			}
		}
	}
}

// Whatever the stages: a message is due at the last nanosecond by which no more than its number have become due.
func TestVaryingRatesAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rate := func() manifest.Rate {
		switch random.IntN(4) {
		case 0:
			return perSecond(0)
		case 1:
			return perSecond(1 + random.Int64N(1e9))
		case 2:
			return perSecond(1 + random.Int64N(1000))
		}
		return manifest.Rate{Messages: 1 + random.Int64N(1e9), PerNS: 1e15}
	}
	for range 300 {
		p := &manifest.Producer{PhasePart: random.Uint32()}
		for range 1 + random.IntN(4) {
			s := manifest.Stage{From: rate(), To: rate(), ForNS: 1 + random.Int64N(int64(time.Minute))}
			if random.IntN(2) == 0 {
				s.To = s.From
			}
			p.Stages = append(p.Stages, s)
		}
		p.Stages = append(p.Stages, manifest.Stage{From: perSecond(1), To: perSecond(7), ForNS: 1e9}) // something, surely
		s := scheduleOf(p, 0, 0)
		for range 60 {
			checkLast(t, p, s.n, s.due)
			if s.next(); random.IntN(10) == 0 {
				s.standAt(s.n + random.Uint64N(1<<28))
			}
		}
	}
}

func checkLast(t *testing.T, p *manifest.Producer, n uint64, due int64) {
	t.Helper()
	place := new(big.Rat).SetFrac(new(big.Int).SetUint64(n<<32|uint64(p.PhasePart)), big.NewInt(1<<32))
	if n >= 1<<32 {
		t.Fatalf("message %d does not fit the check", n)
	}
	// Within what the unit of half a millionth of a nanosecond's rate cuts off.
	unit := big.NewRat(1, unitsPerMessage)
	if over := new(big.Rat).Sub(exactlyDue(p.Stages, due), place); over.Cmp(unit) >= 0 {
		t.Fatalf("%+v: message %d at %d is early by %v messages", p, n, due, over)
	}
	if due == math.MaxInt64 { // beyond the clock
		return
	}
	if under := new(big.Rat).Sub(exactlyDue(p.Stages, due+1), place); under.Sign() <= 0 {
		t.Fatalf("%+v: message %d at %d is late by %v messages", p, n, due, under)
	}
}

// exactlyDue is R(t) in fractions.
func exactlyDue(stages []manifest.Stage, t int64) *big.Rat {
	part := func(s manifest.Stage, t int64) *big.Rat { // (2*from + (to-from)*t/T) * t/2
		from, to := big.NewRat(s.From.Messages, s.From.PerNS), big.NewRat(s.To.Messages, s.To.PerNS)
		r := new(big.Rat).Sub(to, from)
		r.Mul(r, big.NewRat(t, s.ForNS))
		r.Add(r, from).Add(r, from)
		return r.Mul(r, big.NewRat(t, 2))
	}
	cycle, all := int64(0), new(big.Rat)
	for _, s := range stages {
		cycle += s.ForNS
		all.Add(all, part(s, s.ForNS))
	}
	sum := new(big.Rat).Mul(all, big.NewRat(t/cycle, 1))
	t %= cycle
	for _, s := range stages {
		sum.Add(sum, part(s, min(t, s.ForNS)))
		if t -= s.ForNS; t <= 0 {
			break
		}
	}
	return sum
}

func TestPhasesOfVaryingRates(t *testing.T) {
	p := make([]manifest.Producer, 4)
	for i := range p {
		p[i].Stages = stagesOf([3]int64{1, 1, 10}, [3]int64{2, 2, 10})
	}
	SpreadPhases(p)
	for i := range p { // quarters of a message: of a second first, then of half a second
		s := scheduleOf(&p[i], uint16(i), 0)
		if want := int64(i) * 250_000_000; s.due != want {
			t.Errorf("producer %d begins at %d, want %d", i, s.due, want)
		}
		s.standAt(10)
		if want := 10e9 + int64(i)*125_000_000; s.due != want {
			t.Errorf("producer %d: message 10 is due at %d, want %d", i, s.due, want)
		}
	}
}

func TestScheduleAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are counted without the race detector")
	}
	for _, p := range []manifest.Producer{
		{Rate: perSecond(3)},
		{Rate: perSecond(3), Arrivals: manifest.ArrivalsPoisson},
		{Stages: stagesOf([3]int64{0, 1000, 1}, [3]int64{5, 5, 1}), Arrivals: manifest.ArrivalsPoisson},
	} {
		s := scheduleOf(&p, 0, 0)
		if allocs := testing.AllocsPerRun(100, func() {
			for range 100 {
				s.next()
			}
		}); allocs != 0 {
			t.Errorf("%+v: %v allocations for 100 messages", p, allocs)
		}
	}
}

func BenchmarkSchedule(b *testing.B) {
	for _, c := range []struct {
		name string
		p    manifest.Producer
	}{
		{"constant", manifest.Producer{Rate: perSecond(1_000_003)}},
		{"poisson", manifest.Producer{Rate: perSecond(1_000_003), Arrivals: manifest.ArrivalsPoisson}},
		{"steps", manifest.Producer{Stages: stagesOf([3]int64{1e6, 1e6, 10}, [3]int64{1000, 1000, 10})}},
		{"ramp", manifest.Producer{Stages: stagesOf([3]int64{0, 1e6, 10}, [3]int64{1e6, 0, 10})}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := scheduleOf(&c.p, 0, 0)
			for b.Loop() {
				s.next()
			}
		})
	}
}
