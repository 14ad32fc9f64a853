package analyze

import (
	"leveret/analyze/integrity"
	"leveret/capture/event"
)

// lastDue is when the last message of each producer was due, by capture and producer; event.None where none was.
type lastDue [][]int64

func (l *lastDue) add(r *integrity.SendRows) {
	for len(*l) <= r.Capture {
		*l = append(*l, nil)
	}
	of := (*l)[r.Capture]
	for i := 0; i < len(r.Due); {
		p, last, j := r.Producer[i], r.Due[i], i+1
		for j < len(r.Due) && r.Producer[j] == p {
			last = max(last, r.Due[j])
			j++
		}
		for len(of) <= int(p) {
			of = append(of, event.None)
		}
		of[p] = max(of[p], last)
		i = j
	}
	(*l)[r.Capture] = of
}

// scheduleEnd is when the schedules ended, event.None in closed loop. The last message of a producer is due up to one of its
// gaps before that; every slot of a schedule has a row, whether it was sent or not. Of producers that go on to the end the
// earliest next slot tells best; the others ended before, by their limits.
func (a *analysis) scheduleEnd() int64 {
	last := event.None
	for _, of := range a.course.lastDue {
		for _, due := range of {
			last = max(last, due)
		}
	}
	if last == event.None {
		return event.None
	}
	end := a.window.runStop
	for c, of := range a.course.lastDue {
		m := a.captures[c].manifest
		for p, due := range of {
			if m == nil || p >= len(m.Producers) || due == event.None {
				continue
			}
			if rate := m.Producers[p].MeanRate(); rate > 0 {
				if next := due + int64(1e9/rate); next > last {
					end = min(end, next)
				}
			}
		}
	}
	return max(end, a.window.runStart)
}
