package integrity

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// Columns that come and go, in memory for few of them: each holds what was put into it.
func TestPagerKeepsValues(t *testing.T) {
	dir := t.TempDir()
	announced := 0
	p := newPager(128, 1, dir, func(text string) {
		announced++
		if !strings.Contains(text, dir) {
			t.Error(text)
		}
	})
	rng := rand.New(rand.NewPCG(1, 1))
	columns := make([]column, 500)
	want := make([][]int64, len(columns))
	for range 20_000 {
		i := rng.IntN(len(columns))
		c := &columns[i]
		switch {
		case !c.exists():
			p.create(c, int64(i))
			want[i] = make([]int64, 128)
			for j := range want[i] {
				want[i][j] = int64(i)
			}
		case rng.IntN(20) == 0:
			p.drop(c)
			continue
		}
		got := p.load(c)
		if rng.IntN(3) == 0 {
			v := rng.Int64()
			p.change(c)[5], want[i][5] = v, v
		}
		for j := range got {
			if got[j] != want[i][j] {
				t.Fatalf("column %d, value %d: %d, want %d", i, j, got[j], want[i][j])
			}
		}
	}
	if p.err != nil || p.live() > p.limit || announced != 1 || p.spilled() == 0 {
		t.Errorf("%v, %d of %d in memory, announced %d times, %d bytes spilled", p.err, p.live(), p.limit, announced, p.spilled())
	}
	if p.spilled() > int64(len(columns))*128*8 {
		t.Errorf("the file has grown to %d bytes: places are not used again", p.spilled())
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// The values of the last columns used stay where they are, whatever is brought in beside them.
func TestPagerPinsWhatIsInUse(t *testing.T) {
	p := newPager(16, 1, t.TempDir(), nil)
	defer p.close()
	columns := make([]column, 300)
	for i := range columns {
		p.create(&columns[i], int64(i))
	}
	for i := range len(columns) - pinned {
		var held [pinned - 1][]int64
		for j := range held {
			held[j] = p.load(&columns[(i*7+j*31)%len(columns)])
		}
		for j := range held {
			if n := int64((i*7 + j*31) % len(columns)); held[j][0] != n || held[j][15] != n {
				t.Fatalf("step %d: column %d holds %d", i, n, held[j][0])
			}
		}
	}
}

// A full disk is an error, once, and names the option that helps.
func TestPagerWithoutSpace(t *testing.T) {
	p := newPager(16, 1, t.TempDir()+"/missing", nil)
	columns := make([]column, 100)
	for i := range columns {
		p.create(&columns[i], 0)
	}
	if p.err == nil || !strings.Contains(p.err.Error(), "--tmp") {
		t.Errorf("%v", p.err)
	}
}

func TestSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		words, plain := make([]uint64, 8), make([]bool, 512)
		for range 3 {
			i := rng.IntN(512)
			n := 1 + rng.IntN(512-i)
			setSpan(words, i, n)
			for j := i; j < i+n; j++ {
				plain[j] = true
			}
		}
		i := rng.IntN(512)
		n, count := 1+rng.IntN(512-i), 0
		for j := range plain {
			if plain[j] != testBit(words, j) {
				t.Fatalf("bit %d", j)
			}
			if plain[j] && j >= i && j < i+n {
				count++
			}
		}
		if got := countSpan(words, i, n); got != count {
			t.Fatalf("%d from %d: %d, want %d", n, i, got, count)
		}
	}
}
