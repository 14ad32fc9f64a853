package integrity

import "math"

// repeat is a message whose first delivery that was read has the redelivered flag.
type repeat struct {
	producer *producer
	seq      uint64
	dest     int32
}

// maxRepeats bounds the memory for them: some 20 MiB.
const maxRepeats = 1 << 18

// repeats keeps when such messages, the first maxRepeats of them, were first received with the flag and without it. Rows of one
// file are read in the order of time, those of several are not: the delivery without the flag can be read behind the
// redelivery that it came before, and is no duplicate then.
type repeats struct {
	at map[repeat]repeatTimes
}

type repeatTimes struct{ flagged, plain int64 }

// original tells whether the message was first received without the flag.
func (t repeatTimes) original() bool { return t.plain < t.flagged }

// first notes a message whose first delivery that was read has the flag.
func (r *repeats) first(m repeat, received int64) {
	if len(r.at) >= maxRepeats {
		return
	}
	if r.at == nil {
		r.at = map[repeat]repeatTimes{}
	}
	r.at[m] = repeatTimes{flagged: received, plain: math.MaxInt64}
}

// again notes a further delivery, and tells by how many duplicates it changes their count: every one without the flag is one,
// but for that which came before all others.
func (r *repeats) again(m repeat, flagged bool, received int64) (more int64) {
	if !flagged {
		more = 1
	}
	t, ok := r.at[m]
	if !ok {
		return more
	}
	was := t.original()
	if flagged {
		t.flagged = min(t.flagged, received)
	} else {
		t.plain = min(t.plain, received)
	}
	r.at[m] = t
	switch is := t.original(); {
	case is && !was:
		more--
	case was && !is:
		more++
	}
	return more
}
