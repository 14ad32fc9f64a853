//go:build race

package loadcore

// raceDetector allocates on its own: allocation tests mean nothing under it.
const raceDetector = true
