package wire

import "fmt"

// DefaultFrameMax is the frame-max in bytes that a client picks where both sides would take any: RabbitMQ's default.
const DefaultFrameMax = 131072

// MaxChannel is the highest channel number, and what a channel-max of 0 stands for.
const MaxChannel = 65535

// Limits are what connection.tune and tune-ok negotiate.
type Limits struct {
	ChannelMax uint16 // highest channel number; 0: no limit but MaxChannel
	FrameMax   uint32 // bytes of a whole frame, FrameOverhead included; 0: no limit
	Heartbeat  uint16 // seconds; 0: off
}

// TuneError says why a negotiation fails. Its text is the one that RabbitMQ 3.10 writes to its log; to the client it says
// nothing, but waits three seconds and drops the connection. Protocol reply code 530.
type TuneError struct {
	Field string // channel_max or frame_max, as RabbitMQ writes them
	Value uint32 // what was negotiated; 0: no limit
	Limit uint32 // the least or most allowed
	Below bool   // Value is under the minimum, not over the maximum
}

func (e *TuneError) Error() string {
	than, which, detail := "higher", "maximum", ""
	if e.Below {
		than, which = "lower", "minimum"
	}
	if e.Value == 0 && e.Field == "channel_max" { // RabbitMQ adds it here only
		detail = " (no limit)"
	}
	return fmt.Sprintf("negotiated %s = %d%s is %s than the %s allowed value (%d)", e.Field, e.Value, detail, than, which, e.Limit)
}

// ReplyCode is the code that a server closes the connection with because of this error.
func (e *TuneError) ReplyCode() ReplyCode { return ReplyNotAllowed }

// Negotiate is the client's part: it returns what to answer in tune-ok to the server's proposal, given the client's own
// wish, and the limits that hold from then on are the same.
//
//   - channel-max: the lower, where 0 stands for MaxChannel; never 0.
//   - frame-max: the lower of those that are not 0; DefaultFrameMax where both are 0; never 0, because a server takes 0
//     for "no limit" and refuses it where it has one. Below FrameMinSize it is a *TuneError.
//   - heartbeat: the lower of those that are not 0; 0 only if both are: either side can have heartbeats.
func Negotiate(wish, proposal Limits) (Limits, error) {
	l := Limits{
		ChannelMax: lower(wish.ChannelMax, proposal.ChannelMax),
		FrameMax:   lower(wish.FrameMax, proposal.FrameMax),
		Heartbeat:  lower(wish.Heartbeat, proposal.Heartbeat),
	}
	if l.ChannelMax == 0 {
		l.ChannelMax = MaxChannel
	}
	if l.FrameMax == 0 {
		l.FrameMax = DefaultFrameMax
	}
	if l.FrameMax < FrameMinSize {
		return Limits{}, &TuneError{Field: "frame_max", Value: l.FrameMax, Limit: FrameMinSize, Below: true}
	}
	return l, nil
}

// lower returns the lower of two values that are not 0, else the other one.
func lower[T uint16 | uint32](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// AcceptTune is the server's part: it checks the client's answer to its proposal by RabbitMQ's rules and returns the
// limits that hold from then on. An answer above the proposal, or of 0 to a finite one, and a frame-max below
// FrameMinSize are a *TuneError. The client decides the heartbeat alone. ChannelMax 0 is returned as MaxChannel.
func AcceptTune(proposal, answer Limits) (Limits, error) {
	if answer.FrameMax != 0 && answer.FrameMax < FrameMinSize {
		return Limits{}, &TuneError{Field: "frame_max", Value: answer.FrameMax, Limit: FrameMinSize, Below: true}
	}
	if exceeds(answer.FrameMax, proposal.FrameMax) {
		return Limits{}, &TuneError{Field: "frame_max", Value: answer.FrameMax, Limit: proposal.FrameMax}
	}
	if exceeds(answer.ChannelMax, proposal.ChannelMax) {
		return Limits{}, &TuneError{Field: "channel_max", Value: uint32(answer.ChannelMax), Limit: uint32(proposal.ChannelMax)}
	}
	if answer.ChannelMax == 0 {
		answer.ChannelMax = MaxChannel
	}
	return answer, nil
}

func exceeds[T uint16 | uint32](answer, proposal T) bool {
	return proposal != 0 && (answer == 0 || answer > proposal)
}
