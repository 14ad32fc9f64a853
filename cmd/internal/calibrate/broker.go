package calibrate

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore"
	"leveret/loadcore/topology"
)

// brokerStart and brokerEnd bound the start and the end of the broker's process.
const (
	brokerStart = 10 * time.Second
	brokerEnd   = 5 * time.Second
)

// child is an embedded broker in a process of its own. It ends with its standard input, and so also when this process dies.
type child struct {
	cmd      *exec.Cmd
	in       io.Closer
	said     *bytes.Buffer
	endpoint loadcore.Endpoint
}

func (c *calibration) startBroker(ctx context.Context, faults string) (*child, error) {
	args := []string{"broker", "--listen", "127.0.0.1:0", "--until-eof"}
	if faults != "" {
		args = append(args, "--faults", faults)
	}
	b := &child{cmd: exec.Command(c.Program, args...), said: &bytes.Buffer{}}
	b.cmd.Stderr = b.said
	b.cmd.WaitDelay = time.Second
	in, err := b.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s broker: %w", c.Program, err)
	}
	b.in = in
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case uri := <-line:
		if b.endpoint, err = loadcore.ParseURI(uri); err == nil && uri != "" {
			return b, nil
		}
		b.end()
		return nil, fmt.Errorf("%s broker did not say where it listens: %s", c.Program, strings.TrimSpace(b.said.String()))
	case <-time.After(brokerStart):
		b.end()
		return nil, fmt.Errorf("%s broker did not start within %v", c.Program, brokerStart)
	case <-ctx.Done():
		b.end()
		return nil, ctx.Err()
	}
}

// end ends the process, by force if it has to.
func (b *child) end() {
	b.in.Close()
	force := time.AfterFunc(brokerEnd, func() { b.cmd.Process.Kill() })
	defer force.Stop()
	b.cmd.Wait() // how a process ends that is not needed any more is of no interest
}

// plan lays out producers and consumers, a connection each, that use one queue; with queue "" nothing is declared, and what
// is published is dropped by the broker, for nothing is bound there.
func (c *calibration) plan(queue string, producers []manifest.Producer, consumers []manifest.Consumer) *loadcore.Plan {
	p := &loadcore.Plan{
		Clock: c.clock, Tag: 1, ID: "calibrate", Producers: producers, Consumers: consumers, Connections: len(producers) + len(consumers),
		Topology: &manifest.Topology{
			Exchanges: []manifest.Exchange{{Name: "amq.direct", Type: "direct", Durable: true}},
			Routes:    []manifest.Route{{Exchange: "amq.direct", RoutingKey: "calibrate"}},
		},
	}
	if queue != "" {
		p.Topology = &manifest.Topology{
			Exchanges: []manifest.Exchange{{}},
			Queues:    []manifest.Queue{{Name: queue, Type: "classic", Declare: true}},
			Routes:    []manifest.Route{{RoutingKey: queue}},
		}
	}
	for i := range p.Producers {
		p.Producers[i].Connection, p.Producers[i].Batch, p.Producers[i].Stamp = i, 256, "body"
	}
	for i := range p.Consumers {
		p.Consumers[i].Connection, p.Consumers[i].Queues = len(producers)+i, []int{0}
	}
	return p
}

// offer runs a plan against a broker; what the plan names is declared first. A lane that failed is an error here.
func offer(ctx context.Context, b *child, p *loadcore.Plan, rec loadcore.Recorder) (*manifest.Outcome, error) {
	p.Endpoint = b.endpoint
	if len(p.Topology.Queues) > 0 {
		session, err := topology.Declare(ctx, b.endpoint, "calibrate topology", p.Topology)
		if err != nil {
			return nil, err
		}
		defer session.Close()
	}
	out, err := loadcore.Run(ctx, p, rec)
	switch {
	case err != nil:
		return nil, err
	case len(out.Failures) > 0:
		return nil, fmt.Errorf("against the embedded broker: %s", out.Failures[0].Text)
	}
	return out, ctx.Err()
}
