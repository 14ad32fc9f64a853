package loadcore

import (
	"context"

	"leveret/capture/event"
)

// NoRecord is a Recorder that drops everything at once: for measuring the engine by itself, and to embed where only some
// of the events are wanted. Nothing that it was given to is a load test.
type NoRecord struct{}

var _ Recorder = NoRecord{}

func (NoRecord) Reserve(ctx context.Context, rows int) error { return ctx.Err() }
func (NoRecord) TryReserve(rows int) bool                    { return true }
func (NoRecord) Sends(*event.Sends)                          {}
func (NoRecord) Settlements(*event.Settlements)              {}
func (NoRecord) Deliveries(*event.Deliveries)                {}
func (NoRecord) Acks(*event.Acks)                            {}
func (NoRecord) Connection(*event.Connection)                {}
func (NoRecord) Self(*event.Self) bool                       { return true }
func (NoRecord) Congested() bool                             { return false }
func (NoRecord) Err() error                                  { return nil }
