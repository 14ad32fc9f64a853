package capture

import (
	"slices"
	"testing"

	"leveret/capture/event"
	"leveret/capture/schema"
)

// Every figure of an interval stands in the column that FORMAT.md names for it; what is unknown is null.
func TestSelfRows(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, startManifest(1, 1), Options{Shards: 2})
	w.Self(&event.Self{
		At: 1, SpanNS: 2, PublishingNS: 30, LateMessages: 3, LateSumNS: 4, LateMaxNS: -5,
		Window: event.Wait{SumNS: 6, MaxNS: 7}, Socket: event.Wait{SumNS: 8, MaxNS: 9},
		Recorder: event.Wait{SumNS: 10, MaxNS: 11}, Schedule: event.Wait{SumNS: 12, MaxNS: 13},
		PausedNS: 14, UnsentMaxBytes: 15, Writes: 16, WrittenMessages: 17, LargestWrite: 18,
		Reads: 19, ReadBytes: 20, DeliveryReads: 21, Deliveries: 22, LargestRead: 23,
		GCCycles: 24, GCPauseNS: 25, CPUNS: 26, SchedLatencyP99NS: 27, HeapBytes: 28, Goroutines: 29,
	})
	w.Self(&event.Self{At: 2, LateMaxNS: event.None, UnsentMaxBytes: event.None, CPUNS: event.None, SchedLatencyP99NS: event.None})
	final := startManifest(1, 1)
	if err := w.Close(final); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 2 30 3 4 -5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29",
		"2 0 0 0 0 (null) 0 0 0 0 0 0 0 0 0 (null) 0 0 0 0 0 0 0 0 0 0 (null) (null) 0 0",
	}
	if got := recordedRows(t, dir, schema.Self); !slices.Equal(got, want) {
		t.Errorf("%q, want\n%q", got, want)
	}
	checkCapture(t, dir, final)
}
