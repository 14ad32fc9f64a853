package schema

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"leveret/capture/event"
)

const benchRows = 16 << 10 // a block of the recorder

// closedLoop makes a block of each of the three kinds that come by the million, as a run without rate has them: batches
// of up to 200 messages of four producers, settled and delivered in groups.
func closedLoop() map[Kind][][]byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var producer, zero, tag []uint16
	var seq, deliveryTag []uint64
	var due, sent, settled, received []int64
	var size, frame []uint32
	var one, no []uint8
	var next [4]uint64
	now := int64(1_795_000_000_000_000_000)
	for len(seq) < benchRows {
		p, n := rng.IntN(4), 1+rng.IntN(200)
		now += int64(n)*10_000 + rng.Int64N(9_000)
		for range min(n, benchRows-len(seq)) {
			producer, zero, tag = append(producer, uint16(p)), append(zero, 0), append(tag, 777)
			seq, deliveryTag = append(seq, next[p]), append(deliveryTag, uint64(len(seq)+1))
			due, sent = append(due, event.None), append(sent, now)
			settled, received = append(settled, now+900_000+int64(p)), append(received, now+950_000+int64(n))
			size, frame = append(size, 12), append(frame, uint32(n))
			one, no = append(one, 1), append(no, 0)
			next[p]++
		}
	}
	return map[Kind][][]byte{
		Sends:       {le(producer...), le(seq...), le(due...), le(sent...), le(size...), le(zero...)},
		Settlements: {le(producer...), le(seq...), one, le(settled...), le(frame...)},
		Deliveries: {le(zero...), le(zero...), le(tag...), le(producer...), le(seq...), le(received...), le(deliveryTag...),
			le(due...), le(size...), one, no},
	}
}

// BenchmarkEncodeRows makes batches: time a row and bytes a row, by kind and compression, no file.
func BenchmarkEncodeRows(b *testing.B) { benchmarkRows(b, false) }

// BenchmarkDecodeRows checks batches and makes records of them.
func BenchmarkDecodeRows(b *testing.B) { benchmarkRows(b, true) }

func benchmarkRows(b *testing.B, decode bool) {
	data := closedLoop()
	for _, k := range []Kind{Sends, Settlements, Deliveries} {
		for _, c := range compressions {
			b.Run(k.String()+"/"+c.String(), func(b *testing.B) {
				e := NewBatchEncoder(c)
				msg, _ := encode(b, c, k, benchRows, data[k])
				d := NewDecoder(Head{Kind: k}, memory.DefaultAllocator)
				b.ReportAllocs()
				for b.Loop() {
					if !decode {
						e.Encode(k, benchRows, data[k])
						continue
					}
					rec, err := d.Decode(msg)
					if err != nil {
						b.Fatal(err)
					}
					rec.Release()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
				b.ReportMetric(float64(len(msg))/benchRows, "B/row")
			})
		}
	}
}
