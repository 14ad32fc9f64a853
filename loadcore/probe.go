package loadcore

import (
	"context"
	"errors"
	"time"

	"leveret/capture/manifest"
)

// ConnectOptions are the limits of one connection; zero values take the defaults of a Plan.
type ConnectOptions struct {
	Name       string // shown by the broker
	Timeout    time.Duration
	FrameMax   uint32
	ChannelMax uint16
	Heartbeat  time.Duration // negative: none
}

// Probe connects, learns what the broker says about itself and what it allows, and closes. Errors are *ConnectError.
func Probe(ctx context.Context, ep Endpoint, o ConnectOptions) (manifest.Broker, error) {
	return manifest.Broker{}, errors.New("not built yet")
}
