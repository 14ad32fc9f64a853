//go:build !linux

package loadcore

import "errors"

var errNoAffinity = errors.New("threads can be kept on a processor on Linux only")

func allowedCPUs() ([]int, error) { return nil, errNoAffinity }

func setAffinity(int) error { return errNoAffinity }
