package loadcore

import "sync"

// orders are what a connection's reader is to do for somebody else, as it alone may: control plane.
type orders struct {
	mu   sync.Mutex // guards the following
	left []func()
}

// carryOut does all of them.
func (o *orders) carryOut() {
	o.mu.Lock()
	left := o.left
	o.left = nil
	o.mu.Unlock()
	for _, do := range left {
		do()
	}
}

// onReader has the reader call do between two reads, and waits for it; where the reader has ended it calls do itself.
func (c *conn) onReader(do func()) {
	done := make(chan struct{})
	c.orders.mu.Lock()
	c.orders.left = append(c.orders.left, func() {
		do()
		close(done)
	})
	c.orders.mu.Unlock()
	c.poke()
	select {
	case <-done:
	case <-c.dead:
		c.readers.Wait()
		c.orders.carryOut()
	}
}
