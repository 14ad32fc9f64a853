package plan

import (
	"fmt"
	"math"

	"leveret/loadcore"
)

// Line says in one line what is going to be offered, so that a rate that multiplies is seen before it runs.
func Line(p *loadcore.Plan) string {
	line := fmt.Sprintf("%s, %s, %s", plural(len(p.Producers), "producer"), plural(len(p.Consumers), "consumer"), plural(len(p.Topology.Queues), "queue"))
	if len(p.Producers) == 0 {
		return line
	}
	first := p.Producers[0]
	total := 0.0
	if first.PhaseNS == math.MaxInt64 {
		return line + ", which only connect (a rate of 0)"
	}
	if first.Timed() {
		line += fmt.Sprintf(", %s messages per second in all", perSecondText(first.MeanRate()*float64(len(p.Producers))))
		if how := first.DescribeSchedule(); how != "" {
			line += " (" + how + ")"
		}
		for i := range p.Producers {
			total += float64(p.Producers[i].Planned(int64(p.Time)))
		}
	} else {
		line += ", closed loop"
	}
	if limit := float64(first.Limit) * float64(len(p.Producers)); limit > 0 && (total == 0 || limit < total) {
		total = limit
	}
	if total > 0 {
		line += fmt.Sprintf(", %s planned", messagesText(math.Round(total)))
	}
	if p.Time > 0 {
		line += fmt.Sprintf(", %v at most", p.Time)
	}
	return line
}

// perSecondText is a rate that was worked out: what its last bits are off is not shown.
func perSecondText(rate float64) string {
	if whole := math.Round(rate); whole > 0 && math.Abs(rate-whole) < 1e-9*whole {
		rate = whole
	}
	return numeral(rate)
}
