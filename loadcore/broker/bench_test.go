package broker_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"leveret/loadcore/broker"
	"leveret/loadcore/wire"
)

// BenchmarkEndToEnd sends messages through one queue: publish with confirms under a window, deliver, ack every message up to
// the last of each read with one frame. Broker and both clients share this process. One operation is one message.
func BenchmarkEndToEnd(b *testing.B) {
	for _, size := range []int{12, 1024} {
		for _, window := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("size=%d/window=%d", size, window), func(b *testing.B) { endToEnd(b, size, window, false) })
		}
	}
	b.Run("size=12/window=1000/single-acks", func(b *testing.B) { endToEnd(b, 12, 1000, true) })
}

func endToEnd(b *testing.B, size, window int, singleAcks bool) {
	s, err := broker.Start(broker.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	pub, con := openRaw(b, s), openRaw(b, s)
	pub.nc.SetDeadline(time.Time{})
	con.nc.SetDeadline(time.Time{})
	con.send(b, 1, &wire.QueueDeclare{Queue: "bench"})
	con.expect(b, wire.QueueDeclareOkID)
	con.send(b, 1, &wire.BasicQos{PrefetchCount: uint16(window)})
	con.expect(b, wire.BasicQosOkID)
	con.send(b, 1, &wire.BasicConsume{Queue: "bench", ConsumerTag: "c"})
	con.expect(b, wire.BasicConsumeOkID)
	pub.send(b, 1, &wire.ConfirmSelect{})
	pub.expect(b, wire.ConfirmSelectOkID)

	b.ResetTimer()
	b.ReportAllocs()
	cpu := cpuTime()
	done := make(chan error, 2)
	var received atomic.Int64
	go func() { done <- publishAll(pub, b.N, size, window, &received) }()
	go func() { done <- consumeAll(con, b.N, singleAcks, &received) }()
	for range 2 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/msg") // broker and both clients
}

// maxLag is how far the publisher may be ahead of the consumer: confirms come whatever the consumer does, and the queue
// is not to grow into the memory bound.
const maxLag = 50_000

func publishAll(c *rawClient, n, size, window int, received *atomic.Int64) error {
	one := wire.AppendPublish(nil, 1, "", "bench", false)
	one = wire.AppendHeader(one, 1, uint64(size), nil)
	one = wire.AppendBody(one, 1, make([]byte, size), c.frameMax)
	perWrite := max(1, min(window/2, (64<<10)/len(one)))
	var batch []byte
	for range perWrite {
		batch = append(batch, one...)
	}
	sent, confirmed := 0, 0
	for confirmed < n {
		for int64(sent)-received.Load() > maxLag {
			time.Sleep(100 * time.Microsecond)
		}
		if k := min(n-sent, window-(sent-confirmed), perWrite); k > 0 {
			if _, err := c.nc.Write(batch[:k*len(one)]); err != nil {
				return err
			}
			sent += k
			if sent < n && sent-confirmed < window {
				continue
			}
		}
		f, err := c.next()
		if err != nil {
			return err
		}
		id, args, _ := wire.PeekMethod(f.Payload)
		if f.Type != wire.FrameMethod || id != wire.BasicAckID {
			return fmt.Errorf("got frame %d %s instead of a confirm", f.Type, id)
		}
		ack, _ := wire.ParseAck(args)
		confirmed = int(ack.DeliveryTag)
	}
	return nil
}

func consumeAll(c *rawClient, n int, singleAcks bool, total *atomic.Int64) error {
	var acks []byte
	received := 0
	for received < n {
		if err := c.fill(); err != nil {
			return err
		}
		acks = acks[:0]
		before := received
		for {
			f, k, err := wire.NextFrame(c.buf[c.begin:c.end], c.frameMax)
			if err != nil {
				return err
			}
			if k == 0 {
				break
			}
			c.begin += k
			if f.Type != wire.FrameBody {
				continue
			}
			received++
			if singleAcks {
				acks = wire.AppendAck(acks, 1, uint64(received), false)
			}
		}
		if !singleAcks && received > before {
			acks = wire.AppendAck(acks, 1, uint64(received), true)
		}
		total.Store(int64(received))
		if len(acks) > 0 {
			if _, err := c.nc.Write(acks); err != nil {
				return err
			}
		}
	}
	return nil
}
