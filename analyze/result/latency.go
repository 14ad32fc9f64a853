package result

// Latencies by what was measured.
type Latencies struct {
	Confirm  Latency `json:"confirm"`
	Delivery Latency `json:"delivery"`
	// Commit is to the answer to the commit of a message's transaction; absent without transactions.
	Commit Latency `json:"commit,omitzero"`
}

// Latency counted from sent (service) and from due (response; null in closed loop).
type Latency struct {
	Service  *Distribution `json:"service"`
	Response *Distribution `json:"response"`
}

// Distribution of a latency. A percentile is the value at nearest rank ceil(p*N/100) over all N = Count+Censored
// messages of the cohort; where it falls among the censored ones its value is null in JSON ("p99_ns": null), stands in
// CensoredAt as its lower bound, and Censored is above 0.
type Distribution struct {
	Count     int64    `json:"count"`      // measured
	Censored  int64    `json:"censored"`   // never answered: their latency is only known to be above a bound
	NeverSent int64    `json:"never_sent"` // of Censored; due, but never sent (in response latency only)
	Negative  int64    `json:"negative"`   // of Count; clock skew
	MinNS     *int64   `json:"min_ns"`
	MeanNS    *float64 `json:"mean_ns"` // of the measured ones
	StdDevNS  *float64 `json:"stddev_ns"`
	P50NS     *int64   `json:"p50_ns"`
	P75NS     *int64   `json:"p75_ns"`
	P95NS     *int64   `json:"p95_ns"`
	P99NS     *int64   `json:"p99_ns"`
	P999NS    *int64   `json:"p99_9_ns"`
	P9999NS   *int64   `json:"p99_99_ns"`
	MaxNS     *int64   `json:"max_ns"` // of the measured ones
	// AtLeastNS bounds every null percentile from below, MaxAtLeastNS the maximum: the least and the greatest (stop - due or
	// sent) of a censored message. For a message never sent the stop is that of publishing.
	AtLeastNS    *int64 `json:"censored_at_least_ns"`
	MaxAtLeastNS *int64 `json:"max_at_least_ns"`
	// AtLeast bounds each null percentile more closely; nil where nothing is censored or no bound is known.
	AtLeast *Bounds `json:"at_least,omitempty"`
	// Asked are the percentiles that were asked for by number, rising; not of the distributions of single intervals.
	Asked []AskedPercentile `json:"percentiles,omitempty"`
	// MeanInterval is that of MeanNS; only where percentiles were asked for.
	MeanInterval *Confidence `json:"mean_interval,omitempty"`
}

// AskedPercentile is a percentile that was asked for by number: exact, at the nearest rank over all messages of the cohort.
type AskedPercentile struct {
	Percent float64 `json:"percent"`
	ValueNS *int64  `json:"value_ns"` // null where it is censored
	// Censored: it falls among messages without an answer. AtLeastNS then bounds it from below, null where no bound is known.
	Censored  bool   `json:"censored"`
	AtLeastNS *int64 `json:"at_least_ns,omitempty"`
	// Above is the number of messages above its rank, censored ones included.
	Above int64 `json:"above"`
	// Interval says how far the percentile is known.
	Interval *Confidence `json:"interval,omitempty"`
}

// Confidence is the interval in which a run like this one that went on for ever would have the value, at a level of
// confidence, with regard to autocorrelation: messages that follow each other share their delays, so that N of them tell less
// than N independent ones would.
//
// Of members of a grouping and of ack latency the ends are rounded outwards, by less than a hundredth.
type Confidence struct {
	Level float64 `json:"level"` // 0.95
	// LowNS and HighNS are the ends; null where there is none, and then Note says why.
	LowNS  *float64 `json:"low_ns"`
	HighNS *float64 `json:"high_ns"`
	// EffectiveSamples is how many independent messages would tell as much; 0 where that is unknown.
	EffectiveSamples float64 `json:"effective_samples"`
	// Batches is the number of spans of time whose differences tell it, BatchNS the length of each.
	Batches int    `json:"batches"`
	BatchNS int64  `json:"batch_ns"`
	Note    string `json:"note,omitempty"`
}

// Bounds of the percentiles that fall among the censored messages, nil for the others: the value that would stand at the
// percentile's rank if each censored message had been answered at its bound, to within a hundredth below, or the highest
// measured percentile of the distribution, where that is more: no percentile is below a lower one.
type Bounds struct {
	P50NS   *int64 `json:"p50_ns"`
	P75NS   *int64 `json:"p75_ns"`
	P95NS   *int64 `json:"p95_ns"`
	P99NS   *int64 `json:"p99_ns"`
	P999NS  *int64 `json:"p99_9_ns"`
	P9999NS *int64 `json:"p99_99_ns"`
}

// Percentile is one of a distribution's: its value, or, AtLeast set, a bound from below. ValueNS is nil where neither is known.
type Percentile struct {
	ValueNS *int64
	AtLeast bool
}

// Percentiles in their order, from 50 % to 99.99 %.
func (d *Distribution) Percentiles() [6]Percentile {
	var b Bounds
	if d.AtLeast != nil {
		b = *d.AtLeast
	}
	ps := [6]Percentile{{ValueNS: d.P50NS}, {ValueNS: d.P75NS}, {ValueNS: d.P95NS}, {ValueNS: d.P99NS}, {ValueNS: d.P999NS}, {ValueNS: d.P9999NS}}
	for i, bound := range []*int64{b.P50NS, b.P75NS, b.P95NS, b.P99NS, b.P999NS, b.P9999NS} {
		if ps[i].ValueNS != nil || d.Censored <= 0 {
			continue
		}
		if bound == nil {
			bound = d.AtLeastNS
		}
		ps[i] = Percentile{bound, bound != nil}
	}
	return ps
}

// fixed are the percentiles that every distribution has.
var fixed = [6]float64{50, 75, 95, 99, 99.9, 99.99}

// Percentile by its number; ok is false for one that was not looked for.
func (d *Distribution) Percentile(percent float64) (p Percentile, ok bool) {
	for i, have := range fixed {
		if have == percent {
			return d.Percentiles()[i], true
		}
	}
	for _, a := range d.Asked {
		if a.Percent != percent {
			continue
		}
		if a.Censored {
			return Percentile{a.AtLeastNS, a.AtLeastNS != nil}, true
		}
		return Percentile{ValueNS: a.ValueNS}, true
	}
	return Percentile{}, false
}
