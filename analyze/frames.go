package analyze

import (
	"leveret/analyze/quantile"
	"leveret/analyze/result"
	"leveret/capture/event"
)

// frameSizes counts the frames with which the broker acked or nacked, by how many messages each settled. Every message of a
// frame has a row that tells the frame's size, so that rows of a size divided by it are frames.
type frameSizes struct {
	rows []int64 // by size, up to mostFrame
}

// mostFrame is the largest confirm window there is; no frame of a broker settles more.
const mostFrame = 1 << 20

func (f *frameSizes) add(kinds []uint8, messages []uint32) {
	for i := 0; i < len(messages); {
		kind, n, j := kinds[i], messages[i], i+1
		for j < len(messages) && kinds[j] == kind && messages[j] == n {
			j++
		}
		if k := event.SettlementKind(kind); (k == event.Ack || k == event.Nack) && n > 0 && n <= mostFrame {
			for int(n) >= len(f.rows) {
				f.rows = append(f.rows, 0)
			}
			f.rows[n] += int64(j - i)
		}
		i = j
	}
}

// result is nil without confirms. Of a frame whose rows are not all there it counts one.
func (f *frameSizes) result() *result.FrameSizes {
	var frames, messages, largest int64
	counts := make([]int64, len(f.rows))
	for n, rows := range f.rows {
		if rows > 0 {
			size := int64(n)
			counts[n] = (rows + size - 1) / size
			frames, messages, largest = frames+counts[n], messages+rows, size
		}
	}
	if frames == 0 {
		return nil
	}
	at := func(p quantile.Percent) int64 {
		rank := int64(quantile.Rank(p, uint64(frames)))
		for n, c := range counts {
			if rank -= c; rank <= 0 {
				return int64(n)
			}
		}
		return largest
	}
	return &result.FrameSizes{
		Frames: frames, Mean: float64(messages) / float64(frames), P50: at(50 * quantile.One), P99: at(99 * quantile.One), Max: largest,
		Buckets: f.buckets(counts),
	}
}

// buckets put sizes together for the eye; counts are the frames of each size.
func (f *frameSizes) buckets(counts []int64) (all []result.FrameBucket) {
	bin := 0
	for n, frames := range counts {
		if frames == 0 {
			continue
		}
		if next := wholeScale.Bin(int64(n)); next != bin {
			low, high := wholeScale.Limits(next)
			all = append(all, result.FrameBucket{FromMessages: low, ToMessages: high})
			bin = next
		}
		b := &all[len(all)-1]
		b.Frames += frames
		b.Messages += f.rows[n]
	}
	return all
}
