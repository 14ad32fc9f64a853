package loadcore

import (
	"context"

	"leveret/capture/event"
)

// Recorder takes the record of every event. A batch, and every slice in it, belongs to the caller again when the call
// returns. All calls are safe for concurrent use; the calls for one producer's sends, for one producer's settlements and
// for one consumer are serial.
type Recorder interface {
	// Reserve waits until there is room for rows more messages and all their settlements. It fails with the recorder's
	// sticky error, with its stall timeout, or when ctx ends, and then nothing is reserved.
	Reserve(ctx context.Context, rows int) error
	// TryReserve is Reserve where there is room now; else it is false, and nothing is reserved.
	TryReserve(rows int) bool
	// Sends records messages that were reserved before, as not sent (Sent is event.None) those that came to nothing; it does
	// not wait for the disk.
	Sends(*event.Sends)
	// Settlements records answers to messages that were reserved before; it does not wait for the disk.
	Settlements(*event.Settlements)
	// Deliveries records at once; it waits for a free block only as the last resort.
	Deliveries(*event.Deliveries)
	Acks(*event.Acks)
	Connection(*event.Connection)
	// Self records an interval of self-observation unless that had to wait for the disk: then it is false and nothing is
	// recorded.
	Self(*event.Self) bool
	// Congested says that deliveries outrun the disk: consumers with manual acks withhold acks, readers of consumers
	// with automatic acks pause.
	Congested() bool
	// Err is the sticky error; the engine stops the run with it.
	Err() error
}
