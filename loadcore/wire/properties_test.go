package wire

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// allProperties are all 14, with flags and list as the specification lays them out.
func allProperties() (p Properties, raw string) {
	p = Properties{
		ContentType: "text/plain", ContentEncoding: "gzip", Headers: Table{{Key: "h", Value: int32(1)}},
		DeliveryMode: Persistent, Priority: 9, CorrelationID: "corr", ReplyTo: "reply", Expiration: "60000",
		MessageID: "id", Timestamp: 1700000000, Type: "kind", UserID: "guest", AppID: "app", ClusterID: "cluster",
		Flags: 0xfffc,
	}
	raw = "\xff\xfc" + "\x0atext/plain" + "\x04gzip" + "\x00\x00\x00\x07\x01hI\x00\x00\x00\x01" + "\x02" + "\x09" +
		"\x04corr" + "\x05reply" + "\x0560000" + "\x02id" + "\x00\x00\x00\x00\x65\x53\xf1\x00" +
		"\x04kind" + "\x05guest" + "\x03app" + "\x07cluster"
	return p, raw
}

// header returns the whole content header frame around raw, by hand.
func header(channel uint16, bodySize uint64, raw string) []byte {
	payload := "\x00\x3c\x00\x00" + string(be64(bodySize)) + raw
	return append(append([]byte{2, byte(channel >> 8), byte(channel), 0, 0, byte(len(payload) >> 8), byte(len(payload))}, payload...), 0xCE)
}

func be64(v uint64) []byte {
	return []byte{byte(v >> 56), byte(v >> 48), byte(v >> 40), byte(v >> 32), byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
}

func TestHeaderWithAllProperties(t *testing.T) {
	p, raw := allProperties()
	want := header(513, 1<<40+5, raw)
	if got := AppendHeader(nil, 513, 1<<40+5, &p); string(got) != string(want) {
		t.Errorf("written % x\nwant    % x", got, want)
	}
	if got := AppendRawHeader(nil, 513, 1<<40+5, []byte(raw)); string(got) != string(want) {
		t.Errorf("raw: written % x\nwant         % x", got, want)
	}
	h, err := ParseHeader(want[7 : len(want)-1])
	if err != nil || h.BodySize != 1<<40+5 || string(h.RawProperties) != raw || cap(h.RawProperties) != len(raw) {
		t.Errorf("read %+v, %v", h, err)
	}
	if got, err := ParseProperties(h.RawProperties); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("read %+v, %v", got, err)
	}
}

// Each property alone: its flag, its place in the list, and that a zero value is sent if its flag asks for it.
func TestEachPropertyAlone(t *testing.T) {
	for _, c := range []struct {
		p    Properties
		raw  string
		zero string // with the flag, but the value left out
	}{
		{Properties{ContentType: "a"}, "\x80\x00\x01a", "\x80\x00\x00"},
		{Properties{ContentEncoding: "a"}, "\x40\x00\x01a", "\x40\x00\x00"},
		{Properties{Headers: Table{{Key: "a"}}}, "\x20\x00\x00\x00\x00\x03\x01aV", "\x20\x00\x00\x00\x00\x00"},
		{Properties{DeliveryMode: Transient}, "\x10\x00\x01", "\x10\x00\x00"},
		{Properties{Priority: 5}, "\x08\x00\x05", "\x08\x00\x00"},
		{Properties{CorrelationID: "a"}, "\x04\x00\x01a", "\x04\x00\x00"},
		{Properties{ReplyTo: "a"}, "\x02\x00\x01a", "\x02\x00\x00"},
		{Properties{Expiration: "a"}, "\x01\x00\x01a", "\x01\x00\x00"},
		{Properties{MessageID: "a"}, "\x00\x80\x01a", "\x00\x80\x00"},
		{Properties{Timestamp: 1}, "\x00\x40\x00\x00\x00\x00\x00\x00\x00\x01", "\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00"},
		{Properties{Type: "a"}, "\x00\x20\x01a", "\x00\x20\x00"},
		{Properties{UserID: "a"}, "\x00\x10\x01a", "\x00\x10\x00"},
		{Properties{AppID: "a"}, "\x00\x08\x01a", "\x00\x08\x00"},
		{Properties{ClusterID: "a"}, "\x00\x04\x01a", "\x00\x04\x00"},
	} {
		want := c.p
		want.Flags = uint16(c.raw[0])<<8 | uint16(c.raw[1])
		checkProperties(t, &c.p, &want, c.raw)
		zero := Properties{Flags: want.Flags}
		checkProperties(t, &zero, &zero, c.zero)
	}
}

func checkProperties(t *testing.T, p, want *Properties, raw string) {
	t.Helper()
	if got := AppendHeader(nil, 1, 2, p); string(got) != string(header(1, 2, raw)) {
		t.Errorf("%+v: written % x, want % x", p, got, header(1, 2, raw))
	}
	if got, err := ParseProperties([]byte(raw)); err != nil || !reflect.DeepEqual(got, *want) {
		t.Errorf("% x: read %+v, %v", raw, got, err)
	}
}

func TestHeaderWithoutProperties(t *testing.T) {
	want := header(1, 12, "\x00\x00")
	for name, got := range map[string][]byte{
		"nil":      AppendHeader(nil, 1, 12, nil),
		"zero":     AppendHeader(nil, 1, 12, &Properties{}),
		"unused":   AppendHeader(nil, 1, 12, &Properties{Flags: 3}), // bits that class basic does not have are not sent
		"raw nil":  AppendRawHeader(nil, 1, 12, nil),
		"raw zero": AppendRawHeader(nil, 1, 12, []byte{0, 0}),
	} {
		if string(got) != string(want) {
			t.Errorf("%s: % x, want % x", name, got, want)
		}
	}
}

func TestParsePropertiesRefuses(t *testing.T) {
	_, raw := allProperties()
	for i := range raw {
		if p, err := ParseProperties([]byte(raw[:i])); err == nil {
			t.Errorf("%d of %d bytes were accepted: %+v", i, len(raw), p)
		}
	}
	for _, c := range []struct{ name, raw, text string }{
		{"another word of flags", "\x80\x01\x01a\x00\x00", "flags: offset 0: class basic has 14 properties"},
		{"a fifteenth property", "\x00\x02\x01a", "flags: offset 0: class basic has 14 properties"},
		{"a byte too many", "\x80\x00\x01ab", "offset 4: trailing bytes: 1"},
		{"a string too short", "\x00\x80\x02a", "message-id: offset 3: ends too early"},
		{"a bad table", "\x20\x00\x00\x00\x00\x03\x01a?", "headers: offset 8: unknown field type '?'"},
	} {
		p, err := ParseProperties([]byte(c.raw))
		var se *SyntaxError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.text) || !reflect.DeepEqual(p, Properties{}) {
			t.Errorf("%s: %+v, %v, want %q", c.name, p, err, c.text)
		}
	}
}

func TestParseHeaderRefuses(t *testing.T) {
	good := "\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00"
	if _, err := ParseHeader([]byte(good)); err != nil {
		t.Error(err)
	}
	for i := range good {
		if h, err := ParseHeader([]byte(good[:i])); err == nil {
			t.Errorf("%d of %d bytes were accepted: %+v", i, len(good), h)
		}
	}
	for _, c := range []struct{ bytes, text string }{
		{"\x00\x3d" + good[2:], "class: offset 0: only class 60"},
		{"\x01\x3c" + good[2:], "class: offset 0: only class 60"},
		{"\x00\x3c\x00\x01" + good[4:], "weight: offset 2: must be 0"},
	} {
		if _, err := ParseHeader([]byte(c.bytes)); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %q", err, c.text)
		}
	}
}

func TestCheckProperties(t *testing.T) {
	p, _ := allProperties()
	if err := CheckProperties(&p, 131072); err != nil {
		t.Error(err)
	}
	if err := CheckProperties(nil, 131072); err != nil {
		t.Error(err)
	}
	long := strings.Repeat("x", 256)
	// Frame of 8, header of 12, flags of 2, table length of 4, key "k" of 2, type and length of 5: 33 bytes and the value.
	fits := Properties{Headers: Table{{Key: "k", Value: strings.Repeat("x", 4096-33)}}}
	over := Properties{Headers: Table{{Key: "k", Value: strings.Repeat("x", 4096-32)}}}
	if err := CheckProperties(&fits, 4096); err != nil || len(AppendHeader(nil, 1, 0, &fits)) != 4096 {
		t.Errorf("a header of exactly frame-max: %v", err)
	}
	if err := CheckProperties(&over, 0); err != nil {
		t.Errorf("no limit: %v", err)
	}
	for _, c := range []struct {
		p    Properties
		text string
	}{
		{Properties{ReplyTo: long}, "properties: reply-to: 256 bytes, at most 255 are possible"},
		{Properties{ClusterID: long}, "properties: cluster-id: 256 bytes, at most 255 are possible"},
		{Properties{Headers: Table{{Key: "n", Value: 1}}}, "properties: headers: n: a field table cannot hold a value of Go type int"},
		{over, "content header as one frame: 4097 bytes, at most 4096 are possible"},
	} {
		if err := CheckProperties(&c.p, 4096); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %q", err, c.text)
		}
	}
	if !panics(func() { AppendHeader(nil, 1, 0, &Properties{ReplyTo: long}) }) {
		t.Error("a property of 256 bytes was written")
	}
}
