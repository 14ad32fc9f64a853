//go:build !long

package analyze

// Samples; make test-long has more.
const (
	cutsOfAFile  = 20
	randomDamage = 150

	recordedHistories = 80
	shownHistories    = 1000
)
