package export

import (
	"io"
	"testing"
)

// BenchmarkWrite writes rows like those of messages: 6 texts, 3 flags, 13 numbers, of which 2 are null.
func BenchmarkWrite(b *testing.B) {
	var columns []Column
	for range 6 {
		columns = append(columns, Column{Name: "t" + string(rune('a'+len(columns))), Kind: Text, Nullable: true})
	}
	for range 3 {
		columns = append(columns, Column{Name: "f" + string(rune('a'+len(columns))), Kind: Flag})
	}
	for range 13 {
		columns = append(columns, Column{Name: "n" + string(rune('a'+len(columns))), Nullable: true})
	}
	const rows = 4096
	block := NewBlock(columns)
	for i := range int64(rows) {
		for c := range 6 {
			block.Text(c, "run-20270101-120000.123")
		}
		for c := 6; c < 9; c++ {
			block.Bool(c, i%2 == 0)
		}
		for c := 9; c < 20; c++ {
			block.Number(c, 1_800_000_000_000_000_000+i*int64(c)*317)
		}
		block.Null(20)
		block.Null(21)
		block.Rows++
	}
	for _, format := range Formats {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			w, err := New(format, io.Discard, columns)
			if err != nil {
				b.Fatal(err)
			}
			for n := 0; n < b.N; n += rows {
				if err := w.Write(block); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/row")
		})
	}
}
