package analyze

import (
	"testing"
	"unsafe"
)

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func TestReleasedBuffersComeBack(t *testing.T) {
	var r recycler
	a, b := r.Allocate(3000), r.Allocate(4096)
	if len(a) != 3000 || cap(a) != 4096 || len(b) != 4096 || address(a) == address(b) || address(a)%64 != 0 || address(b)%64 != 0 {
		t.Fatalf("%d of %d at %x, %d of %d at %x", len(a), cap(a), address(a), len(b), cap(b), address(b))
	}
	at := address(a)
	r.Free(a)
	if c := r.Allocate(2049); address(c) != at || len(c) != 2049 {
		t.Error("a released buffer of the same class was not given out")
	}
	if c := r.Allocate(2048); cap(c) != 2048 {
		t.Errorf("2048 bytes have room for %d", cap(c))
	}
	b[0], b[4095] = 1, 2
	larger := r.Reallocate(5000, b)
	if len(larger) != 5000 || larger[0] != 1 || larger[4095] != 2 {
		t.Error("what was in a buffer is lost")
	}
	if c := r.Allocate(4000); address(c) != address(b) {
		t.Error("the outgrown buffer was not taken back")
	}
	r.Free(make([]byte, 5000)) // not one of ours
	if c := r.Allocate(5000); cap(c) != 8192 {
		t.Errorf("5000 bytes have room for %d", cap(c))
	}
	if c := r.Allocate(0); len(c) != 0 {
		t.Errorf("%d bytes", len(c))
	}
	if c := r.Allocate(1 << 26); len(c) != 1<<26 {
		t.Errorf("%d bytes", len(c))
	}
}
