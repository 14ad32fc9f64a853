package loadcore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"leveret/capture/event"
)

// memory is a Recorder that keeps everything. Its slices may be read once the run is over.
type memory struct {
	mu          sync.Mutex // guards the following
	sends       []event.Sends
	settlements []event.Settlements
	deliveries  []event.Deliveries
	acks        []event.Acks
	connections []event.Connection
	self        []event.Self
	refuseSelf  bool
	reserved    int64

	congested atomic.Bool
	err       atomic.Pointer[error]
	// reserve, where set, stands in for Reserve.
	reserve func(ctx context.Context, rows int) error
}

func (m *memory) Reserve(ctx context.Context, rows int) error {
	if m.reserve != nil {
		return m.reserve(ctx, rows)
	}
	if err := m.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	m.reserved += int64(rows)
	m.mu.Unlock()
	return nil
}

func (m *memory) TryReserve(rows int) bool {
	return m.reserve == nil && m.Reserve(context.Background(), rows) == nil
}

func (m *memory) Sends(s *event.Sends) {
	c := *s
	c.Due, c.Sizes, c.Routes = slices.Clone(s.Due), slices.Clone(s.Sizes), slices.Clone(s.Routes)
	m.mu.Lock()
	m.sends = append(m.sends, c)
	m.mu.Unlock()
}

func (m *memory) Settlements(s *event.Settlements) {
	c := *s
	c.Runs = slices.Clone(s.Runs)
	m.mu.Lock()
	m.settlements = append(m.settlements, c)
	m.mu.Unlock()
}

func (m *memory) Deliveries(d *event.Deliveries) {
	c := *d
	c.Rows = slices.Clone(d.Rows)
	m.mu.Lock()
	m.deliveries = append(m.deliveries, c)
	m.mu.Unlock()
}

func (m *memory) Acks(a *event.Acks) {
	m.mu.Lock()
	m.acks = append(m.acks, *a)
	m.mu.Unlock()
}

func (m *memory) Connection(c *event.Connection) {
	m.mu.Lock()
	m.connections = append(m.connections, *c)
	m.mu.Unlock()
}

func (m *memory) Self(s *event.Self) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuseSelf {
		return false
	}
	m.self = append(m.self, *s)
	return true
}

func (m *memory) Congested() bool { return m.congested.Load() }

func (m *memory) Err() error {
	if e := m.err.Load(); e != nil {
		return *e
	}
	return nil
}

func (m *memory) fail(err error) { m.err.Store(&err) }

// message identifies a message of one run.
type message struct {
	producer uint16
	seq      uint64
}

// sent maps every message that was sent to its batch, and fails the test if one was recorded twice or out of order, or if
// not all that was reserved was recorded.
func (m *memory) sent(t *testing.T) map[message]*event.Sends {
	t.Helper()
	all := map[message]*event.Sends{}
	next := map[uint16]uint64{}
	recorded := int64(0)
	for i := range m.sends {
		s := &m.sends[i]
		recorded += int64(s.N)
		if s.First != next[s.Producer] {
			t.Fatalf("producer %d: a batch begins at sequence %d, want %d", s.Producer, s.First, next[s.Producer])
		}
		next[s.Producer] += uint64(s.N)
		if s.Sent == event.None {
			continue
		}
		for k := range s.N {
			all[message{s.Producer, s.First + uint64(k)}] = s
		}
	}
	if m.reserve == nil && recorded != m.reserved {
		t.Fatalf("room was reserved for %d messages, and %d were recorded", m.reserved, recorded)
	}
	return all
}

// settled maps every message that was settled by kind to the time; twice is an error.
func (m *memory) settled(t *testing.T, kind event.SettlementKind) map[message]int64 {
	t.Helper()
	all := map[message]int64{}
	for i := range m.settlements {
		s := &m.settlements[i]
		for _, r := range s.Runs {
			for k := range uint64(r.N) {
				id := message{s.Producer, r.First + k}
				if r.Kind != kind {
					continue
				}
				if _, twice := all[id]; twice {
					t.Fatalf("%v settled twice", id)
				}
				all[id] = s.At
			}
		}
	}
	return all
}

// received maps every message to how often it was delivered intact, and counts bodies by what was found.
func (m *memory) received() (times map[message]int, bodies map[event.Body]int) {
	times, bodies = map[message]int{}, map[event.Body]int{}
	for i := range m.deliveries {
		for _, r := range m.deliveries[i].Rows {
			bodies[r.Body]++
			if r.Body == event.Intact {
				times[message{r.Producer, r.Seq}]++
			}
		}
	}
	return times, bodies
}

// states are the states that a connection went through.
func (m *memory) states(connection uint32) (states []event.ConnectionState) {
	for _, c := range m.connections {
		if c.Connection == connection && c.Producer == event.NoLane && c.Consumer == event.NoLane {
			states = append(states, c.State)
		}
	}
	return states
}
