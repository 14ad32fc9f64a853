package manifest

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"
)

func sealed(t testing.TB) []byte {
	t.Helper()
	b, err := Encode(&Manifest{FormatVersion: FormatVersion, ID: "a run", Tag: 7, Options: map[string]string{"queue": `"crc32c"`}, Outcome: &Outcome{Sent: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The seal is what the page about the format says: the last key, over all before it.
func TestSeal(t *testing.T) {
	b := sealed(t)
	i := bytes.LastIndex(b, []byte(`"crc32c"`))
	want := fmt.Sprintf("\"crc32c\": \"%08x\"\n}\n", crc32.Checksum(b[:i], crc32.MakeTable(0x82F63B78)))
	if string(b[i:]) != want {
		t.Fatalf("ends with %q, want %q", b[i:], want)
	}
	m, err := Decode(b)
	if err != nil || m.Outcome.Sent != 1000 || m.ID != "a run" {
		t.Fatalf("%+v %v", m, err)
	}
	if again, err := Seal(b); err != nil || !bytes.Equal(again, b) {
		t.Errorf("sealed again: %v\n%s", err, again)
	}
	if _, err := Seal([]byte("[]")); err == nil {
		t.Error("a list was sealed")
	}
	before := append(bytes.TrimRight(bytes.Clone(b[:i]), " \n,"), "\n}\n"...)
	if m, err := Decode(before); err != nil || m.Outcome.Sent != 1000 {
		t.Errorf("a recording without a seal: %v", err)
	}
}

// Every bit flipped, every byte cut off: the same content, or an error.
func TestSealedDamage(t *testing.T) {
	b := sealed(t)
	whole, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, at int, text []byte) {
		if m, err := Decode(text); err == nil && !reflect.DeepEqual(m, whole) {
			t.Errorf("%s at %d of %d: taken as it is", what, at, len(b))
		}
	}
	for at := range b {
		for bit := range 8 {
			c := bytes.Clone(b)
			c[at] ^= 1 << bit
			try("flipped", at, c)
		}
		try("cut", at, b[:at])
	}
	if _, err := Decode(bytes.Replace(b, []byte("1000"), []byte("1001"), 1)); err == nil || !strings.Contains(err.Error(), "damaged: its checksum does not hold") {
		t.Errorf("a changed counter: %v", err)
	}
}

// FuzzDecode reads any text; what is read can be written and read again.
func FuzzDecode(f *testing.F) {
	f.Add(sealed(f))
	f.Add([]byte(`{"format_version": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode(text)
		if err != nil {
			return
		}
		b, err := Encode(m)
		if err != nil {
			return // an argument of a type that is none of ours
		}
		if _, err := Decode(b); err != nil {
			t.Errorf("%v\n%s", err, b)
		}
	})
}
