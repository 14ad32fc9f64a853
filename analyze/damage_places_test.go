package analyze

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"leveret/analyze/result"
	"leveret/capture/manifest"
)

// patient is a copy of a capture whose files are damaged one after the other.
type patient struct {
	t     testing.TB
	dir   string
	good  map[string][]byte
	names []string
	whole *result.Result
	hurt  map[string]bool
}

func newPatient(t testing.TB, dir string, whole *result.Result) *patient {
	t.Helper()
	p := &patient{t: t, dir: damaged(t, dir, func(_ string, b []byte) []byte { return b }), good: map[string][]byte{}, names: files(t, dir), whole: whole, hurt: map[string]bool{}}
	for _, n := range p.names {
		p.good[n] = mustRead(t, filepath.Join(dir, n))
	}
	return p
}

// put replaces the content of a file; nil removes it.
func (p *patient) put(name string, b []byte) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	err := os.WriteFile(path, b, 0o644)
	if b == nil {
		err = os.Remove(path)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.hurt[name] = true
}

func (p *patient) heal() {
	for n := range p.hurt {
		delete(p.hurt, n)
		if err := os.WriteFile(filepath.Join(p.dir, n), p.good[n], 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

// check analyzes what is left, and heals it.
func (p *patient) check(what string) *result.Result {
	p.t.Helper()
	got, err := Run(context.Background(), []string{p.dir}, Options{})
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	checkDamaged(p.t, what, got, p.whole)
	p.heal()
	return got
}

// cut checks a file cut to a length: shorter, it is never said to be whole, but for start.json, which manifest.json repeats.
func (p *patient) cut(name string, length int) {
	p.t.Helper()
	b := p.good[name]
	p.put(name, b[:length:length])
	what := fmt.Sprintf("%s cut at %d of %d", name, length, len(b))
	if got := p.check(what); got.Complete && name != manifest.StartName && !(name == manifest.FinalName && length == len(b)-1) { // that is the last line's end
		p.t.Errorf("%s: said to be complete", what)
	}
}

// flip changes a byte at a random place of any file.
func (p *patient) flip(rng *rand.Rand) (what string) {
	name := p.names[rng.IntN(len(p.names))]
	b := bytes.Clone(p.good[name])
	at, by := rng.IntN(len(b)), byte(1+rng.IntN(255))
	b[at] ^= by
	p.put(name, b)
	return fmt.Sprintf("%s flipped at %d by %#x", name, at, by)
}

// Every file cut at the places where something ends, and at others.
func TestCutAnywhere(t *testing.T) {
	dir, whole := smallCapture(t, "none", false)
	p := newPatient(t, dir, whole)
	for _, name := range p.names {
		size := len(p.good[name])
		for cut := 0; cut < size; cut += max(1, size/cutsOfAFile) {
			p.cut(name, cut)
		}
		for cut := max(0, size-10); cut < size; cut++ {
			p.cut(name, cut)
		}
		if t.Failed() {
			return
		}
	}
}

// Cut anywhere, several files at once, with and without what tells that they were longer.
func TestCutAtRandomPlaces(t *testing.T) {
	dir, whole := smallCapture(t, "lz4", true)
	p := newPatient(t, dir, whole)
	rng := rand.New(rand.NewPCG(64, 1000))
	for range randomDamage {
		what := "cut:"
		for _, name := range p.names {
			if b := p.good[name]; rng.IntN(3) == 0 {
				at := rng.IntN(len(b) + 1)
				p.put(name, slices.Clip(b[:at]))
				what += fmt.Sprintf(" %s at %d", name, at)
			}
		}
		if rng.IntN(2) == 0 {
			p.put(manifest.FinalName, nil)
			what += ", killed"
		}
		if len(p.hurt) > 0 {
			p.check(what)
		}
		if t.Failed() {
			return
		}
	}
}

// A byte changed anywhere, in captures with and without a lost message, closed or killed: the same rows, or it is named; and
// no more memory than the whole one takes, twice, for a flipped length must not be believed.
func TestFlippedAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, compression := range []string{"none", "lz4", "zstd"} {
		dir, whole := smallCapture(t, compression, compression == "lz4")
		p := newPatient(t, dir, whole)
		least := allocated(func() { p.check("whole") })
		for range randomDamage / 3 {
			what := p.flip(rng)
			if rng.IntN(4) == 0 {
				p.put(manifest.FinalName, nil)
				what += ", killed"
			}
			if took := allocated(func() { p.check(what) }); took > 2*least+16<<20 {
				t.Errorf("%s: %d bytes of memory, the whole one takes %d", what, took, least)
			}
			if t.Failed() {
				t.Fatal(compression)
			}
		}
	}
}

// allocated is how much memory a call asked for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
