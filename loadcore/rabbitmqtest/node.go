package rabbitmqtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// startTimeout bounds a start. It takes three to six seconds on an idle machine; test packages run side by side.
	startTimeout = 2 * time.Minute
	// stopTimeout bounds a regular stop, which takes up to six seconds with the management plugin.
	stopTimeout = time.Minute
)

// Node is a RabbitMQ node. Methods that take a testing.TB end the test when they fail.
type Node struct {
	rig     *rig // nil for an existing broker
	name    string
	dir     string
	options Options
	cluster []string // names of all nodes, on those that join a cluster

	port, tlsPort, managementPort, distPort int

	certificates *Certificates
	existing     *existing // nil for a node of ours
	shared       bool

	process *process // nil while it does not run
}

// Launch starts one node outside a test; the caller ends it with Close. Tests use Start.
func Launch(ctx context.Context, o Options) (*Node, error) {
	nodes, err := LaunchCluster(ctx, 1, o)
	if err != nil {
		return nil, err
	}
	return nodes[0], nil
}

// LaunchCluster starts the nodes of a cluster outside a test: the first alone, then the others, which join it. Closing the first one
// ends all of them. Fixed ports in the options are for single nodes.
func LaunchCluster(ctx context.Context, count int, o Options) ([]*Node, error) {
	find := Find
	if o.RabbitMQ4 {
		find = Find4
	}
	r, err := newRig(ctx, count, find)
	if err != nil {
		return nil, err
	}
	nodes, err := r.newNodes(count, o)
	if err != nil {
		return nil, errors.Join(err, r.end())
	}
	if err := nodes[0].start(ctx); err != nil {
		return nil, errors.Join(err, r.end())
	}
	failures := make([]error, count-1)
	var group sync.WaitGroup
	for i, n := range nodes[1:] {
		group.Go(func() { failures[i] = n.start(ctx) })
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, errors.Join(err, r.end())
	}
	return nodes, nil
}

func (r *rig) newNodes(count int, o Options) ([]*Node, error) {
	nodes := make([]*Node, count)
	var names []string
	for i, b := range r.blocks {
		nodes[i] = &Node{
			rig:            r,
			name:           "leveret-" + strconv.Itoa(b.base) + "@localhost", // unique while the block is held
			dir:            filepath.Join(r.dir, strconv.Itoa(i)),
			options:        o,
			port:           b.port(amqpPortIndex),
			tlsPort:        b.port(tlsPortIndex),
			managementPort: b.port(managementPortIndex),
			distPort:       b.port(distPortIndex),
		}
		if o.Port != 0 {
			nodes[i].port = o.Port
		}
		if o.ManagementPort != 0 {
			nodes[i].managementPort = o.ManagementPort
		}
		names = append(names, nodes[i].name)
	}
	for i, n := range nodes {
		if i > 0 {
			n.cluster = names // the first one starts alone and need not look for the others
		}
		if err := n.write(); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// write lays the node's folder: configuration, plugins, certificates.
func (n *Node) write() error {
	if err := os.Mkdir(n.dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of a RabbitMQ node: %w", err)
	}
	if n.options.TLS {
		certificates, err := makeCertificates(n.dir)
		if err != nil {
			return err
		}
		n.certificates = certificates
	}
	for name, text := range map[string]string{"rabbitmq.conf": n.config(), "enabled_plugins": n.options.plugins()} {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing the configuration of a RabbitMQ node: %w", err)
		}
	}
	return nil
}

// env is the environment of the node and of the tools that ask it.
func (n *Node) env() []string {
	in := func(name string) string { return filepath.Join(n.dir, name) }
	return append(n.rig.env(),
		"RABBITMQ_NODENAME="+n.name,
		"RABBITMQ_DIST_PORT="+strconv.Itoa(n.distPort),
		"RABBITMQ_CONF_ENV_FILE="+in("no-rabbitmq-env.conf"),
		"RABBITMQ_CONFIG_FILE="+in("rabbitmq.conf"),
		"RABBITMQ_ADVANCED_CONFIG_FILE="+in("no-advanced.config"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+in("enabled_plugins"),
		"RABBITMQ_BASE="+n.dir,
		"RABBITMQ_MNESIA_BASE="+in("data"),
		"RABBITMQ_LOG_BASE="+in("log"),
		"RABBITMQ_LOGS=-",
		"RABBITMQ_PID_FILE="+in("rabbitmq.pid"),
		"RABBITMQ_GENERATED_CONFIG_DIR="+in("config"),
		"RABBITMQ_PLUGINS_EXPAND_DIR="+in("plugins"),
		"RABBITMQ_FEATURE_FLAGS_FILE="+in("feature_flags"),
		// No busy waiting: the cores are the test's too.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none +sbwtdcpu none +sbwtdio none "+
			"-kernel inet_dist_use_interface {127,0,0,1}",
		"RABBITMQ_CTL_ERL_ARGS=+sbwt none",
	)
}

// logFile holds what the node prints, which is its log.
func (n *Node) logFile() string { return filepath.Join(n.dir, "log.txt") }

// start runs the node and waits until it says that its startup is complete. The node is told to report like a service of
// systemd: RabbitMQ then sends its state to a socket, and READY=1 when `rabbitmqctl await_startup` would return.
func (n *Node) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	notify := filepath.Join(n.dir, "notify")
	if err := os.Remove(notify); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("starting RabbitMQ: %w", err)
	}
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("starting RabbitMQ: %w", err)
	}
	// Open as long as the rig: the node complains in its log when it cannot report that it stops.
	n.rig.keep(socket)
	output, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("starting RabbitMQ: %w", err)
	}
	defer output.Close() // the process has its own descriptor
	// RUNNING_UNDER_SYSTEMD makes the script become the node in place of waiting for it, so that the process is the node.
	env := append(n.env(), "NOTIFY_SOCKET="+notify, "RUNNING_UNDER_SYSTEMD=true")
	n.process, err = n.rig.launch("node-"+filepath.Base(n.dir), env, output,
		filepath.Join(n.rig.install.Sbin, "rabbitmq-server"))
	if err != nil {
		return err
	}
	if err := n.awaitReady(ctx, socket); err != nil {
		return fmt.Errorf("starting RabbitMQ from %s: %w\n%s", n.rig.install.Sbin, err, n.logTail(0))
	}
	return nil
}

func (n *Node) awaitReady(ctx context.Context, socket *net.UnixConn) error {
	message := make([]byte, 4096)
	for {
		if !n.process.running() {
			return fmt.Errorf("the node ended: %s", n.process.cmd.ProcessState)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("not ready: %w", context.Cause(ctx))
		}
		if err := socket.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			return err
		}
		length, err := socket.Read(message)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(message[:length])) {
			if strings.TrimSpace(line) == "READY=1" {
				return nil
			}
		}
	}
}

// stop ends the node regularly: RabbitMQ stops its applications on SIGTERM. It can be started again.
func (n *Node) stop(ctx context.Context) error {
	if n.process == nil || !n.process.running() {
		return nil
	}
	if err := terminate(n.process.cmd.Process); err != nil {
		return fmt.Errorf("stopping RabbitMQ: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	select {
	case <-n.process.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stopping RabbitMQ: not ended: %w\n%s", ctx.Err(), n.logTail(0))
	}
}

// kill ends the node at once, as a power failure would, and waits until it is gone.
func (n *Node) kill() error {
	if n.process == nil || !n.process.running() {
		return nil
	}
	if err := killGroup(n.process.cmd.Process); err != nil {
		return fmt.Errorf("killing RabbitMQ: %w", err)
	}
	<-n.process.done
	return nil
}

// Close stops a node started with Launch regularly, ends its processes and removes its folder.
func (n *Node) Close(ctx context.Context) error {
	return errors.Join(n.stop(ctx), n.rig.end())
}

// Done is closed when the node's process ends, by itself or because it was told to.
func (n *Node) Done() <-chan struct{} { return n.process.done }

// LogTail returns the end of the node's log, at most 64 KiB.
func (n *Node) LogTail() string { return n.logTail(0) }

// CACert returns the path of the authority's certificate of a node started with Options.TLS, else "".
func (n *Node) CACert() string {
	if n.certificates == nil {
		return ""
	}
	return n.certificates.CACert
}

// logTail returns the end of the node's log from the offset on, at most 64 KiB.
func (n *Node) logTail(offset int64) string {
	if text := tail(n.logFile(), offset); text != "" {
		return "RabbitMQ's log:\n" + text
	}
	return "RabbitMQ's log: nothing"
}

func tail(path string, offset int64) string {
	const limit = 64 << 10
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err.Error()
	}
	offset = max(offset, info.Size()-limit)
	data, err := io.ReadAll(io.NewSectionReader(file, offset, limit))
	if err != nil {
		return err.Error()
	}
	return string(data)
}
