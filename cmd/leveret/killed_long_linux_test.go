//go:build long

package main

import (
	"testing"
	"time"
)

// mostMissing is the flush interval that is promised, on a machine with nothing else to do.
const mostMissing = time.Second

func TestKilledAtFullSpeedTenTimes(t *testing.T) { killAtFullSpeed(t, 10) }
