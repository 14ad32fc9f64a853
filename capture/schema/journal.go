package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"leveret/capture/manifest"
)

// castagnoli is the table of CRC-32C, the checksum of everything in a capture.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sizes of the journal's parts in bytes, and the longest capture ID that its header holds; part of the format.
const (
	JournalHeaderSize = 128
	RecordSize        = 64
	MaxIDLength       = 96
)

// JournalMagic are the first eight bytes of a journal; part of the format.
const JournalMagic = "LEVRTJNL"

// Offsets in the header; part of the format. All numbers are little endian.
const (
	headerVersion    = 8  // uint16, manifest.FormatVersion
	headerSize       = 10 // uint16, JournalHeaderSize
	headerRecordSize = 12 // uint16, RecordSize
	headerTag        = 14 // uint16
	headerID         = 16 // MaxIDLength bytes, zero padded
	headerReserved   = 112
	headerCRC        = 124 // CRC-32C of the bytes before
)

// Offsets in a record; part of the format.
const (
	recordType     = 0  // uint8, 1 batch, 2 end
	recordKind     = 1  // uint8
	recordShard    = 2  // uint16
	recordRows     = 4  // uint32
	recordSequence = 8  // uint64
	recordOffset   = 16 // uint64
	recordLength   = 24 // uint32
	recordBatch    = 28 // uint32
	recordMinTime  = 32 // int64
	recordMaxTime  = 40 // int64
	recordChecksum = 48 // uint32, of the batch
	recordReserved = 52 // 8 zero bytes
	recordCRC      = 60 // CRC-32C of the bytes before
)

const (
	typeBatch = 1
	typeEnd   = 2
)

// JournalHeader says which capture a journal belongs to.
type JournalHeader struct {
	Version int    // of the format
	Tag     uint16 // run tag
	ID      string // capture ID, at most MaxIDLength bytes, no zero byte
}

// Record says that one batch was written whole; or, as the last of a journal, that the recording was closed.
type Record struct {
	// End marks the last record: nothing was written after it. Only Sequence means something then.
	End bool
	// Sequence is the record's number in the journal, from 0, without a gap.
	Sequence uint64
	// Kind and Shard name the file (FileName).
	Kind  Kind
	Shard uint16
	// Batch is the number of the batch in its file, from 0.
	Batch uint32
	// Offset and Length are the whole encapsulated message in the file, in bytes.
	Offset int64
	Length uint32
	Rows   uint32
	// MinTime and MaxTime bound the times of the rows (Kind.TimeColumn), both ends included.
	MinTime, MaxTime int64
	// Checksum of the batch, the same number that the message carries (Checksum).
	Checksum uint32
}

// FileName of a kind's shard inside the capture directory.
func FileName(k Kind, shard uint16) string { return fmt.Sprintf(manifest.FilePattern, k, shard) }

// CheckID tells whether a capture ID fits the journal's header.
func CheckID(id string) error {
	switch {
	case id == "":
		return errors.New("capture ID: empty")
	case len(id) > MaxIDLength:
		return fmt.Errorf("capture ID %q: %d bytes, at most %d fit the journal", id, len(id), MaxIDLength)
	case bytes.IndexByte([]byte(id), 0) >= 0:
		return fmt.Errorf("capture ID %q: holds a zero byte", id)
	}
	return nil
}

// AppendJournalHeader appends the JournalHeaderSize bytes that a journal begins with. The ID must pass CheckID.
func AppendJournalHeader(dst []byte, h JournalHeader) []byte {
	var b [JournalHeaderSize]byte
	copy(b[:], JournalMagic)
	binary.LittleEndian.PutUint16(b[headerVersion:], uint16(h.Version))
	binary.LittleEndian.PutUint16(b[headerSize:], JournalHeaderSize)
	binary.LittleEndian.PutUint16(b[headerRecordSize:], RecordSize)
	binary.LittleEndian.PutUint16(b[headerTag:], h.Tag)
	copy(b[headerID:headerReserved], h.ID)
	binary.LittleEndian.PutUint32(b[headerCRC:], crc32.Checksum(b[:headerCRC], castagnoli))
	return append(dst, b[:]...)
}

// Errors of a journal, for errors.Is. A damaged record is no reason to distrust the ones after it: records have a fixed
// size, and each proves itself.
var (
	ErrNoJournal = errors.New("not a journal of leveret")
	ErrVersion   = errors.New("unknown format version")
	ErrDamaged   = errors.New("damaged")
)

// ParseJournalHeader reads a header from the first bytes of a journal. The version is judged first: of a newer format
// only Version is returned, with ErrVersion. An ID that is not shown to be whole is never returned.
func ParseJournalHeader(b []byte) (JournalHeader, error) {
	if len(b) < headerVersion+2 || string(b[:len(JournalMagic)]) != JournalMagic {
		return JournalHeader{}, fmt.Errorf("journal header: %w", ErrNoJournal)
	}
	h := JournalHeader{Version: int(binary.LittleEndian.Uint16(b[headerVersion:]))}
	if len(b) < JournalHeaderSize {
		return h, fmt.Errorf("journal header: %d of %d bytes: %w", len(b), JournalHeaderSize, ErrDamaged)
	}
	if crc := crc32.Checksum(b[:headerCRC], castagnoli); crc != binary.LittleEndian.Uint32(b[headerCRC:]) {
		if h.Version > manifest.FormatVersion { // a newer header need not end where ours does
			return h, fmt.Errorf("journal header: version %d, this program knows %d: %w", h.Version, manifest.FormatVersion, ErrVersion)
		}
		return h, fmt.Errorf("journal header: checksum does not hold: %w", ErrDamaged)
	}
	if h.Version != manifest.FormatVersion {
		return h, fmt.Errorf("journal header: version %d, this program knows %d: %w", h.Version, manifest.FormatVersion, ErrVersion)
	}
	if binary.LittleEndian.Uint16(b[headerSize:]) != JournalHeaderSize || binary.LittleEndian.Uint16(b[headerRecordSize:]) != RecordSize {
		return h, fmt.Errorf("journal header: sizes are not those of version %d: %w", h.Version, ErrDamaged)
	}
	h.Tag = binary.LittleEndian.Uint16(b[headerTag:])
	h.ID = string(bytes.TrimRight(b[headerID:headerReserved], "\x00"))
	return h, nil
}

// AppendRecord appends the RecordSize bytes of one record.
func AppendRecord(dst []byte, r Record) []byte {
	var b [RecordSize]byte
	binary.LittleEndian.PutUint64(b[recordSequence:], r.Sequence)
	if r.End {
		b[recordType] = typeEnd
	} else {
		b[recordType] = typeBatch
		b[recordKind] = byte(r.Kind)
		binary.LittleEndian.PutUint16(b[recordShard:], r.Shard)
		binary.LittleEndian.PutUint32(b[recordRows:], r.Rows)
		binary.LittleEndian.PutUint64(b[recordOffset:], uint64(r.Offset))
		binary.LittleEndian.PutUint32(b[recordLength:], r.Length)
		binary.LittleEndian.PutUint32(b[recordBatch:], r.Batch)
		binary.LittleEndian.PutUint64(b[recordMinTime:], uint64(r.MinTime))
		binary.LittleEndian.PutUint64(b[recordMaxTime:], uint64(r.MaxTime))
		binary.LittleEndian.PutUint32(b[recordChecksum:], r.Checksum)
	}
	binary.LittleEndian.PutUint32(b[recordCRC:], crc32.Checksum(b[:recordCRC], castagnoli))
	return append(dst, b[:]...)
}

// ParseRecord reads the record that b begins with. Fewer than RecordSize bytes, a wrong checksum, or values that no
// writer writes are ErrDamaged; the reader skips RecordSize bytes and goes on. A record of a kind that is not Valid is one of
// a later version of the program: it proves itself like all others, and the reader leaves its file alone.
func ParseRecord(b []byte) (Record, error) {
	if len(b) < RecordSize {
		return Record{}, fmt.Errorf("journal record: %d of %d bytes: %w", len(b), RecordSize, ErrDamaged)
	}
	if crc32.Checksum(b[:recordCRC], castagnoli) != binary.LittleEndian.Uint32(b[recordCRC:]) {
		return Record{}, fmt.Errorf("journal record: checksum does not hold: %w", ErrDamaged)
	}
	r := Record{Sequence: binary.LittleEndian.Uint64(b[recordSequence:])}
	switch b[recordType] {
	case typeEnd:
		r.End = true
		return r, nil
	case typeBatch:
	default:
		return Record{}, fmt.Errorf("journal record %d: type %d: %w", r.Sequence, b[recordType], ErrDamaged)
	}
	r.Kind = Kind(b[recordKind])
	r.Shard = binary.LittleEndian.Uint16(b[recordShard:])
	r.Rows = binary.LittleEndian.Uint32(b[recordRows:])
	offset := binary.LittleEndian.Uint64(b[recordOffset:])
	r.Length = binary.LittleEndian.Uint32(b[recordLength:])
	r.Batch = binary.LittleEndian.Uint32(b[recordBatch:])
	r.MinTime = int64(binary.LittleEndian.Uint64(b[recordMinTime:]))
	r.MaxTime = int64(binary.LittleEndian.Uint64(b[recordMaxTime:]))
	r.Checksum = binary.LittleEndian.Uint32(b[recordChecksum:])
	if r.Kind == 0 || r.Rows == 0 || r.Rows > MaxBatchRows || offset > 1<<62 || r.Length > MaxBatchBytes {
		return Record{}, fmt.Errorf("journal record %d: kind %d, %d rows, %d bytes at %d: %w",
			r.Sequence, r.Kind, r.Rows, r.Length, offset, ErrDamaged)
	}
	r.Offset = int64(offset)
	return r, nil
}

// Bounds of a batch and its values, so that a reader can limit its memory; part of the format.
const (
	MaxBatchRows  = 1 << 20
	MaxBatchBytes = 1 << 28
	MaxTextBytes  = 1 << 12 // in a value of a Text column
)
