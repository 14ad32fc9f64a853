package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

const killEnv = "LEVERET_TEST_RECORD_UNTIL_KILLED"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killEnv); dir != "" {
		recordUntilKilled(dir)
	}
	os.Exit(m.Run())
}

const (
	killBatch = 100
	killFirst = 5_000 // rows before the pause
)

// recordUntilKilled records a few rows, leaves them alone until somebody has seen them on disk (a file named "go"
// appears), and then records at full speed. It never closes the capture.
func recordUntilKilled(dir string) {
	time.AfterFunc(time.Minute, func() { os.Exit(3) }) // should the parent have died
	w, err := Create(dir, startManifest(1, 0), event.NewClock(), Options{Shards: 1, FlushInterval: 50 * time.Millisecond})
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	p := publisher{w: w, n: killBatch}
	for {
		if p.sent == killFirst {
			for {
				if _, err := os.Stat(dir + ".go"); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
		if err := p.batch(context.Background()); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
	}
}

// A process that is killed while it records leaves every batch that it had written; what was older than a flush interval
// is among them (TestFlushInterval holds the second itself).
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killEnv+"="+dir)
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	await := func(what string, ready func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !ready(); time.Sleep(2 * time.Millisecond) {
			select {
			case err := <-ended:
				t.Fatalf("the recording process ended by itself: %v %s", err, stderr.String())
			default:
			}
			if time.Now().After(deadline) {
				cmd.Process.Kill()
				t.Fatalf("%s: not within 30 s", what)
			}
		}
	}
	journal := filepath.Join(dir, manifest.JournalName)
	size := func() int64 {
		info, err := os.Stat(journal)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	await("the rows before the pause on disk", func() bool {
		return size() > schema.JournalHeaderSize && recovered(t, dir)[schema.Sends] == killFirst
	})
	if err := os.WriteFile(dir+".go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before := size()
	await("batches at full speed", func() bool { return size() >= before+20*schema.RecordSize })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended

	if _, err := os.Stat(filepath.Join(dir, manifest.FinalName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a manifest: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(dir, manifest.StartName))
	var start manifest.Manifest
	if err != nil || json.Unmarshal(b, &start) != nil || start.ID != "test-1" || len(start.Producers) != 1 {
		t.Errorf("start.json: %v %s", err, b)
	}
	rows := recovered(t, dir)[schema.Sends]
	if rows <= killFirst {
		t.Errorf("%d rows recovered, none of those at full speed", rows)
	}
	checkStream(t, filepath.Join(dir, schema.FileName(schema.Sends, 0)), rows)
}

// checkStream reads a file without footer as a stream with Arrow's reader: at least the journal's rows, in order.
func checkStream(t *testing.T, path string, least int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(bytes.NewReader(b[len(schema.FileMagic):]))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	next := uint64(0)
	for r.Next() {
		for _, seq := range r.Record().Column(schema.SendsSeq).(*array.Uint64).Uint64Values() {
			if seq != next {
				t.Fatalf("sequence %d, want %d", seq, next)
			}
			next++
		}
	}
	if int64(next) < least {
		t.Errorf("%d rows as a stream, %d by the journal", next, least)
	}
}
