//go:build !long

package main

import "time"

// mostMissing allows for a machine on which other tests run at the same time; make test-long holds the second.
const mostMissing = 10 * time.Second
