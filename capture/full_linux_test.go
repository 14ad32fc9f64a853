package capture

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// The same on a real file system that is full. Mounting takes root, which CI has; elsewhere TestFullDisk stands for it.
func TestFullFileSystem(t *testing.T) {
	if os.Geteuid() != 0 && os.Getenv("CI") != "true" {
		t.Log("not root: no file system of 1 MiB can be mounted; TestFullDisk has a disk made full")
		return
	}
	dir := t.TempDir()
	if err := syscall.Mount("leveret-test", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatalf("mount a tmpfs of 1 MiB: %v (CI runs as root)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	w := create(t, dir, startManifest(1, 1000), Options{Memory: 4 << 20, Shards: 1, FlushInterval: 10 * time.Millisecond})
	checkFull(t, w, dir)
}
