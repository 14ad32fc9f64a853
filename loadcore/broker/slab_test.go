package broker

import (
	"bytes"
	"fmt"
	"testing"
)

func TestFillerKeepsMessagesApart(t *testing.T) {
	mem := newMemory(1 << 40)
	f := filler{mem: mem}
	var all []entry
	var bodies [][]byte
	for i := range 3000 {
		body := bytes.Repeat([]byte{byte(i)}, (i*37)%2000)
		if i%500 == 0 {
			body = bytes.Repeat([]byte{byte(i)}, 50_000+i)
		}
		if i == 1234 {
			body = bytes.Repeat([]byte{9}, 3<<20) // larger than any pooled slab
		}
		e := f.add([]byte(fmt.Sprint("x", i)), []byte(fmt.Sprint("key", i)), []byte{0x10, 0, byte(i)}, body)
		f.hold(1)
		all = append(all, e)
		bodies = append(bodies, body)
	}
	f.settle()
	f.drop()
	for i, e := range all {
		exchange, key, props, body := e.slab.parts(e.idx)
		if string(exchange) != fmt.Sprint("x", i) || string(key) != fmt.Sprint("key", i) || !bytes.Equal(props, []byte{0x10, 0, byte(i)}) || !bytes.Equal(body, bodies[i]) {
			t.Fatalf("message %d is not what was stored", i)
		}
		if size := len(exchange) + len(key) + len(props) + len(body); e.slab.size(e.idx) != size {
			t.Fatalf("message %d: size %d, want %d", i, e.slab.size(e.idx), size)
		}
	}
	if mem.used.Load() < 3<<20 {
		t.Errorf("%d bytes are counted", mem.used.Load())
	}
	r := releaser{mem: mem}
	for _, e := range all {
		r.release(e.slab)
	}
	r.flush()
	if n := mem.used.Load(); n != 0 {
		t.Errorf("%d bytes are still counted when everything is released", n)
	}
}

// TestFillerWithoutReferences: messages that reach no queue keep nothing.
func TestFillerWithoutReferences(t *testing.T) {
	mem := newMemory(1 << 40)
	f := filler{mem: mem}
	for range 1000 {
		f.add(nil, []byte("k"), []byte{0, 0}, make([]byte, 100))
	}
	f.settle()
	if n := mem.used.Load(); n > 64<<10 {
		t.Errorf("%d bytes are kept", n)
	}
	f.drop()
	if n := mem.used.Load(); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
}

func TestMemoryAlarm(t *testing.T) {
	m := newMemory(800) // calm at 700
	m.add(800)
	if m.alarmed() || m.wait() != nil {
		t.Fatal("alarm at the limit")
	}
	m.add(1)
	if !m.alarmed() {
		t.Fatal("no alarm over the limit")
	}
	cleared := m.wait()
	m.add(-100)
	if !m.alarmed() {
		t.Fatal("the alarm ends at 701 already")
	}
	m.set(alarmFault, true)
	m.add(-1)
	if !m.alarmed() {
		t.Fatal("the other alarm does not hold")
	}
	select {
	case <-cleared:
		t.Fatal("cleared while an alarm is raised")
	default:
	}
	m.set(alarmFault, false)
	select {
	case <-cleared:
	default:
		t.Fatal("not cleared when the last alarm is lowered")
	}
	if m.alarmed() || m.wait() != nil {
		t.Error("still alarmed")
	}
}
