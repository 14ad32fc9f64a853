package event

import "time"

// Clock is the process's one clock: monotonic, anchored once to the wall clock, so that a wall clock that jumps during a
// run moves no recorded time. Safe for concurrent use.
type Clock struct {
	base   time.Time // holds the monotonic reading that belongs to anchor
	anchor int64
}

// NewClock anchors a clock to the wall clock as it is now.
func NewClock() *Clock {
	now := time.Now()
	return &Clock{base: now, anchor: now.UnixNano()}
}

// Now returns nanoseconds since the Unix epoch.
func (c *Clock) Now() int64 { return c.anchor + int64(time.Since(c.base)) }

// Snapshot reads every clock that a later join of several captures needs, at one moment.
type Snapshot struct {
	ClockNS     int64  `json:"clock_ns"`     // Clock.Now
	WallNS      int64  `json:"wall_ns"`      // the wall clock, which may have been stepped since the anchor
	MonotonicNS int64  `json:"monotonic_ns"` // the system's raw monotonic clock; 0 where the system has none to offer
	BootID      string `json:"boot_id"`      // captures with the same boot id share the monotonic clock; "" if unknown
	// WallErrorNS is the most by which the wall clock may differ from UTC, as the system says while something keeps it
	// synchronized (Linux: maxerror of adjtimex); 0 if unknown.
	WallErrorNS int64 `json:"wall_error_ns,omitempty"`
}

// Snapshot reads the clocks, the clock of the record first.
func (c *Clock) Snapshot() Snapshot {
	return Snapshot{ClockNS: c.Now(), WallNS: time.Now().UnixNano(), MonotonicNS: monotonic(), BootID: bootID(), WallErrorNS: wallError()}
}

// Shares tells whether two snapshots were made since one boot of one machine: then both know the same raw monotonic clock.
func (s *Snapshot) Shares(o *Snapshot) bool {
	return s.BootID != "" && s.BootID == o.BootID && s.MonotonicNS != 0 && o.MonotonicNS != 0
}

// TimeOf is the moment of another snapshot on the clock that s is of, in nanoseconds since the Unix epoch. exact is false where
// they share no monotonic clock: then it is the wall clock's time of o, as far off as the wall clocks are.
func (s *Snapshot) TimeOf(o *Snapshot) (ns int64, exact bool) {
	if s.Shares(o) {
		return s.ClockNS + o.MonotonicNS - s.MonotonicNS, true
	}
	return o.WallNS, false
}
