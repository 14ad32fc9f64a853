package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"leveret/loadcore/rabbitmqtest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		return
	}
	rabbitmqtest.Main(m)
}

// contest is one load that every client offers in turn: one producer, one consumer, one queue, automatic acks.
type contest struct {
	Size, Window int
	Messages     int64
	URI          string
	name         string
}

// outcome is what a client did and what it used.
type outcome struct {
	sent, received int64
	elapsed        time.Duration // from the first message to the last one's receipt
	cpu            time.Duration // user and system of the whole process
}

// BenchmarkAgainstRabbitMQ compares whole client programs in turn over one private RabbitMQ on this machine:
//
//   - leveret: the program, as `leveret run` is used, recording to disk, its settings at their defaults
//   - leveret-unrecorded: a program of the same engine with the same plan whose recorder drops everything
//   - leveret-coalesce: as the first, with --coalesce 200us
//   - amqp091-go: a plain program with the usual client, deferred confirms
//
// cpu-ns/msg is the process's user and system time, its start included, by messages sent plus received. All send the same
// number of messages, so many that a run takes two to three seconds.
func BenchmarkAgainstRabbitMQ(b *testing.B) {
	rounds, _ := strconv.Atoi(os.Getenv("LEVERET_BENCH_ROUNDS"))
	program := filepath.Join(b.TempDir(), "leveret")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "leveret/cmd/leveret")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	node := rabbitmqtest.Shared(b)
	contests := []contest{
		{name: "12B/window=none", Size: 12, Messages: 200_000},
		{name: "12B/window=1000", Size: 12, Window: 1000, Messages: 120_000},
		{name: "1024B/window=none", Size: 1024, Messages: 120_000},
		{name: "1024B/window=1000", Size: 1024, Window: 1000, Messages: 80_000},
	}
	begun := time.Now()
	for round := range max(rounds, 1) {
		if time.Since(begun)*time.Duration(round+1) > contestBudget*time.Duration(max(round, 1)) {
			b.Logf("%d of %d rounds: another would go beyond %v", round, rounds, contestBudget)
			break
		}
		for _, c := range contests {
			for _, client := range []struct {
				name string
				run  func(b *testing.B, c contest) outcome
			}{
				{"leveret", func(b *testing.B, c contest) outcome { return runProgram(b, program, c) }},
				{"leveret-coalesce", func(b *testing.B, c contest) outcome { return runProgram(b, program, c, "--coalesce", "200us") }},
				{"leveret-unrecorded", func(b *testing.B, c contest) outcome { return runRole(b, roleUnrecorded, c) }},
				{twin, func(b *testing.B, c contest) outcome { return runRole(b, rolePeer, c) }},
			} {
				b.Run(fmt.Sprintf("round=%d/%s/%s", round, c.name, client.name), func(b *testing.B) {
					c.URI = node.URI(b)
					var o outcome
					for b.Loop() {
						o = client.run(b, c)
					}
					if o.sent != c.Messages || o.received != c.Messages {
						b.Fatalf("sent %d and received %d of %d messages", o.sent, o.received, c.Messages)
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(o.cpu.Nanoseconds())/float64(o.sent+o.received), "cpu-ns/msg")
					b.ReportMetric(float64(o.received)/o.elapsed.Seconds(), "msg/s")
				})
			}
		}
	}
}

// contestBudget bounds all rounds together; on a machine that has other things to do fewer of them fit.
const contestBudget = 6 * time.Minute

// runTimeout bounds one client's run.
const runTimeout = time.Minute

// runProgram runs the built program; what it recorded says how long it took.
func runProgram(b *testing.B, program string, c contest, more ...string) outcome {
	ctx, cancel := context.WithTimeout(b.Context(), runTimeout)
	defer cancel()
	dir := filepath.Join(b.TempDir(), "capture")
	args := []string{"run", "--uri", c.URI, "--exchange", "amq.default", "--queue", "bench", "--autoack", "--quiet", "--no-analyze",
		"--size", strconv.Itoa(c.Size), "--pmessages", strconv.FormatInt(c.Messages, 10), "--capture", dir}
	if c.Window > 0 {
		args = append(args, "--confirm", strconv.Itoa(c.Window))
	}
	cmd := exec.CommandContext(ctx, program, append(args, more...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	o, err := recorded(dir)
	if err != nil {
		b.Fatal(err)
	}
	o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	os.RemoveAll(dir)
	return o
}

// runRole runs this test program in one of its roles.
func runRole(b *testing.B, role string, c contest) outcome {
	ctx, cancel := context.WithTimeout(b.Context(), runTimeout)
	defer cancel()
	description, err := json.Marshal(c)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, contestVariable+"="+string(description))
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var said report
	if err := json.Unmarshal(output, &said); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	return outcome{sent: said.Sent, received: said.Received, elapsed: time.Duration(said.ElapsedNS),
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}
