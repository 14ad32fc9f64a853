package loadcore

import (
	"context"
	"errors"

	"leveret/capture/manifest"
)

// Run connects, waits until every lane is ready, offers the load, stops, drains and closes. Cancelling ctx stops
// publishing; draining and closing follow in their bounds. The error says that the run could not begin, or that its record
// failed; lanes that ended early are Failures of the outcome.
func Run(ctx context.Context, plan *Plan, rec Recorder) (*manifest.Outcome, error) {
	return nil, errors.New("not built yet")
}

