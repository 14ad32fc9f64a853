//go:build race

package capture

// raceEnabled: the race detector allocates on its own.
const raceEnabled = true
