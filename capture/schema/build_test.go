package schema

import (
	"bytes"
	"encoding/binary"
	"testing"

	"leveret/capture/event"
)

// le writes numbers as columns hold them.
func le[T any](vs ...T) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, vs); err != nil {
		panic(err)
	}
	return b.Bytes()
}

const none = event.None

// sample are three rows of each kind, with nulls where there can be any.
var sample = map[Kind][][]byte{
	Sends: {le[uint16](1, 1, 2), le[uint64](7, 8, 1<<36-1), le[int64](none, 50, none), le[int64](100, none, 101),
		le[uint32](12, 12, 1<<20), le[uint16](0, 0, 3)},
	Writes:      {le[uint16](1, 1, 2), le[uint64](7, 8, 9), le[uint32](1, 1, 1), le[int64](100, 120, 101), le[int64](105, 125, 106), le[uint32](60, 60, 60)},
	Settlements: {le[uint16](1, 1, 2), le[uint64](7, 8, 9), le[uint8](1, 2, 3), le[int64](200, 199, 201), le[uint32](2, 2, 0)},
	Deliveries: {le[uint16](0, 0, 0), le[uint16](4, 4, 4), le[uint16](777, 777, 0), le[uint16](1, 1, 0), le[uint64](7, 8, 0), le[int64](300, 300, 301),
		le[uint64](1, 2, 3), le[int64](none, none, none), le[uint32](12, 12, 3), le[uint8](1, 2, 3), le[uint8](0, 1, 0)},
	Acks: {le[uint16](0, 0, 0), le[int64](400, 401, 402), le[uint64](1, 2, 3), le[uint32](1, 1, 1), le[uint8](0, 0, 1)},
	Connections: {le[int64](-5, 0, 5), le[uint32](0, 0, 1), le[uint8](1, 2, 6), le(event.NoLane, 0, event.NoLane), le(event.NoLane, event.NoLane, 3),
		le[uint16](0, 0, 320), le[int32](0, 0, 0, 6), []byte("f\xc3\xbcr 1")},
	Self:        figuresSample(Self),
	BrokerNodes: figuresSample(BrokerNodes), BrokerQueues: figuresSample(BrokerQueues), BrokerConnections: figuresSample(BrokerConnections),
	Churn: {le[uint64](0, 0, 1), le[uint8](1, 12, 3), le[uint8](1, 1, 2), le[uint8](0, 1, 0), le[int64](5, none, 6), le[int64](6, 8, none), le[int64](6, 8, none),
		le[int64](7, 9, 10), le[uint16](0, 0, 530), le[int32](0, 0, 0, 6), []byte("f\xc3\xbcr 1")},
}

// figuresSample are three rows of a kind whose columns all have 64 bits, the first without any of the figures that may be missing.
func figuresSample(k Kind) (columns [][]byte) {
	for i, c := range k.Columns() {
		n := int64(10 * i)
		first := n
		if c.Nullable {
			first = none
		}
		columns = append(columns, le(first, n+1, n+2))
	}
	return columns
}

// sampleTimes are the first and last time of each sample.
var sampleTimes = map[Kind][2]int64{
	Sends: {50, 101}, Writes: {100, 120}, Settlements: {199, 201}, Deliveries: {300, 301}, Acks: {400, 402}, Connections: {-5, 5}, Self: {0, 2},
	BrokerNodes: {0, 2}, BrokerQueues: {0, 2}, BrokerConnections: {0, 2}, Churn: {7, 10},
}

// encode makes one batch and returns a copy of its bytes.
func encode(t testing.TB, c Compression, k Kind, rows int, values [][]byte) ([]byte, Batch) {
	t.Helper()
	b, err := NewBatchEncoder(c).Encode(k, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	var bytes []byte
	for _, p := range b.Parts {
		bytes = append(bytes, p...)
	}
	if int64(len(bytes)) != b.Length || b.Length%8 != 0 {
		t.Fatalf("%d bytes, Length %d", len(bytes), b.Length)
	}
	return bytes, *b
}

// buildFile makes a whole file of batches.
func buildFile(t testing.TB, c Compression, k Kind, rows int, batches ...[][]byte) []byte {
	t.Helper()
	f := FileHead(k, "run-1", 777)
	var blocks []Block
	for _, values := range batches {
		at := int64(len(f))
		bytes, b := encode(t, c, k, rows, values)
		f = append(f, bytes...)
		blocks = append(blocks, Block{Offset: at, Metadata: b.Metadata, Body: b.Length - int64(b.Metadata)})
	}
	return append(f, FileFoot(k, "run-1", 777, blocks)...)
}

var compressions = []Compression{None, LZ4, Zstd}

// reseal makes the checksum of a changed message hold again, so that what lies behind it is tested.
func reseal(msg []byte) bool {
	computed, _, err := Checksum(msg)
	if err != nil {
		return false
	}
	size := binary.LittleEndian.Uint32(msg[4:])
	binary.LittleEndian.PutUint32(msg[prefixSize+size-4:], computed)
	return true
}
