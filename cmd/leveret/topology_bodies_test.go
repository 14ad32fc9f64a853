package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
)

// planFor makes the plan of a command line of `run`.
func planFor(t *testing.T, args ...string) (*recording, error) {
	t.Helper()
	return newRun(append(args, "--quiet"), streams{strings.NewReader(""), io.Discard, io.Discard})
}

func TestGivenBodies(t *testing.T) {
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	for path, size := range map[string]int{small: 3, large: 5000} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := planFor(t, "--body", small+","+large, "--body-content-type", "text/plain", "--producers", "2")
	if err != nil {
		t.Fatal(err)
	}
	if about := r.layout.Bodies; len(r.plan.Bodies) != 2 || len(about) != 2 || about[1] != (manifest.Body{Name: large, SizeBytes: 5000}) {
		t.Errorf("%d bodies, %+v", len(r.plan.Bodies), about)
	}
	for _, p := range r.plan.Producers {
		if p.Size != 5000 || !p.PooledBodies || p.Stamp != manifest.StampHeader || p.Properties.ContentType != "text/plain" {
			t.Errorf("%+v", p)
		}
	}
	r, err = planFor(t, "--json-body", "--size", "300", "--body-count", "7", "--seed", "3")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.plan.Bodies) != 7 || r.plan.Producers[0].Properties.ContentType != "application/json" {
		t.Errorf("%d bodies, %+v", len(r.plan.Bodies), r.plan.Producers[0])
	}
	for _, b := range r.plan.Bodies {
		if len(b) < 300 || !json.Valid(b) {
			t.Errorf("%d bytes: %s", len(b), b)
		}
	}
	var usage *options.UsageError
	if _, err := planFor(t, "--body", small+","+filepath.Join(dir, "none")); !errors.As(err, &usage) || !strings.Contains(err.Error(), "--body: ") || !strings.Contains(err.Error(), "none") {
		t.Errorf("%v", err)
	}
}

func TestPerfTestStampInMilliseconds(t *testing.T) {
	for _, c := range []struct {
		args   []string
		millis bool
	}{{[]string{"--stamp", "perftest"}, false}, {[]string{"--stamp", "perftest", "--use-millis"}, true}, {[]string{"--use-millis"}, false}} {
		r, err := planFor(t, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.plan.Producers[0].StampMillis; got != c.millis {
			t.Errorf("%v: %v", c.args, got)
		}
	}
}
