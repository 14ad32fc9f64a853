//go:build !linux

package event

// monotonic has no portable form in the standard library: captures made here are joined by wall clock.
func monotonic() int64 { return 0 }

func bootID() string { return "" }

func wallError() int64 { return 0 }
