package schema

import (
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

// The bytes are written out by hand from FORMAT.md; only the checksum is computed.
func TestJournalBytes(t *testing.T) {
	seal := func(s string) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return append(b, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
	}
	header := seal("4c45565254 4a4e4c" + "0100" + "8000" + "4000" + "0903" + // LEVRTJNL, version 1, 128, 64, tag 777
		hex.EncodeToString([]byte("run-1")) + strings.Repeat("00", 96-5+12))
	if got := AppendJournalHeader(nil, JournalHeader{Version: 1, Tag: 777, ID: "run-1"}); !bytes.Equal(got, header) || len(got) != 128 {
		t.Errorf("header\n% x, want\n% x", got, header)
	}
	record := seal("01" + "04" + "0300" + "00400000" + // batch, deliveries, shard 3, 16384 rows
		"0900000000000000" + "4002000000000000" + // sequence 9, offset 576
		"00010000" + "07000000" + // length 256, batch 7 of its file
		"ffffffffffffffff" + "0100000000000000" + // from -1 to 1 ns
		"78563412" + "0000000000000000")
	r := Record{Sequence: 9, Kind: Deliveries, Shard: 3, Batch: 7, Offset: 576, Length: 256, Rows: 16384, MinTime: -1, MaxTime: 1, Checksum: 0x12345678}
	if got := AppendRecord(nil, r); !bytes.Equal(got, record) || len(got) != 64 {
		t.Errorf("record\n% x, want\n% x", got, record)
	}
	if got, err := ParseRecord(record); err != nil || got != r {
		t.Errorf("%+v, %v", got, err)
	}
	end := seal("02" + strings.Repeat("00", 7) + "0a00000000000000" + strings.Repeat("00", 44))
	if got := AppendRecord(nil, Record{End: true, Sequence: 10}); !bytes.Equal(got, end) {
		t.Errorf("end\n% x, want\n% x", got, end)
	}
	if got, err := ParseRecord(end); err != nil || (got != Record{End: true, Sequence: 10}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestJournalFindsDamage(t *testing.T) {
	header := AppendJournalHeader(nil, JournalHeader{Version: 1, Tag: 9, ID: strings.Repeat("i", MaxIDLength)})
	if h, err := ParseJournalHeader(header); err != nil || h.Tag != 9 || len(h.ID) != MaxIDLength {
		t.Errorf("%+v, %v", h, err)
	}
	record := AppendRecord(nil, Record{Kind: Sends, Rows: 1, Length: 8})
	for i := range header {
		b := bytes.Clone(header)
		b[i] ^= 0x10
		if h, err := ParseJournalHeader(b); err == nil || h.ID != "" {
			t.Errorf("header with byte %d flipped: %+v, %v", i, h, err)
		}
		if _, err := ParseJournalHeader(header[:i]); err == nil {
			t.Errorf("%d bytes of a header pass", i)
		}
	}
	for i := range record {
		b := bytes.Clone(record)
		b[i] ^= 0x10
		if _, err := ParseRecord(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("record with byte %d flipped: %v", i, err)
		}
		if _, err := ParseRecord(record[:i]); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes of a record: %v", i, err)
		}
	}
	newer := AppendJournalHeader(nil, JournalHeader{Version: 2, ID: "x"})
	if h, err := ParseJournalHeader(newer); !errors.Is(err, ErrVersion) || h.Version != 2 || h.ID != "" {
		t.Errorf("newer: %+v, %v", h, err)
	}
	if _, err := ParseJournalHeader([]byte("something else that is long enough to be one")); !errors.Is(err, ErrNoJournal) {
		t.Errorf("no journal: %v", err)
	}
	for _, r := range []Record{
		{Kind: 0, Rows: 1}, {Kind: Sends, Rows: 0}, {Kind: Sends, Rows: MaxBatchRows + 1},
		{Kind: Sends, Rows: 1, Offset: -1}, {Kind: Sends, Rows: 1, Length: MaxBatchBytes + 1},
	} {
		if got, err := ParseRecord(AppendRecord(nil, r)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%+v passes as %+v, %v", r, got, err)
		}
	}
}

func TestCheckID(t *testing.T) {
	for id, ok := range map[string]bool{"": false, "a": true, strings.Repeat("x", 96): true, strings.Repeat("x", 97): false, "a\x00b": false} {
		if err := CheckID(id); (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add(AppendRecord(nil, Record{Kind: Acks, Rows: 5, Length: 800, Offset: 1000, Sequence: 3}))
	f.Add(AppendRecord(nil, Record{End: true, Sequence: 4}))
	f.Add(AppendJournalHeader(nil, JournalHeader{Version: 1, Tag: 4095, ID: "run"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := ParseRecord(b); err == nil {
			if again, err := ParseRecord(AppendRecord(nil, r)); err != nil || again != r {
				t.Errorf("%+v comes back as %+v, %v", r, again, err)
			}
		}
		if h, err := ParseJournalHeader(b); err == nil {
			if again, err := ParseJournalHeader(AppendJournalHeader(nil, h)); err != nil || again != h {
				t.Errorf("%+v comes back as %+v, %v", h, again, err)
			}
		}
		if len(b) >= RecordSize { // with a checksum that holds, so that what is behind it is reached
			fixed := bytes.Clone(b[:RecordSize])
			c := crc32.Checksum(fixed[:recordCRC], castagnoli)
			copy(fixed[recordCRC:], []byte{byte(c), byte(c >> 8), byte(c >> 16), byte(c >> 24)})
			if r, err := ParseRecord(fixed); err == nil && !r.End && (r.Rows == 0 || r.Offset < 0 || r.Kind == 0) {
				t.Errorf("%+v passes", r)
			}
		}
	})
}

func TestKinds(t *testing.T) {
	for i, k := range Kinds {
		if int(k) != i+1 || !k.Valid() || len(k.Columns()) == 0 || len(k.Columns()) > maxColumns {
			t.Errorf("kind %d: %v, %d columns", i, k, len(k.Columns()))
		}
		if got, ok := KindNamed(k.String()); !ok || got != k {
			t.Errorf("%v is not found by its name: %v", k, got)
		}
		main, otherwise := k.TimeColumn()
		if c := k.Columns()[main]; c.Type != I64 || c.Nullable != (otherwise >= 0) {
			t.Errorf("%v: time column %+v, otherwise %d", k, c, otherwise)
		}
	}
	if _, ok := KindNamed(""); ok || Kind(0).Valid() {
		t.Error("there is a kind without a name")
	}
	for _, c := range compressions {
		if got, err := ParseCompression(c.String()); err != nil || got != c {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	if _, err := ParseCompression("brotli"); err == nil || !strings.Contains(err.Error(), `"brotli": none, lz4 and zstd`) {
		t.Errorf("brotli: %v", err)
	}
}
