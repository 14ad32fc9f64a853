package result

// Histogram counts the answered messages of one latency over the window, exactly, in buckets of nearly equal ratio: eight to each
// doubling, at most 1,000.
type Histogram struct {
	What    string   `json:"what"` // "confirm", "delivery" or "commit"
	From    string   `json:"from"` // "service" or "response"
	Count   int64    `json:"count"`
	Buckets []Bucket `json:"buckets"` // by rising value, those that hold messages
}

// Bucket holds the messages whose latency is FromNS or more and below ToNS.
type Bucket struct {
	FromNS   int64 `json:"from_ns"`
	ToNS     int64 `json:"to_ns"`
	Messages int64 `json:"messages"`
}

// HeatMap is how one latency is spread, over time: of the messages due (else sent) in each column how many had a latency in each
// row. Rows are of nearly equal ratio, four to each doubling; columns are neighbouring intervals of the window put together, at most 200.
type HeatMap struct {
	What string `json:"what"` // "confirm", "delivery" or "commit"
	From string `json:"from"` // "response" where there is any, else "service"
	// EdgesNS are the rows' limits, rising: row i is from EdgesNS[i] to below EdgesNS[i+1].
	EdgesNS []int64      `json:"edges_ns"`
	Columns []HeatColumn `json:"columns"`
}

// HeatColumn is a span of time.
type HeatColumn struct {
	StartNS  int64 `json:"start_ns"`
	EndNS    int64 `json:"end_ns"`
	Censored int64 `json:"censored"` // messages without an answer, in no row
	// Messages are those of the rows from FirstRow on.
	FirstRow int     `json:"first_row"`
	Messages []int64 `json:"messages"`
}

// FrameBucket holds the frames that settled FromMessages or more and less than ToMessages. Small sizes have a bucket each.
type FrameBucket struct {
	FromMessages int64 `json:"from_messages"`
	ToMessages   int64 `json:"to_messages"`
	Frames       int64 `json:"frames"`
	Messages     int64 `json:"messages"` // that they settled
}
