package rabbitmqtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

//go:embed watchdog.sh
var watchdogScript string

//go:embed launcher.sh
var launcherScript string

// rig is what one node or the nodes of one cluster live in: a folder, a cookie, an epmd, and the watchdog that ends all
// of it. Its processes are started through it only.
type rig struct {
	install  Installation
	dir      string
	epmdPort int
	user     string
	password string

	blocks   []*block // one a node
	watchdog *exec.Cmd
	pipe     io.Closer // closing it makes the watchdog end the rig

	mu      sync.Mutex  // guards the following: the nodes of a cluster start side by side
	closers []io.Closer // what is open as long as the rig

	endOnce sync.Once
	endErr  error
}

// newRig makes the folder and starts watchdog and epmd. On an error nothing is left.
func newRig(ctx context.Context, nodes int, find func() (Installation, error)) (r *rig, err error) {
	if err := platformError(); err != nil {
		return nil, err
	}
	r = &rig{user: "user-" + secret(4), password: secret(16)}
	if r.install, err = find(); err != nil {
		return nil, err
	}
	if err := r.startWatchdog(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.end())
		}
	}()
	for range nodes {
		b, err := takeBlock()
		if err != nil {
			return nil, err
		}
		r.blocks = append(r.blocks, b)
		r.keep(b.lock)
	}
	r.epmdPort = r.blocks[0].port(epmdPortIndex)
	// The home of every process: Erlang keeps its cookie there. Mode 0400 is Erlang's demand.
	if err := os.WriteFile(filepath.Join(r.dir, ".erlang.cookie"), []byte(secret(16)), 0o400); err != nil {
		return nil, fmt.Errorf("writing the cookie of a RabbitMQ node: %w", err)
	}
	return r, r.startEpmd(ctx)
}

// secret returns 2n random hexadecimal digits. crypto/rand.Read does not fail.
func secret(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// startWatchdog makes the rig's folder by starting the watchdog of it.
func (r *rig) startWatchdog() error {
	r.dir = filepath.Join(os.TempDir(), "leveret-rabbitmq-"+secret(5))
	r.watchdog = exec.Command("/bin/sh", "-c", watchdogScript, "leveret-watchdog", r.dir)
	r.watchdog.Dir = "/" // not the folder of the tests, which may go
	ownSession(r.watchdog)
	var problem bytes.Buffer
	r.watchdog.Stderr = &problem
	pipe, err := r.watchdog.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the watchdog of a RabbitMQ node: %w", err)
	}
	ready, err := r.watchdog.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting the watchdog of a RabbitMQ node: %w", err)
	}
	r.pipe = pipe
	if err := r.watchdog.Start(); err != nil {
		return fmt.Errorf("starting the watchdog of a RabbitMQ node: %w", err)
	}
	if line, _ := bufio.NewReader(ready).ReadString('\n'); line != "ready\n" {
		err := r.watchdog.Wait()
		return fmt.Errorf("making the folder of a RabbitMQ node: %w: %s", err, bytes.TrimSpace(problem.Bytes()))
	}
	return nil
}

// keep closes c when the rig ends.
func (r *rig) keep(c io.Closer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closers = append(r.closers, c)
}

// end kills what runs in the rig and removes its folder, by way of the watchdog: the regular end and the one after a
// crash are the same. It may be called again.
func (r *rig) end() error {
	r.endOnce.Do(func() {
		err := r.pipe.Close()
		if waitErr := r.watchdog.Wait(); waitErr != nil {
			err = errors.Join(err, fmt.Errorf("watchdog of %s: %w", r.dir, waitErr))
		}
		for _, c := range r.closers {
			err = errors.Join(err, c.Close())
		}
		r.endErr = err
	})
	return r.endErr
}

// process is a running command of a rig.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	// file holds its id for the watchdog.
	file string
}

// launch starts a command under a name unique among the rig's running processes. Its output goes to the writer given,
// which must be a file if the command outlives the call.
func (r *rig) launch(name string, env []string, output io.Writer, args ...string) (*process, error) {
	p := &process{done: make(chan struct{}), file: filepath.Join(r.dir, "pid-"+name)}
	p.cmd = exec.Command("/bin/sh", append([]string{"-c", launcherScript, "leveret-launcher", r.dir, name}, args...)...)
	p.cmd.Dir = r.dir
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = output, output
	ownSession(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	go p.wait()
	return p, nil
}

func (p *process) wait() {
	// How it ended is in ProcessState. The id may belong to another process soon, so the watchdog must forget it.
	_ = p.cmd.Wait()
	_ = os.Remove(p.file)
	close(p.done)
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// startEpmd runs the port mapper in the foreground as a process of ours. Left to Erlang it would become a daemon that
// outlives every node.
func (r *rig) startEpmd(ctx context.Context) error {
	path := filepath.Join(r.dir, "epmd.log")
	output, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("starting epmd: %w", err)
	}
	defer output.Close() // the process has its own descriptor
	epmd, err := r.launch("epmd", r.env(), output, r.install.Epmd, "-port", strconv.Itoa(r.epmdPort),
		"-address", "127.0.0.1")
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(r.epmdPort))
	for {
		conn, err := net.DialTimeout("tcp4", address, time.Second)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-epmd.done:
			return fmt.Errorf("starting epmd on %s: it ended: %s", address, tail(path, 0))
		case <-ctx.Done():
			return fmt.Errorf("starting epmd on %s: %w", address, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// env is the environment of the rig's processes, without what would lead RabbitMQ to another node's files.
func (r *rig) env() []string {
	path := os.Getenv("PATH")
	if r.install.Erlang != "" {
		path = r.install.Erlang + string(os.PathListSeparator) + path
	}
	return []string{
		"PATH=" + path,
		"HOME=" + r.dir,
		"LANG=C.UTF-8",
		"TMPDIR=" + r.dir,
		"ERL_EPMD_PORT=" + strconv.Itoa(r.epmdPort),
		"ERL_EPMD_ADDRESS=127.0.0.1",
		// No Erlang of the rig ever starts an epmd: it would be one that nobody ends.
		"ERL_AFLAGS=-start_epmd false",
		"ERL_CRASH_DUMP_BYTES=0",
	}
}
