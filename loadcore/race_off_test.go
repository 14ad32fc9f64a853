//go:build !race

package loadcore

const raceDetector = false
