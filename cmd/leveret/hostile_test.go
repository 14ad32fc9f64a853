package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"leveret/analyze/result"
	"leveret/loadcore/hostile"
	"leveret/loadcore/wire"
)

// hostilities are what a broker says that it should not: behind the first frame of a method, on the connection that this comes on.
var hostilities = []struct {
	name string
	at   wire.MethodID
	say  []byte
	code int
	says []string // in the report or on stderr
}{
	{"garbage", wire.BasicAckID, []byte("what is this, a frame?"), exitFailed, []string{"connection 0", "cannot follow the AMQP frames: type octet 0x77: unknown frame type"}},
	{"a frame longer than negotiated", wire.BasicAckID, []byte{wire.FrameMethod, 0, 1, 0, 2, 0, 0, 0}, exitFailed,
		[]string{"connection 0", "frame of type 1 on channel 1 with 131072 payload bytes (frame-max 131072): offset 3: larger than the negotiated frame-max allows"}},
	{"a length that is too short", wire.BasicAckID, []byte{wire.FrameMethod, 0, 1, 0, 0, 0, 4, 0, 60, 0, 80, 0, 0, 0, 0, 0, 0, 0, 2, 0, wire.FrameEnd}, exitFailed,
		[]string{"connection 0", "frame of type 1 on channel 1 with 4 payload bytes", "end octet is 0x00"}},
	{"a length that is too long", wire.BasicAckID, append([]byte{wire.FrameMethod, 0, 1, 0, 0, 0, 99, 0, 60, 0, 80}, make([]byte, 100)...), exitFailed,
		[]string{"connection 0", "frame of type 1 on channel 1 with 99 payload bytes", "end octet is 0x00"}},
	{"a length inside a method that is too long", wire.BasicAckID, []byte{wire.FrameMethod, 0, 1, 0, 0, 0, 8, 0, 60, 0, 50, 1, 56, 250, 'x', wire.FrameEnd}, exitFailed,
		[]string{"connection 0", "frame on channel 1: cannot read AMQP data: basic.return", "ends too early"}},
	{"a table without an end", wire.BasicAckID, []byte{wire.FrameMethod, 0, 0, 0, 0, 0, 10, 0, 10, 0, 10, 0, 9, 0x7f, 0xff, 0xff, 0xff, wire.FrameEnd}, exitFailed,
		[]string{"connection 0", "frame on channel 0: cannot read AMQP data: connection.start", "ends too early"}},
	{"a method out of order", wire.BasicAckID, wire.AppendMethod(nil, 0, &wire.ConnectionTune{}), exitFailed, []string{"connection 0", "the broker sent connection.tune, which is out of place on an open connection"}},
	{"an answer that nobody waits for", wire.BasicAckID, wire.AppendMethod(nil, 1, &wire.ConfirmSelectOk{}), exitFailed, []string{"connection 0", "confirm.select-ok on channel 1, where nothing had asked for it"}},
	{"a method that does not exist", wire.BasicAckID, []byte{wire.FrameMethod, 0, 1, 0, 0, 0, 4, 0, 60, 0, 99, wire.FrameEnd}, exitFailed,
		[]string{"connection 0", "frame on channel 1: cannot read AMQP data: class 60 has no method 99"}},
	{"a channel that is not open", wire.BasicAckID, wire.AppendAck(nil, 9, 1, false), exitFailed, []string{"connection 0", "a frame on channel 9, which is not open"}},
	{"a tag that was never issued", wire.BasicAckID, wire.AppendAck(nil, 1, 1000, false), exitFailed, []string{"connection 0", "basic.ack for delivery tag 1000 on channel 1, where only"}},
	{"the largest tag", wire.BasicAckID, wire.AppendNack(nil, 1, 1<<64-1, true, false), exitFailed, []string{"connection 0", "basic.nack for delivery tag 18446744073709551615 on channel 1"}},
	{"an ack twice", wire.BasicAckID, wire.AppendAck(nil, 1, 1, false), exitOK, []string{"PASS", "contradict"}},
	{"a nack of what is acked", wire.BasicAckID, wire.AppendNack(nil, 1, 1, true, false), exitOK, []string{"PASS", "contradict"}},
	{"a delivery to a producer", wire.BasicAckID, wire.AppendDeliver(nil, 1, "0", 1, false, nil, nil), exitFailed, []string{"connection 0", "basic.deliver on channel 1, which is not of that kind"}},
	{"a header without a message", wire.BasicAckID, wire.AppendHeader(nil, 1, 5, nil), exitFailed, []string{"connection 0", "a content header on channel 1 without a message before it"}},
	{"a body without a header", wire.BasicAckID, wire.AppendBody(nil, 1, []byte("hello"), 4096), exitFailed, []string{"connection 0", "a body frame on channel 1 without a content header before it"}},
	{"a return of what was never sent", wire.BasicAckID, returned, exitOK, []string{"PASS"}},
	{"a message within a message", wire.BasicConsumeOkID, wire.AppendDeliver(wire.AppendDeliver(nil, 1, "0", 1, false, nil, nil), 1, "0", 2, false, nil, nil), exitFailed,
		[]string{"connection 1", "basic.deliver on channel 1 in the middle of a message"}},
	{"a body longer than announced", wire.BasicConsumeOkID, wire.AppendBody(wire.AppendHeader(wire.AppendDeliver(nil, 1, "0", 1, false, nil, nil), 1, 3, nil), 1, []byte("hello"), 4096), exitFailed,
		[]string{"connection 1", "5 body bytes on channel 1 where 3 were left of the message"}},
	{"delivery tags out of order", wire.BasicConsumeOkID, wire.AppendDeliver(nil, 1, "0", 5, false, nil, nil), exitFailed, []string{"connection 1", "delivery tag 5 on channel 1 after 0"}},
	{"a body without an end", wire.BasicConsumeOkID, wire.AppendBody(wire.AppendHeader(wire.AppendDeliver(nil, 1, "0", 1, false, nil, nil), 1, 1<<62, nil), 1, make([]byte, 1<<20), 131072), exitFailed,
		[]string{"connection 1", "basic.deliver on channel 1 in the middle of a message"}},
	{"basic.cancel twice", wire.BasicConsumeOkID, append(wire.AppendMethod(nil, 1, &wire.BasicCancel{ConsumerTag: "0"}), wire.AppendMethod(nil, 1, &wire.BasicCancel{ConsumerTag: "0"})...), exitFailed,
		[]string{"connection 1", `basic.cancel for consumer tag "0" on channel 1, which consumes nothing`}},
}

// returned is a message that comes back, and is none of the run.
var returned = wire.AppendBody(wire.AppendHeader(wire.AppendReturn(nil, 1, wire.ReplyNoRoute, "NO_ROUTE", nil, []byte("q")), 1, 12, nil), 1, make([]byte, 12), 4096)

// Whatever a broker says, the run ends with an error that names connection and frame, or goes on and counts it; the record is whole,
// and its analysis says the same.
func TestHostileBrokers(t *testing.T) {
	t.Parallel()
	for _, c := range hostilities {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var said atomic.Bool
			uri := untrusted(t, func(talk *hostile.Talk, f wire.Frame, frame []byte) []byte {
				if talk.Number >= loading && methodOf(f) == c.at && said.CompareAndSwap(false, true) {
					return append(frame, c.say...)
				}
				return frame
			})
			dir := filepath.Join(t.TempDir(), "capture")
			code, stdout, stderr := invoke(t, "run", "--quiet", "--uri", uri, "--queue", "q", "--confirm", "5", "--pmessages", "200", "--rate", "1000", "--on-disconnect", "stop", "--capture", dir,
				"--drain-timeout", "1", "--shutdown-timeout", "1", "--confirm-timeout", "5")
			if !said.Load() {
				t.Fatalf("no %s has come: exit %d\n%s", c.at, code, stderr)
			}
			for _, want := range c.says {
				if code != c.code || !strings.Contains(oneLine(stdout+stderr), want) {
					t.Errorf("exit %d, want %d with %q\nstdout: %s\nstderr: %s", code, c.code, want, stdout, stderr)
				}
			}
			r := analyzedCapture(t, dir)
			if !r.Complete || r.Counts.Sent > 200 || code == exitFailed && r.Verdict != result.Inconclusive {
				t.Errorf("%s, %+v\n%+v", r.Verdict, r.Counts, r.Findings)
			}
		})
	}
}

// A broker whose every byte comes alone is as good as any.
func TestSlowBytesPass(t *testing.T) {
	t.Parallel()
	uri := untrusted(t, func(talk *hostile.Talk, f wire.Frame, frame []byte) []byte {
		for i := range frame {
			talk.Client.Write(frame[i : i+1])
		}
		return nil
	})
	r, code, dir := record(t, "--uri", uri, "--queue", "q", "--confirm", "5", "--pmessages", "100")
	if code != exitOK || r.Verdict != result.Pass || r.Counts.ReceivedUnique != 100 {
		t.Errorf("exit %d, %s, %+v", code, r.Verdict, r.Counts)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
