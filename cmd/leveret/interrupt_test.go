package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Interrupted before load began, a command is interrupted, and has not failed: at a broker that takes the connection and says
// nothing, and while it waits for one that is not there.
func TestInterruptBeforeLoadBegins(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	mute := "amqp://" + listener.Addr().String()
	for name, args := range map[string][]string{
		"run, logging in":       {"run", "--uri", mute},
		"perf-test, logging in": {"perf-test", "-h", mute},
		"perf-test, waiting":    {"perf-test", "-h", "amqp://127.0.0.1:1", "-sst", "60"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "capture")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			var stdout, stderr strings.Builder
			code := run(ctx, append(args, "--capture", dir), strings.NewReader(""), &stdout, &stderr)
			if code != exitInterrupted || !strings.Contains(stderr.String(), "interrupted before load began") || strings.Contains(stderr.String(), "context canceled") {
				t.Errorf("exit %d\n%s", code, &stderr)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("%s: %v, want no capture", dir, err)
			}
		})
	}
}
