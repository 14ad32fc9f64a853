package manifest

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Arrivals of a producer's messages; part of the format.
const (
	ArrivalsEven    = "" // evenly spaced
	ArrivalsPoisson = "poisson"
)

// Stage is one part of a rate that varies: From goes to To in a straight line, in ForNS nanoseconds. A step has both the
// same, a pause has Messages 0. The stages of a producer follow one another and then begin anew, for ever.
type Stage struct {
	From  Rate  `json:"from"`
	To    Rate  `json:"to"`
	ForNS int64 `json:"for_ns"`
}

// Timed tells whether a schedule says when the producer's messages are due; if not, it is a closed loop.
func (p *Producer) Timed() bool { return p.Rate.Messages > 0 && p.Rate.PerNS > 0 || len(p.Stages) > 0 }

// MeanRate is messages per second, over a whole cycle of stages; 0 in closed loop.
func (p *Producer) MeanRate() float64 {
	if len(p.Stages) == 0 {
		return p.Rate.PerSecond()
	}
	cycle := int64(0)
	for _, s := range p.Stages {
		cycle += s.ForNS
	}
	return p.perCycle(cycle) / float64(cycle) * 1e9
}

// Planned is how many messages the schedule places in the first ns nanoseconds after the barrier, without regard to the
// limit: with Poisson arrivals the mean. It is for judging, not for sending, and rounded as floating point is.
func (p *Producer) Planned(ns int64) int64 {
	ns = max(0, ns-p.PhaseNS)
	if len(p.Stages) == 0 {
		return p.Rate.before(uint64(ns))
	}
	cycle := int64(0)
	for _, s := range p.Stages {
		cycle += s.ForNS
	}
	if cycle <= 0 {
		return 0
	}
	// The first message of a stage is due at its begin, so that a part of a message counts; what rounding adds is none.
	return int64(math.Ceil(float64(ns/cycle)*p.perCycle(cycle) + p.perCycle(ns%cycle) - 1e-6))
}

// before is how many messages of an evenly spaced rate are due before ns nanoseconds have passed, the first at 0.
func (r Rate) before(ns uint64) int64 {
	if r.Messages <= 0 || r.PerNS <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(ns, uint64(r.Messages))
	lo, carry := bits.Add64(lo, uint64(r.PerNS)-1, 0)
	if hi += carry; hi >= uint64(r.PerNS) {
		return math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, uint64(r.PerNS))
	return int64(min(n, math.MaxInt64))
}

// perCycle is how many messages the first ns nanoseconds of a cycle hold.
func (p *Producer) perCycle(ns int64) float64 {
	n := 0.0
	for _, s := range p.Stages {
		t := min(ns, s.ForNS)
		if t <= 0 {
			break
		}
		from, to := s.From.PerSecond(), s.To.PerSecond()
		at := from + (to-from)*float64(t)/float64(s.ForNS)
		n += (from + at) / 2 * float64(t) / 1e9
		ns -= t
	}
	return n
}

// DescribeSchedule is what the rate alone doesn't say, "" where there is nothing of the kind: "2 stages in turn (100 to 200
// msg/s over 10 s, 200 msg/s for 5 s), Poisson arrivals (seed 1), at most 10 late ones sent".
func (p *Producer) DescribeSchedule() string {
	var parts []string
	if n := len(p.Stages); n > 0 {
		var stages []string
		for i, s := range p.Stages {
			if i == stagesShown && n > stagesShown {
				stages = append(stages, "...")
				break
			}
			stages = append(stages, s.describe())
		}
		word := "stages in turn"
		if n == 1 {
			word = "stage, over and over"
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", n, word, strings.Join(stages, ", ")))
	}
	if p.Arrivals == ArrivalsPoisson {
		parts = append(parts, fmt.Sprintf("Poisson arrivals (seed %d)", p.Seed))
	}
	switch {
	case p.CatchUp == nil:
	case *p.CatchUp == 0:
		parts = append(parts, "late slots not sent")
	default:
		parts = append(parts, fmt.Sprintf("at most %d late slots sent", *p.CatchUp))
	}
	return strings.Join(parts, ", ")
}

const stagesShown = 4

func (s Stage) describe() string {
	from, to, seconds := s.From.PerSecond(), s.To.PerSecond(), float64(s.ForNS)/1e9
	switch {
	case from != to:
		return fmt.Sprintf("%g to %g msg/s over %g s", from, to, seconds)
	case from == 0:
		return fmt.Sprintf("none for %g s", seconds)
	}
	return fmt.Sprintf("%g msg/s for %g s", from, seconds)
}
