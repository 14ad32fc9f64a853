package analyze

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

const arrowExt = ".arrow"

// file is one Arrow file of a capture, open for reading.
type file struct {
	name string
	f    *os.File
	size int64
	head schema.Head
}

// batch is one record batch: where it is, and what is said of it.
type batch struct {
	capture *source
	file    *file
	kind    schema.Kind
	offset  int64
	length  int64
	rows    int64
	// minTime and maxTime bound the times of its rows, on the common clock.
	minTime, maxTime int64
	// order is the time by which it is read; see byTime.
	order int64
	// horizon: no delivery in a batch that is read after it was received before; see setHorizons.
	horizon int64
	// bad: its bytes are not what they should be.
	bad bool
}

// openFiles opens the Arrow files of a capture and finds their batches.
func (c *source) openFiles(entries []fs.DirEntry) error {
	records := map[string][]schema.Record{}
	if c.journal != nil {
		for _, r := range c.journal.records {
			name := schema.FileName(r.Kind, r.Shard)
			records[name] = append(records[name], r)
		}
	}
	found := map[string]bool{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != arrowExt {
			continue
		}
		found[e.Name()] = true
		if err := c.openFile(e.Name(), records[e.Name()]); err != nil {
			return err
		}
	}
	for _, name := range missingFiles(c, records, found) {
		var rows int64
		for _, r := range records[name] {
			rows += int64(r.Rows)
		}
		c.reason("%s: missing, with %d rows", name, rows)
	}
	return nil
}

// missingFiles are those that journal or manifest name and that are not there.
func missingFiles(c *source, records map[string][]schema.Record, found map[string]bool) (names []string) {
	named := map[string]bool{}
	for name := range records {
		named[name] = true
	}
	if c.final {
		for name := range c.manifest.Recording.Files {
			if strings.HasSuffix(name, arrowExt) {
				named[name] = true
			}
		}
	}
	for name := range named {
		if !found[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// openFile opens one file; what is wrong with it becomes a reason. The error is for a file that cannot be opened at all.
func (c *source) openFile(name string, records []schema.Record) error {
	f, err := os.Open(filepath.Join(c.dir, name))
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		c.reason("%s: not a file", name)
		return nil
	}
	x := &file{name: name, f: f, size: info.Size()}
	if c.final {
		if want, ok := c.manifest.Recording.Files[name]; !ok && len(c.manifest.Recording.Files) > 0 {
			f.Close()
			c.strangers = append(c.strangers, name)
			return nil
		} else if want != x.size {
			c.reason("%s: %d bytes, the manifest says %d", name, x.size, want)
		}
	}
	start, ok := c.readHead(x, len(records) > 0)
	if !ok {
		f.Close()
		return nil
	}
	c.files = append(c.files, x)
	c.findBatches(x, start, records)
	return nil
}

// readHead reads what the file says about itself, and where its batches begin.
func (c *source) readHead(x *file, journaled bool) (start int64, ok bool) {
	b := make([]byte, min(x.size, int64(schema.HeadBytes)))
	if _, err := io.ReadFull(io.NewSectionReader(x.f, 0, x.size), b); err != nil {
		c.reason("%s: read: %v", x.name, err)
		return 0, false
	}
	kind, named := kindOf(x.name)
	head, start, err := schema.ParseHead(b)
	x.head = head
	switch {
	case err == nil && !named || err == nil && head.Kind != kind:
		c.reason("%s: holds %s, which are not named so", x.name, head.Kind)
		return 0, false
	case err == nil && c.id == "":
		c.id, c.tag = head.Capture, head.Tag // nothing else tells
		return start, true
	case err == nil && head.Capture != c.id:
		c.reason("%s: is of capture %q, not %q", x.name, head.Capture, c.id)
		return 0, false
	case err == nil:
		if head.Tag != c.tag {
			c.reason("%s: run tag %d, the capture's is %d", x.name, head.Tag, c.tag)
			c.tag = head.Tag
		}
		return start, true
	}
	if errors.Is(err, schema.ErrKind) {
		c.unknown = append(c.unknown, x.name)
		return 0, false
	}
	c.reason("%s: %v", x.name, err)
	if !errors.Is(err, schema.ErrDamaged) || !named || c.journal != nil && !journaled {
		return 0, false
	}
	// Its batches prove themselves: they can be used without the head.
	x.head = schema.Head{Format: manifest.FormatVersion, Kind: kind, Capture: c.id, Tag: c.tag}
	if e, err := schema.Measure(b[min(len(b), len(schema.FileMagic)):]); err == nil {
		return int64(len(schema.FileMagic)) + e.Length, true
	}
	return math.MaxInt64, journaled
}

// kindOf tells the kind of rows by a file's name.
func kindOf(name string) (schema.Kind, bool) {
	stem := strings.TrimSuffix(name, arrowExt)
	dash := max(strings.LastIndexByte(stem, '-'), 0) // names of kinds have dashes, too
	k, known := schema.KindNamed(stem[:dash])
	var shard uint16
	if _, err := fmt.Sscanf(stem[dash:], "-%d", &shard); err != nil {
		return 0, false
	}
	return k, known && schema.FileName(k, shard) == name
}

// findBatches lists the batches of a file: those that the journal names, and the ones between and behind them that it
// does not (its record is damaged, or the recording ended before it was written).
func (c *source) findBatches(x *file, pos int64, records []schema.Record) {
	slices.SortFunc(records, func(a, b schema.Record) int { return cmp.Compare(a.Offset, b.Offset) })
	if len(records) > 0 {
		pos = min(pos, records[0].Offset)
	}
	unread, rows, lost := int64(0), int64(0), 0
	for {
		for len(records) > 0 && records[0].Offset < pos {
			c.reason("%s: two batches at %d", x.name, records[0].Offset)
			records = records[1:]
		}
		if len(records) > 0 && records[0].Offset == pos {
			r := records[0]
			records = records[1:]
			if r.Offset > x.size || int64(r.Length) > x.size-r.Offset {
				lost++
				rows += int64(r.Rows)
				continue
			}
			c.batches = append(c.batches, &batch{capture: c, file: x, kind: r.Kind, offset: r.Offset, length: int64(r.Length),
				rows: int64(r.Rows), minTime: r.MinTime, maxTime: r.MaxTime})
			pos += int64(r.Length)
			continue
		}
		limit := x.size
		if len(records) > 0 {
			limit = min(limit, records[0].Offset)
		}
		if n := c.recoverAt(x, pos, limit); n > 0 {
			pos += n
			continue
		}
		if len(records) == 0 {
			unread += c.unread(x, pos)
			break
		}
		unread += max(0, limit-pos)
		pos = records[0].Offset
	}
	if lost > 0 {
		c.reason("%s: cut off: %d batches with %d rows are missing", x.name, lost, rows)
	}
	if unread > 0 {
		c.reason("%s: %d bytes are no whole batch", x.name, unread)
	}
	if lost == 0 && unread == 0 && pos < x.size {
		c.checkFoot(x, pos)
	}
}

// recoverAt takes a batch that the journal does not name, and returns its length; 0 where there is none.
func (c *source) recoverAt(x *file, pos, limit int64) int64 {
	b := make([]byte, max(0, min(limit-pos, 8+schema.MaxMetadataBytes)))
	if n, err := x.f.ReadAt(b, pos); n < len(b) || err != nil && err != io.EOF || len(b) == 0 {
		return 0
	}
	e, err := schema.Measure(b)
	if err != nil || e.End || e.Length > limit-pos {
		return 0
	}
	bt := &batch{capture: c, file: x, kind: x.head.Kind, offset: pos, length: e.Length}
	if err := bt.inspect(); err != nil {
		c.reason("%s: batch at %d, which the journal does not name: %v", x.name, pos, err)
		return e.Length
	}
	c.batches = append(c.batches, bt)
	return e.Length
}

// unread is how much of a file's end is neither batch nor footer.
func (c *source) unread(x *file, pos int64) int64 {
	if pos >= x.size {
		return 0
	}
	b := make([]byte, min(x.size-pos, 8))
	x.f.ReadAt(b, pos)
	if e, err := schema.Measure(b); err == nil && e.End {
		return 0 // a footer follows
	}
	return x.size - pos
}

// inspect reads the rows of a batch for their number and times.
func (b *batch) inspect() error {
	buf, err := b.read(nil)
	if err != nil {
		return err
	}
	rec, err := schema.NewDecoder(b.file.head, memory.DefaultAllocator).Decode(buf)
	if err != nil {
		return err
	}
	defer rec.Release()
	b.rows = rec.NumRows()
	b.minTime, b.maxTime = math.MaxInt64, math.MinInt64
	main, otherwise := b.kind.TimeColumn()
	times := i64(rec, main)
	for i, t := range times {
		if t == event.None && otherwise >= 0 {
			t = i64(rec, otherwise)[i]
		}
		b.minTime, b.maxTime = min(b.minTime, t), max(b.maxTime, t)
	}
	return nil
}

// read fills buf, grown where it is too small, with the bytes of the batch.
func (b *batch) read(buf []byte) ([]byte, error) {
	if int64(cap(buf)) < b.length {
		buf = make([]byte, b.length+b.length/8) // columns are read as numbers in place: Go aligns what it allocates
	}
	buf = buf[:b.length]
	if n, err := b.file.f.ReadAt(buf, b.offset); n < len(buf) {
		return nil, fmt.Errorf("read: %w", err)
	}
	return buf, nil
}

// Views of columns. They alias the batch's buffer.
func u8(r arrow.Record, i int) []uint8   { return r.Column(i).(*array.Uint8).Uint8Values() }
func u16(r arrow.Record, i int) []uint16 { return r.Column(i).(*array.Uint16).Uint16Values() }
func u32(r arrow.Record, i int) []uint32 { return r.Column(i).(*array.Uint32).Uint32Values() }
func u64(r arrow.Record, i int) []uint64 { return r.Column(i).(*array.Uint64).Uint64Values() }
func i64(r arrow.Record, i int) []int64  { return r.Column(i).(*array.Int64).Int64Values() }
