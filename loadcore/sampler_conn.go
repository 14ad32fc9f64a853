package loadcore

import "sync/atomic"

// int64Counter is written by one goroutine and read by others.
type int64Counter struct{ atomic.Int64 }

func (c *int64Counter) add(n int64) { c.Store(c.Load() + n) }

// delivered counts the deliveries of one read call.
func (s *connSelf) delivered(n int64) {
	if n == 0 {
		return
	}
	s.deliveryReads.add(1)
	s.deliveries.add(n)
	if n > s.largest.Load() {
		s.largest.Store(n)
	}
}
