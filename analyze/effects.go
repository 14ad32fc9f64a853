package analyze

import (
	"cmp"
	"slices"

	"leveret/analyze/integrity"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// effects find what each loss did to the messages of its connection, in the first reading. The losses are those that the
// manifests list, so that rows can be held against them as they come; of a capture without its end nothing is known of this.
// Nil where nothing was lost.
type effects struct {
	captures []captureEffects
	all      map[recovered]*effect
}

// captureEffects are the losses of one capture, by what they are of, in order of time.
type captureEffects struct {
	producers, consumers []laneEffects
}

// laneEffects are those that a lane feels: its connection's and its own.
type laneEffects struct{ connection, own []*effect }

// effect is one loss. Times are event.None where there is none.
type effect struct {
	*manifest.Recovery
	lost   int64 // on the common clock
	before int64 // the last answer or delivery before it
	after  int64 // the first one after it
	// late has, by the second since the loss, when the last message in it was sent late, before the next loss; event.None: none was.
	late []int64
}

// mostLate bounds late: an hour.
const mostLate = 3600

// noteLate takes a message that was sent late. Those of several producers come in no order.
func (x *effect) noteLate(at int64) {
	n := int((at - x.lost) / calmNS)
	if n >= mostLate {
		return
	}
	for len(x.late) <= n {
		x.late = append(x.late, event.None)
	}
	x.late[n] = max(x.late[n], at)
}

// caughtUp is when the last message was sent late before the first second after the recovery in which none was.
func (x *effect) caughtUp(recovered int64) (last int64) {
	last = event.None
	for n, at := range x.late {
		if at == event.None && x.lost+int64(n)*calmNS > recovered {
			break
		}
		last = max(last, at)
	}
	return last
}

// recovered names a loss by when it was recovered, which rows and manifest tell alike; event.None: it was not.
type recovered struct {
	site
	at int64
}

func (a *analysis) newEffects() *effects {
	e := &effects{captures: make([]captureEffects, len(a.captures)), all: map[recovered]*effect{}}
	for i, c := range a.captures {
		if c.final {
			e.captures[i] = e.capture(c)
		}
	}
	if len(e.all) == 0 {
		return nil
	}
	return e
}

// capture makes the losses of a capture.
func (e *effects) capture(c *source) captureEffects {
	m := c.manifest
	of := map[site][]*effect{}
	for i := range m.Outcome.Recoveries {
		r := &m.Outcome.Recoveries[i]
		p := site{c.index, uint32(r.Connection), laneNumber(r.Producer), laneNumber(r.Consumer)}
		x := &effect{Recovery: r, lost: r.LostNS + c.shift, before: event.None, after: event.None}
		at := r.RecoveredNS
		if at != event.None {
			at += c.shift
		}
		of[p] = append(of[p], x)
		e.all[recovered{p, at}] = x
	}
	if len(of) == 0 {
		return captureEffects{}
	}
	for _, list := range of {
		slices.SortFunc(list, func(x, y *effect) int { return cmp.Compare(x.lost, y.lost) })
	}
	var x captureEffects
	for i := range m.Producers {
		whole := uint32(m.Producers[i].Connection)
		x.producers = append(x.producers, laneEffects{of[site{c.index, whole, event.NoLane, event.NoLane}], of[site{c.index, whole, uint32(i), event.NoLane}]})
	}
	for i := range m.Consumers {
		whole := uint32(m.Consumers[i].Connection)
		x.consumers = append(x.consumers, laneEffects{of[site{c.index, whole, event.NoLane, event.NoLane}], of[site{c.index, whole, event.NoLane, uint32(i)}]})
	}
	return x
}

func laneNumber(n *int) uint32 {
	if n == nil {
		return event.NoLane
	}
	return uint32(*n)
}

// lane is that of a row; nil where no loss is known of it.
func lane(lanes []laneEffects, number uint16) *laneEffects {
	if int(number) < len(lanes) {
		return &lanes[number]
	}
	return nil
}

// each calls f for the last loss before a time, and the first one after it, either may be nil; for the connection's and the lane's own.
func (l *laneEffects) each(at int64, f func(before, after *effect)) {
	if l == nil {
		return
	}
	for _, list := range [...][]*effect{l.connection, l.own} {
		if len(list) == 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(list, at, func(x *effect, at int64) int {
			if x.lost <= at {
				return -1
			}
			return 1
		})
		var last, next *effect
		if i > 0 {
			last = list[i-1]
		}
		if i < len(list) {
			next = list[i]
		}
		f(last, next)
	}
}

// moved notes an answer or a delivery.
func moved(at int64) func(last, next *effect) {
	return func(last, next *effect) {
		if last != nil && (last.after == event.None || at < last.after) {
			last.after = at
		}
		if next != nil {
			next.before = max(next.before, at)
		}
	}
}

// sends notes messages that were sent late. Rows of the same time and lane have the same effect.
func (e *effects) sends(s *integrity.SendRows) {
	if e == nil {
		return
	}
	for i, at := range s.Sent {
		if at == event.None || s.Due[i] == event.None || at-s.Due[i] <= result.CatchUpNS {
			continue
		}
		lane(e.captures[s.Capture].producers, s.Producer[i]).each(at, func(last, _ *effect) {
			if last != nil {
				last.noteLate(at)
			}
		})
	}
}

func (e *effects) settlements(s *integrity.SettlementRows) {
	if e == nil {
		return
	}
	for i, at := range s.At {
		same := i > 0 && at == s.At[i-1] && s.Producer[i] == s.Producer[i-1] && s.Kind[i] == s.Kind[i-1]
		if !same && event.SettlementKind(s.Kind[i]) != event.InDoubt {
			lane(e.captures[s.Capture].producers, s.Producer[i]).each(at, moved(at))
		}
	}
}

func (e *effects) deliveries(d *integrity.DeliveryRows) {
	if e == nil {
		return
	}
	for i, at := range d.Received {
		if i == 0 || at != d.Received[i-1] || d.Consumer[i] != d.Consumer[i-1] {
			lane(e.captures[d.Capture].consumers, d.Consumer[i]).each(at, moved(at))
		}
	}
}

// of adds to an outage what its loss did; p is what was lost.
func (e *effects) of(p site, x *result.Outage) {
	if e == nil {
		return
	}
	at := event.None
	if x.RecoveredNS != nil {
		at = *x.RecoveredNS
	}
	found := e.all[recovered{p, at}]
	if found == nil {
		return
	}
	x.InDoubt, x.Republished, x.Unacked = &found.InDoubt, &found.Republished, &found.Unacked
	x.FirstEffectNS, x.MovedNS = known(found.before), known(found.after)
	if at == event.None {
		return
	}
	late := found.caughtUp(at)
	if x.CaughtUpNS = known(late); late != event.None {
		after := max(late-at, 0)
		x.CatchUpNS = &after
	}
	last := max(at, found.after, late)
	x.LastEffectNS = &last
}
