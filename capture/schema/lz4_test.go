package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// theirs undoes a frame with somebody else's decoder.
func theirs(t testing.TB, frame []byte) []byte {
	t.Helper()
	b, err := io.ReadAll(lz4.NewReader(bytes.NewReader(frame)))
	if err != nil {
		t.Fatalf("% x: %v", frame[:min(len(frame), 64)], err)
	}
	return b
}

func checkLZ4(t testing.TB, src []byte) int {
	t.Helper()
	bound := lz4Bound(len(src))
	frame := appendLZ4(make([]byte, 0, bound), src)
	if len(frame) > bound {
		t.Fatalf("%d bytes make a frame of %d, bound %d", len(src), len(frame), bound)
	}
	if got := theirs(t, frame); !bytes.Equal(got, src) {
		t.Fatalf("%d bytes do not come back", len(src))
	}
	dst := make([]byte, len(src))
	if n, err := expandLZ4(dst, frame); err != nil || n != len(src) || !bytes.Equal(dst, src) {
		t.Fatalf("our own decoder: %d of %d bytes, %v", n, len(src), err)
	}
	return len(frame)
}

// columnsFor are columns as recordings have them, and as they have not.
func columnsFor(n int) map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	cols := map[string][]byte{}
	add := func(name string, f func(i int) uint64) {
		b := make([]byte, 0, 8*n)
		for i := range n {
			b = binary.LittleEndian.AppendUint64(b, f(i))
		}
		cols[name] = b
	}
	add("constant", func(int) uint64 { return 42 })
	add("counting", func(i int) uint64 { return uint64(i) })
	add("clock", func(i int) uint64 { return 1_795_000_000_000_000_000 + uint64(i)*1000 + rng.Uint64N(700) })
	add("steps", func(i int) uint64 { return uint64(i/37) * 12345 })
	add("noise", func(int) uint64 { return rng.Uint64() })
	add("middle bytes", func(int) uint64 { return rng.Uint64N(256) << 24 })
	add("high bytes", func(int) uint64 { return rng.Uint64N(256) << 56 })
	add("two in turn", func(i int) uint64 { return uint64(i%2) << 33 })
	return cols
}

func TestLZ4OfColumns(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 7, 100, 16 << 10, 40_000} {
		for name, b := range columnsFor(n) {
			size := checkLZ4(t, b)
			for cut := 1; cut < 8 && cut < len(b); cut++ {
				checkLZ4(t, b[:len(b)-cut])
			}
			if n < 16<<10 {
				continue
			}
			// By hand: a constant is one match a block of the frame, and 255 bytes of length are one byte. A counter is one sequence of four
			// bytes (token, literal, offset) a value while only its lowest byte changes; every 256th has two literals.
			limit := map[string]int{"constant": 8*n/255 + 64*(1+8*n/lz4BlockSize), "counting": 4*n + n/256 + 512, "noise": 8*n + 64}[name]
			if limit > 0 && size > limit {
				t.Errorf("%s: %d values take %d bytes, want at most %d", name, n, size, limit)
			}
		}
	}
}

// A decoder must take what others write: blocks that refer to the one before, checksums, sizes, raw blocks.
func TestExpandLZ4OfOthers(t *testing.T) {
	src := bytes.Join([][]byte{columnsFor(30_000)["clock"], columnsFor(20_000)["noise"], columnsFor(9_999)["constant"]}, nil)
	for _, o := range [][]lz4.Option{
		nil,
		{lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb)},
		{lz4.BlockChecksumOption(true), lz4.SizeOption(uint64(len(src)))},
		{lz4.CompressionLevelOption(lz4.Level3)},
	} {
		var b bytes.Buffer
		w := lz4.NewWriter(&b)
		if err := w.Apply(o...); err != nil {
			t.Fatal(err)
		}
		w.Write(src)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, len(src))
		if n, err := expandLZ4(dst, b.Bytes()); err != nil || n != len(src) || !bytes.Equal(dst, src) {
			t.Errorf("%d of %d bytes, %v", n, len(src), err)
		}
		if _, err := expandLZ4(dst[:len(src)-1], b.Bytes()); err == nil {
			t.Error("more than there is room for passes")
		}
		for cut := 0; cut < b.Len(); cut += 1 + cut/3 {
			if n, err := expandLZ4(dst, b.Bytes()[:cut]); err == nil {
				t.Errorf("cut at %d of %d: %d bytes and no error", cut, b.Len(), n)
			}
		}
	}
}

func FuzzLZ4(f *testing.F) {
	for _, b := range columnsFor(64) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkLZ4(t, b)
		expandLZ4(make([]byte, 1<<16), b) // as a frame: no panic
		sameAsTheirs(t, b)
	})
}

// sameAsTheirs expands one block with our decoder and with somebody else's: what that one takes we take, to the same
// bytes. (It takes offsets of 0, which the format forbids; those are left out.)
func sameAsTheirs(t *testing.T, block []byte) {
	t.Helper()
	for _, room := range []int{1 << 10, 100, 40, 7} {
		a, b := make([]byte, room), make([]byte, room)
		n, err := lz4.UncompressBlock(block, a)
		if err != nil {
			continue
		}
		m, err := expandBlock(b, 0, 0, block)
		if errors.Is(err, errBlock) && len(block) == 0 {
			continue
		}
		if err != nil || n != m || !bytes.Equal(a[:n], b[:m]) {
			t.Fatalf("% x with room for %d:\ntheirs % x\n  ours % x, %v", block, room, a[:n], b[:m], err)
		}
	}
}

func TestExpandBlockByHand(t *testing.T) {
	for _, c := range []struct {
		name, block, want string
		first             int // bytes "ABCDEFGH" before, that may be referred to from here
		err               error
	}{
		{"literals only", "\x30xyz", "xyz", 8, nil},
		{"literals and match", "\x31xyz\x03\x00\x10!", "xyzxyzxy!", 8, nil},
		{"match in the block before", "\x00\x08\x00\x10!", "ABCD!", 0, nil},
		{"match before an independent block", "\x00\x08\x00\x10!", "", 8, errBlock},
		{"match before everything", "\x00\x09\x00\x10!", "", 0, errBlock},
		{"offset 0", "\x10x\x00\x00\x10!", "", 8, errBlock},
		{"long literals", "\xf0\x01" + "0123456789abcdef", "0123456789abcdef", 8, nil},
		{"long match", "\x1fx\x01\x00\x01\x10!", "x" + strings.Repeat("x", 20) + "!", 8, nil},
		{"too few literals", "\x40xyz", "", 8, errBlock},
		{"half an offset", "\x10x\x01", "", 8, errBlock},
		{"length without end", "\xf0\xff\xff", "", 8, errBlock},
		{"more literals than room", "\xf0\xff\x00" + strings.Repeat("x", 270), "", 8, errTooLong},
		{"longer match than room", "\x1fx\x01\x00\xff\x00\x10!", "", 8, errTooLong},
	} {
		dst := make([]byte, 8+64)
		copy(dst, "ABCDEFGH")
		end, err := expandBlock(dst, 8, c.first, []byte(c.block))
		if !errors.Is(err, c.err) || err == nil && string(dst[8:end]) != c.want {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, dst[8:max(end, 8)], err, c.want, c.err)
		}
	}
}

// Words that change in any of their bytes, after runs of any length: every form that a sequence can have.
func TestLZ4OfAnyWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var b []byte
		word, repeat := rng.Uint64(), rng.IntN(6)
		for range rng.IntN(200) {
			for range rng.IntN(1 + repeat) {
				b = binary.LittleEndian.AppendUint64(b, word)
			}
			for range 1 + rng.IntN(3) {
				word ^= uint64(1+rng.IntN(255)) << (8 * rng.IntN(8))
			}
			b = binary.LittleEndian.AppendUint64(b, word)
		}
		checkLZ4(t, b[:len(b)-rng.IntN(min(8, len(b)+1))])
	}
}
