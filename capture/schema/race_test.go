//go:build race

package schema

// raceEnabled: the race detector allocates on its own.
const raceEnabled = true
