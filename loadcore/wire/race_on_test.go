//go:build race

package wire

// raceEnabled: the race detector allocates where the program does not.
const raceEnabled = true
