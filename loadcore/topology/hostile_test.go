package topology_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/topology"
	"leveret/loadcore/wire"
)

// The library that declares makes room for whatever length it is told. It is told none that our codec has not read: the error names
// the frame, and no memory goes.
func TestLengthsThatLie(t *testing.T) {
	for name, c := range map[string]struct {
		say  []byte
		want string
	}{
		"a frame of 2 GiB": {[]byte{wire.FrameMethod, 0, 0, 0x7f, 0xff, 0xff, 0xf0, 0, 10, 0, 10}, "frame of type 1 on channel 0 with 2147483632 payload bytes (frame-max 131072)"},
		"a table of 2 GiB": {[]byte{wire.FrameMethod, 0, 0, 0, 0, 0, 10, 0, 10, 0, 10, 0, 9, 0x7f, 0xff, 0xff, 0xf0, wire.FrameEnd}, "frame on channel 0: cannot read AMQP data: connection.start"},
		"a body of 2 GiB":  {[]byte{wire.FrameBody, 0, 1, 0x7f, 0xff, 0xff, 0xf0, 0}, "frame of type 3 on channel 1 with 2147483632 payload bytes (frame-max 131072)"},
		"no frame at all":  {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "the peer speaks HTTP"},
	} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if nc, err := ln.Accept(); err == nil {
				io.ReadFull(nc, make([]byte, len(wire.ProtocolHeader)))
				nc.Write(c.say)
				io.Copy(io.Discard, nc)
				nc.Close()
			}
		}()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = topology.Declare(t.Context(), endpoint(t, "amqp://"+ln.Addr().String()), "test", &manifest.Topology{})
		runtime.ReadMemStats(&after)
		ln.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %q", name, err, c.want)
		}
		if all := after.TotalAlloc - before.TotalAlloc; all > 16<<20 {
			t.Errorf("%s: %d bytes were allocated", name, all)
		}
	}
}

// A broker that does not answer when queues are deleted at the end does not keep the session from ending.
func TestSessionEndsInTime(t *testing.T) {
	declared := false
	ep := refuser(t, func(channel uint16) []byte {
		declared = true
		return wire.AppendMethod(nil, channel, &wire.QueueDeclareOk{Queue: "amq.gen-1"})
	}) // and says nothing to queue.delete
	session, err := topology.Bounds{Close: 300 * time.Millisecond}.Declared(t.Context(), ep, "test",
		&manifest.Topology{Queues: []manifest.Queue{{ServerNamed: true, AutoDelete: true, Declare: true}}})
	if err != nil || !declared {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- session.Close() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second): // the library would miss heartbeats after thirty
		t.Fatal("the session does not end")
	}
}
