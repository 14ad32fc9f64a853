package analyze

import (
	"context"
	"math/bits"
	"slices"

	"leveret/capture/event"
	"leveret/capture/schema"
)

// How many messages are looked at, to find out how clocks differ, and how many of their deliveries. Any message bounds the
// difference; more of them bound it closer, and those that met no queue closest.
const (
	passingSends      = 1 << 18
	passingDeliveries = 1 << 19
)

type passing struct {
	capture  int
	producer uint16
	seq      uint64
}

// passages finds messages that were sent by the clock of one host and received by that of another: an even sample.
func (a *analysis) passages(ctx context.Context, hosts []host) ([]passage, error) {
	of := make([]int, len(a.captures)) // host by capture
	for i, h := range hosts {
		for _, c := range h.captures {
			of[c.index] = i
		}
	}
	tags := map[uint16]int{}
	for _, c := range a.captures {
		if _, twice := tags[c.tag]; twice {
			return nil, nil // messages cannot be told apart
		}
		tags[c.tag] = c.index
	}
	var sends, deliveries []*batch
	var total int64
	for _, c := range a.captures {
		for _, b := range c.batches {
			switch b.kind {
			case schema.Sends:
				sends, total = append(sends, b), total+b.rows
			case schema.Deliveries:
				deliveries = append(deliveries, b)
			}
		}
	}
	if len(sends) == 0 || len(deliveries) == 0 {
		return nil, nil
	}
	thin := uint(0) // one message in 2^thin
	if total > passingSends {
		thin = uint(bits.Len64(uint64(total / passingSends)))
	}
	sent := map[passing]int64{}
	var found []passage
	err := feed(ctx, slices.Concat(sends, deliveries), nil, func(r *rows) error {
		if r.batch.kind == schema.Sends {
			noteSent(sent, r, thin)
		} else {
			found = noteReceived(found, sent, r, thin, tags, of)
		}
		return nil
	})
	return found, err
}

// chosen picks messages evenly, whatever the batches that they went in.
func chosen(seq uint64, thin uint) bool {
	const golden = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio: multiples of it lie evenly
	return thin == 0 || seq*golden>>(64-thin) == 0
}

func noteSent(sent map[passing]int64, r *rows, thin uint) {
	producer, seqs, at := u16(r.rec, schema.SendsProducer), u64(r.rec, schema.SendsSeq), i64(r.rec, schema.SendsSent)
	for i, seq := range seqs {
		if at[i] != event.None && chosen(seq, thin) && len(sent) < 2*passingSends {
			sent[passing{r.batch.capture.index, producer[i], seq}] = at[i]
		}
	}
}

func noteReceived(found []passage, sent map[passing]int64, r *rows, thin uint, tags map[uint16]int, of []int) []passage {
	tag, producer, seqs := u16(r.rec, schema.DeliveriesTag), u16(r.rec, schema.DeliveriesProducer), u64(r.rec, schema.DeliveriesSeq)
	at, body := i64(r.rec, schema.DeliveriesReceived), u8(r.rec, schema.DeliveriesBody)
	to := of[r.batch.capture.index]
	for i, seq := range seqs {
		if event.Body(body[i]) != event.Intact || !chosen(seq, thin) || len(found) >= passingDeliveries {
			continue
		}
		by, ours := tags[tag[i]]
		if !ours || of[by] == to {
			continue
		}
		if s, ok := sent[passing{by, producer[i], seq}]; ok {
			found = append(found, passage{from: of[by], to: to, sent: s, received: at[i]})
		}
	}
	return found
}
