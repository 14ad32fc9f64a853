package management

import (
	"encoding/json"
	"slices"
	"testing"

	"leveret/capture/manifest"
)

// One policy of each kind applies: the one of the highest priority that matches by name and type.
func TestPoliciesApply(t *testing.T) {
	definition := func(text string) map[string]json.RawMessage {
		var d map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	policies := []manifest.Policy{
		{Name: "low", Pattern: "^q", ApplyTo: "queues", Priority: 1, Definition: definition(`{"max-length": 10}`)},
		{Name: "high", Pattern: "1$", ApplyTo: "all", Priority: 2, Definition: definition(`{"message-ttl": 5, "overflow": "reject-publish"}`)},
		{Name: "exchanges", Pattern: ".*", ApplyTo: "exchanges", Priority: 9, Definition: definition(`{"alternate-exchange": "x"}`)},
		{Name: "quorum", Pattern: ".*", ApplyTo: "quorum_queues", Priority: 5, Definition: definition(`{"delivery-limit": 3}`)},
		{Name: "odd", Pattern: "(?!x)", ApplyTo: "all", Priority: 9, Definition: definition(`{"expires": 1}`)},
		{Name: "ops", Pattern: "q", ApplyTo: "queues", Operator: true, Definition: definition(`{"max-length": 7}`)},
	}
	top := &manifest.Topology{Queues: []manifest.Queue{
		{Name: "q1", Found: &manifest.FoundQueue{Type: "classic"}},
		{Name: "q2", Found: &manifest.FoundQueue{Type: "classic"}},
		{Name: "q1", Found: &manifest.FoundQueue{Type: "quorum"}},
		{Name: "own", Type: "classic", Exclusive: true, Declare: true, Arguments: []manifest.Arg{{Key: "x-max-length", Value: int64(2)}}},
		{Name: "q3"}, // somebody else's, which the broker did not show
	}}
	unread := applyPolicies(top, policies)
	arg := func(key string, v any) manifest.Arg { return manifest.Arg{Key: key, Value: v} }
	for i, want := range []struct {
		policy, operator string
		rules            []manifest.Arg
	}{
		{"high", "ops", []manifest.Arg{arg("message-ttl", int64(5)), arg("overflow", "reject-publish"), arg("max-length", int64(7))}},
		{"low", "ops", []manifest.Arg{arg("max-length", int64(10)), arg("max-length", int64(7))}},
		{"quorum", "ops", []manifest.Arg{arg("delivery-limit", int64(3)), arg("max-length", int64(7))}},
		{"", "", nil},
	} {
		f := top.Queues[i].Found
		if f == nil || f.Policy != want.policy || f.OperatorPolicy != want.operator || !slices.Equal(f.Rules, want.rules) {
			t.Errorf("queue %d: %+v, want %+v", i, f, want)
		}
	}
	if top.Queues[4].Found != nil || !top.Queues[3].Found.Exclusive || len(top.Queues[3].Found.Arguments) != 1 {
		t.Errorf("%+v", top.Queues)
	}
	if len(unread) != 1 {
		t.Errorf("%q, want a word on the pattern of odd", unread)
	}
}
