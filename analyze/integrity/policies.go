package integrity

import (
	"strconv"
	"strings"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// What the broker's management API told of the queues, where it was asked (manifest.FoundQueue).

// found are the queue as the broker has it, once a capture that asked.
func (q *queue) found() (all []*manifest.FoundQueue) {
	for _, d := range q.declared {
		if d.Found != nil {
			all = append(all, d.Found)
		}
	}
	return all
}

// policyValue is what policies set for the queue under one of their keys; nil: nothing.
func (q *queue) policyValue(key string) any {
	for _, f := range q.found() {
		for _, r := range f.Rules {
			if r.Key == key {
				return r.Value
			}
		}
	}
	return nil
}

// policyName is "policy NAME: ", or with both kinds "policies NAME, NAME: ".
func (q *queue) policyName() string {
	for _, f := range q.found() {
		switch {
		case f.Policy != "" && f.OperatorPolicy != "":
			return "policies " + f.Policy + ", " + f.OperatorPolicy + ": "
		case f.Policy+f.OperatorPolicy != "":
			return "policy " + f.Policy + f.OperatorPolicy + ": "
		}
	}
	return "policy: "
}

// policyRules are the rules that policies set and that remove messages by themselves; rejects: what exceeds a length is nacked.
// A policy may have changed during the run: then each value that it had is one.
func (q *queue) policyRules(rejects bool, within reach) (rules []string) {
	seen := map[string]bool{}
	for _, f := range q.found() {
		for _, r := range f.Rules {
			removes := false
			switch r.Key {
			case "message-ttl", "expires":
				removes = true
			case "max-length", "max-length-bytes":
				removes = !rejects
			case "max-age":
				removes = q.kind == "stream"
			}
			if text := rule(r.Key, r.Value); removes && !seen[text] && !within.excludes(r.Key, r.Value) {
				seen[text] = true
				rules = append(rules, text)
			}
		}
	}
	if len(rules) > 0 {
		rules[0] = q.policyName() + rules[0]
	}
	return rules
}

// otherConsumers are those that the queue had when the run began, and that no other capture tells of.
func (q *queue) otherConsumers() int64 {
	most := int64(0)
	for _, f := range q.found() {
		most = max(most, f.Consumers)
	}
	if len(q.found()) < len(q.declared) || len(q.declared) > 1 { // of several captures one may have begun before the other
		most -= int64(len(q.consumers))
	}
	return max(most, 0)
}

// beforeVersion4 tells whether every broker is known to be a RabbitMQ before version 4.
func (x *Expected) beforeVersion4() bool {
	brokers, before := 0, 0
	x.manifests(func(m *manifest.Manifest) {
		brokers++
		major, _, _ := strings.Cut(m.Broker.Version, ".")
		if n, err := strconv.Atoi(major); err == nil && n < 4 && m.Broker.Product == "RabbitMQ" {
			before++
		}
	})
	return brokers > 0 && brokers == before
}

// notLookedAt says what else may take messages from the queues that lost some.
func (r *report) notLookedAt() string {
	for i := range r.ts {
		if r.ts[i].Lost > 0 && len(r.ts[i].queue.found()) == 0 {
			return "policies, purges that are not marked, and consumers of others were not looked at"
		}
	}
	return "the management API tells of no policy and no other consumer; purges that are not marked were not looked at"
}

// brokerSide are the findings of what the broker said of itself.
func (r *report) brokerSide() {
	f := r.f
	r.add(CodeBrokerAlarm, result.SeverityWarning, int64(len(f.BrokerAlarms)), nil,
		"the broker raised an alarm, and nobody could publish while it lasted: %s", few(f.BrokerAlarms))
	r.add(CodeBrokerFlow, result.SeverityNote, f.FlowSamples, nil,
		"the broker throttled connections by credit flow when it was looked at, %s times: it took what was published as fast as it could", f.FlowText)
}
