package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"leveret/capture"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
	"leveret/loadcore/rabbitmqtest"
	"leveret/loadcore/topology"
)

// recordingLoad is what BenchmarkRecordingCost offers: 4 producers with a confirm window of 1000, 4 consumers that ack each
// message, one queue, for Seconds.
type recordingLoad struct {
	URI     string
	Seconds int
	Capture string // directory to record into; "": what is recorded is dropped
}

// recordingReport is what one such run measured, by the live figures that a run shows: the same instrument for both.
type recordingReport struct {
	Sent, Confirmed, Received int64
	ElapsedNS                 int64 // until all was received
	ConfirmP50NS              int64
	ConfirmP99NS              int64
}

// BenchmarkRecordingCost is C072: it compares a run that records with one whose recorder drops everything, in turn over one
// private RabbitMQ: throughput, and the latency of confirms. LEVERET_BENCH_SECONDS is the length of a run.
func BenchmarkRecordingCost(b *testing.B) {
	rounds, _ := strconv.Atoi(os.Getenv("LEVERET_BENCH_ROUNDS"))
	seconds, _ := strconv.Atoi(os.Getenv("LEVERET_BENCH_SECONDS"))
	node := rabbitmqtest.Shared(b)
	for round := range max(rounds, 1) {
		clients := []string{"recorded", "unrecorded"}
		if round%2 == 1 { // so that neither always comes after the other
			slices.Reverse(clients)
		}
		for _, client := range clients {
			b.Run(fmt.Sprintf("round=%d/4x4/window=1000/%s", round, client), func(b *testing.B) {
				l := recordingLoad{URI: node.URI(b), Seconds: max(seconds, 5)}
				if client == "recorded" {
					l.Capture = filepath.Join(b.TempDir(), "capture")
				}
				var r recordingReport
				for b.Loop() {
					r = runRecording(b, l)
				}
				if r.Sent == 0 || r.Confirmed != r.Sent || r.Received != r.Sent {
					b.Fatalf("sent %d, confirmed %d, received %d messages", r.Sent, r.Confirmed, r.Received)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(r.Received)/(float64(r.ElapsedNS)/1e9), "msg/s")
				b.ReportMetric(float64(r.ConfirmP50NS)/1e6, "p50-confirm-ms")
				b.ReportMetric(float64(r.ConfirmP99NS)/1e6, "p99-confirm-ms")
			})
		}
	}
}

// runRecording runs this test program in the role of such a client.
func runRecording(b *testing.B, l recordingLoad) recordingReport {
	ctx, cancel := context.WithTimeout(b.Context(), time.Duration(l.Seconds)*time.Second+runTimeout)
	defer cancel()
	description, err := json.Marshal(l)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+roleRecording, contestVariable+"="+string(description))
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var r recordingReport
	if err := json.Unmarshal(output, &r); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	b.ReportMetric(float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())/float64(r.Sent+r.Received), "cpu-ns/msg")
	return r
}

// playRecording offers the load that the environment describes.
func playRecording(description string) (recordingReport, error) {
	var l recordingLoad
	if err := json.Unmarshal([]byte(description), &l); err != nil {
		return recordingReport{}, err
	}
	plan, err := l.plan()
	if err != nil {
		return recordingReport{}, err
	}
	session, err := topology.Declare(context.Background(), plan.Endpoint, "bench", plan.Topology)
	if err != nil {
		return recordingReport{}, err
	}
	defer session.Close()
	recorder, end, err := l.recorder(plan)
	if err != nil {
		return recordingReport{}, err
	}
	live := loadcore.NewLive(plan, recorder)
	out, err := loadcore.Run(context.Background(), plan, live)
	if err := errors.Join(err, end()); err != nil {
		return recordingReport{}, err
	}
	f := live.Total()
	return recordingReport{Sent: out.Sent, Confirmed: f.Confirmed, Received: out.Received, ElapsedNS: out.DrainEndNS - out.BarrierNS,
		ConfirmP50NS: f.Confirm.P50NS, ConfirmP99NS: f.Confirm.P99NS}, nil
}

// recorder is what the rows go to; end closes it.
func (l recordingLoad) recorder(plan *loadcore.Plan) (r loadcore.Recorder, end func() error, err error) {
	if l.Capture == "" {
		return loadcore.NoRecord{}, func() error { return nil }, nil
	}
	start := &manifest.Manifest{ID: plan.ID, Tag: plan.Tag, Topology: *plan.Topology, Connections: plan.Connections,
		Producers: plan.Producers, Consumers: plan.Consumers, ClockStart: plan.Clock.Snapshot()}
	w, err := capture.Create(l.Capture, start, plan.Clock, capture.Options{})
	if err != nil {
		return nil, nil, err
	}
	return w, func() error {
		final := *start
		return w.Close(&final)
	}, nil
}

func (l recordingLoad) plan() (*loadcore.Plan, error) {
	ep, err := loadcore.ParseURI(l.URI)
	if err != nil {
		return nil, err
	}
	p := &loadcore.Plan{
		Endpoint: ep, Clock: event.NewClock(), Tag: 1, ID: "bench", Connections: 8, Time: time.Duration(l.Seconds) * time.Second,
		Topology: &manifest.Topology{
			Exchanges: []manifest.Exchange{{}},
			Queues:    []manifest.Queue{{Name: queueName, Type: "classic", AutoDelete: true, Declare: true}},
			Routes:    []manifest.Route{{RoutingKey: queueName}},
		},
	}
	for i := range 4 {
		p.Producers = append(p.Producers, manifest.Producer{Connection: i, Size: 12, Confirm: 1000, Batch: 256, Stamp: "body"})
		p.Consumers = append(p.Consumers, manifest.Consumer{Connection: 4 + i, Queues: []int{0}, AckEvery: 1})
	}
	return p, nil
}
