package capture

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// faultyDisk is the real disk with faults in it.
type faultyDisk struct {
	osDisk
	mu    sync.Mutex
	gate  chan struct{} // while not nil, writes of batches wait until it is closed
	room  int64         // bytes that still fit; less than 0: no limit
	rate  int64         // bytes a second; 0: no limit
	fail  map[string]error
	calls []string // "write sends-00.arrow", ... in order
}

func newFaultyDisk() *faultyDisk { return &faultyDisk{room: -1, fail: map[string]error{}} }

// block holds all writes of files until the returned function is called.
func (d *faultyDisk) block() (release func()) {
	gate := make(chan struct{})
	d.mu.Lock()
	d.gate = gate
	d.mu.Unlock()
	return func() {
		d.mu.Lock()
		d.gate = nil
		d.mu.Unlock()
		close(gate)
	}
}

// did notes a call and says whether it shall fail.
func (d *faultyDisk) did(what, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	call := what + " " + filepath.Base(path)
	d.calls = append(d.calls, call)
	if err := d.fail[call]; err != nil {
		return &os.PathError{Op: what, Path: path, Err: err}
	}
	return nil
}

func (d *faultyDisk) create(path string) (file, error) {
	if err := d.did("create", path); err != nil {
		return nil, err
	}
	f, err := d.osDisk.create(path)
	return &faultyFile{f, path, d}, err
}

func (d *faultyDisk) rename(from, to string) error {
	if err := d.did("rename", to); err != nil {
		return err
	}
	return d.osDisk.rename(from, to)
}

func (d *faultyDisk) syncDir(path string) error { return d.did("sync", path) }

type faultyFile struct {
	file
	path string
	d    *faultyDisk
}

func (f *faultyFile) Write(b []byte) (int, error) {
	err := f.d.did("write", f.path)
	f.d.mu.Lock()
	gate, rate := f.d.gate, f.d.rate
	full := f.d.room >= 0 && int64(len(b)) > f.d.room
	if full {
		b = b[:f.d.room]
	}
	if f.d.room >= 0 {
		f.d.room -= int64(len(b))
	}
	f.d.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if rate > 0 {
		time.Sleep(time.Duration(int64(len(b)) * int64(time.Second) / rate))
	}
	if err != nil {
		return 0, err
	}
	n, err := f.file.Write(b)
	if full && err == nil {
		err = &os.PathError{Op: "write", Path: f.path, Err: syscall.ENOSPC}
	}
	return n, err
}

func (f *faultyFile) Sync() error { return f.d.did("sync", f.path) } // a real one takes longer than the test

func (f *faultyFile) Close() error {
	err := f.file.Close()
	if failed := f.d.did("close", f.path); failed != nil {
		return failed
	}
	return err
}

// recovered counts the rows of each kind that a capture without a manifest still has: every batch that the journal
// vouches for must be whole. Behind the last such batch of a file there may be a torn one.
func recovered(t testing.TB, dir string) map[schema.Kind]int64 {
	t.Helper()
	journal, err := os.ReadFile(filepath.Join(dir, manifest.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[schema.Kind]int64{}
	for at := schema.JournalHeaderSize; at+schema.RecordSize <= len(journal); at += schema.RecordSize {
		r, err := schema.ParseRecord(journal[at:])
		if err != nil {
			t.Fatalf("journal record at %d: %v", at, err)
		}
		if r.End {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, schema.FileName(r.Kind, r.Shard)))
		if err != nil {
			t.Fatal(err)
		}
		head, _, err := schema.ParseHead(b)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := schema.NewDecoder(head, memory.DefaultAllocator).Decode(b[r.Offset : r.Offset+int64(r.Length)])
		if err != nil {
			t.Fatalf("%s batch %d: %v", r.Kind, r.Batch, err)
		}
		rows[r.Kind] += rec.NumRows()
	}
	return rows
}
