package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/loadcore/broker"
	"leveret/loadcore/hostile"
	"leveret/loadcore/wire"
)

// untrusted is the URI of an embedded broker that another stands before, which changes what it says.
func untrusted(t *testing.T, say func(*hostile.Talk, wire.Frame, []byte) []byte) string {
	t.Helper()
	b, err := broker.Start(broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	between, err := hostile.Listen(b.Addr().String(), say)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(between.Close)
	return strings.Replace(b.URI(), b.Addr().String(), between.Addr(), 1)
}

// methodOf is what method a frame has; 0: none.
func methodOf(f wire.Frame) wire.MethodID {
	if f.Type != wire.FrameMethod {
		return 0
	}
	id, _, _ := wire.PeekMethod(f.Payload)
	return id
}

// The connections of a run, in the order in which it opens them.
const (
	meeting   = iota // learns who the broker is
	declaring        // declares the topology
	loading          // this and the following offer the load
)

// stalls are the steps of a conversation at which a broker can fall silent: from the n-th frame of a method on a connection hears
// nothing more, and stays open.
var stalls = []struct {
	connection int
	at         wire.MethodID
	args       []string
	code       int
	says       string // on stderr or in the report
	recorded   bool
}{
	{meeting, wire.ConnectionStartID, nil, exitFailed, "protocol header: the server accepted the connection and did not answer within 1s", false},
	{meeting, wire.ConnectionTuneID, nil, exitFailed, "login: the server accepted the connection and did not answer within 1s", false},
	{meeting, wire.ConnectionOpenOkID, nil, exitFailed, "opening the vhost: the server accepted the connection and did not answer within 1s", false},
	{meeting, wire.ConnectionCloseOkID, nil, exitOK, "PASS", true}, // nothing depends on it
	{declaring, wire.ConnectionStartID, nil, exitFailed, "login: no answer within 1s (--connect-timeout)", false},
	{declaring, wire.ConnectionTuneID, nil, exitFailed, "login: no answer within 1s (--connect-timeout)", false},
	{declaring, wire.ConnectionOpenOkID, nil, exitFailed, "login: no answer within 1s (--connect-timeout)", false},
	{declaring, wire.ChannelOpenOkID, nil, exitFailed, "declaring the topology: the broker did not answer within", false},
	{declaring, wire.QueueDeclareOkID, nil, exitFailed, "declaring the topology: the broker did not answer within", false},
	{declaring, wire.QueueBindOkID, []string{"--exchange", "e", "--queue", "q"}, exitFailed, "declaring the topology: the broker did not answer within", false},
	{declaring, wire.ConnectionCloseOkID, nil, exitOK, "warning: closing the connection that declared the topology: ", true},
	{loading, wire.ConnectionStartID, nil, exitFailed, "protocol header: the server accepted the connection and did not answer within 1s", false},
	{loading, wire.ConnectionTuneID, nil, exitFailed, "login: the server accepted the connection and did not answer within 1s", false},
	{loading, wire.ConnectionOpenOkID, nil, exitFailed, "opening the vhost: the server accepted the connection and did not answer within 1s", false},
	{loading, wire.ChannelOpenOkID, nil, exitFailed, "channel.open on channel 1: no answer from the broker in time (1s, --connect-timeout)", false},
	{loading, wire.ConfirmSelectOkID, nil, exitFailed, "producer 0: confirm.select on channel 1: no answer", false},
	{loading, wire.TxSelectOkID, []string{"--confirm", "-1", "--ptxsize", "2"}, exitFailed, "producer 0: tx.select on channel 1: no answer", false},
	{loading, wire.BasicQosOkID, []string{"--qos", "5"}, exitFailed, "consumer 0: basic.qos on channel 1: no answer", false},
	{loading, wire.QueueDeclareOkID, []string{"--exclusive", "--queue", "q"}, exitFailed, "declaring exclusive queue q: queue.declare on channel 1: no answer", false},
	{loading, wire.BasicConsumeOkID, nil, exitFailed, "basic.consume on channel 1: no answer", false},
	{loading, wire.BasicAckID, nil, exitFailed, "connection 0, producer 0: 5 messages were not confirmed within 1s", true},
	{loading, wire.TxCommitOkID, []string{"--confirm", "-1", "--ptxsize", "2"}, exitFailed, "connection 0, producer 0: 2 messages were not committed within 1s", true},
	{loading, wire.BasicGetOkID, []string{"--polling"}, exitFailed, "connection 1, consumer 0: the broker did not answer basic.get on channel 1 within 1s (--confirm-timeout)", true},
	{loading, wire.BasicDeliverID, nil, exitOK, "it could not be proved that all was received within 1s", true},
	{loading, wire.BasicCancelOkID, nil, exitOK, "warning: at the end of the run, consumer 0: basic.cancel on channel 1: no answer from the broker in time", true},
	{loading, wire.ChannelCloseOkID, nil, exitOK, "warning: at the end of the run, connection 1: channel.close on channel 1: no answer from the broker in time", true},
	{loading, wire.ConnectionCloseOkID, nil, exitOK, "warning: at the end of the run, connection 0 and 1 more: no connection.close-ok within 1s", true},
}

// Wherever a broker falls silent the run ends by a deadline of its own, says at which step, and leaves a record that can be
// analyzed, or none where no load was offered.
func TestEveryStallEnds(t *testing.T) {
	t.Parallel()
	for _, c := range stalls {
		name := []string{"meeting", "declaring", "loading"}[c.connection] + " " + c.at.String()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := untrusted(t, func(talk *hostile.Talk, f wire.Frame, frame []byte) []byte {
				if (talk.Number == c.connection || talk.Number > loading && c.connection == loading) && methodOf(f) == c.at {
					talk.Mute.Store(true)
					return nil
				}
				return frame
			})
			checkStall(t, uri, append([]string{"--confirm", "5"}, c.args...), c.code, c.says, c.recorded)
		})
	}
}

func checkStall(t *testing.T, uri string, args []string, code int, says string, recorded bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	args = append([]string{"run", "--quiet", "--uri", uri, "--pmessages", "20", "--on-disconnect", "stop", "--capture", dir, "--connect-timeout", "1", "--declare-timeout", "1",
		"--confirm-timeout", "1", "--drain-timeout", "1", "--shutdown-timeout", "1"}, args...)
	got, stdout, stderr := invoke(t, args...)
	if got != code || !strings.Contains(oneLine(stdout+stderr), says) {
		t.Errorf("exit %d, want %d with %q\nstdout: %s\nstderr: %s", got, code, says, stdout, stderr)
	}
	if _, err := os.Stat(dir); (err == nil) != recorded {
		t.Errorf("recorded: %v, want %v", err == nil, recorded)
	}
	if !recorded {
		return
	}
	if r := analyzedCapture(t, dir); !r.Complete {
		t.Errorf("the record is incomplete: %+v", r.Findings)
	}
}

// A TLS handshake that stops half way: the server has read the client's hello and says nothing, or has begun to.
func TestTLSHandshakeThatStalls(t *testing.T) {
	t.Parallel()
	for _, begun := range []string{"", "\x16\x03\x03\x00\x7a\x02\x00"} { // of a server's hello of 122 bytes
		checkStall(t, "amqps://"+mute(t, begun), nil, exitFailed, "TLS handshake: no answer within 1s", false)
	}
}

// A broker that goes on a byte at a time does not make the deadline of a connection longer.
func TestHandshakeByteByByte(t *testing.T) {
	t.Parallel()
	uri := untrusted(t, func(talk *hostile.Talk, f wire.Frame, frame []byte) []byte {
		for i := range frame {
			time.Sleep(20 * time.Millisecond)
			if _, err := talk.Client.Write(frame[i : i+1]); err != nil {
				return nil
			}
		}
		return nil
	})
	checkStall(t, uri, nil, exitFailed, "protocol header: the server accepted the connection and did not answer within 1s", false)
}
