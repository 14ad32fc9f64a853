package capture

import (
	"fmt"
	"sync"
	"sync/atomic"

	"leveret/capture/schema"
)

const kinds = len(schema.Kinds) + 1 // arrays by kind

// pools holds the blocks of every kind. A block is current in a shard, in the queue or with the flusher, or
// free; what was never needed is not made yet and counts as free.
type pools struct {
	// Fixed when planned.
	rows   [kinds]int // in a block
	limit  [kinds]int // blocks
	shards int
	bound  int64 // bytes of all blocks and of the flusher's buffers

	congested atomic.Bool // see judge

	mu sync.Mutex
	// guards the following
	free   [kinds][]*block
	made   [kinds]int
	wake   chan struct{} // closed and replaced when somebody waits and something has changed
	stalls stalls
}

// MinMemory is the least that Options.Memory can be with one shard and any compression, in bytes.
const MinMemory = 3 << 20

// rareRows are the rows in a block of the kinds that do not come by the million.
var rareRows = map[schema.Kind]int{
	schema.Connections: connectionRows, schema.Self: selfRows, schema.Churn: churnRows,
	schema.BrokerNodes: brokerRows, schema.BrokerQueues: brokerRows, schema.BrokerConnections: brokerRows,
}

// plan divides memory among the kinds that the capture has files of: the same number of blocks for each kind of rows that comes by
// the million, few small ones for the others. With little memory blocks shrink before they become too few: one may be current in
// each shard, one with the flusher, and at least one must be free then.
func (p *pools) plan(memory int64, shards int, of []schema.Kind, c schema.Compression) error {
	hot := []schema.Kind{schema.Sends, schema.Writes, schema.Settlements, schema.Deliveries, schema.Acks}
	p.shards = shards
	p.wake = make(chan struct{})
	const rareBlocks = 3
	ofRare := int64(0)
	for _, k := range of {
		if rows, ok := rareRows[k]; ok {
			p.rows[k], p.limit[k] = rows, rareBlocks
			ofRare += rareBlocks * blockBytes(k, rows)
		}
	}
	for rows := blockRows; ; rows /= 2 {
		each, largest := int64(0), int64(0)
		for _, k := range hot {
			each += blockBytes(k, rows)
			largest = max(largest, blockBytes(k, rows))
		}
		fixed := ofRare + encoderBytes(c, largest)
		n := (memory - fixed) / each
		if n < int64(2*shards+4) && rows > leastBlockRows {
			continue
		}
		if n < int64(shards+2) {
			return fmt.Errorf("memory %d bytes: %d shards need %d", memory, shards, fixed+int64(shards+2)*each)
		}
		for _, k := range hot {
			p.rows[k], p.limit[k] = rows, int(n)
		}
		p.bound = fixed + n*each
		return nil
	}
}

// encoderBytes bounds the flusher's own memory: the compressed form of a block, metadata, bitmaps.
func encoderBytes(c schema.Compression, largest int64) int64 {
	const small = 64 << 10
	switch c {
	case schema.LZ4:
		return small + largest + largest/8
	case schema.Zstd:
		return small + largest + largest/8 + 2<<20 // tables of the encoder
	}
	return small
}

func (p *pools) total() int {
	n := 0
	for _, l := range p.limit {
		n += l
	}
	return n
}

// available counts the blocks that take would give at once. p.mu is held.
func (p *pools) available(k schema.Kind) int { return len(p.free[k]) + p.limit[k] - p.made[k] }

// get returns a free block, or nil; make says that the caller shall make one, which it does outside the mutex.
func (p *pools) get(k schema.Kind) (b *block, make bool) {
	if n := len(p.free[k]); n > 0 {
		b = p.free[k][n-1]
		p.free[k] = p.free[k][:n-1]
		return b, false
	}
	if p.made[k] < p.limit[k] {
		p.made[k]++
		return nil, true
	}
	return nil, false
}

// giveBack frees a block that the flusher is done with.
func (p *pools) giveBack(k schema.Kind, b *block) {
	p.mu.Lock()
	p.free[k] = append(p.free[k], b)
	p.judge(k)
	p.signal()
	p.mu.Unlock()
}

// judge looks at what is left for deliveries: less than a third means that they outrun the disk. The third is for what is
// on its way when consumers learn of it. p.mu is held.
func (p *pools) judge(k schema.Kind) {
	if k == schema.Deliveries || k == schema.Acks {
		least := min(max(p.limit[k]/3, 1), p.limit[k]-p.shards) // the latter is what is available when all is written
		p.congested.Store(p.available(schema.Deliveries) < least || p.available(schema.Acks) < least)
	}
}

// signal lets everybody who waits look again. p.mu is held.
func (p *pools) signal() {
	if p.stalls.waiting > 0 {
		close(p.wake)
		p.wake = make(chan struct{})
	}
}

func (p *pools) wakeAll() {
	p.mu.Lock()
	p.signal()
	p.mu.Unlock()
}
