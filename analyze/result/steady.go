package result

// Steadiness tells when the run had settled. It is a hint for --warmup, found by the rule MSER on the intervals of the window.
type Steadiness struct {
	Rate    *Settling `json:"rate"`    // null where too few intervals are left
	Latency *Settling `json:"latency"` // of the mean by interval; null where too few intervals have one
	// LeftOutNS is the length of the intervals that were left out, as connections were lost in them, or their schedule was not caught
	// up with.
	LeftOutNS int64 `json:"left_out_ns,omitempty"`
}

// Settling is from when on a series was steady.
type Settling struct {
	Of      string `json:"of"` // received, sent; delivery.response, ...
	Settled bool   `json:"settled"`
	// FromStart: from the window's start on. AfterNS is in nanoseconds after the run's start; null where it had not settled
	// before the middle of the window.
	FromStart bool   `json:"from_start"`
	AfterNS   *int64 `json:"after_ns"`
}

// Fairness is how evenly the messages of the run fell on the members: sent by producers, received from queues, by consumers.
type Fairness struct {
	By             string `json:"by"` // producer, queue, consumer
	Members        int    `json:"members"`
	LeastMessages  int64  `json:"least_messages"`
	MedianMessages int64  `json:"median_messages"` // the lower one
	MostMessages   int64  `json:"most_messages"`
	// Variation is the coefficient of variation: standard deviation (of N) over mean.
	Variation float64 `json:"coefficient_of_variation"`
	// Jain is the fairness index (sum x)^2 / (N * sum x^2) of R. Jain, D. Chiu and W. Hawe (DEC-TR-301, 1984): 1 where all have the
	// same, 1/N where one has all.
	Jain float64 `json:"jain_index"`
}

// Waiting is Little's law beside the measured latency: where a backlog grows, messages wait WaitNS, the mean backlog over the
// rate at which messages come out, on average. While it still grows, those that came out had waited less than those that
// are in it.
type Waiting struct {
	MeanBacklog   float64 `json:"mean_backlog_messages"`
	MsgsPerS      float64 `json:"received_msgs_per_s"`
	WaitNS        float64 `json:"wait_ns"`
	MeanLatencyNS float64 `json:"mean_delivery_service_ns"`
}
