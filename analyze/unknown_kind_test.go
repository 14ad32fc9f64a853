package analyze

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// A capture of a later version may have kinds of rows that this one does not know: their files and journal records are
// left alone, and the rest is judged as if they were not there. Here the kind self is made such a one by its name and number.
func TestKindOfALaterVersion(t *testing.T) {
	r := record(t, plan(1, 1))
	r.send(0, 0, 2, 0)
	r.ack(0, 0, 2, ms)
	r.receive(0, 0, 0, 2*ms, 0, 1)
	r.ackAll(0, 3*ms)
	r.w.Self(&event.Self{At: epoch + ms, SpanNS: ms})
	dir := damaged(t, r.close(), func(name string, b []byte) []byte {
		switch name {
		case "self-00.arrow":
			b = bytes.ReplaceAll(b, []byte("self"), []byte("selb"))
			x, err := schema.Measure(b[8:])
			if err != nil {
				t.Fatal(err)
			}
			computed, _, err := schema.Checksum(b[8 : 8+x.Length])
			if err != nil {
				t.Fatal(err)
			}
			at := 8 + 8 + binary.LittleEndian.Uint32(b[12:]) - 4
			binary.LittleEndian.PutUint32(b[at:], computed)
		case manifest.FinalName:
			b = resealed(t, bytes.ReplaceAll(b, []byte("self"), []byte("selb")))
		case manifest.JournalName:
			for at := schema.JournalHeaderSize; at < len(b); at += schema.RecordSize {
				rec, err := schema.ParseRecord(b[at:])
				if err != nil {
					t.Fatal(err)
				}
				if rec.Kind == schema.Self {
					rec.Kind = 200
					copy(b[at:], schema.AppendRecord(nil, rec))
				}
			}
		}
		return b
	})
	if err := os.Rename(filepath.Join(dir, "self-00.arrow"), filepath.Join(dir, "selb-00.arrow")); err != nil {
		t.Fatal(err)
	}
	got := analyzed(t, dir)
	checkVerdict(t, got, result.Pass)
	if !got.Complete || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "selb-00.arrow left out") {
		t.Errorf("complete %v, findings %+v, notes %q", got.Complete, got.Findings, got.Notes)
	}
}
