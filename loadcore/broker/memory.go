package broker

import (
	"sync"
	"sync/atomic"
)

// memory counts the bytes of all slabs in use and raises the alarm when they pass the limit. While an alarm is raised,
// connections that publish are not read (see (*conn).block); everything else goes on, so consumers can free memory.
type memory struct {
	used        atomic.Int64
	limit, calm int64        // raised above limit, lowered at calm or less
	alarms      atomic.Int32 // bit per alarm

	mu      sync.Mutex
	cleared chan struct{} // closed and replaced when the last alarm is lowered
}

const (
	alarmMemory int32 = 1 << iota
	alarmFault
)

func newMemory(limit int64) *memory {
	// The distance between the two keeps publishers from being woken for every slab that is freed.
	return &memory{limit: limit, calm: limit - limit/8, cleared: make(chan struct{})}
}

func (m *memory) add(n int64) {
	used := m.used.Add(n)
	if n > 0 && used > m.limit && m.alarms.Load()&alarmMemory == 0 {
		m.set(alarmMemory, true)
	}
	if n < 0 && used <= m.calm && m.alarms.Load()&alarmMemory != 0 {
		m.set(alarmMemory, false)
	}
}

// set raises or lowers one alarm.
func (m *memory) set(alarm int32, raised bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.alarms.Load()
	now := old &^ alarm
	if raised {
		now |= alarm
	}
	m.alarms.Store(now)
	// Whoever freed memory before the alarm was visible did not lower it, so look again now that it is.
	if raised && alarm == alarmMemory && m.used.Load() <= m.calm {
		now &^= alarmMemory
		m.alarms.Store(now)
	}
	if old != 0 && now == 0 {
		close(m.cleared)
		m.cleared = make(chan struct{})
	}
}

func (m *memory) alarmed() bool { return m.alarms.Load() != 0 }

// wait returns a channel that is closed when no alarm is raised any more, nil if none is raised now.
func (m *memory) wait() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.alarms.Load() == 0 {
		return nil
	}
	return m.cleared
}
