package loadcore

import (
	"math"
	"runtime/debug"
	"runtime/metrics"

	"leveret/capture/event"
)

// processMeter reads what the runtime and the system tell of the whole process.
type processMeter struct {
	samples [4]metrics.Sample
	waited  []uint64 // counts of the scheduling latencies at the last reading
	gc      debug.GCStats
	cycles  int64
	pause   int64
	cpu     int64
}

const (
	metricSched = iota
	metricObjects
	metricUnused
	metricGoroutines
)

// newProcessMeter has made its first reading, from which the next one counts.
func newProcessMeter() *processMeter {
	m := new(processMeter)
	for i, name := range [...]string{
		metricSched: "/sched/latencies:seconds", metricObjects: "/memory/classes/heap/objects:bytes",
		metricUnused: "/memory/classes/heap/unused:bytes", metricGoroutines: "/sched/goroutines:goroutines",
	} {
		m.samples[i].Name = name
	}
	m.read(new(event.Self))
	return m
}

// read fills in the figures of the process since the last reading.
func (m *processMeter) read(s *event.Self) {
	metrics.Read(m.samples[:])
	number := func(i int) int64 {
		if m.samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(m.samples[i].Value.Uint64())
	}
	s.HeapBytes = number(metricObjects) + number(metricUnused)
	s.Goroutines = number(metricGoroutines)
	s.SchedLatencyP99NS = event.None
	if v := m.samples[metricSched].Value; v.Kind() == metrics.KindFloat64Histogram {
		s.SchedLatencyP99NS = m.schedLatency(v.Float64Histogram())
	}
	debug.ReadGCStats(&m.gc)
	s.GCCycles, m.cycles = m.gc.NumGC-m.cycles, m.gc.NumGC
	pause := int64(m.gc.PauseTotal)
	s.GCPauseNS, m.pause = pause-m.pause, pause
	s.CPUNS = event.None
	if cpu := cpuTime(); cpu != 0 {
		s.CPUNS, m.cpu = cpu-m.cpu, cpu
	}
}

// schedLatency is the 99th percentile of what was added to the histogram since the last reading.
func (m *processMeter) schedLatency(h *metrics.Float64Histogram) int64 {
	if m.waited == nil {
		m.waited = make([]uint64, len(h.Counts))
	}
	total := uint64(0)
	for i, n := range h.Counts {
		n, m.waited[i] = n-m.waited[i], n
		h.Counts[i] = n // ours until the next reading
		total += n
	}
	if total == 0 {
		return event.None
	}
	rank := (total*99 + 99) / 100
	for i, n := range h.Counts {
		if rank > n {
			rank -= n
			continue
		}
		bound := h.Buckets[i+1]
		if math.IsInf(bound, 0) { // above all bounds there are
			bound = h.Buckets[i]
		}
		return int64(bound * 1e9)
	}
	return event.None
}
