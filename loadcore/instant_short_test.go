//go:build !long

package loadcore

// instantConfirms is how many messages the case C020 takes where time is short.
const instantConfirms = 100_000
