package analyze

import (
	"fmt"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// One route leads to 100 queues, more than are searched one after the other; another to one more queue. Of ten messages queue 90 lost one
// and got one damaged, queue 91 got one twice, and one came to the queue that is not theirs.
func TestManyQueuesOfOneRoute(t *testing.T) {
	const queues = 100
	m := plan(1, queues+1)
	m.Topology = manifest.Topology{Routes: []manifest.Route{{RoutingKey: "all", Known: true}, {RoutingKey: "one", Queues: []int{queues}, Known: true}}}
	m.Outcome.Queues = nil
	for i := range queues + 1 {
		m.Topology.Queues = append(m.Topology.Queues, manifest.Queue{Name: fmt.Sprint("q", i), Type: "classic", Declare: true})
		m.Outcome.Queues = append(m.Outcome.Queues, manifest.QueueEnd{Queue: i, Ready: ptr(int64(0)), Consumed: true, Drained: true})
		m.Consumers[i].Queues = []int{i}
		if i < queues {
			m.Topology.Routes[0].Queues = append(m.Topology.Routes[0].Queues, i)
		}
	}
	r := record(t, m)
	r.send(0, 0, 10, 0)
	r.ack(0, 0, 10, ms)
	for i := range queues {
		for s := range uint64(10) {
			switch {
			case i == 90 && s == 4:
			case i == 90 && s == 5:
				r.deliver(i, 2*ms, event.Delivery{Queue: uint16(i), Seq: s, Tag: m.Tag, Body: event.Corrupt, Size: 12, Due: event.None})
			default:
				r.receive(i, i, 0, 2*ms, s)
			}
		}
	}
	r.receive(91, 91, 0, 3*ms, 7)
	r.receive(queues, queues, 0, 3*ms, 8)
	for i := range queues + 1 {
		r.ackAll(i, 4*ms)
	}
	dir := r.close()
	got := analyzed(t, dir)
	checkVerdict(t, got, result.Fail, "lost", "corrupt", "duplicate", "other_queue")
	checkCounts(t, got.Counts, result.Counts{Sent: 10, Confirmed: 10, Received: 1001, ReceivedUnique: 999, Missing: 1, Lost: 1, Duplicates: 1, Corrupt: 1})
	if f := finding(t, got, "lost"); f.First[0].Queue != "q90" || f.First[0].Sequence != 4 {
		t.Errorf("%+v", f)
	}
	rows, _ := exported(t, All(RowsMessages), Options{}, dir)
	outcomes := map[any]int{}
	for _, row := range rows.rows {
		outcomes[row["integrity"]]++
	}
	if outcomes["delivered"] != 998 || outcomes["lost"] != 1 || outcomes["corrupt"] != 1 || outcomes["other_queue"] != 1 {
		t.Errorf("%v", outcomes)
	}
}
