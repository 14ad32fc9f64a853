package loadcore

import (
	"math/rand/v2"
	"testing"

	"leveret/capture/event"
)

// Batches of any length, answers in any order, before and after their batch is recorded, from several consumers: every
// message has its latency once, and they come to what a table of sent times says.
func TestLiveAgainstATableOfSentTimes(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		const producers, consumers = 3, 2
		l := liveOf(producers, consumers)
		var next, recorded [producers]uint64
		sent := map[message]int64{}
		var batches []event.Sends // written, and not recorded yet
		var waiting []message     // not delivered yet
		now, sumOf, delivered, confirmed, confirmSum := int64(0), int64(0), int64(0), int64(0), int64(0)
		for range 2000 {
			now += random.Int64N(1000) + 1
			switch random.IntN(4) {
			case 0: // a producer begins to write
				p := uint16(random.IntN(producers))
				if recorded[p] != next[p] {
					continue // its last batch is still being written
				}
				n := random.IntN(20) + 1
				batches = append(batches, event.Sends{Producer: p, First: next[p], N: n, Sent: now, Written: now})
				for i := range uint64(n) {
					id := message{p, next[p] + i}
					sent[id] = now
					waiting = append(waiting, id)
				}
				next[p] += uint64(n)
			case 1: // a write call returns
				if len(batches) > 0 {
					i := random.IntN(len(batches))
					l.Sends(&batches[i])
					recorded[batches[i].Producer] = next[batches[i].Producer]
					batches = append(batches[:i], batches[i+1:]...)
				}
			case 2: // a consumer gets some
				random.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
				n := random.IntN(min(len(waiting), 8) + 1)
				d := event.Deliveries{Consumer: uint16(random.IntN(consumers)), At: now}
				for _, id := range waiting[:n] {
					d.Rows = append(d.Rows, event.Delivery{Seq: id.seq, Producer: id.producer, Tag: l.tag, Body: event.Intact})
					sumOf += now - sent[id]
					delivered++
				}
				waiting = waiting[n:]
				l.Deliveries(&d)
			case 3: // a producer has a run of messages confirmed, again and again
				p := uint16(random.IntN(producers))
				if next[p] == 0 {
					continue
				}
				first := random.Uint64N(next[p])
				n := random.Uint64N(next[p]-first) + 1
				for seq := first; seq < first+n; seq++ {
					confirmSum += now - sent[message{p, seq}]
				}
				confirmed += int64(n)
				acked(l, p, now, event.SettledRun{First: first, N: uint32(n)})
			}
		}
		for i := range batches {
			l.Sends(&batches[i])
		}
		f := l.Total()
		if f.Delivery.Count != delivered || f.Delivery.SumNS != float64(sumOf) || f.Confirm.Count != confirmed || f.Confirm.SumNS != float64(confirmSum) || f.Delivery.Missed+f.Confirm.Missed != 0 {
			t.Errorf("seed %d: %+v, want %d deliveries of %d ns, %d confirms of %d ns", seed, f, delivered, sumOf, confirmed, confirmSum)
		}
	}
}
