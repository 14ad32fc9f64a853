//go:build long

package loadcore

// instantConfirms is how many messages the case C020 asks for.
const instantConfirms = 1_000_000
