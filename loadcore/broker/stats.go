package broker

import "sync/atomic"

// counters are what the server counts, mostly once a turn of a connection.
type counters struct {
	connected    atomic.Uint64
	published    atomic.Uint64
	delivered    atomic.Uint64
	acknowledged atomic.Uint64
	returned     atomic.Uint64
	faults       [faultKinds]atomic.Uint64
}

// Stats is a snapshot of a Server. Its figures are taken one after the other, not at one instant.
type Stats struct {
	Connections      int    // open now
	ConnectionsTotal uint64 // since the start
	Queues           int
	Ready            uint64 // messages in queues
	Unacked          uint64 // messages with consumers
	Published        uint64 // messages taken, over all connections; the number of the last one for faults
	Delivered        uint64 // deliveries, redeliveries and basic.get included
	Acknowledged     uint64 // acks, and rejects without requeue
	Returned         uint64 // messages sent back to their publishers
	MemoryBytes      int64  // held by messages, as counted against Options.MaxMemory
	Blocked          bool   // publishers are not read
	// Faults is how often each kind was applied, by FaultKind.
	Faults [faultKinds]uint64
}

// Stats returns the server's figures. Its cost grows with the number of queues; it is for once a second, not for once a message.
func (s *Server) Stats() Stats {
	st := Stats{
		ConnectionsTotal: s.stats.connected.Load(),
		Published:        s.stats.published.Load(),
		Delivered:        s.stats.delivered.Load(),
		Acknowledged:     s.stats.acknowledged.Load(),
		Returned:         s.stats.returned.Load(),
		MemoryBytes:      s.mem.used.Load(),
		Blocked:          s.mem.alarmed(),
	}
	for i := range st.Faults {
		st.Faults[i] = s.stats.faults[i].Load()
	}
	s.mu.Lock()
	st.Connections = len(s.conns)
	s.mu.Unlock()
	for _, v := range s.vhosts {
		v.mu.RLock()
		st.Queues += len(v.queues)
		for _, q := range v.queues {
			q.mu.Lock()
			st.Ready += uint64(q.ready.n + len(q.held))
			st.Unacked += uint64(max(q.unacked, 0))
			q.mu.Unlock()
		}
		v.mu.RUnlock()
	}
	return st
}
