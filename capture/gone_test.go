package capture

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/schema"
)

// Files that are taken away while they are written to are missed within a flush interval, not only at the end.
func TestFilesGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("files that are open cannot be removed here")
		return
	}
	for name, take := range map[string]func(dir string) error{
		"directory removed": os.RemoveAll,
		"directory moved":   func(dir string) error { return os.Rename(dir, dir+".moved") },
		"a file removed":    func(dir string) error { return os.Remove(filepath.Join(dir, schema.FileName(schema.Deliveries, 0))) },
		"a file replaced": func(dir string) error {
			path := filepath.Join(dir, schema.FileName(schema.Sends, 0))
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o644)
		},
	} {
		dir := filepath.Join(t.TempDir(), "c")
		w := create(t, dir, startManifest(1, 1), Options{Shards: 1, FlushInterval: 10 * time.Millisecond})
		w.Sends(&event.Sends{N: 1, Sent: 1, Written: 2})
		time.Sleep(30 * time.Millisecond)
		if err := w.Err(); err != nil {
			t.Fatalf("%s: failed before: %v", name, err)
		}
		if err := take(dir); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); w.Err() == nil && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		err := w.Err()
		if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "leave it alone until the run has ended") {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Reserve(t.Context(), 1); err == nil {
			t.Errorf("%s: publishing goes on", name)
		}
		if err := w.Close(startManifest(1, 1)); err == nil {
			t.Errorf("%s: closed as if nothing had been", name)
		}
	}
}
