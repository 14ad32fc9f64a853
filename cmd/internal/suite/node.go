package suite

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Error is a mistake in a suite, and where it is.
type Error struct {
	File string
	Line int // 0: of the file as a whole
	What string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.What
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
}

// reader reads nodes strictly: a key that means nothing is a mistake. The first mistake stays, everything after it reads as
// nothing, so that only the end has to be checked.
type reader struct {
	file string
	err  error
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{File: r.file, Line: n.Line, What: fmt.Sprintf(format, args...)}
	}
}

// entry is one key of a mapping.
type entry struct {
	key   string
	at    *yaml.Node // the key
	value *yaml.Node
}

// entries are those of a mapping, each key once; what names the mapping in errors.
func (r *reader) entries(n *yaml.Node, what string) (all []entry) {
	n = followed(n)
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s: should be keys with values, such as \"time: 30\"", what)
		return nil
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			r.fail(key, "%s: a key should be a word", what)
			return nil
		}
		if seen[key.Value] {
			r.fail(key, "%s: %q stands there twice", what, key.Value)
		}
		seen[key.Value] = true
		all = append(all, entry{key.Value, key, followed(n.Content[i+1])})
	}
	return all
}

// followed is what an alias stands for.
func followed(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// fields reads a mapping whose keys are all known.
func (r *reader) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	if n = followed(n); n.Kind != yaml.MappingNode {
		r.fail(n, "%s: should be keys with values; the keys are %s", what, keysOf(known))
		return
	}
	for _, e := range r.entries(n, what) {
		if read := known[e.key]; read != nil {
			read(e.value)
			continue
		}
		r.unknown(e.at, what, known)
	}
}

func (r *reader) unknown(at *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	r.fail(at, "%s has no key %q; it has %s", what, at.Value, keysOf(known))
}

func keysOf(known map[string]func(*yaml.Node)) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

// list reads each item of a sequence.
func (r *reader) list(n *yaml.Node, what string, item func(*yaml.Node)) {
	n = followed(n)
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s: should be a list", what)
		return
	}
	for _, c := range n.Content {
		item(followed(c))
	}
}

func (r *reader) text(p *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			r.fail(n, "%s: should be one value", what)
			return
		}
		*p = strings.TrimSpace(n.Value)
	}
}

func (r *reader) flag(p *bool, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Decode(p) != nil {
			r.fail(n, "%s: %s: should be true or false", what, n.Value)
		}
	}
}

func (r *reader) integer(p *int, what string, least, most int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.Atoi(strings.ReplaceAll(n.Value, "_", ""))
		if n.Kind != yaml.ScalarNode || err != nil || v < least || v > most {
			r.fail(n, "%s: %s: should be a whole number from %d to %d", what, n.Value, least, most)
			return
		}
		*p = v
	}
}

// grouped is a number with commas between thousands; anywhere else a comma may be meant for a point.
var grouped = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)

func (r *reader) number(p *float64, what string, least, most float64) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text := n.Value
		if grouped.MatchString(text) {
			text = strings.ReplaceAll(text, ",", "")
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		if n.Kind != yaml.ScalarNode || err != nil || !(v >= least && v <= most) {
			r.fail(n, "%s: %s: should be a number from %g to %g", what, n.Value, least, most)
			return
		}
		*p = v
	}
}

// seconds reads a time as the options of a run do: a number of seconds, or 500ms, 2m.
func (r *reader) seconds(p *time.Duration, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d, err := ParseSeconds(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			r.fail(n, "%s: %s: should be seconds, such as 30 or 500ms", what, n.Value)
			return
		}
		*p = d
	}
}

// ParseSeconds reads a number of seconds, at most a week, or a duration with its unit.
func ParseSeconds(text string) (time.Duration, error) {
	const week = 7 * 24 * time.Hour
	d, err := time.ParseDuration(text)
	if f, numeric := strconv.ParseFloat(text, 64); numeric == nil {
		d, err = time.Duration(f*1e9), nil
		if !(f >= 0 && f <= week.Seconds()) {
			return 0, fmt.Errorf("must be from 0 to %.0f seconds", week.Seconds())
		}
	}
	if err != nil || d < 0 || d > week {
		return 0, fmt.Errorf("must be seconds, such as 30 or 500ms")
	}
	return d, nil
}

// texts reads one value, or a list of them.
func (r *reader) texts(p *[]string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		one := ""
		if n.Kind == yaml.ScalarNode {
			r.text(&one, what)(n)
			*p = append(*p, one)
			return
		}
		r.list(n, what, func(n *yaml.Node) {
			r.text(&one, what)(n)
			*p = append(*p, one)
		})
	}
}
