package analyze

import (
	"fmt"
	"time"

	"leveret/capture/manifest"
)

// latencyRemarks say what of the latencies is the plan's doing and not the broker's.
func (a *analysis) latencyRemarks() (remarks []string) {
	var socket, queue, transactions bool
	var poll, begin int64
	for _, c := range a.captures {
		if c.manifest == nil {
			continue
		}
		for i := range c.manifest.Producers {
			transactions = transactions || c.manifest.Producers[i].TxSize > 1
		}
		for i := range c.manifest.Consumers {
			x := &c.manifest.Consumers[i]
			if throttled(x) && !x.Polling {
				socket, queue = socket || x.AutoAck, queue || !x.AutoAck
			}
			if x.Polling {
				poll = max(poll, x.PollIntervalNS)
			}
			begin = max(begin, x.StartDelayNS)
		}
	}
	add := func(is bool, format string, args ...any) {
		if is {
			remarks = append(remarks, fmt.Sprintf(format, args...))
		}
	}
	add(socket, "Consumers with automatic acks read no faster than their rate or work allows: received, and so delivery latency, includes the wait in the client.")
	add(queue, "Consumers with manual acks are slowed by their rate or work: delivery latency includes the wait in the queue for them.")
	add(poll > 0, "Consumers poll, and wait %v after each answer: delivery latency includes up to that.", time.Duration(poll))
	add(begin > 0, "Consumers begin up to %v after the start: delivery latency includes the wait for them.", time.Duration(begin))
	if c := &a.clocks; c.crossed && !c.refused {
		add(true, "Delivery latencies between hosts are exact to %v: their clocks were related by messages or by what their systems say.", atMost(c.errorNS))
	}
	add(transactions, "Messages of a transaction reach their queues when it is committed: delivery latency includes the wait for the rest of it.")
	return remarks
}

// throttled tells whether the plan holds a consumer back.
func throttled(c *manifest.Consumer) bool {
	if c.Rate.Messages > 0 {
		return true
	}
	for _, w := range c.Work {
		if w.WorkNS > 0 {
			return true
		}
	}
	return false
}
