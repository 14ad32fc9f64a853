package main

import (
	"net"
	"sync"
	"testing"
	"time"

	"leveret/loadcore/broker"
)

// far stands before a broker and passes everything on later than it came, in both directions.
func far(t *testing.T, behind string, delay time.Duration) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			away, err := net.Dial("tcp", behind)
			if err != nil {
				near.Close()
				continue
			}
			conns.Go(func() { later(near, away, delay) })
			conns.Go(func() { later(away, near, delay) })
		}
	}()
	t.Cleanup(func() { l.Close(); conns.Wait() })
	return l.Addr().String()
}

// later copies from one connection to the other; each piece waits for the delay, and none for another.
func later(from, to net.Conn, delay time.Duration) {
	type piece struct {
		at   time.Time
		text []byte
	}
	pieces := make(chan piece, 1000)
	go func() {
		defer close(pieces)
		for {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			if n > 0 {
				pieces <- piece{time.Now().Add(delay), b[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.at))
		to.Write(p.text)
	}
	to.Close()
	from.Close()
}

// W14: 50 ms out, 4 ms of work, 50 ms back. With a prefetch of 1 a message takes 104 ms, 9.615 a second, so that the last of eight that
// were sent together has waited for seven others. The same law holds for confirms: a window of 2, answered after 100 ms, is 20 a
// second; the last two of twelve are sent five rounds after the first two.
func TestW14DistanceCapsRates(t *testing.T) {
	t.Parallel()
	b, err := broker.Start(broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	uri := "amqp://" + far(t, b.Addr().String(), 50*time.Millisecond)
	r, _, code, _, stderr := perfTest(t, "-h", uri, "-st", "30", "-x", "1", "-y", "1", "-q", "1", "-L", "4000", "-C", "8", "-u", "consumed")
	if d := r.Latency.Delivery.Service; code != exitOK || d == nil || d.Count != 8 || *d.MinNS < 100e6 || *d.MaxNS < 7*104e6 {
		t.Errorf("exit %d, %+v\n%s", code, d, stderr)
	}
	r, _, code, _, stderr = perfTest(t, "-h", uri, "-st", "30", "-x", "1", "-y", "0", "-c", "2", "-C", "12", "-u", "published", "-k", "k")
	if d := r.Latency.Confirm.Service; code != exitOK || d == nil || d.Count != 12 || *d.MinNS < 100e6 || *r.Rates.Sent > 12/0.5 {
		t.Errorf("exit %d, %+v, %v a second\n%s", code, d, *r.Rates.Sent, stderr)
	}
}
