package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/analyze"
	"leveret/analyze/result"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// process is leveret in a process of its own.
type process struct {
	*exec.Cmd
	ended  chan struct{} // closed when it has
	mu     sync.Mutex
	stderr bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// launch starts leveret, through a shell that runs prepare first; it ends with the test at the latest.
func launch(t *testing.T, prepare string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("/bin/sh", append([]string{"-c", prepare + ` exec "$0" "$@"`, os.Args[0]}, args...)...), ended: make(chan struct{})}
	p.Env = append(os.Environ(), asMain+"=1")
	p.Stderr = p
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Process.Kill()
		<-p.ended
	})
	return p
}

// await is until the process has ended by itself.
func (p *process) await(t *testing.T) (code int) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(2 * time.Minute):
		t.Fatalf("not ended within 2 minutes: %s", p.said())
	}
	return p.ProcessState.ExitCode()
}

// launchBroker starts the embedded broker in a process of its own.
func launchBroker(t *testing.T) (uri string) { return launchFaultyBroker(t, "") }

// launchFaultyBroker is one with faults.
func launchFaultyBroker(t *testing.T, faults string) (uri string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "broker", "--listen", "127.0.0.1:0", "--faults", faults)
	cmd.Env = append(os.Environ(), asMain+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the broker printed no URI: %v", err)
	}
	return strings.TrimSpace(line)
}

// awaitRecording is until the recording has written so many batches.
func awaitRecording(t *testing.T, p *process, dir string, batches int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		info, err := os.Stat(filepath.Join(dir, manifest.JournalName))
		if err == nil && info.Size() >= schema.JournalHeaderSize+batches*schema.RecordSize {
			return
		}
		select {
		case <-p.ended:
			t.Fatalf("ended: %s", p.said())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %d batches within a minute: %s", batches, p.said())
		}
	}
}

func analyzedCapture(t *testing.T, dirs ...string) *result.Result {
	t.Helper()
	r, err := analyze.Run(context.Background(), dirs, analyze.Options{Tmp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkCutShort: something was recorded, it is marked as not whole, and nothing of what is missing is the broker's fault.
func checkCutShort(t *testing.T, r *result.Result) {
	t.Helper()
	c := r.Counts
	if r.Verdict != result.Inconclusive || r.Complete || c.Sent == 0 || c.Confirmed == 0 || c.Received == 0 {
		t.Errorf("%s, complete %v, %+v", r.Verdict, r.Complete, c)
	}
	if c.Lost+c.Missing+c.Duplicates+c.Corrupt+c.OutOfOrder+c.Foreign > 0 {
		t.Errorf("blamed: %+v", c)
	}
	for _, f := range r.Findings {
		if f.Code == "capture_incomplete" {
			return
		}
	}
	t.Errorf("not said to be incomplete: %+v", r.Findings)
}
