package wire

import (
	"encoding/xml"
	"go/build"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The protocol's own definition, with RabbitMQ's extensions, as amqp091-go ships it and generates its code from.
type specification struct {
	Constants []struct {
		Name  string `xml:"name,attr"`
		Value uint32 `xml:"value,attr"`
		Class string `xml:"class,attr"`
	} `xml:"constant"`
	Domains []struct {
		Name string `xml:"name,attr"`
		Type string `xml:"type,attr"`
	} `xml:"domain"`
	Classes []struct {
		Name    string      `xml:"name,attr"`
		Index   uint32      `xml:"index,attr"`
		Fields  []specField `xml:"field"`
		Methods []struct {
			Name   string      `xml:"name,attr"`
			Index  uint32      `xml:"index,attr"`
			Fields []specField `xml:"field"`
		} `xml:"method"`
	} `xml:"class"`
}

type specField struct {
	Name     string `xml:"name,attr"`
	Domain   string `xml:"domain,attr"`
	Type     string `xml:"type,attr"`
	Reserved int    `xml:"reserved,attr"`
}

func readSpecification(t *testing.T) (s specification) {
	t.Helper()
	pkg, err := build.Import("github.com/rabbitmq/amqp091-go", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(pkg.Dir, "spec", "amqp0-9-1.stripped.extended.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// typeOf resolves a field's domain to one of the elementary types.
func (s *specification) typeOf(f specField) string {
	name := f.Type + f.Domain // one of them is empty
	for _, d := range s.Domains {
		if d.Name == name && d.Type != name {
			return s.typeOf(specField{Domain: d.Type})
		}
	}
	return name
}

// goName turns message-count into MessageCount; the few that this package names differently follow.
func goName(name string) string {
	switch name {
	case "class-id":
		return "Class"
	case "method-id":
		return "Method"
	case "nowait":
		return "NoWait"
	case "reserved": // the last property
		return "ClusterID"
	}
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "Id", "ID"), "IDle", "Idle")
}

// sample lays out a list of fields by the specification, each with another value. It returns the bytes and the values
// that a structure should hold under the fields' names. Of the bits only the one at the place given is set.
func (s *specification) sample(t *testing.T, fields []specField, place int) (raw []byte, want map[string]any) {
	t.Helper()
	want = map[string]any{}
	bits := 0
	for i, f := range fields {
		n := byte(0)
		if f.Reserved == 0 {
			n = byte(i + 1)
		}
		var v any
		if typ := s.typeOf(f); typ == "bit" {
			if bits%8 == 0 {
				raw = append(raw, 0)
			}
			set := n != 0 && i == place
			raw[len(raw)-1] |= bit(set, uint(bits%8))
			v = set
			bits++
		} else {
			bits = 0
			var more []byte
			more, v = sampleValue(t, typ, n)
			raw = append(raw, more...)
		}
		if f.Reserved == 0 {
			want[goName(f.Name)] = v
		}
	}
	return raw, want
}

func sampleValue(t *testing.T, typ string, n byte) (raw []byte, v any) {
	t.Helper()
	text := strings.Repeat("x", int(n))
	switch typ {
	case "octet":
		return []byte{n}, uint64(n)
	case "short":
		return []byte{n, 2 * n}, uint64(n)<<8 | 2*uint64(n)
	case "long":
		return []byte{n, 0, n, 1}, uint64(n)<<24 | uint64(n)<<8 | 1
	case "longlong", "timestamp":
		return []byte{n, 0, 0, 0, n, 0, 0, 1}, uint64(n)<<56 | uint64(n)<<24 | 1
	case "shortstr":
		return append([]byte{n}, text...), text
	case "longstr":
		return append([]byte{0, 0, 0, n}, text...), text
	case "table":
		return []byte{0, 0, 0, 4, 1, 'k', 'B', n}, Table{{Key: "k", Value: n}}
	}
	t.Fatalf("the specification has a type %q", typ)
	return nil, nil
}

// Every method of the definition is there, reads what the definition lays out into fields of the right names, and
// writes the same bytes.
func TestMethodsAgainstTheSpecification(t *testing.T) {
	s := readSpecification(t)
	seen := 0
	for _, class := range s.Classes {
		for _, method := range class.Methods {
			seen++
			name := class.Name + "." + method.Name
			id := MethodID(class.Index<<16 | method.Index)
			if id.String() != name || uint32(id.Class()) != class.Index || uint32(id.Method()) != method.Index {
				t.Errorf("%s is called %s, class %d method %d", name, id, id.Class(), id.Method())
				continue
			}
			for place := range max(len(method.Fields), 1) {
				raw, want := s.sample(t, method.Fields, place)
				checkMethod(t, id, raw, want)
			}
		}
	}
	if seen != len(kinds) {
		t.Errorf("the definition has %d methods, this package %d", seen, len(kinds))
	}
}

func checkMethod(t *testing.T, id MethodID, raw []byte, want map[string]any) {
	t.Helper()
	prefix := []byte{byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
	m, err := ParseMethod(append(prefix, raw...))
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return
	}
	checkFields(t, id.String(), reflect.ValueOf(m).Elem(), want)
	if got := AppendArgs(nil, m); string(got) != string(raw) {
		t.Errorf("%s: written % x, want % x", id, got, raw)
	}
	for i := range raw {
		if _, err := ParseMethod(append(prefix, raw[:i]...)); err == nil {
			t.Errorf("%s: %d of %d bytes were accepted", id, i, len(raw))
		}
	}
	if _, err := ParseMethod(append(append(prefix, raw...), 0)); err == nil {
		t.Errorf("%s: a byte too many was accepted", id)
	}
}

// checkFields compares a structure with what it should hold, and that it holds nothing else.
func checkFields(t *testing.T, name string, v reflect.Value, want map[string]any) {
	t.Helper()
	n := 0
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.IsExported() && !f.Anonymous {
			n++
		}
	}
	if n != len(want) {
		t.Errorf("%s: the structure has %d fields, the definition %d", name, n, len(want))
	}
	for field, want := range want {
		f := v.FieldByName(field)
		if !f.IsValid() {
			t.Errorf("%s: no field %s", name, field)
			continue
		}
		got := f.Interface()
		if f.CanUint() {
			got = f.Uint()
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s is %v, want %v", name, field, got, want)
		}
	}
}

func TestPropertiesAgainstTheSpecification(t *testing.T) {
	s := readSpecification(t)
	for _, class := range s.Classes {
		if class.Name != "basic" {
			continue
		}
		if class.Index != ClassBasic || len(class.Fields) != 14 {
			t.Errorf("class %d with %d properties", class.Index, len(class.Fields))
		}
		raw, want := s.sample(t, class.Fields, 0)
		want["Flags"] = uint64(0xfffc)
		raw = append([]byte{0xff, 0xfc}, raw...)
		p, err := ParseProperties(raw)
		if err != nil {
			t.Fatal(err)
		}
		checkFields(t, "properties", reflect.ValueOf(p), want)
		if got := appendProperties(nil, &p); string(got) != string(raw) {
			t.Errorf("written % x, want % x", got, raw)
		}
	}
}

func TestConstantsAgainstTheSpecification(t *testing.T) {
	s := readSpecification(t)
	codes := 0
	for _, c := range s.Constants {
		switch c.Name {
		case "frame-method", "frame-header", "frame-body", "frame-heartbeat":
			typ := map[string]byte{"frame-method": FrameMethod, "frame-header": FrameHeader, "frame-body": FrameBody, "frame-heartbeat": FrameHeartbeat}[c.Name]
			if uint32(typ) != c.Value {
				t.Errorf("%s is %d, want %d", c.Name, typ, c.Value)
			}
		case "frame-min-size":
			if c.Value != FrameMinSize {
				t.Errorf("%s is %d, want %d", c.Name, FrameMinSize, c.Value)
			}
		case "frame-end":
			if c.Value != FrameEnd {
				t.Errorf("%s is %d, want %d", c.Name, FrameEnd, c.Value)
			}
		default:
			codes++
			code := ReplyCode(c.Value)
			if want := strings.ToUpper(strings.ReplaceAll(c.Name, "-", "_")); code.String() != want {
				t.Errorf("code %d is called %s, want %s", c.Value, code, want)
			}
			if code.Soft() != (c.Class == "soft-error") {
				t.Errorf("%s: soft is %v, its class %q", code, code.Soft(), c.Class)
			}
		}
	}
	if codes != 19 {
		t.Errorf("the definition has %d reply codes, this package 19", codes)
	}
	if got := ReplyCode(999).String(); got != "999" {
		t.Errorf("a code that nobody knows is called %s", got)
	}
}
