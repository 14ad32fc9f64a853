// Package capture records what happened to every message of a run into a capture directory: Arrow files, a journal, and
// a manifest. The format is described in schema/FORMAT.md.
//
// What flows in are batches of events (package event), through one typed call a kind; what flows out are files. A call
// takes the mutex of a shard once and copies the batch straight into columns; the batch belongs to the caller again when
// the call returns. Full blocks of columns are handed to one flusher goroutine, which writes them, notes each in the
// journal, and gives them back:
//
//	lanes -> shard: current block -> queue -> flusher -> KIND-NN.arrow, journal
//	             ^------------- free blocks <-------'
//
// Blocks are all the memory there is. When the disk cannot follow, they run out, and then publishing waits:
//
//	w, err := capture.Create(dir, &start, clock, capture.Options{})
//	for each batch {
//		if err := w.Reserve(ctx, n); err != nil { stop }  // before the write
//		...
//		w.Sends(&sends)                                    // after it; never waits for the disk
//	}
//	err = w.Close(&final)
package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// Defaults of Options.
const (
	DefaultCompression   = "lz4" // FORMAT.md has the measurements
	DefaultMemory        = 64 << 20
	DefaultFlushInterval = time.Second
	DefaultStallTimeout  = 30 * time.Second
)

// Options of a recording. The zero value is the default of each.
type Options struct {
	// Compression of the columns: "none", "lz4" or "zstd".
	Compression string
	// Memory bounds all blocks and buffers of the recorder, in bytes; at least MinMemory.
	Memory int64
	// FlushInterval bounds how long a row stays in memory only, and so what a killed process loses.
	FlushInterval time.Duration
	// StallTimeout is how long one call may wait for the disk before the recording fails.
	StallTimeout time.Duration
	// Fsync makes every batch durable before the journal vouches for it, so that a power loss costs no more than a kill.
	Fsync bool
	// Shards is the number of files of each kind that many lanes write at once; lanes beyond it share.
	Shards int

	disk disk // nil: the real one; tests put faults here
}

func (o Options) resolved() (Options, schema.Compression, error) {
	if o.Compression == "" {
		o.Compression = DefaultCompression
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.FlushInterval == 0 {
		o.FlushInterval = DefaultFlushInterval
	}
	if o.StallTimeout == 0 {
		o.StallTimeout = DefaultStallTimeout
	}
	if o.Shards == 0 {
		o.Shards = min(max(runtime.GOMAXPROCS(0)/2, 1), maxDefaultShards)
	}
	if o.disk == nil {
		o.disk = osDisk{}
	}
	c, err := schema.ParseCompression(o.Compression)
	switch {
	case err != nil:
	case o.FlushInterval < 0 || o.StallTimeout < 0:
		err = fmt.Errorf("flush interval %v, stall timeout %v: neither may be negative", o.FlushInterval, o.StallTimeout)
	case o.Shards < 0 || o.Shards > maxShards:
		err = fmt.Errorf("shards %d: 1 to %d are possible", o.Shards, maxShards)
	}
	return o, c, err
}

const (
	// A lane holds a shard's mutex for some nanoseconds a row, so that few shards serve many lanes; each costs files.
	maxDefaultShards = 4
	maxShards        = 99 // two digits in the file name
)

// Writer records one run. It satisfies the load core's Recorder. All methods are safe for concurrent use, but the calls
// of one producer or consumer must not overlap.
type Writer struct {
	dir     string
	clock   *event.Clock
	options Options
	start   manifest.Manifest

	publish     []publishShard
	settlements []shard
	deliveries  []shard
	acks        []shard
	connections shard
	self        shard
	broker      [brokerKinds]shard // what the management API says, by kind from schema.BrokerNodes on
	churn       shard

	pools    pools
	accounts accounts
	queue    chan *block // full blocks; has room for all there are, so that sending never waits
	disk     writtenDisk
	done     chan struct{} // closed when the flusher has ended

	failure   atomic.Pointer[error] // sticky
	broken    atomic.Bool           // what is queued cannot be written any more
	closing   atomic.Bool
	lost      [len(schema.Kinds) + 1]atomic.Int64 // rows that could not be recorded, by kind
	closeOnce sync.Once
	closeErr  error
}

// Create begins a capture in dir, which must be empty or not exist yet. start is written as start.json; its ID must fit
// schema.CheckID, and its producers tell which of them wait for confirms. The clock is the one the events are timed with.
// On an error nothing is left behind but, where it made them, the directories above dir.
func Create(dir string, start *manifest.Manifest, clock *event.Clock, o Options) (*Writer, error) {
	o, compression, err := o.resolved()
	if err != nil {
		return nil, fmt.Errorf("recording options: %w", err)
	}
	if err := schema.CheckID(start.ID); err != nil {
		return nil, fmt.Errorf("recording into %s: %w", dir, err)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("recording: this machine is big endian, the format's columns are not")
	}
	w := &Writer{
		dir: dir, clock: clock, options: o, start: *start,
		accounts: newAccounts(start.Producers),
		done:     make(chan struct{}),
	}
	w.start.FormatVersion = manifest.FormatVersion
	w.start.Outcome, w.start.Recording = nil, nil
	if err := w.plan(compression); err != nil {
		return nil, fmt.Errorf("recording options: %w", err)
	}
	if err := w.disk.create(w, compression); err != nil {
		return nil, fmt.Errorf("recording into %s: %w", dir, err)
	}
	go w.flush()
	return w, nil
}

// plan makes shards and pools within the memory limit.
func (w *Writer) plan(c schema.Compression) error {
	n := w.options.Shards
	w.publish = make([]publishShard, n)
	w.settlements, w.deliveries, w.acks = make([]shard, n), make([]shard, n), make([]shard, n)
	for i := range n {
		w.publish[i].sends = slot{kind: schema.Sends, shard: uint16(i)}
		w.publish[i].writes = slot{kind: schema.Writes, shard: uint16(i)}
		w.settlements[i].slot = slot{kind: schema.Settlements, shard: uint16(i)}
		w.deliveries[i].slot = slot{kind: schema.Deliveries, shard: uint16(i)}
		w.acks[i].slot = slot{kind: schema.Acks, shard: uint16(i)}
	}
	w.connections.slot, w.self.slot, w.churn.slot = slot{kind: schema.Connections}, slot{kind: schema.Self}, slot{kind: schema.Churn}
	for i := range w.broker {
		w.broker[i].slot = slot{kind: schema.BrokerNodes + schema.Kind(i)}
	}
	if err := w.pools.plan(w.options.Memory, n, w.kinds(), c); err != nil {
		return err
	}
	w.queue = make(chan *block, w.pools.total()+1) // and the end mark
	return nil
}

// Dir is the capture directory.
func (w *Writer) Dir() string { return w.dir }

// MemoryBytes bounds what the recorder's blocks and buffers take; most of it is allocated only when it is needed.
func (w *Writer) MemoryBytes() int64 { return w.pools.bound }

// Err is the error that the recording failed with, nil while it goes on. It is sticky: the run should stop with it. Rows
// that come after it are recorded as far as that is still possible, else counted as lost.
func (w *Writer) Err() error {
	if p := w.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// fail makes err the recording's error unless it has one, and ends all waiting.
func (w *Writer) fail(err error) {
	err = fmt.Errorf("recording into %s: %w", w.dir, err)
	if w.failure.CompareAndSwap(nil, &err) {
		w.pools.wakeAll()
	}
}

// path of a file of the capture.
func (w *Writer) path(name string) string { return filepath.Join(w.dir, name) }

// lose counts rows that have no place any more.
func (w *Writer) lose(k schema.Kind, rows int) { w.lost[k].Add(int64(rows)) }
