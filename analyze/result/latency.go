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
}

// Bounds of the percentiles that fall among the censored messages, nil for the others: the value that would stand at the
// percentile's rank if each censored message had been answered at its bound, to within a hundredth below.
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
