package calibrate

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Nearest rank: of 1 to 200 the 50th percentile is the 100th value, the 99th is the 198th.
func TestPercentilesAreNearestRank(t *testing.T) {
	values := make([]int64, 200)
	for i := range values {
		values[i] = int64(200 - i)
	}
	p, err := percentiles(values)
	if want := (Percentiles{Count: 200, P50NS: 100, P99NS: 198, MinNS: 1, MaxNS: 200}); err != nil || p != want {
		t.Errorf("%+v, %v, want %+v", p, err, want)
	}
	if p, _ := percentiles([]int64{7}); p != (Percentiles{Count: 1, P50NS: 7, P99NS: 7, MinNS: 7, MaxNS: 7}) {
		t.Errorf("of one value: %+v", p)
	}
	if _, err := percentiles(nil); err == nil {
		t.Error("percentiles of nothing")
	}
}

// Sent at 100, 150 and 150, received at 2,300, 2,400 and 2,500 where 2,000 is known: too much by 200, 250 and 350.
func TestLatencyErrorIsMeasuredMinusKnown(t *testing.T) {
	rec := &transit{sent: map[uint64]int64{}, received: map[uint64]int64{}}
	rec.Sends(&event.Sends{First: 0, N: 1, Sent: 100})
	rec.Sends(&event.Sends{First: 1, N: 2, Sent: 150})
	rec.Sends(&event.Sends{First: 3, N: 1, Sent: event.None})
	rec.Deliveries(&event.Deliveries{At: 2300, Rows: []event.Delivery{{Seq: 0}}})
	rec.Deliveries(&event.Deliveries{At: 2400, Rows: []event.Delivery{{Seq: 1}}})
	rec.Deliveries(&event.Deliveries{At: 2500, Rows: []event.Delivery{{Seq: 2}}})
	p, err := percentiles(rec.errors(func(uint64) time.Duration { return 2000 }))
	if want := (Percentiles{Count: 3, P50NS: 250, P99NS: 350, MinNS: 200, MaxNS: 350}); err != nil || p != want {
		t.Errorf("%+v, %v, want %+v", p, err, want)
	}
}

func TestLatenessLeavesOutWhatWasNotSent(t *testing.T) {
	l := &lateness{}
	l.Sends(&event.Sends{N: 2, Sent: 1000, Due: []int64{900, 990}})
	l.Sends(&event.Sends{N: 1, Sent: event.None, Due: []int64{5}})
	if len(l.late) != 2 || l.late[0] != 100 || l.late[1] != 10 {
		t.Errorf("%v", l.late)
	}
}

func sample() *Calibration {
	return &Calibration{
		SchemaVersion: SchemaVersion, AtNS: 1_795_000_000_000_000_000, Tool: manifest.Tool{Name: "leveret", Version: "1.0"},
		Host:      manifest.Host{Name: "h", OS: "linux", Arch: "amd64", CPUs: 2, CPUModel: "m"},
		Clock:     Clock{ReadNS: 40, ResolutionNS: 20},
		Loopback:  Loopback{WriteBytes: 65536, SocketBytesPerS: 2e9, CopyBytesPerS: 1e10},
		Codec:     []Codec{{SizeBytes: 12, EncodeNS: 30, ParseNS: 20, StampNS: 10, CheckNS: 12}},
		Recording: []Recording{{Compression: "lz4", Rows: 9, CPUNSPerRow: 15, NSPerRow: 20, BytesPerRow: 5.5}},
		Ceilings:  []Ceiling{{Name: PublishConfirmed, MsgsPerS: 3e6}, {Name: ConsumeAutoAck, MsgsPerS: 2e6}, {Name: EndToEnd, MsgsPerS: 1e6}},
		Pacing:    []Pacing{{1, Percentiles{Count: 2, P99NS: 1}}, {1000, Percentiles{Count: 9, P99NS: 50_000}}},
		Latency:   []LatencyError{{RateMsgsPerS: 400, Percentiles: Percentiles{P50NS: 1}}, {Law: "fixed=2ms", Percentiles: Percentiles{P50NS: 100_000, P99NS: 300_000}}},
	}
}

func TestACalibrationIsKeptAndFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "calibration.json")
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	for range 2 { // the second one replaces the first
		if err := Store(path, sample()); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var got, want bytes.Buffer
	if Text(&got, c) != nil || Text(&want, sample()) != nil || got.String() != want.String() || !strings.Contains(got.String(), "3,000,000") {
		t.Errorf("came back as\n%s", got.String())
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("files left: %v", entries)
	}
	for text, why := range map[string]string{"{": "unexpected end", `{"schema_version": 99}`: "version 99"} {
		os.WriteFile(path, []byte(text), 0o600)
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
}

func TestOnlyTheHostOfTheRunIsQuoted(t *testing.T) {
	host := result.Host{Name: "h", OS: "linux", Arch: "amd64", CPUs: 2, CPUModel: "m"}
	q := sample().For(host)
	read, published, consumed := 40., 3e6, 2e6
	want := &result.Calibration{AtNS: 1_795_000_000_000_000_000, Tool: "leveret 1.0", ClockReadNS: &read, PublishMsgsPerS: &published,
		ConsumeMsgsPerS: &consumed, PacingRateMsgsPerS: 1000, PacingP99NS: 50_000, LatencyErrorP50NS: 100_000, LatencyErrorP99NS: 300_000}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("%+v, want %+v", q, want)
	}
	for _, change := range []func(*result.Host){
		func(h *result.Host) { h.Name = "other" }, func(h *result.Host) { h.Name = "" }, func(h *result.Host) { h.CPUs = 4 },
		func(h *result.Host) { h.CPUModel = "n" }, func(h *result.Host) { h.OS = "darwin" },
	} {
		other := host
		change(&other)
		if sample().For(other) != nil {
			t.Errorf("quoted for %+v", other)
		}
	}
}
