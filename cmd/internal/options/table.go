// Package options holds the one table of options: name, PerfTest spellings, type, default, help and check of each. Flag
// sets, help and the record of resolved options are all made from it, so that a name means the same thing everywhere.
//
// A command asks for a Set, registers the groups of options that it takes, and parses. Values land in the plain structs
// Run, Analyze and Broker.
package options

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Option is one row of the table.
type Option struct {
	Name string // long name, without dashes; PerfTest's where PerfTest has the option
	// PerfTest lists the short spellings that PerfTest knows, without dashes; empty where PerfTest has no such option.
	PerfTest []string
	// Short is a letter that stands for the name behind one dash, in commands whose options are not PerfTest's; "": none.
	Short string
	// LongOnly: PerfTest has the option by its long name alone.
	LongOnly bool
	// Arg names the value in the help; empty for a switch.
	Arg string
	// Bare is what a switch is set to where no value stands behind it; "" : true.
	Bare string
	// Optional: PerfTest lets the value be left out, which changes nothing.
	Optional bool
	// Many: in PerfTest's dialect all words up to the next option are values of this one, and it may be repeated.
	Many bool
	Help string
	// Group is the heading that it stands under in the help.
	Group string
	// Env is the environment variable that it can come from; "" : none.
	Env string
	// Redact is set where the value may be secret: such a value is never shown; Redact gives what stands there instead.
	Redact func(string) string
	value  pflag.Value
}

// inPerfTest tells whether PerfTest has the option.
func (o *Option) inPerfTest() bool { return len(o.PerfTest) > 0 || o.LongOnly }

// bare is what the option is set to where it stands alone.
func (o *Option) bare() string {
	if o.Bare != "" {
		return o.Bare
	}
	return "true"
}

// kind is what sort of value the option has.
func (o *Option) kind() string { return o.value.Type() }

// show is a value of the option as it may be printed.
func (o *Option) show(text string) string {
	if o.Redact != nil {
		return o.Redact(text)
	}
	return text
}

// Groups in the order in which the help shows them.
const (
	groupSuite    = "Suite"
	groupRows     = "Rows"
	groupMark     = "Mark"
	groupChurn    = "Churn"
	groupBroker   = "Broker and connection"
	groupTopology = "Topology"
	groupProduce  = "Producers"
	groupConsume  = "Consumers"
	groupLimits   = "Limits and deadlines"
	groupRecord   = "Recording"
	groupOutput   = "Output while it runs"
	groupMetrics  = "Metrics"
	groupReport   = "Reports"
	groupEmbedded = "Embedded broker"
	groupAsk      = "Help"
	groupJVM      = "Of the Java virtual machine: accepted, without effect"
	groupRefused  = "Not offered here: refused, with the alternative"
)

var groupOrder = []string{
	groupAsk, groupSuite, groupRows, groupMark, groupChurn, groupBroker, groupTopology, groupProduce, groupConsume, groupLimits, groupOutput, groupMetrics, groupRecord, groupReport,
	groupEmbedded, groupJVM, groupRefused,
}

// Set is the options of one command.
type Set struct {
	command string
	options []*Option
	flags   *pflag.FlagSet
	// dropped options were given, and yield to another one.
	dropped map[string]bool
	// oneDash: the command's options are spelled as in PerfTest.
	oneDash bool
}

func newSet(command string, options []*Option) *Set {
	s := &Set{command: command, options: options, flags: pflag.NewFlagSet(command, pflag.ContinueOnError)}
	s.flags.SortFlags = false
	s.flags.Usage = func() {}
	for _, o := range options {
		f := s.flags.VarPF(o.value, o.Name, o.Short, o.Help)
		if o.Arg == "" {
			f.NoOptDefVal = o.bare()
		}
	}
	return s
}

// ErrHelp says that help was asked for.
var ErrHelp = pflag.ErrHelp

// Parse reads the arguments into the set's struct and returns what is left of them. It returns ErrHelp where help was
// asked for, and a *UsageError for anything wrong.
func (s *Set) Parse(args []string) ([]string, error) {
	err := s.flags.Parse(args)
	if err == ErrHelp {
		return nil, err
	}
	if err != nil {
		return nil, s.usage(s.explain(err))
	}
	return s.flags.Args(), nil
}

// Command is the name of the command that the set belongs to.
func (s *Set) Command() string { return s.command }

// Changed tells whether the option was given, on the command line or in the environment.
func (s *Set) Changed(name string) bool { return s.flags.Changed(name) && !s.dropped[name] }

// ReportsGiven are the options given that say how results are shown, in the order of the help.
func (s *Set) ReportsGiven() (names []string) {
	for _, o := range s.options {
		if o.Group == groupReport && s.Changed(o.Name) {
			names = append(names, o.Name)
		}
	}
	return names
}

// set gives the option a value; the error is of the value alone.
func (s *Set) set(o *Option, text string) error {
	if err := o.value.Set(text); err != nil {
		return err
	}
	s.flags.Lookup(o.Name).Changed = true
	return nil
}

// Values are the resolved options by name, secrets removed. Options without effect are not among them.
func (s *Set) Values() map[string]string {
	values := make(map[string]string, len(s.options))
	for _, o := range s.options {
		switch {
		case o.Group == groupAsk || o.Group == groupJVM || o.Group == groupRefused:
		case s.dropped[o.Name]:
			values[o.Name] = ""
		default:
			values[o.Name] = o.show(o.value.String())
		}
	}
	return values
}

// Redacted is the command line as it may be recorded: values of secret options are replaced. It reads two dashes and a long
// name; the PerfTest dialect does it while it parses.
func (s *Set) Redacted(args []string) []string {
	shown := make([]string, len(args))
	secret := (*Option)(nil)
	for i, a := range args {
		name, value, attached := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		o := s.find(name)
		switch {
		case secret != nil:
			shown[i], secret = secret.Redact(a), nil
		case !strings.HasPrefix(a, "--") || o.Redact == nil:
			shown[i] = a
		case attached:
			shown[i] = "--" + name + "=" + o.Redact(value)
		default:
			shown[i], secret = a, o
		}
	}
	return shown
}

// UsageError is a mistake in the command line: exit code 2.
type UsageError struct {
	Command string
	Err     error
}

func (e *UsageError) Error() string {
	return fmt.Sprintf("leveret %s: %v", e.Command, e.Err)
}

func (e *UsageError) Unwrap() error { return e.Err }

func (s *Set) usage(err error) error { return &UsageError{Command: s.command, Err: err} }

// explain says what pflag found wrong, with what to do. pflag repeats values, and the value of a secret option may be
// one, so the message is made anew for those.
func (s *Set) explain(err error) error {
	switch e := err.(type) {
	case *pflag.NotExistError:
		return s.unknown(e)
	case *pflag.ValueRequiredError:
		o := s.find(e.GetFlag().Name)
		return fmt.Errorf("--%s needs a value: --%s %s", o.Name, o.Name, o.Arg)
	case *pflag.InvalidValueError:
		o := s.find(e.GetFlag().Name)
		if o.Redact != nil {
			return fmt.Errorf("--%s: %w", o.Name, e.Unwrap())
		}
		return fmt.Errorf("--%s=%s: %w", o.Name, inLine(e.GetValue()), e.Unwrap())
	}
	return err
}

func (s *Set) find(name string) *Option {
	for _, o := range s.options {
		if o.Name == name {
			return o
		}
	}
	return &Option{Name: name}
}

// unknown names the option that does not exist, and the one that was probably meant.
func (s *Set) unknown(e *pflag.NotExistError) error {
	given := e.GetSpecifiedName()
	if shorts := e.GetSpecifiedShortnames(); shorts != "" {
		given = shorts
		if o := s.find(strings.SplitN(given, "=", 2)[0]); o.value != nil {
			return fmt.Errorf("unknown option -%s: long names take two dashes, --%s", given, o.Name)
		}
		if o := s.byPerfTest(given); o != nil {
			if o.Name == "output-file" && s.find("output").value != nil { // -o is of the report elsewhere
				return fmt.Errorf("unknown option -%s: for the report --output FILE; -o of PerfTest, the CSV file of its lines, is --%s here", given, o.Name)
			}
			return fmt.Errorf("unknown option -%s: options of %s have long names, this one is --%s", given, s.command, o.Name)
		}
		return fmt.Errorf("unknown option -%s; leveret %s --help lists them", given, s.command)
	}
	if near := nearest(given, s.options); near != "" {
		return fmt.Errorf("unknown option --%s; did you mean --%s? leveret %s --help lists them all", given, near, s.command)
	}
	return fmt.Errorf("unknown option --%s; leveret %s --help lists them", given, s.command)
}

// byPerfTest finds the option that PerfTest spells so; -x1 and -x=1 count as -x.
func (s *Set) byPerfTest(given string) *Option {
	name, _, _ := strings.Cut(given, "=")
	name = strings.TrimRight(name, "0123456789")
	for _, o := range s.options {
		for _, p := range o.PerfTest {
			if p == name {
				return o
			}
		}
	}
	return nil
}

// nearest returns the closest name within two edits that are fewer than half of the letters given, or "".
func nearest(given string, options []*Option) string {
	best, name := min(3, (len(given)+1)/2), ""
	for _, o := range options {
		if d := edits(given, o.Name); d < best {
			best, name = d, o.Name
		}
	}
	return name
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
