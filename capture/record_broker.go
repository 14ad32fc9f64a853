package capture

import (
	"leveret/capture/event"
	"leveret/capture/schema"
)

// brokerKinds is how many kinds of rows come from the broker's management API.
const brokerKinds = int(schema.BrokerConnections-schema.BrokerNodes) + 1

// BrokerNode records what was said of a node. Like the other calls of its kind it never waits for the disk: where there is no
// room it is false, and nothing is recorded. None may be called where the manifest that the recording began with has no
// Management.
func (w *Writer) BrokerNode(n *event.BrokerNode) bool {
	return w.said(schema.BrokerNodes, schema.BrokerNodeFields(n))
}

// BrokerQueue records what was said of a queue or of the virtual host.
func (w *Writer) BrokerQueue(q *event.BrokerQueue) bool {
	return w.said(schema.BrokerQueues, schema.BrokerQueueFields(q))
}

// BrokerConnections records what was said of the connections.
func (w *Writer) BrokerConnections(c *event.BrokerConnections) bool {
	return w.said(schema.BrokerConnections, schema.BrokerConnectionFields(c))
}

// said records a row of a kind whose columns all have 64 bits.
func (w *Writer) said(k schema.Kind, fields []*int64) bool {
	sh := &w.broker[k-schema.BrokerNodes]
	sh.Lock()
	defer sh.Unlock()
	if sh.cur == nil && !w.free(k) {
		return false
	}
	b := w.room(&sh.slot)
	if b == nil {
		return false
	}
	for i, v := range fields {
		fill(b, i, b.rows, 1, *v)
	}
	w.added(&sh.slot, 1)
	return true
}
