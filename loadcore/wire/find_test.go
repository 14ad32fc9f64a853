package wire

import (
	"bytes"
	"testing"
)

// rawProperties of a content header.
func rawProperties(t *testing.T, p *Properties) []byte {
	t.Helper()
	f, _, err := NextFrame(AppendHeader(nil, 1, 0, p), 0)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParseHeader(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return h.RawProperties
}

func TestFindHeader(t *testing.T) {
	for i, p := range []*Properties{
		nil, {}, {ContentType: "text/plain", DeliveryMode: Persistent}, {Headers: Table{{Key: "other", Value: "wanted"}}},
		{Headers: Table{{Key: "wanted", Value: int32(1)}}}, {Headers: Table{{Key: "wanted", Value: nil}}}, {Flags: FlagHeaders},
	} {
		if v, ok := FindHeader(rawProperties(t, p), "wanted"); ok {
			t.Errorf("%d: found %q", i, v)
		}
	}
	p := &Properties{ContentType: "a", ContentEncoding: "b", CorrelationID: "c", Headers: Table{{Key: "first", Value: Table{{Key: "wanted", Value: "inner"}}}, {Key: "wanted", Value: []byte("value")}, {Key: "last", Value: true}}}
	raw := rawProperties(t, p)
	if v, ok := FindHeader(raw, "wanted"); !ok || string(v) != "value" || cap(v) != 5 {
		t.Errorf("%q, %v", v, ok)
	}
	if n := testing.AllocsPerRun(100, func() { FindHeader(raw, "wanted") }); n != 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
}

// Whatever is cut off or damaged: no panic, and nothing is found that is not there.
func TestFindHeaderInDamagedProperties(t *testing.T) {
	p := &Properties{ContentType: "type", Headers: Table{{Key: "n", Value: int64(1)}, {Key: "wanted", Value: []byte("value")}}}
	raw := rawProperties(t, p)
	for n := 2; n < len(raw); n++ {
		if v, ok := FindHeader(raw[:n:n], "wanted"); ok {
			t.Errorf("cut to %d bytes: found %q", n, v)
		}
	}
	for at := range raw {
		for _, x := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(raw)
			damaged[at] ^= x
			if v, ok := FindHeader(damaged, "wanted"); ok && len(v) > len(raw) {
				t.Errorf("byte %d damaged: %q", at, v)
			}
		}
	}
}
