//go:build !unix

package capture

func quotaExceeded(error) bool { return false }
