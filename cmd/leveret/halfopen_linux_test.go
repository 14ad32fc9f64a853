package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"leveret/analyze/result"
	"leveret/loadcore/broker"
)

// asHalfOpen has the test binary play both ends of a connection in a network of its own; its value is the capture's directory.
const asHalfOpen = "LEVERET_TEST_HALF_OPEN"

// Packets are dropped in both directions from a moment on, and nobody is told: the connections are half open. The heartbeats that do
// not come tell, on producers' and consumers' connections alike; where they are to be opened again they are, once packets pass.
func TestHalfOpenConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		code int
	}{{"stop", exitFailed}, {"reconnect", exitOK}} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "capture")
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }, 10*time.Second // it tells where it hangs
			cmd.Env = append(os.Environ(), asHalfOpen+"="+dir, asHalfOpen+"_MODE="+c.mode)
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit %d, want %d\n%s", code, c.code, out)
			}
			r := analyzedCapture(t, dir)
			told := fmt.Sprintf("%+v", r.Findings)
			if !strings.Contains(told, "nothing came from the broker for two heartbeat intervals (2 s)") {
				t.Error(told)
			}
			if c.mode == "stop" && (r.Verdict != result.Inconclusive || r.Disruption == nil || r.Disruption.Losses != 2) {
				t.Errorf("%s, %+v", r.Verdict, r.Disruption)
			}
			if c.mode == "reconnect" && (r.Verdict != result.Pass || r.Disruption == nil || r.Disruption.Recovered != 2 || r.Counts.Lost != 0) {
				t.Errorf("%s, %+v, %+v", r.Verdict, r.Disruption, r.Counts)
			}
		})
	}
}

// halfOpenMain runs broker and load, and takes the network away in the middle.
func halfOpenMain(dir, mode string) int {
	if err := loopback(true); err != nil {
		fmt.Println(err)
		return exitUsage
	}
	b, err := broker.Start(broker.Options{Heartbeat: time.Second, WriteTimeout: 3 * time.Second})
	if err != nil {
		fmt.Println(err)
		return exitUsage
	}
	defer b.Close()
	go func() { // hooks, which count from when load begins, say when
		await(dir + ".down")
		loopback(false)
		if mode == "reconnect" {
			await(dir + ".up")
			loopback(true)
		}
	}()
	args := []string{"run", "--quiet", "--uri", b.URI(), "--queue", "q", "--heartbeat", "1", "--rate", "200", "--confirm", "20", "--time", "5",
		"--drain-timeout", "2", "--shutdown-timeout", "1", "--on-disconnect", mode, "--capture", dir,
		"--hook", "300ms: touch '" + dir + ".down'", "--hook", "3300ms: touch '" + dir + ".up'"}
	if mode == "reconnect" {
		args = append(args, "--reconnect-delay", "50ms-200ms", "--drain-timeout", "10")
	}
	return run(interruptible(os.Stderr), args, os.Stdin, os.Stdout, os.Stderr)
}

// await waits for a file.
func await(file string) {
	for _, err := os.Stat(file); err != nil; _, err = os.Stat(file) {
		time.Sleep(10 * time.Millisecond)
	}
}

// loopback takes the one interface of the network up or down: while it is down no packet passes.
func loopback(up bool) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if up {
		request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	} else {
		request.SetUint16(0)
	}
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request)
}
