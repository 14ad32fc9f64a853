package main

import (
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lock keeps other processes from going on with the suite's directory meanwhile: each would take the other's row for one that was
// interrupted. The system ends it with this process, whatever becomes of that. Where the file system knows no locks, there is none.
func (c *suiteRun) lock() error {
	l := flock.New(filepath.Join(c.dir, "suite.lock"))
	held, err := l.TryLock()
	switch {
	case err != nil:
		fmt.Fprintf(c.err, "warning: %s can't be locked (%v): no other process may run this suite meanwhile\n", c.dir, err)
	case !held:
		return fmt.Errorf("%s: another process runs this suite: wait for it, or end it", c.dir)
	default:
		c.unlock = func() { l.Close() }
	}
	return nil
}
