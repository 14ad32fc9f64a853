//go:build unix

package capture

import (
	"errors"
	"syscall"
)

// quotaExceeded tells whether the user, and not the disk, has no room left.
func quotaExceeded(err error) bool {
	return errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
