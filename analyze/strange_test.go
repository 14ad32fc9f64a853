package analyze

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// C093, C095: files that do not belong there are named, and the rest is analyzed.
func TestStrangeFilesBesideGoodOnes(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	other, _ := smallCapture(t, "none", false)
	stranger, err := os.ReadFile(filepath.Join(other, "sends-00.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	stranger = bytes.Replace(stranger, []byte("test"), []byte("tess"), 1) // the ID; the checksum is wrong then, too
	for name, x := range map[string]struct {                              // the manifest is left out: it would tell which files there are
		file   string
		b      []byte
		reason string
	}{
		"empty":       {"sends-07.arrow", nil, "sends-07.arrow: file of 0 bytes"},
		"eight bytes": {"sends-07.arrow", []byte("ARROW1\x00\x00"), "sends-07.arrow: "},
		"foreign":     {"sends-07.arrow", arrowFile(t, nil), "not a file of a leveret capture"},
		"newer":       {"sends-07.arrow", arrowFile(t, map[string]string{"leveret_format": "99"}), "format version 99, this program knows 1"},
		"older":       {"sends-07.arrow", arrowFile(t, map[string]string{"leveret_format": "0"}), "format version 0, this program knows 1"},
		"a stream":    {"sends-07.arrow", mustRead(t, filepath.Join(dir, "sends-00.arrow"))[len(schema.FileMagic):], "not as an Arrow file"},
		"of another":  {"sends-07.arrow", stranger, "sends-07.arrow: "},
		"misnamed":    {"other.arrow", mustRead(t, filepath.Join(dir, "sends-00.arrow")), "other.arrow: holds sends"},
		"no arrow":    {"sends-07.arrow", []byte("something else, which is long enough"), "not as an Arrow file"},
	} {
		d := damaged(t, dir, without(manifest.FinalName))
		if err := os.WriteFile(filepath.Join(d, x.file), x.b, 0o644); err != nil {
			t.Fatal(err)
		}
		got := analyzed(t, d)
		if got.Counts.ReceivedUnique != 300 || got.Rows != whole.Rows || got.Complete {
			t.Errorf("%s: %+v", name, got.Counts)
		}
		if text := finding(t, got, "capture_incomplete").Text; !strings.Contains(text, x.reason) {
			t.Errorf("%s: %q does not tell %q", name, text, x.reason)
		}
	}
}

// Beside a manifest, which tells which files there are, a strange one changes nothing but is named.
func TestStrangeFileBesideAManifest(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	d := damaged(t, dir, func(_ string, b []byte) []byte { return b })
	if err := os.WriteFile(filepath.Join(d, "deliveries-07.arrow"), mustRead(t, filepath.Join(d, "deliveries-00.arrow")), 0o644); err != nil {
		t.Fatal(err)
	}
	got := analyzed(t, d)
	checkVerdict(t, got, result.Pass, "strange_files")
	checkCounts(t, got.Counts, whole.Counts)
	if !got.Complete || !strings.Contains(finding(t, got, "strange_files").Text, "deliveries-07.arrow") {
		t.Errorf("%+v", got.Findings)
	}
}

// A file of another kind in the place of one of ours.
func TestForeignFileInPlace(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	for _, b := range [][]byte{arrowFile(t, nil), arrowFile(t, map[string]string{"leveret_format": "99"}), []byte("x"), mustRead(t, filepath.Join(dir, "acks-00.arrow"))} {
		got := analyzed(t, damaged(t, dir, func(n string, old []byte) []byte {
			if n == "deliveries-00.arrow" {
				return b
			}
			return old
		}))
		checkDamaged(t, "foreign", got, whole)
		if got.Complete || got.Counts.Received != 0 || got.Counts.Sent != 300 {
			t.Errorf("%+v", got.Counts)
		}
	}
}

// A manifest that another version of the format wrote is not guessed at.
func TestNewerManifest(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	got := analyzed(t, damaged(t, dir, func(n string, b []byte) []byte {
		if n == manifest.FinalName || n == manifest.StartName {
			return resealed(t, bytes.Replace(b, []byte(`"format_version": 1`), []byte(`"format_version": 2`), 1))
		}
		return b
	}))
	checkDamaged(t, "newer", got, whole)
	if text := finding(t, got, "capture_incomplete").Text; !strings.Contains(text, "format version 2, this program knows 1") {
		t.Error(text)
	}
	if got.Counts.Received != 300 {
		t.Errorf("%+v", got.Counts)
	}
}

func TestNoCapture(t *testing.T) {
	good, _ := smallCapture(t, "none", false)
	for _, dirs := range [][]string{{good, good + "/."}, nil, {filepath.Join(t.TempDir(), "missing")}, {t.TempDir()}} {
		if r, err := Run(context.Background(), dirs, Options{}); err == nil {
			t.Errorf("%v: %+v", dirs, r)
		}
	}
}

// A manifest is data: no number in it makes the analysis panic.
func TestOddManifests(t *testing.T) {
	dir, _ := smallCapture(t, "none", false)
	for i, change := range []func(*manifest.Manifest){
		func(m *manifest.Manifest) { m.Outcome = nil },
		func(m *manifest.Manifest) { m.Recording = nil },
		func(m *manifest.Manifest) { m.Recording.Rows, m.Recording.Files = nil, nil },
		func(m *manifest.Manifest) { m.Topology = manifest.Topology{} },
		func(m *manifest.Manifest) { m.Topology.Routes[0].Queues = []int{-1, 5, 1 << 40} },
		func(m *manifest.Manifest) { m.Consumers[0].Queues = []int{-1, 7} },
		func(m *manifest.Manifest) {
			m.Topology.Routes = append(m.Topology.Routes, m.Topology.Routes[0])
			m.Producers[0].Route, m.Producers[0].Routes = 1, math.MaxInt
		},
		func(m *manifest.Manifest) { m.Producers, m.Consumers = nil, nil },
		func(m *manifest.Manifest) { m.Outcome.Queues = []manifest.QueueEnd{{Queue: -4}, {Queue: 99}} },
		func(m *manifest.Manifest) {
			m.Outcome.BarrierNS, m.Outcome.PublishStopNS, m.Outcome.DrainEndNS = event.None, event.None, event.None
		},
		func(m *manifest.Manifest) { m.Outcome.BarrierNS, m.Outcome.PublishStopNS = 1<<62, 5 },
		func(m *manifest.Manifest) { m.Outcome.BarrierNS = -1 << 62 },
		func(m *manifest.Manifest) { m.Producers[0].Rate = manifest.Rate{Messages: -3, PerNS: -1} },
		func(m *manifest.Manifest) { m.Tag = 0xffff },
		func(m *manifest.Manifest) { m.Topology.Queues[0].Type = "stream" },
		func(m *manifest.Manifest) {
			m.Outcome.Failures = []manifest.Failure{{Consumer: ptr(-1)}, {Producer: ptr(9)}}
		},
	} {
		d := damaged(t, dir, func(n string, b []byte) []byte {
			if n != manifest.FinalName {
				return b
			}
			var m manifest.Manifest
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			change(&m)
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		got, err := Run(context.Background(), []string{d}, Options{})
		if err == nil && got.Counts.Lost > 0 {
			t.Errorf("change %d: %+v", i, got.Counts)
		}
	}
}

// arrowFile is a good Arrow file that is none of ours.
func arrowFile(t testing.TB, metadata map[string]string) []byte {
	t.Helper()
	md := arrow.MetadataFrom(metadata)
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, &md)
	path := filepath.Join(t.TempDir(), "foreign.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(s))
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
	if err := w.Write(b.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return mustRead(t, path)
}

// resealed gives a changed manifest the checksum that belongs to it.
func resealed(t testing.TB, text []byte) []byte {
	t.Helper()
	b, err := manifest.Seal(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
