package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
	"leveret/loadcore"
	"leveret/loadcore/topology"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The test program plays a client when it is started with a role. The contest has the broker's password and comes by the
// environment, as JSON.
const (
	roleVariable    = "LEVERET_BENCH_ROLE"
	contestVariable = "LEVERET_BENCH_CONTEST"

	rolePeer       = "peer"
	roleUnrecorded = "unrecorded"
	roleRecording  = "recording"
)

// report is what a client prints at its end.
type report struct{ Sent, Received, ElapsedNS int64 }

func play(role string) error {
	if role == roleRecording {
		r, err := playRecording(os.Getenv(contestVariable))
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	var c contest
	if err := json.Unmarshal([]byte(os.Getenv(contestVariable)), &c); err != nil {
		return err
	}
	client := map[string]func(contest) (report, error){rolePeer: playPeer, roleUnrecorded: playUnrecorded}[role]
	if client == nil {
		return errors.New("no such role")
	}
	r, err := client(c)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

const queueName = "bench"

// playPeer is a plain program with amqp091-go.
func playPeer(c contest) (report, error) {
	messages, end, err := peerConsume(c)
	if err != nil {
		return report{}, err
	}
	defer end()
	conn, err := amqp.Dial(c.URI)
	if err != nil {
		return report{}, err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err == nil && c.Window > 0 {
		err = ch.Confirm(false)
	}
	if err != nil {
		return report{}, err
	}
	begun := time.Now()
	received := make(chan int64, 1)
	go func() {
		n := int64(0)
		for range messages {
			if n++; n == c.Messages {
				break
			}
		}
		received <- n
	}()
	if err := peerPublish(ch, c); err != nil {
		return report{}, err
	}
	n := <-received
	return report{Sent: c.Messages, Received: n, ElapsedNS: int64(time.Since(begun))}, nil
}

func peerConsume(c contest) (messages <-chan amqp.Delivery, end func(), err error) {
	conn, err := amqp.Dial(c.URI)
	if err != nil {
		return nil, nil, err
	}
	ch, err := conn.Channel()
	if err == nil {
		_, err = ch.QueueDeclare(queueName, false, true, false, false, nil)
	}
	if err == nil {
		messages, err = ch.Consume(queueName, "", true, false, false, false, nil)
	}
	return messages, func() { conn.Close() }, err
}

// peerPublish keeps at most the window unconfirmed, by waiting for the oldest.
func peerPublish(ch *amqp.Channel, c contest) error {
	ctx, body := context.Background(), make([]byte, c.Size)
	open := make([]*amqp.DeferredConfirmation, c.Window)
	for i := range c.Messages {
		m := amqp.Publishing{Body: body}
		if c.Window == 0 {
			if err := ch.PublishWithContext(ctx, "", queueName, false, false, m); err != nil {
				return err
			}
			continue
		}
		slot := &open[i%int64(c.Window)]
		if *slot != nil && !(*slot).Wait() {
			return fmt.Errorf("message %d was refused", i-int64(c.Window))
		}
		d, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", queueName, false, false, m)
		if err != nil {
			return err
		}
		*slot = d
	}
	for _, d := range open {
		if d != nil && !d.Wait() {
			return errors.New("a message was refused")
		}
	}
	return nil
}

// playUnrecorded is the engine with the plan of `leveret run`, and a recorder that drops everything.
func playUnrecorded(c contest) (report, error) {
	ep, err := loadcore.ParseURI(c.URI)
	if err != nil {
		return report{}, err
	}
	plan := &loadcore.Plan{
		Endpoint: ep, Clock: event.NewClock(), Tag: 1, ID: "bench", Connections: 2,
		Topology: &manifest.Topology{
			Exchanges: []manifest.Exchange{{}},
			Queues:    []manifest.Queue{{Name: queueName, Type: "classic", AutoDelete: true, Declare: true}},
			Routes:    []manifest.Route{{RoutingKey: queueName}},
		},
		Producers: []manifest.Producer{{Size: c.Size, Confirm: c.Window, Limit: c.Messages, Batch: 256, Stamp: "body"}},
		Consumers: []manifest.Consumer{{Connection: 1, Queues: []int{0}, AutoAck: true, AckEvery: 1}},
	}
	session, err := topology.Declare(context.Background(), ep, "bench", plan.Topology)
	if err != nil {
		return report{}, err
	}
	defer session.Close()
	var rec dropper
	out, err := loadcore.Run(context.Background(), plan, &rec)
	if err != nil {
		return report{}, err
	}
	return report{Sent: out.Sent, Received: out.Received, ElapsedNS: rec.last.Load() - out.BarrierNS}, nil
}

// dropper drops everything but the time of the last delivery.
type dropper struct {
	loadcore.NoRecord
	last atomic.Int64
}

func (d *dropper) Deliveries(b *event.Deliveries) { d.last.Store(b.At) }

// recorded reads from a capture what was done in which time. The journal has the times of each batch of rows.
func recorded(dir string) (outcome, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifest.FinalName))
	if err != nil {
		return outcome{}, err
	}
	var m manifest.Manifest
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&m); err != nil {
		return outcome{}, err
	}
	journal, err := os.ReadFile(filepath.Join(dir, manifest.JournalName))
	if err != nil {
		return outcome{}, err
	}
	last := int64(0)
	for at := schema.JournalHeaderSize; at+schema.RecordSize <= len(journal); at += schema.RecordSize {
		r, err := schema.ParseRecord(journal[at : at+schema.RecordSize])
		if err != nil {
			return outcome{}, err
		}
		if r.Kind == schema.Deliveries && !r.End {
			last = max(last, r.MaxTime)
		}
	}
	return outcome{sent: m.Outcome.Sent, received: m.Outcome.Received, elapsed: time.Duration(last - m.Outcome.BarrierNS)}, nil
}
