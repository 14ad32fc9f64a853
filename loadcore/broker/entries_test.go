package broker

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEntriesLikeASortedSlice does random things to the queue and to a plain slice and compares them after each.
func TestEntriesLikeASortedSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q entries
	var model []uint64
	var out []uint64 // taken out, may come back
	next := uint64(0)
	mem := newMemory(1 << 40)
	for step := range 20_000 {
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			for range r.IntN(200) {
				next++
				q.pushBack(entry{slab: oneRef(), seq: next})
				model = append(model, next)
			}
		case 4, 5, 6, 7:
			for range min(r.IntN(200), len(model)) {
				out = append(out, q.popFront().seq)
				model = model[1:]
			}
		case 8:
			for range min(r.IntN(40), len(out)) {
				i := r.IntN(len(out))
				seq := out[i]
				out = slices.Delete(out, i, i+1)
				q.insert(entry{slab: oneRef(), seq: seq})
				at, _ := slices.BinarySearch(model, seq)
				model = slices.Insert(model, at, seq)
			}
			out = out[:min(len(out), 300)]
		case 9:
			if r.IntN(50) == 0 {
				if n := q.clear(mem); n != len(model) {
					t.Fatalf("step %d: cleared %d of %d", step, n, len(model))
				}
				model, out = nil, nil
			}
		}
		if q.n != len(model) {
			t.Fatalf("step %d: %d entries, want %d", step, q.n, len(model))
		}
		if front := q.front(); (front == nil) != (len(model) == 0) || front != nil && front.seq != model[0] {
			t.Fatalf("step %d: front %+v, want %v", step, front, model[:min(1, len(model))])
		}
		if step%500 == 0 && !slices.Equal(sequenceOf(&q), model) {
			t.Fatalf("step %d: contents differ", step)
		}
	}
}

func oneRef() *slab {
	s := &slab{buf: make([]byte, 3)}
	s.refs.Store(1)
	return s
}

func sequenceOf(q *entries) (all []uint64) {
	for b := q.head; b != nil; b = b.next {
		for i := b.begin; i < b.end; i++ {
			all = append(all, b.e[i].seq)
		}
	}
	return all
}

// TestUnackedLikeAMap does random things to the list and to a sorted slice of tags.
func TestUnackedLikeAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var u unackedList
	var model []uint64
	tag := uint64(0)
	s := oneRef()
	for step := range 8_000 {
		switch r.IntN(8) {
		case 0, 1, 2:
			for range r.IntN(30) {
				tag += uint64(1 + r.IntN(3)) // automatic acks leave gaps
				u.push(delivery{tag: tag, entry: entry{slab: s, seq: tag}})
				model = append(model, tag)
			}
		case 3: // the oldest
			if len(model) > 0 {
				if d := u.popFront(); d.tag != model[0] || d.entry.seq != d.tag {
					t.Fatalf("step %d: popped %d, want %d", step, d.tag, model[0])
				}
				model = model[1:]
			}
		case 4, 5, 6: // one by its tag
			if len(model) > 0 {
				i := r.IntN(len(model))
				if r.IntN(2) == 0 {
					i = 0
				}
				d, ok := u.take(model[i])
				if !ok || d.tag != model[i] || d.entry.seq != d.tag {
					t.Fatalf("step %d: took %+v %v, want %d", step, d, ok, model[i])
				}
				model = slices.Delete(model, i, i+1)
			}
		case 7: // some that are not there
			for range 5 {
				wrong := uint64(r.IntN(int(tag) + 10))
				_, there := slices.BinarySearch(model, wrong)
				if u.has(wrong) != there {
					t.Fatalf("step %d: has(%d) is %v", step, wrong, !there)
				}
				if there {
					continue
				}
				if _, ok := u.take(wrong); ok {
					t.Fatalf("step %d: took %d, which is not there", step, wrong)
				}
			}
		}
		if u.n != len(model) {
			t.Fatalf("step %d: %d, want %d", step, u.n, len(model))
		}
		if front := u.front(); (front == nil) != (len(model) == 0) || front != nil && front.tag != model[0] {
			t.Fatalf("step %d: front %+v, want %v", step, front, model[:min(1, len(model))])
		}
	}
}

// TestUnackedBounded: one delivery that is never settled does not keep those that came after it.
func TestUnackedBounded(t *testing.T) {
	var u unackedList
	s := oneRef()
	for tag := uint64(1); tag <= 100_000; tag++ {
		u.push(delivery{tag: tag, entry: entry{slab: s}})
		if tag > 1 {
			if _, ok := u.take(tag); !ok {
				t.Fatalf("tag %d is not there", tag)
			}
		}
	}
	blocks := 0
	for b := u.head; b != nil; b = b.next {
		blocks++
	}
	if u.n != 1 || blocks > 2 {
		t.Errorf("%d deliveries in %d blocks, want 1 in at most 2", u.n, blocks)
	}
}
