package suite

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

func (r *reader) setup(s *Setup) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.fields(n, "setup", map[string]func(*yaml.Node){
			"exchanges":        func(n *yaml.Node) { r.list(n, "exchanges", func(n *yaml.Node) { r.exchange(s, n) }) },
			"queues":           func(n *yaml.Node) { r.list(n, "queues", func(n *yaml.Node) { r.queues(&s.Queues, n) }) },
			"remove-queues":    func(n *yaml.Node) { r.list(n, "remove-queues", func(n *yaml.Node) { r.queues(&s.RemoveQueues, n) }) },
			"remove-exchanges": r.texts(&s.RemoveExchanges, "remove-exchanges"),
			"bindings":         func(n *yaml.Node) { r.list(n, "bindings", func(n *yaml.Node) { r.binding(s, n) }) },
			"policies":         func(n *yaml.Node) { r.list(n, "policies", func(n *yaml.Node) { r.policy(s, n) }) },
		})
	}
}

func (r *reader) exchange(s *Setup, n *yaml.Node) {
	e := Exchange{Type: "direct"}
	r.fields(n, "an exchange", map[string]func(*yaml.Node){
		"name": r.text(&e.Name, "name"), "type": r.text(&e.Type, "type"), "durable": r.flag(&e.Durable, "durable"), "auto-delete": r.flag(&e.AutoDelete, "auto-delete"),
	})
	if r.err == nil && e.Name == "" {
		r.fail(n, "an exchange needs a name")
	}
	s.Exchanges = append(s.Exchanges, e)
}

// oneNumber is a printf pattern with one whole number.
var oneNumber = regexp.MustCompile(`^[^%]*%0?\d{0,2}d[^%]*$`)

func (r *reader) queues(p *[]Queues, n *yaml.Node) {
	q := Queues{}
	pattern := ""
	r.fields(n, "queues", map[string]func(*yaml.Node){
		"name": r.text(&q.Name, "name"), "pattern": r.text(&pattern, "pattern"),
		"from": r.integer(&q.From, "from", 0, 1<<24), "to": r.integer(&q.To, "to", 1, 1<<24), "scaled": r.flag(&q.Scaled, "scaled"),
		"type": r.text(&q.Type, "type"), "durable": r.flag(&q.Durable, "durable"), "auto-delete": r.flag(&q.AutoDelete, "auto-delete"),
		"arguments": r.anything(&q.Arguments, "arguments"),
	})
	switch {
	case r.err != nil:
		return
	case (q.Name == "") == (pattern == ""):
		r.fail(n, "queues: need a name, or a pattern such as queue-%%d with from and to")
	case pattern != "" && (!oneNumber.MatchString(pattern) || q.To == 0 || q.To < q.From):
		r.fail(n, "queues: pattern %q from %d to %d: needs one %%d, and an end that is not before its beginning", pattern, q.From, q.To)
	case pattern == "" && q.To > 0:
		r.fail(n, "queues: from and to are of a pattern, such as queue-%%d")
	case q.Type != "" && q.Type != "classic" && q.Type != "quorum" && q.Type != "stream":
		r.fail(n, "queues: type: %q is none of classic, quorum, stream", q.Type)
	}
	if pattern != "" {
		q.Name = pattern
	}
	if q.Type == "quorum" || q.Type == "stream" {
		q.Durable = true
	}
	*p = append(*p, q)
}

// Names are the names of the queues.
func (q *Queues) Names() []string {
	if q.To == 0 {
		return []string{q.Name}
	}
	var names []string
	for i := q.From; i <= q.To; i++ {
		names = append(names, fmt.Sprintf(q.Name, i))
	}
	return names
}

// count is how many there are.
func (q *Queues) count() int {
	if q.To == 0 {
		return 1
	}
	return max(q.To-q.From+1, 0)
}

func (r *reader) binding(s *Setup, n *yaml.Node) {
	b := Binding{}
	r.fields(n, "a binding", map[string]func(*yaml.Node){
		"exchange": r.text(&b.Exchange, "exchange"), "queue": r.text(&b.Queue, "queue"), "key": r.text(&b.Key, "key"),
	})
	known := slices.ContainsFunc(s.Queues, func(q Queues) bool { return q.Name == b.Queue })
	if r.err == nil && (b.Exchange == "" || !known) {
		r.fail(n, "a binding needs an exchange, and a queue: the name or pattern of queues that stand above it")
	}
	s.Bindings = append(s.Bindings, b)
}

func (r *reader) policy(s *Setup, n *yaml.Node) {
	p := Policy{ApplyTo: "queues"}
	r.fields(n, "a policy", map[string]func(*yaml.Node){
		"name": r.text(&p.Name, "name"), "pattern": r.text(&p.Pattern, "pattern"), "apply-to": r.text(&p.ApplyTo, "apply-to"),
		"priority": r.integer(&p.Priority, "priority", -1<<31, 1<<31-1), "definition": r.anything(&p.Definition, "definition"),
	})
	if r.err == nil && (p.Name == "" || p.Pattern == "" || len(p.Definition) == 0) {
		r.fail(n, "a policy needs name, pattern and definition")
	}
	s.Policies = append(s.Policies, p)
}

// anything reads keys whose values are text, numbers, booleans, or lists of them.
func (r *reader) anything(p *map[string]any, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*p = map[string]any{}
		for _, e := range r.entries(n, what) {
			var v any
			if err := e.value.Decode(&v); err != nil || v == nil {
				r.fail(e.at, "%s: %s: needs a value", what, e.key)
			}
			(*p)[e.key] = v
		}
	}
}
