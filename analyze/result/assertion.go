package result

import "strconv"

// Assertion is what somebody asserted about a run, such as "lost == 0", and what came of it.
type Assertion struct {
	Text string `json:"text"` // as it was written
	Met  bool   `json:"met"`
	// Value is what the figure is, in Unit: messages, messages per second or ns. Nil where it is not known; AtLeast is then its
	// bound from below, nil where there is none.
	Value   *float64 `json:"value"`
	AtLeast *float64 `json:"at_least,omitempty"`
	Unit    string   `json:"unit"`
	// Why the figure is not there, or not known exactly.
	Why string `json:"why,omitempty"`
}

// Describe says what the figure is: "it is 21.4 ms", "it is at least 3 messages: ...".
func (a *Assertion) Describe() string {
	v, is := a.Value, "it is "
	if v == nil {
		v, is = a.AtLeast, "it is at least "
	}
	switch {
	case v == nil:
		return a.Why
	case a.Why != "":
		return is + quantity(*v, a.Unit) + ": " + a.Why
	}
	return is + quantity(*v, a.Unit)
}

// quantity writes a value with its unit; nanoseconds in the unit that people would take, with all their digits.
func quantity(v float64, unit string) string {
	if unit == "messages" {
		return Plural(int64(v), "message")
	}
	if unit != "ns" {
		return strconv.FormatFloat(v, 'f', -1, 64) + " " + unit
	}
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if v >= u.ns || v <= -u.ns {
			return strconv.FormatFloat(v/u.ns, 'g', 12, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + " ns"
}
