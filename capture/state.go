package capture

// State is how a recording goes at one moment.
type State struct {
	Rows  int64 // on the disk, of all kinds; the others follow within the flush interval
	Bytes int64 // of them, as they are written
	Lost  int64 // rows that could not be recorded
	// Waiting: publishing, or at the last a reader, waits for the disk. Congested: consumers hold back because of it.
	Waiting, Congested bool
	Stalls             int   // spans of waiting that have ended; those that are close to each other count as one
	StallNS            int64 // time waited, the wait under way included
}

// State tells how the recording goes. It may be called at any time, and costs nothing to speak of.
func (w *Writer) State() State {
	s := State{Rows: w.disk.rows.Load(), Bytes: w.disk.bytes.Load(), Congested: w.Congested()}
	for i := range w.lost {
		s.Lost += w.lost[i].Load()
	}
	now := w.clock.Now()
	w.pools.mu.Lock()
	defer w.pools.mu.Unlock()
	st := &w.pools.stalls
	s.Waiting, s.Stalls, s.StallNS = st.waiting > 0, len(st.spans), st.totalNS
	if s.Waiting {
		s.StallNS += max(now-st.since, 0)
	}
	return s
}
