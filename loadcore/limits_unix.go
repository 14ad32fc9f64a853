//go:build unix

package loadcore

import "golang.org/x/sys/unix"

// raiseDescriptors raises this process's limit of file descriptors to need, as far as the system allows, and returns what the
// limit is then, or could be.
func raiseDescriptors(need uint64) (limit uint64, known bool) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0, false
	}
	hard := uint64(r.Max)
	if uint64(r.Cur) >= need || hard <= uint64(r.Cur) {
		return uint64(r.Cur), true
	}
	r.Cur = r.Max
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		unix.Getrlimit(unix.RLIMIT_NOFILE, &r)
	}
	return uint64(r.Cur), true
}
