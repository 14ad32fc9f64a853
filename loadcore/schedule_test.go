package loadcore

import (
	"math"
	"math/big"
	"testing"
	"time"

	"leveret/capture/manifest"
)

// exactDue is the formula in unbounded integers.
func exactDue(r manifest.Rate, first int64, n uint64) *big.Int {
	d := new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(r.PerNS))
	d.Div(d, big.NewInt(r.Messages))
	return d.Add(d, big.NewInt(first))
}

// standAt puts the cursor of an even schedule on message n, as if it had been moved there.
func (s *schedule) standAt(n uint64) {
	s.n = n
	if s.general {
		s.whole = n
		s.place()
		return
	}
	s.due = exactDue(s.rate, s.first, n).Int64()
	rest := new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(s.rate.PerNS))
	s.rest = rest.Mod(rest, big.NewInt(s.rate.Messages)).Uint64()
}

func TestScheduleIsExact(t *testing.T) {
	const start = 1_700_000_000_000_000_000
	day := uint64(24 * time.Hour)
	for _, c := range []struct {
		name string
		rate manifest.Rate
		days uint64 // how far to look
	}{
		{"1000 a second", manifest.Rate{Messages: 1000, PerNS: 1e9}, 30},
		{"3 a second: a third of a nanosecond is cut off", manifest.Rate{Messages: 3, PerNS: 1e9}, 30},
		{"0.7 a second", manifest.Rate{Messages: 7, PerNS: 1e10}, 30},
		{"a million and one a second", manifest.Rate{Messages: 1_000_001, PerNS: 1e9}, 1},
		{"one a day", manifest.Rate{Messages: 1, PerNS: int64(24 * time.Hour)}, 3000},
		{"faster than the clock", manifest.Rate{Messages: 1e12, PerNS: 1e9}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSchedule(c.rate, start, 5)
			for n := range uint64(10_000) { // the cursor
				if want := exactDue(c.rate, start+5, n).Int64(); s.due != want || s.n != n {
					t.Fatalf("message %d is due at %d, want %d", n, s.due, want)
				}
				s.next()
			}
			last := new(big.Int).Mul(new(big.Int).SetUint64(c.days*day), big.NewInt(c.rate.Messages))
			last.Div(last, big.NewInt(c.rate.PerNS))
			for k := uint64(0); k < 1000; k++ { // far away, and onwards from there
				n := last.Uint64()/1000*k + k
				s.standAt(n)
				s.next()
				if want := exactDue(c.rate, start+5, n+1).Int64(); s.due != want {
					t.Fatalf("message %d, far away, is due at %d, want %d", n+1, s.due, want)
				}
			}
		})
	}
}

func TestScheduleOfAThousandASecond(t *testing.T) {
	s := newSchedule(manifest.Rate{Messages: 1000, PerNS: 1e9}, 7, 0)
	for n := range int64(100_000) {
		if s.due != 7+n*1_000_000 { // a millisecond each, to the nanosecond
			t.Fatalf("message %d is due at %d", n, s.due)
		}
		s.next()
	}
}

func TestScheduleEndsWithTheClock(t *testing.T) {
	s := newSchedule(manifest.Rate{Messages: 1, PerNS: math.MaxInt64}, 1_700_000_000_000_000_000, 0)
	if s.next(); s.due != math.MaxInt64 {
		t.Errorf("due %d", s.due)
	}
	if s.next(); s.due != math.MaxInt64 {
		t.Errorf("due %d", s.due)
	}
}

func TestSpreadPhases(t *testing.T) {
	p := make([]manifest.Producer, 5)
	for i := range p {
		p[i].Rate = manifest.Rate{Messages: 1000, PerNS: 1e9}
	}
	p[2].Rate = manifest.Rate{} // closed loop: takes no part
	SpreadPhases(p)
	for i, want := range []int64{0, 250_000, 0, 500_000, 750_000} { // quarters of a millisecond
		if p[i].PhaseNS != want {
			t.Errorf("producer %d: phase %d, want %d", i, p[i].PhaseNS, want)
		}
	}
	third := []manifest.Producer{{Rate: manifest.Rate{Messages: 3, PerNS: 10}}, {Rate: manifest.Rate{Messages: 3, PerNS: 10}}}
	SpreadPhases(third)
	if third[1].PhaseNS != 1 { // 10/3/2 = 1.67
		t.Errorf("phase %d, want 1", third[1].PhaseNS)
	}
	const many = 1 << 16
	crowd := make([]manifest.Producer, many)
	for i := range crowd {
		crowd[i].Rate = manifest.Rate{Messages: 1, PerNS: math.MaxInt64}
	}
	SpreadPhases(crowd)
	want := new(big.Int).Mul(big.NewInt(math.MaxInt64), big.NewInt(many-1))
	want.Div(want, big.NewInt(many))
	if crowd[many-1].PhaseNS != want.Int64() {
		t.Errorf("phase %d, want %d", crowd[many-1].PhaseNS, want)
	}
}

// C011: 50,000 a second are 500 in every hundredth of a second, not 50,000 at its beginning.
func TestScheduleIsEven(t *testing.T) {
	s := newSchedule(perSecond(50_000), 0, 0)
	for slice := range int64(500) {
		n := 0
		for ; s.due < (slice+1)*10_000_000; s.next() {
			n++
		}
		if n != 500 {
			t.Fatalf("%d messages in hundredth %d", n, slice)
		}
	}
}
