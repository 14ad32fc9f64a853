package loadcore

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/broker"
	"leveret/loadcore/wire"

	amqp "github.com/rabbitmq/amqp091-go"
)

// asSink makes the test binary a process that takes messages, confirms them, and does nothing else with them.
const asSink = "LEVERET_TEST_RUN_AS_SINK"

// sinkMain prints its address and serves until its standard input ends.
func sinkMain() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(ln.Addr())
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go serveSink(c)
		}
	}()
	os.Stdin.Read(make([]byte, 1))
}

// serveSink confirms, with one frame for what each read call brought. Bodies are of one frame.
func serveSink(nc net.Conn) {
	defer nc.Close()
	c := &stubConn{Conn: nc, stub: &stub{mechs: "PLAIN", limits: wire.Limits{ChannelMax: 2047, FrameMax: 131072}}}
	buf := make([]byte, 256<<10)
	end, started := 0, false
	messages, confirmed := uint64(0), uint64(0)
	var answer []byte
	for {
		n, err := nc.Read(buf[end:])
		if err != nil {
			return
		}
		end += n
		at := 0
		if !started && end >= 8 {
			at, started = 8, true
			c.method(0, &wire.ConnectionStart{VersionMinor: 9, Mechanisms: "PLAIN", Locales: "en_US"})
		}
		for {
			f, size, err := wire.NextFrame(buf[at:end], 0)
			if err != nil {
				return
			}
			if size == 0 {
				break
			}
			at += size
			if f.Type == wire.FrameBody {
				messages++
				continue
			}
			id, _, _ := wire.PeekMethod(f.Payload)
			if f.Type != wire.FrameMethod || id == wire.BasicPublishID {
				continue
			}
			m, err := wire.ParseMethod(f.Payload)
			if err != nil || c.usual(f.Channel, m) != nil {
				return
			}
		}
		end = copy(buf, buf[at:end])
		if messages > confirmed {
			confirmed = messages
			answer = wire.AppendAck(answer[:0], 1, confirmed, true)
			c.send(answer)
		}
	}
}

// startSink starts a sink in a process of its own.
func startSink(b *testing.B) (uri string) {
	b.Helper()
	return "amqp://" + startSelf(b, asSink)
}

// BenchmarkPublishToSinkProcess publishes 12-byte messages with a window of 1000 over loopback to a process that only
// confirms; sends and settlements are recorded. msg/s counts from the first message to the last confirm.
func BenchmarkPublishToSinkProcess(b *testing.B) {
	b.Run("window=1000/"+ours, func(b *testing.B) {
		uri := startSink(b)
		measureRuns(b, uri, 3_000_000, manifest.Producer{Size: 12, Confirm: 1000}, nil)
	})
	b.Run("window=1000/"+peers, func(b *testing.B) {
		measurePeer(b, startSink(b), 200_000, false)
	})
}

// BenchmarkEndToEndEmbedded sends 12-byte messages through the embedded broker in this process: confirms under a window
// of 1000, a consumer that acks every 100, everything recorded. msg/s counts from the first message to the last ack's
// proof; cpu-ns/msg has the broker in it.
func BenchmarkEndToEndEmbedded(b *testing.B) {
	for _, c := range []struct {
		name string
		run  func(b *testing.B, uri string)
	}{
		{ours, func(b *testing.B, uri string) {
			measureRuns(b, uri, 1_000_000, manifest.Producer{Size: 12, Confirm: 1000},
				[]manifest.Consumer{{AckEvery: 100, Prefetch: 2000}})
		}},
		{peers, func(b *testing.B, uri string) { measurePeer(b, uri, 100_000, true) }},
	} {
		b.Run("window=1000-ack-every-100/"+c.name, func(b *testing.B) {
			server, err := broker.Start(broker.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer server.Close()
			newAdmin(b, mustParse(b, server.URI())).declare("q", nil)
			c.run(b, server.URI())
		})
	}
}

// measureRuns does runs of n messages each, recorded.
func measureRuns(b *testing.B, uri string, n int64, p manifest.Producer, consumers []manifest.Consumer) {
	p.Limit, p.Batch = n, 256
	var messages, elapsed, cpu int64
	for b.Loop() {
		plan := oneQueue(mustParse(b, uri), "q", []manifest.Producer{p}, consumers)
		plan.Coalesce = UsualCoalesce
		rec, end := recorder(b, plan)
		out, err := Run(context.Background(), plan, rec)
		if err != nil {
			b.Fatal(err)
		}
		end()
		if out.Sent != n || out.Confirmed != n || len(consumers) > 0 && out.Received != n || len(out.Failures) > 0 {
			b.Fatalf("%+v", out)
		}
		messages, elapsed, cpu = messages+n, elapsed+out.DrainEndNS-out.BarrierNS, cpu+out.CPUNS
	}
	reportRuns(b, messages, elapsed, cpu)
}

func reportRuns(b *testing.B, messages, elapsed, cpu int64) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(messages)/float64(elapsed)*1e9, "msg/s")
	b.ReportMetric(float64(cpu)/float64(messages), "cpu-ns/msg")
}

// measurePeer does the same with amqp091-go, and records nothing.
func measurePeer(b *testing.B, uri string, n int64, consume bool) {
	conn, err := amqp.Dial(uri)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		b.Fatal(err)
	}
	received := make(chan error, 1)
	var messages <-chan amqp.Delivery
	if consume {
		messages = peerConsumer(b, uri)
	}
	var total, elapsed, cpu int64
	for b.Loop() {
		begun, before := time.Now(), cpuTime()
		go func() { received <- peerReceive(messages, n, 100) }()
		if err := peerPublish(ch, n, 1000); err != nil {
			b.Fatal(err)
		}
		if err := <-received; err != nil {
			b.Fatal(err)
		}
		total, elapsed, cpu = total+n, elapsed+int64(time.Since(begun)), cpu+cpuTime()-before
	}
	reportRuns(b, total, elapsed, cpu)
}

func peerConsumer(b *testing.B, uri string) <-chan amqp.Delivery {
	conn, err := amqp.Dial(uri)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Qos(2000, 0, false)
	}
	if err != nil {
		b.Fatal(err)
	}
	messages, err := ch.Consume("q", "", false, false, false, false, nil)
	if err != nil {
		b.Fatal(err)
	}
	return messages
}

// peerPublish keeps at most window messages unconfirmed, by waiting for the oldest.
func peerPublish(ch *amqp.Channel, n int64, window int) error {
	open := make([]*amqp.DeferredConfirmation, 0, window)
	body := make([]byte, 12)
	for i := range n {
		if len(open) < window {
			open = append(open, nil)
		} else if at := int(i) % window; !open[at].Wait() {
			return fmt.Errorf("message %d was refused", i-int64(window))
		}
		d, err := ch.PublishWithDeferredConfirmWithContext(context.Background(), "", "q", false, false, amqp.Publishing{Body: body})
		if err != nil {
			return err
		}
		open[int(i)%window] = d
	}
	for _, d := range open {
		if !d.Wait() {
			return fmt.Errorf("a message was refused")
		}
	}
	return nil
}

func peerReceive(messages <-chan amqp.Delivery, n int64, every int64) error {
	if messages == nil {
		return nil
	}
	for i := int64(1); i <= n; i++ {
		d := <-messages
		if i%every == 0 {
			if err := d.Ack(true); err != nil {
				return err
			}
		}
	}
	return nil
}
