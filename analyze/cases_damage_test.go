package analyze

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"leveret/capture/schema"
)

// C094: a footer that lists one batch fewer than the file holds. All rows are used, and the difference is named.
func TestC094FooterListsFewerBatches(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	for _, sameLength := range []bool{true, false} {
		changed := false
		got := analyzed(t, damaged(t, dir, func(n string, b []byte) []byte {
			if n != "deliveries-00.arrow" {
				return b
			}
			foot := bytes.LastIndex(b, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
			var blocks []schema.Block
			for at := 8 + messageLength(b[8:]); at < foot; {
				length := messageLength(b[at:])
				metadata := 8 + int(binary.LittleEndian.Uint32(b[at+4:]))
				blocks = append(blocks, schema.Block{Offset: int64(at), Metadata: int32(metadata), Body: int64(length - metadata)})
				at += length
			}
			head, _, err := schema.ParseHead(b)
			if err != nil || len(blocks) < 2 {
				t.Fatalf("%d batches, %v", len(blocks), err)
			}
			if !bytes.Equal(b[foot:], schema.FileFoot(head.Kind, head.Capture, head.Tag, blocks)) {
				t.Fatal("the footer as it was written is not understood")
			}
			changed = true
			if !sameLength {
				return append(b[:foot:foot], schema.FileFoot(head.Kind, head.Capture, head.Tag, blocks[:len(blocks)-1])...)
			}
			list := binary.LittleEndian.AppendUint32(nil, uint32(len(blocks))) // the length of a vector stands before it
			list = binary.LittleEndian.AppendUint64(list, uint64(blocks[0].Offset))
			at := foot + bytes.Index(b[foot:], list)
			if at < foot {
				t.Fatal("no list of batches")
			}
			b[at]--
			return b
		}))
		checkDamaged(t, "footer", got, whole)
		if !changed || got.Complete || got.Rows != whole.Rows || got.Counts != whole.Counts {
			t.Errorf("%d of %d rows, %+v", got.Rows, whole.Rows, got.Counts)
		}
		if text := finding(t, got, "capture_incomplete").Text; sameLength && !strings.Contains(text, "deliveries-00.arrow: the footer is not that of its ") || !strings.Contains(text, "deliveries-00.arrow") {
			t.Error(text)
		}
	}
}

// messageLength is that of an encapsulated message: prefix, metadata, and the body that its Message table tells.
func messageLength(b []byte) int {
	e, err := schema.Measure(b)
	if err != nil {
		panic(err)
	}
	return int(e.Length)
}

// C094: fifty bytes flipped in the values of a batch, which Arrow's own reader takes without a word. The batch is named and none
// of it is used.
func TestC094FlippedValues(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	for _, victim := range []string{"sends-00.arrow", "settlements-00.arrow", "deliveries-00.arrow"} {
		got := analyzed(t, damaged(t, dir, func(n string, b []byte) []byte {
			if n == victim {
				at := 8 + messageLength(b[8:]) // the first batch
				body := at + 8 + int(binary.LittleEndian.Uint32(b[at+4:]))
				for i := range 50 {
					b[body+i] ^= 0x55
				}
			}
			return b
		}))
		checkDamaged(t, victim, got, whole)
		if text := finding(t, got, "capture_incomplete").Text; got.Complete || got.Rows >= whole.Rows || !strings.Contains(text, victim) {
			t.Errorf("%s: %d of %d rows: %s", victim, got.Rows, whole.Rows, text)
		}
	}
}
