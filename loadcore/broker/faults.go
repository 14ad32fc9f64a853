package broker

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Faults is a list of things that the broker does wrong on purpose, each at message numbers known beforehand. The number
// of a message is its place, from 1, in the order in which the broker takes publishes over all connections; a publish that
// the broker answers by closing the channel (no such exchange, message too large) is not taken and has no number.
//
// The zero value is no faults. Values are made by ParseFaults and are read only afterwards, so they may be shared.
type Faults struct {
	rules []faultRule
}

// FaultKind is what a fault does; it indexes Stats.Faults.
type FaultKind uint8

const (
	FaultDrop FaultKind = iota
	FaultDuplicate
	FaultCorrupt
	FaultReorder
	FaultDelay
	FaultNack
	FaultReturn
	FaultStall
	FaultBlock
	FaultCloseChannel
	FaultCut

	faultKinds = int(FaultCut) + 1
)

var faultNames = [faultKinds]string{
	"drop", "duplicate", "corrupt", "reorder", "delay", "nack", "return", "stall", "block", "close-channel", "cut",
}

// String is the word used in a fault specification.
func (k FaultKind) String() string {
	if int(k) < faultKinds {
		return faultNames[k]
	}
	return "fault-" + strconv.Itoa(int(k))
}

// faultRule is one item of a specification: a kind, the message numbers it hits, and the kind's arguments.
type faultRule struct {
	kind FaultKind
	// Hits from, from+step, ... up to and with to. step is at least 1; "*" is from 1, to MaxUint64, step 1.
	from, to, step uint64

	byteIndex int  // corrupt: index into the body, from 0
	xor       byte // corrupt: what the byte is xored with, never 0

	law delayLaw // delay

	hold time.Duration // reorder: how long a message waits for a successor
	span time.Duration // stall, block: how long

	code uint16 // close-channel
	text string // close-channel
}

func (r *faultRule) hits(n uint64) bool {
	return n >= r.from && n <= r.to && (n-r.from)%r.step == 0
}

// delayLaw says how long message n stays invisible in its queue. It is a pure function of the number, so that two runs
// of the same messages have the same delays.
type delayLaw struct {
	kind     lawKind
	min, max time.Duration // uniform: [min, max); fixed: min; exponential: mean in min
	seed     uint64
}

type lawKind uint8

const (
	lawFixed lawKind = iota
	lawUniform
	lawExponential
)

// maxExponentials bounds a delay drawn from the exponential law, in means: -ln(2^-53), the largest value that the 53-bit
// draw can give, is 36.7 means, so the bound never cuts anything off; it says that none is longer.
const maxExponentials = 37

func (l delayLaw) of(n uint64) time.Duration {
	switch l.kind {
	case lawUniform:
		return l.min + time.Duration(l.draw(n)*float64(l.max-l.min))
	case lawExponential:
		// 1-u lies in (0, 1], so the logarithm is finite.
		return time.Duration(-math.Log(1-l.draw(n)) * float64(l.min))
	}
	return l.min
}

// draw is a number in [0, 1) made of seed and message number with the mixing steps of SplitMix64 (Steele, Lea, Flood:
// "Fast splittable pseudorandom number generators", 2014).
func (l delayLaw) draw(n uint64) float64 {
	z := l.seed + n*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}

// faultSet is what all rules together do to one message. Nack, return, drop, close-channel and cut keep it out of the
// queues; the others change how it gets there.
type faultSet struct {
	mask    uint16 // 1 << FaultKind
	corrupt *faultRule
	delay   time.Duration
	reorder *faultRule
	stall   time.Duration
	block   time.Duration
	closing *faultRule
}

func (s *faultSet) has(k FaultKind) bool { return s.mask&(1<<k) != 0 }

// at collects what happens to message n. ok is false when nothing does, which is the common case and costs a few
// comparisons a rule.
func (f *Faults) at(n uint64) (s faultSet, ok bool) {
	for i := range f.rules {
		r := &f.rules[i]
		if !r.hits(n) {
			continue
		}
		ok = true
		s.mask |= 1 << r.kind
		switch r.kind {
		case FaultCorrupt:
			s.corrupt = r
		case FaultDelay:
			s.delay += r.law.of(n)
		case FaultReorder:
			s.reorder = r
		case FaultStall:
			s.stall += r.span
		case FaultBlock:
			s.block += r.span
		case FaultCloseChannel:
			s.closing = r
		}
	}
	return s, ok
}

// Empty reports whether there are no faults.
func (f *Faults) Empty() bool { return len(f.rules) == 0 }

// String is the specification in its full form; ParseFaults reads it back to the same Faults.
func (f Faults) String() string {
	items := make([]string, len(f.rules))
	for i := range f.rules {
		items[i] = f.rules[i].String()
	}
	return strings.Join(items, ",")
}

func (r *faultRule) String() string {
	var b strings.Builder
	b.WriteString(r.kind.String() + "@" + r.where())
	switch r.kind {
	case FaultCorrupt:
		b.WriteString(":byte=" + strconv.Itoa(r.byteIndex) + ":xor=" + strconv.Itoa(int(r.xor)))
	case FaultReorder:
		b.WriteString(":hold=" + r.hold.String())
	case FaultDelay:
		b.WriteString(":" + r.law.String())
	case FaultStall, FaultBlock:
		b.WriteString(":" + r.span.String())
	case FaultCloseChannel:
		b.WriteString(":code=" + strconv.Itoa(int(r.code)) + ":text=" + r.text)
	}
	return b.String()
}

func (r *faultRule) where() string {
	switch {
	case r.from == 1 && r.to == math.MaxUint64 && r.step == 1:
		return "*"
	case r.from == r.to:
		return strconv.FormatUint(r.from, 10)
	}
	s := strconv.FormatUint(r.from, 10) + "-" + strconv.FormatUint(r.to, 10)
	if r.step != 1 {
		s += "/" + strconv.FormatUint(r.step, 10)
	}
	return s
}

func (l delayLaw) String() string {
	switch l.kind {
	case lawUniform:
		return "uniform=" + l.min.String() + ".." + l.max.String() + ":seed=" + strconv.FormatUint(l.seed, 10)
	case lawExponential:
		return "exponential=" + l.min.String() + ":seed=" + strconv.FormatUint(l.seed, 10)
	}
	return "fixed=" + l.min.String()
}

// Delay is how long message n, counted from 1, is held: what a measurement of its latency has to find.
func (f *Faults) Delay(n uint64) time.Duration {
	s, _ := f.at(n)
	return s.delay
}
