package analyze

import (
	"bytes"
	"testing"

	parquetfile "github.com/apache/arrow/go/v17/parquet/file"

	"leveret/analyze/export"
)

// C108: rows 1000 to 1999 out of the middle of batches are those rows, to the nanosecond, as they are handed over and as they are read
// back from Parquet.
func TestC108RangeOfRows(t *testing.T) {
	r := record(t, plan(1, 1))
	for first := uint64(0); first < 3000; first += 600 { // 1000 and 2000 are in the middle of a batch
		r.send(0, first, 600, int64(first)*1000+7)
		r.ack(0, first, 600, int64(first)*1000+8)
	}
	r.receive(0, 0, 0, 900*ms, seqs(0, 2999)...)
	r.ackAll(0, 901*ms)
	dir := r.close()
	s := All("sends")
	s.FirstSeq, s.LastSeq = 1000, 1999
	rows, _ := exported(t, s, Options{}, dir)
	sent := func(seq int64) int64 { return epoch + seq/600*600*1000 + 7 }
	if len(rows.rows) != 1000 {
		t.Fatalf("%d rows", len(rows.rows))
	}
	for i, row := range rows.rows {
		if seq := int64(1000 + i); row["seq"] != seq || row["sent_ns"] != sent(seq) {
			t.Fatalf("row %d: %v", i, row)
		}
	}

	var b bytes.Buffer
	w, err := export.New("parquet", &b, Columns("sends"))
	if err == nil {
		_, err = Export(t.Context(), []string{dir}, Options{Tmp: t.TempDir()}, s, w)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquetfile.NewParquetReader(bytes.NewReader(b.Bytes()))
	if err != nil || p.NumRowGroups() != 1 || p.NumRows() != 1000 {
		t.Fatal(err)
	}
	column := func(name string) []int64 {
		c, err := p.RowGroup(0).Column(p.MetaData().Schema.ColumnIndexByName(name))
		if err != nil {
			t.Fatal(err)
		}
		numbers, levels := make([]int64, 1000), make([]int16, 1000)
		if _, n, err := c.(*parquetfile.Int64ColumnChunkReader).ReadBatch(1000, numbers, levels, nil); err != nil || n != 1000 {
			t.Fatalf("%s: %d numbers, %v", name, n, err)
		}
		return numbers
	}
	seq, at := column("seq"), column("sent_ns")
	for i := range seq {
		if seq[i] != int64(1000+i) || at[i] != sent(seq[i]) {
			t.Fatalf("row %d: %d at %d", i, seq[i], at[i])
		}
	}
}
