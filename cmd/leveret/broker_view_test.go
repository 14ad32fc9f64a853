package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"leveret/loadcore/rabbitmqtest"
)

// queueView is what the management API says of a queue. publish counts messages that reached the queue.
type queueView struct {
	Messages     int64 `json:"messages"`
	MessageStats struct {
		Publish      int64 `json:"publish"`
		Deliver      int64 `json:"deliver"`        // consumers with manual acks
		DeliverNoAck int64 `json:"deliver_no_ack"` // consumers with automatic acks
		Get          int64 `json:"get"`
		GetNoAck     int64 `json:"get_no_ack"`
		Ack          int64 `json:"ack"`
	} `json:"message_stats"`
}

// vhostView holds what RabbitMQ counts per virtual host only.
type vhostView struct {
	MessageStats struct {
		Confirm int64 `json:"confirm"`
	} `json:"message_stats"`
}

// RabbitMQ's own counters agree with the capture: what is left in the queue, and what went through it. Not beside other tests:
// statistics of channels that live shortly get lost in a node that is busy.
func TestRabbitMQsOwnViewAgrees(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	for _, c := range []struct {
		name                  string
		args                  []string
		left, manual, autoAck int64
	}{
		{"published only", []string{"--consumers", "0"}, 5000, 0, 0},
		{"manual acks", nil, 0, 5000, 0},
		{"automatic acks", []string{"--autoack"}, 0, 0, 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			vhost := node.VHost(t)
			args := append([]string{"--uri", node.URIFor(vhost), "--queue", "q", "--auto-delete", "false", "--pmessages", "5000", "--confirm", "100"}, c.args...)
			r, _, _ := record(t, args...)
			if r.Counts.Sent != 5000 || r.Counts.Confirmed != 5000 || r.Counts.Received != c.manual+c.autoAck || r.Counts.QueuedAtStop != c.left {
				t.Errorf("counts %+v", r.Counts)
			}
			view := settled(t, node, vhost, func(v queueView) bool {
				return v.MessageStats.Publish == r.Counts.Sent && v.MessageStats.Deliver+v.MessageStats.DeliverNoAck == r.Counts.Received
			})
			stats := view.MessageStats
			if stats.Publish != r.Counts.Sent || stats.Deliver != c.manual || stats.DeliverNoAck != c.autoAck || stats.Get+stats.GetNoAck != 0 {
				t.Errorf("management: %+v, capture: %+v", view, r.Counts)
			}
			var whole vhostView
			node.ManagementGet(t, "vhosts/"+url.PathEscape(vhost), &whole)
			if whole.MessageStats.Confirm != r.Counts.Confirmed {
				t.Errorf("management counts %d confirms, the capture %d", whole.MessageStats.Confirm, r.Counts.Confirmed)
			}
			listed := node.Ctl(t, "list_queues", "-p", vhost, "name", "messages", "--quiet", "--no-table-headers")
			if want := fmt.Sprintf("q\t%d", c.left); strings.TrimSpace(listed) != want {
				t.Errorf("rabbitmqctl list_queues: %q, want %q", listed, want)
			}
		})
	}
}

// settled waits until the statistics, which lag, say what is expected, and returns them as they are after the deadline
// otherwise.
func settled(t *testing.T, node *rabbitmqtest.Node, vhost string, as func(queueView) bool) queueView {
	t.Helper()
	var v queueView
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(500 * time.Millisecond) {
		v = queueView{}
		node.ManagementGet(t, "queues/"+url.PathEscape(vhost)+"/q", &v)
		if as(v) || time.Now().After(deadline) {
			return v
		}
	}
}
