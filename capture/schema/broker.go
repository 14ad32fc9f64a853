package schema

import "leveret/capture/event"

// Positions of the columns of BrokerNodes; part of the format.
const (
	BrokerNodesAt = iota
	BrokerNodesNode
	BrokerNodesRunning
	BrokerNodesMemory
	BrokerNodesMemoryLimit
	BrokerNodesMemoryAlarm
	BrokerNodesDiskFree
	BrokerNodesDiskLimit
	BrokerNodesDiskAlarm
	BrokerNodesCPU
	BrokerNodesRunQueue
	BrokerNodesFileDescriptors
	BrokerNodesSockets
	BrokerNodesProcesses
	BrokerNodesWritten
	BrokerNodesRead
	BrokerNodesSyncs
)

var brokerNodesColumns = []Column{
	BrokerNodesAt:              {Name: "at_ns", Type: I64},
	BrokerNodesNode:            {Name: "node", Type: I64, Amount: true},
	BrokerNodesRunning:         figure("running"),
	BrokerNodesMemory:          figure("memory_bytes"),
	BrokerNodesMemoryLimit:     figure("memory_limit_bytes"),
	BrokerNodesMemoryAlarm:     figure("memory_alarm"),
	BrokerNodesDiskFree:        figure("disk_free_bytes"),
	BrokerNodesDiskLimit:       figure("disk_limit_bytes"),
	BrokerNodesDiskAlarm:       figure("disk_alarm"),
	BrokerNodesCPU:             figure("cpu_ns"),
	BrokerNodesRunQueue:        figure("run_queue"),
	BrokerNodesFileDescriptors: figure("file_descriptors"),
	BrokerNodesSockets:         figure("sockets"),
	BrokerNodesProcesses:       figure("processes"),
	BrokerNodesWritten:         figure("written_bytes"),
	BrokerNodesRead:            figure("read_bytes"),
	BrokerNodesSyncs:           figure("syncs"),
}

// Positions of the columns of BrokerQueues; part of the format.
const (
	BrokerQueuesAt = iota
	BrokerQueuesQueue
	BrokerQueuesReady
	BrokerQueuesUnacked
	BrokerQueuesBytes
	BrokerQueuesConsumers
	BrokerQueuesMemory
	BrokerQueuesPublished
	BrokerQueuesConfirmed
	BrokerQueuesReturned
	BrokerQueuesDropped
	BrokerQueuesDelivered
	BrokerQueuesDeliveredNoAck
	BrokerQueuesGot
	BrokerQueuesGotNoAck
	BrokerQueuesAcked
	BrokerQueuesRedelivered
	BrokerQueuesRunning
)

var brokerQueuesColumns = []Column{
	BrokerQueuesAt:             {Name: "at_ns", Type: I64},
	BrokerQueuesQueue:          figure("queue"),
	BrokerQueuesReady:          figure("ready"),
	BrokerQueuesUnacked:        figure("unacked"),
	BrokerQueuesBytes:          figure("bytes"),
	BrokerQueuesConsumers:      figure("consumers"),
	BrokerQueuesMemory:         figure("memory_bytes"),
	BrokerQueuesPublished:      figure("published"),
	BrokerQueuesConfirmed:      figure("confirmed"),
	BrokerQueuesReturned:       figure("returned"),
	BrokerQueuesDropped:        figure("dropped"),
	BrokerQueuesDelivered:      figure("delivered"),
	BrokerQueuesDeliveredNoAck: figure("delivered_no_ack"),
	BrokerQueuesGot:            figure("got"),
	BrokerQueuesGotNoAck:       figure("got_no_ack"),
	BrokerQueuesAcked:          figure("acked"),
	BrokerQueuesRedelivered:    figure("redelivered"),
	BrokerQueuesRunning:        figure("running"),
}

// Positions of the columns of BrokerConnections; part of the format.
const (
	BrokerConnectionsAt = iota
	BrokerConnectionsTotal
	BrokerConnectionsLooked
	BrokerConnectionsRunning
	BrokerConnectionsFlow
	BrokerConnectionsBlocking
	BrokerConnectionsBlocked
	BrokerConnectionsOther
)

var brokerConnectionsColumns = []Column{
	BrokerConnectionsAt:       {Name: "at_ns", Type: I64},
	BrokerConnectionsTotal:    figure("total"),
	BrokerConnectionsLooked:   figure("looked_at"),
	BrokerConnectionsRunning:  figure("running"),
	BrokerConnectionsFlow:     figure("flow"),
	BrokerConnectionsBlocking: figure("blocking"),
	BrokerConnectionsBlocked:  figure("blocked"),
	BrokerConnectionsOther:    figure("other"),
}

// figure is a column of the broker's figures: no time, and null where the broker did not give it.
func figure(name string) Column { return Column{Name: name, Type: I64, Nullable: true, Amount: true} }

// BrokerNodeFields are the fields of n in the order of the columns of BrokerNodes.
func BrokerNodeFields(n *event.BrokerNode) []*int64 {
	return []*int64{
		BrokerNodesAt: &n.At, BrokerNodesNode: &n.Node, BrokerNodesRunning: &n.Running,
		BrokerNodesMemory: &n.MemoryBytes, BrokerNodesMemoryLimit: &n.MemoryLimitBytes, BrokerNodesMemoryAlarm: &n.MemoryAlarm,
		BrokerNodesDiskFree: &n.DiskFreeBytes, BrokerNodesDiskLimit: &n.DiskLimitBytes, BrokerNodesDiskAlarm: &n.DiskAlarm,
		BrokerNodesCPU: &n.CPUNS, BrokerNodesRunQueue: &n.RunQueue, BrokerNodesFileDescriptors: &n.FileDescriptors,
		BrokerNodesSockets: &n.Sockets, BrokerNodesProcesses: &n.Processes,
		BrokerNodesWritten: &n.WrittenBytes, BrokerNodesRead: &n.ReadBytes, BrokerNodesSyncs: &n.Syncs,
	}
}

// BrokerQueueFields are the fields of q in the order of the columns of BrokerQueues.
func BrokerQueueFields(q *event.BrokerQueue) []*int64 {
	return []*int64{
		BrokerQueuesAt: &q.At, BrokerQueuesQueue: &q.Queue, BrokerQueuesReady: &q.Ready, BrokerQueuesUnacked: &q.Unacked,
		BrokerQueuesBytes: &q.Bytes, BrokerQueuesConsumers: &q.Consumers, BrokerQueuesMemory: &q.MemoryBytes,
		BrokerQueuesPublished: &q.Published, BrokerQueuesConfirmed: &q.Confirmed, BrokerQueuesReturned: &q.Returned, BrokerQueuesDropped: &q.Dropped,
		BrokerQueuesDelivered: &q.Delivered, BrokerQueuesDeliveredNoAck: &q.DeliveredNoAck, BrokerQueuesGot: &q.Got, BrokerQueuesGotNoAck: &q.GotNoAck,
		BrokerQueuesAcked: &q.Acked, BrokerQueuesRedelivered: &q.Redelivered, BrokerQueuesRunning: &q.Running,
	}
}

// BrokerConnectionFields are the fields of c in the order of the columns of BrokerConnections.
func BrokerConnectionFields(c *event.BrokerConnections) []*int64 {
	return []*int64{
		BrokerConnectionsAt: &c.At, BrokerConnectionsTotal: &c.Total, BrokerConnectionsLooked: &c.Looked,
		BrokerConnectionsRunning: &c.Running, BrokerConnectionsFlow: &c.Flow, BrokerConnectionsBlocking: &c.Blocking,
		BrokerConnectionsBlocked: &c.Blocked, BrokerConnectionsOther: &c.Other,
	}
}
