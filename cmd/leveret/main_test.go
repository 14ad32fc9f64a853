package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/loadcore/rabbitmqtest"
)

// asMain makes the test binary run as leveret itself, for tests that send it signals.
const asMain = "LEVERET_TEST_RUN_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	if dir := os.Getenv(asHalfOpen); dir != "" {
		os.Exit(halfOpenMain(dir, os.Getenv(asHalfOpen+"_MODE")))
	}
	rabbitmqtest.Main(m)
}

// invoke runs a command line in this process.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var out, err bytes.Buffer
	code = run(ctx, args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// record runs a load test into a fresh capture and returns its result with the exit code.
func record(t *testing.T, args ...string) (*result.Result, int, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	code, stdout, stderr := invoke(t, append([]string{"run", "--quiet", "--format", "json", "--capture", dir}, args...)...)
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("exit %d, no result (%v)\n%s", code, err, stderr)
	}
	return &r, code, dir
}
