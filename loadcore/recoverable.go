package loadcore

import (
	"sync"
	"sync/atomic"
)

// recoverable is what recovery has to do with a producer.
//
//	sending --suspend--> halted, cut --(whoever drives it) next--> stands aside --resume--> sending
//	    \_____________________________________\_______________________\___________halt--> halted, ended
type recoverable struct {
	cut    atomic.Bool // halted only until its channel is there again
	ended  atomic.Bool // halted for good
	done   atomic.Bool // nobody drives it any more
	cuts   atomic.Uint32
	aside  atomic.Uint32 // the last of cuts that it stands aside for
	mends  bool          // guarded by mending.mu: it is being recovered
	own    sync.Mutex    // held by who recovers it, and by who ends it: one that stands aside may be told to end meanwhile
	streak streak        // of the goroutine that recovers the lane by itself

	credit  int      // messages that room in the record was reserved for, and that were put back
	dues    *dueRing // nil where due times need not be kept
	doubt   doubt
	resends bool // what it sends at the moment was sent before
}
