package analyze

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// FuzzReader puts any bytes in the place of one file of a good capture and reads all of it, in one goroutine so that the
// fuzzer sees the same coverage for the same bytes. No panic, no more memory than the bytes justify; and whatever is
// still read proves itself, so that there are never more rows than there were, and fewer not without a reason.
func FuzzReader(f *testing.F) {
	dir, whole := smallCapture(f, "lz4", false)
	names := files(f, dir)
	good := map[string][]byte{}
	for i, name := range names {
		good[name] = mustRead(f, filepath.Join(dir, name))
		f.Add(uint8(i), good[name])
		f.Add(uint8(i), good[name][:len(good[name])/2])
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		victim := names[int(which)%len(names)]
		path := filepath.Join(dir, victim)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		defer os.WriteFile(path, good[victim], 0o644)
		c, err := openCapture(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		c.decodeAll()
		c.checkRows()
		var rows int64
		for _, n := range c.rows {
			rows += n
		}
		if rows > whole.Rows {
			t.Errorf("%d rows of %d", rows, whole.Rows)
		}
		if rows < whole.Rows && len(c.reasons) == 0 && victim != manifest.FinalName {
			t.Errorf("%d rows of %d, and no reason given", rows, whole.Rows)
		}
	})
}

// decodeAll reads every batch.
func (c *source) decodeAll() {
	for _, b := range c.batches {
		buf, err := b.read(nil)
		if err != nil {
			continue
		}
		rec, err := schema.NewDecoder(b.file.head, memory.DefaultAllocator).Decode(buf)
		if err != nil {
			continue
		}
		if rec.NumRows() == b.rows {
			c.rows[b.kind] += b.rows
		}
		rec.Release()
	}
}
