package wire

import (
	"reflect"
	"testing"
)

// Every method that has a number has a structure with that number, and survives being written and read while empty.
func TestEveryMethodHasItsStructure(t *testing.T) {
	if len(kinds) != 64 {
		t.Errorf("%d methods, want 64", len(kinds))
	}
	for id, k := range kinds {
		m := k.make()
		if m.ID() != id {
			t.Errorf("%s: structure %T has id %d.%d, want %d.%d", k.name, m, m.ID().Class(), m.ID().Method(), id.Class(), id.Method())
		}
		f, n, err := NextFrame(AppendMethod(nil, 1, m), 0)
		if err != nil || n == 0 || f.Type != FrameMethod || f.Channel != 1 {
			t.Errorf("%s: frame %+v, length %d, error %v", k.name, f, n, err)
			continue
		}
		got, err := ParseMethod(f.Payload)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: read back %#v, error %v", k.name, got, err)
		}
	}
}
