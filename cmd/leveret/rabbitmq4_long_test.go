//go:build long

package main

import (
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// RabbitMQ 4, as make rabbitmq4 lays it: a run through each type of queue that it has, and its management API.
func TestRabbitMQ4(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{RabbitMQ4: true})
	for name, args := range map[string]string{
		"classic": "--queue c --auto-delete false --flag persistent",
		"quorum":  "--queue q --quorum-queue",
		"stream":  "--queue s --stream-queue",
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"--uri", node.URI(t), "--management-uri", node.ManagementURL(), "--confirm", "100", "--pmessages", "2000"}, strings.Fields(args)...)
			r, code, _ := record(t, args...)
			if code != exitOK || r.Verdict != result.Pass || r.Counts.ReceivedUnique != 2000 || !strings.HasPrefix(r.Broker.Version, "4.") {
				t.Errorf("exit %d, %s on %s, %+v", code, r.Verdict, r.Broker.Version, r.Findings)
			}
			if b := r.BrokerSide; b == nil || b.Failed != 0 || len(b.Queues) != 1 || b.Queues[0].Type != name {
				t.Errorf("%+v", b)
			}
		})
	}
	t.Run("counts", func(t *testing.T) { brokerCountsWhatTheRecordCounts(t, node) })
	t.Run("bindings", func(t *testing.T) { bindingsOfOthersAreFollowed(t, node) })
	t.Run("policies", func(t *testing.T) { policyExplainsWhatIsMissing(t, node) })
}
