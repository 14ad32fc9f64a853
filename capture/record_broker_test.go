package capture

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// Every figure of the broker stands in the column that FORMAT.md names for it; what it did not give is null.
func TestBrokerRows(t *testing.T) {
	dir := t.TempDir()
	start, final := startManifest(1, 1), startManifest(1, 1)
	start.Management, final.Management = &manifest.Management{}, &manifest.Management{}
	w := create(t, dir, start, Options{Shards: 2})
	const none = event.None
	w.BrokerNode(&event.BrokerNode{At: 1, Node: 2, Running: 3, MemoryBytes: 4, MemoryLimitBytes: 5, MemoryAlarm: 6, DiskFreeBytes: 7, DiskLimitBytes: 8,
		DiskAlarm: 9, CPUNS: 10, RunQueue: 11, FileDescriptors: 12, Sockets: 13, Processes: 14, WrittenBytes: 15, ReadBytes: 16, Syncs: 17})
	w.BrokerQueue(&event.BrokerQueue{At: 1, Queue: 2, Ready: 3, Unacked: 4, Bytes: 5, Consumers: 6, MemoryBytes: 7, Published: 8, Confirmed: 9, Returned: 10,
		Dropped: 11, Delivered: 12, DeliveredNoAck: 13, Got: 14, GotNoAck: 15, Acked: 16, Redelivered: 17, Running: 18})
	w.BrokerQueue(&event.BrokerQueue{At: 1, Queue: none, Ready: none, Unacked: none, Bytes: none, Consumers: none, MemoryBytes: none, Published: none, Confirmed: none,
		Returned: none, Dropped: none, Delivered: none, DeliveredNoAck: none, Got: none, GotNoAck: none, Acked: none, Redelivered: none, Running: none})
	w.BrokerConnections(&event.BrokerConnections{At: 1, Total: 2, Looked: 3, Running: 4, Flow: 5, Blocking: 6, Blocked: 7, Other: 8})
	if err := w.Close(final); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[schema.Kind][]string{
		schema.BrokerNodes: {"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"},
		schema.BrokerQueues: {"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
			"1 (null) (null) (null) (null) (null) (null) (null) (null) (null) (null) (null) (null) (null) (null) (null) (null) (null)"},
		schema.BrokerConnections: {"1 2 3 4 5 6 7 8"},
	} {
		if got := recordedRows(t, dir, kind); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want\n%q", kind, got, want)
		}
	}
	checkCapture(t, dir, final)
}

// Where the broker is not asked there are no such files.
func TestNoBrokerRowsUnasked(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, startManifest(1, 1), Options{})
	if err := w.Close(startManifest(1, 1)); err != nil {
		t.Fatal(err)
	}
	for _, k := range []schema.Kind{schema.BrokerNodes, schema.BrokerQueues, schema.BrokerConnections} {
		if _, err := os.Stat(filepath.Join(dir, schema.FileName(k, 0))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", k, err)
		}
	}
}
