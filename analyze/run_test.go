package analyze

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// With hardly any memory the times of messages under way go to a temporary file: announced, the same result, nothing
// left behind.
func TestSpillThroughRun(t *testing.T) {
	for _, l := range []load{
		{producers: 3, consumers: 2, messages: 30_000, publishFirst: true, compression: "none", rate: true},
		{producers: 1, consumers: 1, messages: 100_000, publishFirst: true, compression: "lz4"},
	} {
		dir := l.generate(t)
		want, err := Run(context.Background(), []string{dir}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tmp, announced := t.TempDir(), 0
		got, err := Run(context.Background(), []string{dir}, Options{MemoryBytes: 1 << 19, Tmp: tmp, Announce: func(text string) {
			announced++
			if !strings.Contains(text, tmp) {
				t.Error(text)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if announced != 1 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "temporary file") {
			t.Errorf("announced %d times, notes %q", announced, got.Notes)
		}
		got.Notes = nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// No room for a temporary file is an error, not a result.
func TestSpillWithoutRoom(t *testing.T) {
	dir := load{producers: 1, consumers: 1, messages: 50_000, publishFirst: true, compression: "none"}.generate(t)
	_, err := Run(context.Background(), []string{dir}, Options{MemoryBytes: 1, Tmp: filepath.Join(t.TempDir(), "missing")})
	if err == nil || !strings.Contains(err.Error(), "--tmp") {
		t.Errorf("%v", err)
	}
}

// A cancelled analysis ends with the context's error and leaves no goroutine.
func TestCancel(t *testing.T) {
	dir := load{producers: 1, consumers: 1, messages: 100_000, compression: "none"}.generate(t)
	before := runtime.NumGoroutine()
	for _, after := range []int{0, 1, 3, 10} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		if after == 0 {
			cancel()
		}
		_, err := Run(ctx, []string{dir}, Options{Progress: func(done, total int64) {
			if n++; n == after {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d: %v", after, err)
		}
		cancel()
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// Progress rises to its total.
func TestProgress(t *testing.T) {
	twice, _ := smallCapture(t, "none", false)
	r := record(t, plan(1, 0))
	r.send(0, 0, 3, 0) // nothing to measure: one reading is enough
	for _, dir := range []string{twice, r.close()} {
		last, end := int64(0), int64(0)
		if _, err := Run(context.Background(), []string{dir}, Options{Progress: func(done, total int64) {
			if done <= last || done > total {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last, end = done, total
		}}); err != nil {
			t.Fatal(err)
		}
		if last != end || last == 0 {
			t.Errorf("ended at %d of %d", last, end)
		}
	}
}

// The same capture gives the same result, to the last word.
func TestDeterministic(t *testing.T) {
	for seed := range uint64(10) {
		h := randomHistory(seed)
		dir := h.record(record(t, h.m))
		first := analyzed(t, dir)
		for range 3 {
			if again := analyzed(t, dir); !reflect.DeepEqual(first, again) {
				t.Fatalf("seed %d:\n%+v\n%+v", seed, first, again)
			}
		}
	}
}
