package suite

import "time"

// Suite is what a file asks for.
type Suite struct {
	Name   string // of the file, without its ending, unless the file says otherwise
	Title  string
	About  string
	Source string // what published the figures, if somebody did

	Options Options // of every run
	Asserts []string
	Repeat  int    // runs of each row, interleaved
	Shuffle uint64 // seed of the order within each round; 0: as listed
	// Warmup is run beforehand, within each run, and left out of rates and latencies.
	Warmup time.Duration
	Pause  time.Duration // between runs
	Setup  Setup

	Targets []Target // the first one is what an address without a name aims at
	Tables  []*Table

	File string // for errors
	Text []byte // what it was read from
}

// Target is a broker that rows are run against, by a name that an address is given for.
type Target struct {
	Name  string
	Label string // in tables
	About string
	// From is the target whose address serves where this one has none; "": rows without an address are left out.
	From string
}

// Options are options of a run, in the order in which they were given.
type Options []Option

// Option is one option of `leveret run`; several values are the option several times.
type Option struct {
	Name   string
	Values []string
	Line   int
}

// Table is a part of a suite that ends in a table of its own.
type Table struct {
	Name   string // of files and rows; a number where the file gives none
	Title  string
	Source string // where in the suite's source its figures stand, with the title of that
	Line   int

	Options Options
	Asserts []string
	Setup   Setup
	Axes    []Axis
	// Rows are explicit ones; without any, the rows are all combinations of the axes but those of Exclude.
	Rows      []RowSpec
	Exclude   []Pick
	Published []Published
	// Scale are options that are multiplied by the factor a user gives.
	Scale []string
	// FitDescriptors scales rows down to the connections that the system and, as far as it tells, the broker allow.
	FitDescriptors bool

	Search    *Search
	Fractions []float64 // of the maximum, or of what Search found: one run each

	Columns []Column
	// Block turns the table round: one line a figure, one column a row.
	Block   bool
	Verdict string   // "": none; else what the table's verdict is about, one line at its end
	Charts  []string // names of charts over several runs
	Notes   []string
}

// Axis is one thing that varies.
type Axis struct {
	Name   string
	Option string // what a value is of; "": the values say by themselves what they change
	// Values in their order; none: rows give any value of Option.
	Values []AxisValue
	Hidden bool // no column of its own
	Line   int
}

// AxisValue is one value of an axis, and what it changes.
type AxisValue struct {
	Label   string
	Options Options
	Target  string
	Setup   Setup
	Needs   Needs
	Asserts []string
	Line    int
}

// Pick chooses values of axes by their labels.
type Pick struct {
	Labels map[string]string // by axis
	Line   int
}

// RowSpec is an explicit row.
type RowSpec struct {
	Pick
	Name      string
	Options   Options
	Asserts   []string
	Target    string
	Setup     Setup
	Needs     Needs
	Published map[string]float64
	Phases    []Phase
}

// Phase is a part of a row that runs by itself, one after the other: their captures are one run's, recorded apart.
type Phase struct {
	Name    string
	Options Options
}

// Published are the figures of the rows that it fits.
type Published struct {
	Where  Pick
	Values map[string]float64
}

// Needs are what a broker must have for a row to be run.
type Needs struct {
	Before string // a version that it must be older than: "4", "4.3"; "": any
	Nodes  int    // at least so many in the cluster; 0: any
	Why    string // said where it has not
}

// Setup is what is made for a run, and removed after it.
type Setup struct {
	Exchanges []Exchange
	Queues    []Queues
	Bindings  []Binding
	Policies  []Policy
	// RemoveQueues and RemoveExchanges are declared by the run itself, which leaves them behind.
	RemoveQueues    []Queues
	RemoveExchanges []string
}

// Empty: there is nothing to set up, or to remove.
func (s *Setup) Empty() bool {
	return len(s.Exchanges)+len(s.Queues)+len(s.Bindings)+len(s.Policies)+len(s.RemoveQueues)+len(s.RemoveExchanges) == 0
}

// OnlyRemoves: there is nothing to set up, only to remove.
func (s *Setup) OnlyRemoves() bool {
	return len(s.Exchanges)+len(s.Queues)+len(s.Bindings)+len(s.Policies) == 0
}

// Exchange to be declared.
type Exchange struct {
	Name, Type          string
	Durable, AutoDelete bool
}

// Queues to be declared: one by its name, or From to To by a pattern.
type Queues struct {
	Name                string // or printf pattern with one whole number, where To is set
	From, To            int
	Type                string // classic, quorum, stream; "": classic
	Durable, AutoDelete bool
	Arguments           map[string]any // string, bool, int
	// Scaled: To is multiplied by the factor a user gives.
	Scaled bool
}

// Binding of queues, by name or pattern as they were declared, to an exchange.
type Binding struct {
	Exchange, Queue string
	Key             string // "": the queue's name
}

// Policy of the management API.
type Policy struct {
	Name, Pattern, ApplyTo string
	Priority               int
	Definition             map[string]any
}

// Search finds the highest value of an option at which a run meets its bounds, by doubling and bisection.
type Search struct {
	Option    string
	From, To  float64
	Precision float64 // percent of the value found
	// Keep is the share, in percent, of what was due that must have been sent, and of what was sent that must have been
	// received, within the window.
	Keep  float64
	Bound []string // assertions
	// Backlog is the most messages that may wait at the end of an interval; 0: any number.
	Backlog float64
}

// Column of a table.
type Column struct {
	Group string // heading over neighbouring columns; "": none
	Head  string
	// Figure as assertions name them: rate(received), p99(delivery.service), lost; or verdict.
	Figure string
	// Change: the figure in percent of that of the table's first row, less 100.
	Change    bool
	Unit      string  // of latencies: us, ms, s
	Published string  // key of the published figures beside it; "": none
	Ratio     bool    // measured to published, too
	Per       float64 // divides the figure; 0: 1
	Phase     int     // of the row's phases, from 1; 0: all of them together
	Line      int
}
