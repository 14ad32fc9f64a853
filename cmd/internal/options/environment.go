package options

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// prefixVariable names the variable that holds what PerfTest's variables have to begin with.
const prefixVariable = "RABBITMQ_PERF_TEST_ENV_PREFIX"

// Variable is an environment variable that an option was taken from.
type Variable struct {
	Name, Option string
	Shown        string // its value, without secrets
}

// FromEnvironment takes options that the command line has not given from their environment variables. An empty variable
// counts as none.
func (s *Set) FromEnvironment(lookup func(name string) (string, bool)) ([]Variable, error) {
	names := make(map[*Option]string)
	for _, o := range s.options {
		if o.Env != "" {
			names[o] = o.Env
		}
	}
	taken, err := s.fromEnvironment(names, lookup)
	if err != nil {
		err = s.usage(err)
	}
	return taken, err
}

func (s *Set) fromEnvironment(names map[*Option]string, lookup func(string) (string, bool)) ([]Variable, error) {
	var taken []Variable
	for _, o := range s.options {
		name := names[o]
		text, ok := "", false
		if name != "" && !s.Changed(o.Name) {
			text, ok = lookup(name)
		}
		if !ok || text == "" {
			continue
		}
		before := o.value.String()
		for _, word := range o.words(text) {
			if err := s.set(o, word); err != nil {
				return nil, fmt.Errorf("environment variable %s=%s (option --%s): %w; unset it%s", name, inLine(o.show(text)), o.Name, err, s.orPrefix())
			}
		}
		if o.Arg == "" && o.value.String() == before && o.Group != groupJVM {
			continue // a switch that stays off
		}
		taken = append(taken, Variable{Name: name, Option: o.Name, Shown: o.show(text)})
	}
	return taken, nil
}

// words are the values of an option in a variable: several are separated by commas.
func (o *Option) words(text string) []string {
	if o.Many {
		return strings.Split(text, ",")
	}
	return []string{text}
}

func (s *Set) orPrefix() string {
	if !s.oneDash {
		return ""
	}
	return ", or demand a prefix of such variables by " + prefixVariable
}

// environmentNames gives PerfTest's variables: the long name in upper snake case behind the prefix, where one is demanded. What
// has no short spelling comes from no variable, and what asks for help neither. Options that PerfTest does not have keep theirs.
func (p *PerfTest) environmentNames(lookup func(string) (string, bool)) map[*Option]string {
	prefix, ok := lookup(prefixVariable)
	if !ok {
		prefix = ""
	}
	if prefix = strings.TrimSpace(prefix); prefix != "" && !strings.HasSuffix(prefix, "_") {
		prefix += "_"
	}
	names := make(map[*Option]string)
	for _, o := range p.options {
		if len(o.PerfTest) > 0 && o.Group != groupAsk {
			names[o] = prefix + strings.ToUpper(strings.ReplaceAll(o.Name, "-", "_"))
		} else if !o.inPerfTest() && o.Env != "" {
			names[o] = o.Env
		}
	}
	return names
}

// EnvironmentHelp writes the variables of the options, or only those of metrics.
func (p *PerfTest) EnvironmentHelp(w io.Writer, metricsOnly bool, lookup func(string) (string, bool)) {
	names := p.environmentNames(lookup)
	for _, o := range p.options {
		if name, ok := names[o]; ok && (!metricsOnly || o.isMetrics()) {
			p.helpEntry(w, "  "+name, o)
		}
	}
}

// MetricsHelp writes the options of metrics.
func (p *PerfTest) MetricsHelp(w io.Writer) {
	for _, o := range p.options {
		if o.isMetrics() {
			p.helpEntry(w, p.head(o), o)
		}
	}
}

// isMetrics tells whether PerfTest lists the option in its help of metrics.
func (o *Option) isMetrics() bool {
	return o.inPerfTest() && strings.HasPrefix(o.Name, "metrics-") && !slices.Contains([]string{AskMetrics, "metrics-format"}, o.Name)
}
