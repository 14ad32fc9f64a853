package analyze

import (
	"bytes"
	"encoding/binary"

	"leveret/capture/schema"
)

// checkFoot compares what stands behind a file's last batch, from pos on, with the footer that belongs to the batches found. No
// row is taken or left out by it here; other readers of Arrow files go by it, and see fewer rows where it lists fewer batches.
func (c *source) checkFoot(x *file, pos int64) {
	var blocks []schema.Block
	for _, b := range c.batches {
		if b.file != x {
			continue
		}
		var prefix [8]byte // continuation marker, size of the metadata
		if _, err := x.f.ReadAt(prefix[:], b.offset); err != nil {
			return
		}
		metadata := 8 + int64(binary.LittleEndian.Uint32(prefix[4:]))
		blocks = append(blocks, schema.Block{Offset: b.offset, Metadata: int32(metadata), Body: b.length - metadata})
	}
	want := schema.FileFoot(x.head.Kind, x.head.Capture, x.head.Tag, blocks)
	got := make([]byte, len(want))
	if x.size-pos == int64(len(want)) {
		if _, err := x.f.ReadAt(got, pos); err == nil && bytes.Equal(got, want) {
			return
		}
	}
	c.reason("%s: the footer is not that of its %d batches, which are all read; other readers may see others", x.name, len(blocks))
}
