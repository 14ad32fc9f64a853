package result

import "encoding/json"

// ComparisonSchemaVersion of the JSON form of a comparison.
const ComparisonSchemaVersion = 1

// Comparison of runs, or of groups of repeated runs, with the first of them, the base.
type Comparison struct {
	SchemaVersion int             `json:"schema_version"`
	Groups        []ComparedGroup `json:"groups"` // the base first; at least two
	// Differences are what was not the same in all runs beside the figures: configuration, broker, host.
	Differences []ConfigDifference `json:"differences"`
	// Method is how noise was told from change.
	Method ComparisonMethod `json:"method"`
	// ErrorRate is how often, at most, a comparison in which nothing changed claims a change, over all metrics and candidates
	// together: 0.05. Level is the confidence of each interval by itself: 0.95.
	ErrorRate float64          `json:"error_rate"`
	Level     float64          `json:"level"`
	Metrics   []ComparedMetric `json:"metrics"`
	// Repeats says for each candidate what its number of runs could find.
	Repeats []Repeats `json:"repeats"`
	// FailIf are the conditions that were made about the candidates, each for each of them.
	FailIf  []FailCondition `json:"fail_if,omitempty"`
	Remarks []string        `json:"remarks"` // sentences on how to read it, the most important one first
}

// ComparisonMethod is what an interval and a p-value were made by.
type ComparisonMethod string

const (
	// ByRanks: the run is the unit of sampling. Wilcoxon's rank sum test (Mann and Whitney's U) and the interval of Hodges and
	// Lehmann that belongs to it.
	ByRanks ComparisonMethod = "ranks"
	// ByBlocks: one run each; block bootstrap within the runs. Nothing is known of how runs differ from each other.
	ByBlocks ComparisonMethod = "block_bootstrap"
)

// ComparedGroup is one run, or repeats of one.
type ComparedGroup struct {
	Label string        `json:"label"` // unique in the comparison
	Runs  []ComparedRun `json:"runs"`
	// Marks are what must not be overlooked of any of the runs: "embedded broker", "FAIL: 1 of 6 runs", "incomplete recording: ...".
	Marks []string `json:"marks,omitempty"`
}

// ComparedRun is one run of a group.
type ComparedRun struct {
	ID        string   `json:"id"`
	Captures  []string `json:"captures"` // directories
	Verdict   Verdict  `json:"verdict"`
	Complete  bool     `json:"complete"`
	Broker    string   `json:"broker"` // "RabbitMQ 3.10.8", "embedded broker (0.1.0)"
	Embedded  bool     `json:"embedded"`
	StartedNS int64    `json:"started_ns"`
	LimitedBy Limit    `json:"limited_by,omitempty"`
	// Findings are the codes of those that the verdict rests on where it is not PASS.
	Findings []string `json:"findings,omitempty"`
}

// ConfigDifference is something that the runs did not have in common.
type ConfigDifference struct {
	What string `json:"what"` // "confirm window", "broker", "host", ...
	// Values by group, in their order; where the runs of a group differ, each value with its number of runs.
	Values []string `json:"values"`
	// Within: the runs of one group differ, so that the group is no set of repeats.
	Within bool `json:"within,omitempty"`
}

// ComparedMetric is one figure of all groups.
type ComparedMetric struct {
	Name string `json:"name"` // as in assertions: rate(received), p99(confirm.service), lost
	Unit Unit   `json:"unit"`
	// Better is "higher" or "lower"; "" where neither is better by itself.
	Better string          `json:"better,omitempty"`
	Values []ComparedValue `json:"values"` // by group
	// Changes are those of the candidates against the base, in the order of Groups[1:].
	Changes []ComparedChange `json:"changes"`
}

// Unit of a metric's values.
type Unit string

const (
	UnitRate     Unit = "msgs_per_s"
	UnitTime     Unit = "ns"
	UnitMessages Unit = "messages"
)

// ComparedValue is what one group has of a metric.
type ComparedValue struct {
	// Runs has the value of each run; null where it has none, or only a bound.
	Runs []*float64 `json:"runs"`
	// Centre is the median of the runs, nil where fewer than all of them have a value; Mean likewise.
	Centre *float64 `json:"centre"`
	Mean   *float64 `json:"mean"`
	// Low and High are the ends of the centre's interval; nil where there are too few runs for one.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	// AtLeast: in some runs the figure falls among messages without an answer; it is no less than this. Nil where nothing is so.
	AtLeast *float64 `json:"at_least,omitempty"`
	Why     string   `json:"why,omitempty"` // there is no Centre
}

// ChangeVerdict is what a comparison says of one metric.
type ChangeVerdict string

const (
	ChangeBetter  ChangeVerdict = "better"
	ChangeWorse   ChangeVerdict = "worse"
	ChangeChanged ChangeVerdict = "changed" // where neither way is better
	ChangeNoise   ChangeVerdict = "~"       // what is seen may be noise
	ChangeUnknown ChangeVerdict = "unknown" // it cannot be compared; Note says why
)

// ComparedChange is the change of one metric from the base to one candidate.
type ComparedChange struct {
	// Difference is in the metric's unit: the median of all differences between a run of the candidate and one of the base. Low and
	// High are the ends of its interval, of confidence Level; nil where there is none.
	Difference     *float64 `json:"difference"`
	DifferenceLow  *float64 `json:"difference_low"`
	DifferenceHigh *float64 `json:"difference_high"`
	// Delta is the same of ratios, less 1: 0.1 is 10 % more. Nil where the base or the candidate is, or its interval reaches, zero.
	Delta     *float64 `json:"delta"`
	DeltaLow  *float64 `json:"delta_low"`
	DeltaHigh *float64 `json:"delta_high"`
	// DeltaOfMeans is candidate over base of the means over the runs, less 1; nil where the base's is zero.
	DeltaOfMeans *float64 `json:"delta_of_means"`
	// Zero is FromZero where the base is zero in all runs and the candidate is not, ToZero the other way round; else "".
	Zero string `json:"zero,omitempty"`
	// Level of the intervals: what the number of runs allows, where that is less than was wanted. 0 where there is none.
	Level    float64       `json:"level"`
	PValue   *float64      `json:"p_value"`          // two-sided
	Adjusted *float64      `json:"adjusted_p_value"` // by Holm, over all metrics and candidates
	Verdict  ChangeVerdict `json:"verdict"`
	// Detectable is the least change, as a ratio less 1, that would be found four times in five with as many runs, as much as they
	// differ here. Nil where that is not known.
	Detectable *float64 `json:"detectable"`
	Note       string   `json:"note,omitempty"`
}

// Values of ComparedChange.Zero.
const (
	FromZero = "from zero"
	ToZero   = "to zero"
)

// DeltaSign is 1 where the candidate has more than the base, -1 where it has less, else 0.
func (x *ComparedChange) DeltaSign() int {
	switch {
	case x.Zero == FromZero || x.Difference != nil && *x.Difference > 0:
		return 1
	case x.Zero == ToZero || x.Difference != nil && *x.Difference < 0:
		return -1
	}
	return 0
}

// Repeats is what the numbers of runs of a base and a candidate could find.
type Repeats struct {
	Candidate string `json:"candidate"` // label
	Base      int    `json:"base_runs"`
	Runs      int    `json:"candidate_runs"`
	Tests     int    `json:"tests"` // metrics and candidates over which p-values are adjusted
	// LeastP is the smallest p-value that so many runs can have, LeastAdjusted the smallest adjusted one. Above ErrorRate no change
	// is ever found, however large. Nil with one run each.
	LeastP        *float64 `json:"least_p_value"`
	LeastAdjusted *float64 `json:"least_adjusted_p_value"`
	// Needed is how many runs each would have to have to find anything at all.
	Needed int `json:"needed_runs"`
	// Text is the line that says so, with the effects that more or fewer runs would find.
	Text string `json:"text"`
}

// FailCondition is one condition about one candidate.
type FailCondition struct {
	Text      string `json:"text"`
	Candidate string `json:"candidate"` // label
	Fails     bool   `json:"fails"`
	Why       string `json:"why"` // one clause, with its numbers
}

// MarshalJSON writes empty lists as such, never as null.
func (c Comparison) MarshalJSON() ([]byte, error) {
	type plain Comparison
	p := plain(c)
	if p.Differences == nil {
		p.Differences = []ConfigDifference{}
	}
	if p.Metrics == nil {
		p.Metrics = []ComparedMetric{}
	}
	if p.Repeats == nil {
		p.Repeats = []Repeats{}
	}
	if p.Remarks == nil {
		p.Remarks = []string{}
	}
	return json.Marshal(p)
}
