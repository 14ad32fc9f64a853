package loadcore

import (
	"bytes"
	"hash/crc32"
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// delivered are the frames of one delivery with these properties, its body cut every frameMax-8 bytes.
func delivered(tag uint64, props *wire.Properties, body []byte, frameMax uint32) []byte {
	dst := wire.AppendDeliver(nil, 1, "0", tag, false, nil, []byte("q"))
	dst = wire.AppendHeader(dst, 1, uint64(len(body)), props)
	return wire.AppendBody(dst, 1, body, frameMax)
}

// takeDelivery has a consumer take one delivery and returns what is recorded of it. The frames come in reads of at most
// most bytes.
func takeDelivery(t *testing.T, frames []byte, most int) event.Delivery {
	t.Helper()
	e, _ := bare(nil, []manifest.Consumer{{AutoAck: true}})
	rec := &memory{}
	e.rec = rec
	c := e.conn(0)
	var kept []byte
	for len(frames) > 0 {
		n := min(most, len(frames))
		kept = append(kept, frames[:n]...)
		frames = frames[n:]
		c.in.buf, c.in.start, c.in.end = kept, 0, len(kept)
		c.at = c.eng.clock.Now()
		if err := c.take(); err != nil {
			t.Fatal(err)
		}
		kept = append([]byte(nil), c.in.buf[c.in.start:c.in.end]...)
	}
	c.finishRead()
	if len(rec.deliveries) != 1 || len(rec.deliveries[0].Rows) != 1 {
		t.Fatalf("%d deliveries", len(rec.deliveries))
	}
	return rec.deliveries[0].Rows[0]
}

func stampHeader(body []byte, s Stamp) []byte {
	value := make([]byte, StampHeaderSize)
	putHeaderStamp(value, s.identity(), s.Due, crc32.Checksum(body, castagnoli))
	return value
}

// The header is found wherever it stands, whatever stands before it, and however the frames come.
func TestConsumerReadsHeaderStamps(t *testing.T) {
	want := Stamp{Tag: 0x123, Producer: 77, Seq: 1 << 35, Due: 1_700_000_000_000_000_000}
	large := bytes.Repeat([]byte("abc"), 3000)
	nested := wire.Table{{Key: StampHeaderName, Value: "not this one"}}
	for _, body := range [][]byte{{}, {1}, []byte("eleven byte"), make([]byte, 24), large} {
		value := stampHeader(body, want)
		for i, props := range []*wire.Properties{
			{Headers: wire.Table{{Key: StampHeaderName, Value: value}}},
			{Headers: wire.Table{{Key: StampHeaderName, Value: string(value)}}}, // as a text
			{ContentType: "a/b", ContentEncoding: "c", Priority: 3, MessageID: "m", Headers: wire.Table{
				{Key: "x-death", Value: []any{nested, int32(3)}}, {Key: "table", Value: nested}, {Key: "t", Value: true}, {Key: "b", Value: int8(1)},
				{Key: "B", Value: uint8(1)}, {Key: "s", Value: int16(1)}, {Key: "u", Value: uint16(1)}, {Key: "I", Value: int32(1)}, {Key: "i", Value: uint32(1)},
				{Key: "l", Value: int64(1)}, {Key: "f", Value: float32(1)}, {Key: "d", Value: 1.0}, {Key: "D", Value: wire.Decimal{}}, {Key: "T", Value: wire.Timestamp(1)},
				{Key: "S", Value: "text"}, {Key: "x", Value: []byte{1}}, {Key: "V"}, {Key: StampHeaderName, Value: value}, {Key: "z", Value: "z"}}},
		} {
			frames := delivered(1, props, body, 4096)
			for _, most := range []int{1 << 20, 100, 1} {
				d := takeDelivery(t, frames, most)
				if d.Body != event.Intact || (Stamp{d.Tag, d.Producer, d.Seq, d.Due}) != want || int(d.Size) != len(body) {
					t.Fatalf("%d bytes, properties %d, reads of %d: %+v", len(body), i, most, d)
				}
			}
		}
	}
}

// A flip in any bit of the stamp's value or of the body is noticed.
func TestEveryFlippedBitOfAHeaderStamp(t *testing.T) {
	for _, body := range [][]byte{{}, []byte("a body that is to stay as it is")} {
		value := stampHeader(body, Stamp{Tag: 1, Producer: 2, Seq: 3, Due: 4})
		flip := func(b []byte) {
			for bit := range len(b) * 8 {
				b[bit/8] ^= 1 << (bit % 8)
				d := takeDelivery(t, delivered(1, &wire.Properties{Headers: wire.Table{{Key: StampHeaderName, Value: value}}}, body, 4096), 1<<20)
				if d.Body != event.Corrupt || d.Due != event.None {
					t.Errorf("bit %d of %d bytes flipped: %+v", bit, len(b), d)
				}
				b[bit/8] ^= 1 << (bit % 8)
			}
		}
		flip(value)
		flip(body)
	}
}

// What is no stamp of ours leaves the body to be looked at, also after a message that had one.
func TestHeadersWithoutAStamp(t *testing.T) {
	stamped := make([]byte, 12)
	PutStamp(stamped, Stamp{Tag: 5, Producer: 6, Seq: 7, Due: event.None})
	for i, headers := range []wire.Table{
		{{Key: "other", Value: "text"}},
		{{Key: StampHeaderName, Value: int64(3)}},
		{{Key: StampHeaderName, Value: make([]byte, StampHeaderSize-1)}},
		{{Key: StampHeaderName, Value: make([]byte, StampHeaderSize+1)}},
		{{Key: "Leveret", Value: make([]byte, StampHeaderSize)}},
	} {
		d := takeDelivery(t, delivered(1, &wire.Properties{Headers: headers}, stamped, 4096), 1<<20)
		if d.Body != event.Intact || d.Tag != 5 || d.Producer != 6 || d.Seq != 7 {
			t.Errorf("%d: %+v", i, d)
		}
	}
	e, _ := bare(nil, []manifest.Consumer{{AutoAck: true}})
	rec := &memory{}
	e.rec = rec
	body := []byte("whatever it is")
	frames := delivered(1, &wire.Properties{Headers: wire.Table{{Key: StampHeaderName, Value: stampHeader(body, Stamp{Tag: 1, Seq: 2})}}}, body, 4096)
	frames = append(frames, delivered(2, nil, stamped, 4096)...)
	frames = append(frames, delivered(3, nil, nil, 4096)...)
	if err := e.conn(0).feed(frames); err != nil {
		t.Fatal(err)
	}
	rows := rec.deliveries[0].Rows
	if rows[0].Body != event.Intact || rows[0].Seq != 2 || rows[1].Body != event.Intact || rows[1].Seq != 7 || rows[2].Body != event.Unstamped {
		t.Errorf("%+v", rows)
	}
}
