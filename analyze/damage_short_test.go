//go:build !long

package analyze

// A sample; make test-long has all places.
const (
	cutsOfAFile  = 20
	randomDamage = 150
)
