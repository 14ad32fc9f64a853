package management

import (
	"fmt"
	"regexp"
	"slices"

	"leveret/capture/manifest"
)

// applyPolicies works out which policies apply to the queues. The broker tells it, too, but not before it has collected
// statistics of a queue, which may be seconds after it was declared. Of the policies of each kind the one with the highest
// priority applies, whose pattern matches anywhere in the name. A user policy and an operator policy are laid over each other, key
// by key; which value wins does not matter here, as each may be what explains a loss.
func applyPolicies(t *manifest.Topology, policies []manifest.Policy) (unread []string) {
	patterns := make([]*regexp.Regexp, len(policies))
	for i := range policies {
		var err error
		if patterns[i], err = regexp.Compile(policies[i].Pattern); err != nil {
			unread = append(unread, fmt.Sprintf("the pattern of policy %s is not one that Go's regexp reads: whether it applies is known only as far as the broker tells", policies[i].Name))
		}
	}
	for i := range t.Queues {
		q := &t.Queues[i]
		if q.Found == nil && q.Declare && q.Name != "" { // its consumer is to declare it
			q.Found = &manifest.FoundQueue{Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive, Arguments: slices.Clone(q.Arguments)}
		}
		if q.Found == nil {
			continue
		}
		for _, operator := range []bool{false, true} {
			var best *manifest.Policy
			for k := range policies {
				p := &policies[k]
				if p.Operator == operator && patterns[k] != nil && patterns[k].MatchString(q.Name) && appliesTo(p.ApplyTo, q.Found.Type) && (best == nil || p.Priority > best.Priority) {
					best = p
				}
			}
			if best != nil {
				apply(q.Found, best)
			}
		}
	}
	return unread
}

// appliesTo compares what a policy is for with the type of a queue.
func appliesTo(what, kind string) bool {
	switch what {
	case "", "all", "queues":
		return true
	case "classic_queues":
		return kind == "classic" || kind == ""
	case "quorum_queues":
		return kind == "quorum"
	case "streams":
		return kind == "stream"
	}
	return false
}

func apply(f *manifest.FoundQueue, p *manifest.Policy) {
	if p.Operator {
		f.OperatorPolicy = p.Name
	} else {
		f.Policy = p.Name
	}
	keepRules(f, object(p.Definition).arguments())
}

// keepRules adds rules that are not among those of the queue yet.
func keepRules(f *manifest.FoundQueue, rules []manifest.Arg) {
	for _, r := range rules {
		if !slices.Contains(f.Rules, r) && len(f.Rules) < mostRules {
			f.Rules = append(f.Rules, r)
		}
	}
}
