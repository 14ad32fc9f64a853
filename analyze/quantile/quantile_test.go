package quantile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// at finds percentiles the way the analysis does: one showing to count, as many as the budget needs to select.
func at(t *testing.T, values []int64, budget int64, ps ...Percent) []int64 {
	t.Helper()
	var h Histogram
	var fine Fine
	for _, v := range values {
		h.Add(v)
		if len(values)%2 == 1 { // else Refine has nothing to go by
			fine.AddN(v, 1)
		}
	}
	if h.Count() != uint64(len(values)) {
		t.Fatalf("histogram counts %d of %d values", h.Count(), len(values))
	}
	ranks := make([]uint64, len(ps))
	for i, p := range ps {
		ranks[i] = Rank(p, h.Count())
	}
	s := Select(&h, ranks)
	s.Refine(&fine)
	for showing := 0; s.Open(NewMemory(budget)); showing++ {
		if showing > 2000 {
			t.Fatal("no end of showings")
		}
		for _, v := range values {
			s.Add(v)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]int64, len(ps))
	for i := range ps {
		v, ok := s.Value(i)
		if !ok {
			t.Fatalf("rank %d not found", ranks[i])
		}
		got[i] = v
	}
	return got
}

func upTo(n int64) []int64 {
	vs := make([]int64, n)
	for i := range vs {
		vs[i] = int64(i) + 1
	}
	return vs
}

func repeated(v int64, n int) []int64 {
	vs := make([]int64, n)
	for i := range vs {
		vs[i] = v
	}
	return vs
}

func percents(ps ...float64) []Percent {
	out := make([]Percent, len(ps))
	for i, p := range ps {
		out[i] = Percent(math.Round(p * float64(One)))
	}
	return out
}

// Published and hand-worked percentiles, nearest rank, of the worked numbers that leveret was given.
func TestPublishedPercentiles(t *testing.T) {
	corrected := append(repeated(1000, 10_000), func() (vs []int64) {
		for v := int64(10_000); v <= 100_000_000; v += 10_000 {
			vs = append(vs, v)
		}
		return vs
	}()...)
	var stalled []int64 // wrk2's freeze of 1.4 s at 2000/s, in microseconds
	stalled = append(stalled, repeated(1000, 36_700)...)
	for k := int64(0); k < 2800; k++ {
		stalled = append(stalled, 1_400_000-k*500)
	}
	million := upTo(1_000_000)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(million), func(i, j int) { million[i], million[j] = million[j], million[i] })
	tests := []struct {
		name   string
		values []int64
		ps     []Percent
		want   []int64
	}{
		{"W01 raw", append(repeated(1000, 10_000), 100_000_000), percents(30, 99, 99.99, 99.999, 100), []int64{1000, 1000, 1000, 100_000_000, 100_000_000}},
		{"W01 corrected", corrected, percents(30, 50, 75, 90, 99, 99.999, 100), []int64{1000, 1000, 50_000_000, 80_000_000, 98_000_000, 100_000_000, 100_000_000}},
		{"W02", []int64{0, 100, 30, 80, 70, 60, 50, 40, 90, 20}, percents(50, 90, 95, 99), []int64{50, 90, 100, 100}},
		{"W03", []int64{15, 20, 35, 40, 50}, percents(5, 30, 40, 50, 100), []int64{15, 20, 20, 35, 50}},
		{"W04", []int64{5, 1, 2, 3, 4}, percents(50, 75, 95, 99, 99.9), []int64{3, 4, 5, 5, 5}},
		{"W05", upTo(10_000), percents(50, 90, 95, 99, 100), []int64{5000, 9000, 9500, 9900, 10_000}},
		{"W08", stalled, percents(90, 95, 99, 99.9, 100), []int64{1000, 412_500, 1_202_500, 1_380_500, 1_400_000}},
		{"W09", []int64{1, 0, 3, 1, 601, 4, 2, 8, 0, 3, 3, 1, 1, 0, 2}, percents(100), []int64{601}},
		{"W11", []int64{-1, 0, 0, 0, 1, 2, 3, 4, 5, 5}, percents(10, 25, 40, 50, 60, 70, 80, 90, 99), []int64{-1, 0, 0, 1, 2, 3, 4, 5, 5}},
		{"W17", func() []int64 {
			vs := upTo(1_000_000)
			for i := range vs {
				vs[i]--
			}
			return vs
		}(), percents(50, 75, 90, 95, 99, 100), []int64{499_999, 749_999, 899_999, 949_999, 989_999, 999_999}},
		{"W18", []int64{1000, 900, 800, 700, 600, 500, 400, 300, 200, 100}, percents(75), []int64{800}},
		{"W22 a", []int64{10, 90, 1_000_000, 1_000_001, 1_000_002}, percents(50), []int64{1_000_000}},
		{"W22 b", []int64{1, 1, 1, 1, 1, 1, 0}, percents(14.28, 14.2857, 14.29, 50), []int64{0, 0, 1, 1}},
		{"C040", append(slices.Clone(million), 9_000_000), percents(50, 99, 99.99, 100), []int64{500_001, 990_001, 999_901, 9_000_000}},
	}
	for _, tt := range tests {
		for _, budget := range []int64{0, 1 << 14, 1 << 30} {
			if got := at(t, tt.values, budget, tt.ps...); !slices.Equal(got, tt.want) {
				t.Errorf("%s, budget %d: got %d, want %d", tt.name, budget, got, tt.want)
			}
		}
	}
}

func TestPublishedMoments(t *testing.T) {
	corrected := repeated(1000, 10_000)
	for v := int64(10_000); v <= 100_000_000; v += 10_000 {
		corrected = append(corrected, v)
	}
	tests := []struct {
		name       string
		values     []int64
		mean, sd   float64
		tolerance  float64 // of sd, as published
		low, high  int64
		negative   uint64
		skipStdDev bool
	}{
		{name: "W01 raw", values: append(repeated(1000, 10_000), 100_000_000), mean: 110_000_000.0 / 10_001, sd: 999_890, tolerance: 1, low: 1000, high: 100_000_000},
		{name: "W01 corrected", values: corrected, mean: 25_003_000, low: 1000, high: 100_000_000, skipStdDev: true},
		{name: "W02", values: []int64{0, 100, 30, 80, 70, 60, 50, 40, 90, 20}, mean: 54, low: 0, high: 100, skipStdDev: true},
		// W04 gives the sample's 1.5811 (N-1); divided by N it is sqrt(2).
		{name: "W04", values: []int64{5, 1, 2, 3, 4}, mean: 3, sd: math.Sqrt2, tolerance: 1e-12, low: 1, high: 5},
		{name: "W10", values: []int64{10, 20, 80, 90}, mean: 50, sd: math.Sqrt(1250), tolerance: 1e-12, low: 10, high: 90},
		{name: "W11", values: []int64{-1, 0, 0, 0, 1, 2, 3, 4, 5, 5}, mean: 1.9, low: -1, high: 5, negative: 1, skipStdDev: true},
		{name: "W19", values: []int64{5, 4, 3, 2}, mean: 3.5, sd: math.Sqrt(1.25), tolerance: 1e-12, low: 2, high: 5},
		{name: "negative", values: []int64{-3, -3, -3}, mean: -3, sd: 0, low: -3, high: -3, negative: 3},
		// The sum of squares of these needs 129 bits.
		{name: "extremes", values: []int64{math.MinInt64, math.MinInt64, math.MaxInt64, math.MaxInt64}, mean: -0.5, sd: math.Ldexp(1, 63), low: math.MinInt64, high: math.MaxInt64, negative: 2},
	}
	for _, tt := range tests {
		var m, left, right Moments
		for i, v := range tt.values {
			m.Add(v)
			if i%3 == 0 {
				left.Add(v)
			} else {
				right.Add(v)
			}
		}
		left.Merge(&right)
		if left != m {
			t.Errorf("%s: merged parts are %+v, whole is %+v", tt.name, left, m)
		}
		if m.Mean() != tt.mean || m.Min() != tt.low || m.Max() != tt.high || m.Negative() != tt.negative || m.Count() != uint64(len(tt.values)) {
			t.Errorf("%s: mean %v min %d max %d negative %d count %d", tt.name, m.Mean(), m.Min(), m.Max(), m.Negative(), m.Count())
		}
		if d := math.Abs(m.StdDev() - tt.sd); !tt.skipStdDev && d > tt.tolerance {
			t.Errorf("%s: standard deviation %v, want %v", tt.name, m.StdDev(), tt.sd)
		}
	}
	var none Moments
	if !math.IsNaN(none.Mean()) || !math.IsNaN(none.StdDev()) {
		t.Error("the mean of nothing is not NaN")
	}
	none.Merge(&Moments{})
	if none.Count() != 0 {
		t.Error("merging nothing made something")
	}
}

// A value added n times is n values.
func TestAddN(t *testing.T) {
	values := []int64{0, 1, -1, 255, 256, -257, 1 << 24, 1<<40 + 12345, -(1 << 50), math.MaxInt64, math.MinInt64}
	var singly, together Moments
	var h, hs Histogram
	for i, v := range values {
		n := uint32(i*i*3 + i)
		together.AddN(v, n)
		h.AddN(v, n)
		for range n {
			singly.Add(v)
			hs.Add(v)
		}
		if together != singly {
			t.Fatalf("%d times %d: %+v, one by one %+v", n, v, together, singly)
		}
	}
	var counts, want [][2]uint64
	h.Each(func(low int64, _, count uint64) { counts = append(counts, [2]uint64{uint64(low), count}) })
	hs.Each(func(low int64, _, count uint64) { want = append(want, [2]uint64{uint64(low), count}) })
	if !slices.Equal(counts, want) {
		t.Errorf("%v, one by one %v", counts, want)
	}
	// The most there can be: (2^32-1) * 2^63 needs 95 bits, its square times as many 158.
	var most Moments
	most.AddN(math.MinInt64, math.MaxUint32)
	if most.Mean() != math.MinInt64 || most.StdDev() != 0 || most.Negative() != math.MaxUint32 {
		t.Errorf("mean %v, deviation %v, %d negative", most.Mean(), most.StdDev(), most.Negative())
	}
}

func TestRank(t *testing.T) {
	tests := []struct {
		p    Percent
		n    uint64
		want uint64
	}{
		{50 * One, 0, 0},
		{0, 5, 1},
		{50 * One, 1, 1},
		{50 * One, 2, 1},
		{50 * One, 3, 2},
		{99 * One, 100, 99},
		{99*One + 1, 100, 100},
		{999 * One / 10, 1000, 999},
		{9999 * One / 100, 1_000_001, 999_901},
		{99*One + One*9999/10000, 10_000_000, 9_999_990}, // 99.9999 %
		{Hundred, 1 << 62, 1 << 62},
		{50 * One, 1 << 62, 1 << 61},
		{200 * One, 7, 7},
	}
	for _, tt := range tests {
		if got := Rank(tt.p, tt.n); got != tt.want {
			t.Errorf("Rank(%d, %d) = %d, want %d", tt.p, tt.n, got, tt.want)
		}
	}
}

// Every bucket covers what locate sends to it, and the buckets follow each other without a gap.
func TestBucketsCoverAllValues(t *testing.T) {
	edges := []int64{math.MinInt64, math.MaxInt64, 0, -1}
	for b := uint(0); b < blocks; b++ {
		for i := uint(0); i < blockSize; i++ {
			low, width := bounds(b, i)
			edges = append(edges, low, low+int64(width-1))
			if b == 0 || b == octaves {
				if width != 1 {
					t.Fatalf("bucket %d/%d is %d wide", b, i, width)
				}
			}
		}
	}
	for _, v := range edges {
		b, i := locate(v)
		low, width := bounds(b, i)
		if v < low || uint64(v)-uint64(low) >= width {
			t.Fatalf("%d is in bucket %d/%d, which covers %d values from %d", v, b, i, width, low)
		}
	}
	slices.Sort(edges[4:])
	for i := 5; i+1 < len(edges); i += 2 { // highs and lows alternate
		if edges[i]+1 != edges[i+1] {
			t.Fatalf("between buckets: %d, then %d", edges[i], edges[i+1])
		}
	}
}

// Against sorting, over distributions of very different shape, with budgets that force many showings.
func TestSelectionAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	shapes := []struct {
		name string
		next func() int64
	}{
		{"constant", func() int64 { return 1_000_003 }},
		{"narrow", func() int64 { return 2_000_000_000 + rng.Int64N(1000) }},
		{"uniform", func() int64 { return rng.Int64N(3_000_000_000) }},
		{"exponential", func() int64 { return int64(rng.ExpFloat64() * 1e6) }},
		{"two modes", func() int64 { return 1000 + rng.Int64N(2)*rng.Int64N(1<<40) }},
		{"skewed clock", func() int64 { return rng.Int64N(1<<24) - 1<<23 }},
		{"anything", func() int64 { return int64(rng.Uint64()) }},
	}
	for _, shape := range shapes {
		for _, n := range []int{1, 2, 3, 100, 5000} {
			values := make([]int64, n)
			for i := range values {
				values[i] = shape.next()
			}
			sorted := slices.Sorted(slices.Values(values))
			ps := CurvePercents(uint64(n))
			for _, budget := range []int64{1, 20_000, 1 << 28} {
				for i, got := range at(t, values, budget, ps...) {
					if want := sorted[Rank(ps[i], uint64(n))-1]; got != want {
						t.Fatalf("%s, %d values, budget %d: p%v = %d, want %d", shape.name, n, budget, ps[i].Float(), got, want)
					}
				}
			}
		}
	}
}

func TestSelectionNoticesOtherValues(t *testing.T) {
	for _, second := range [][]int64{{1_000_000}, {1_000_000, 1_000_001, 1_000_002}, {}} {
		for _, budget := range []int64{0, 1 << 20} {
			var h Histogram
			h.Add(1_000_000)
			h.Add(1_000_001)
			s := Select(&h, []uint64{1, 2})
			s.Open(NewMemory(budget))
			for _, v := range second {
				s.Add(v)
			}
			if s.Close() == nil {
				t.Errorf("second showing %d after two values: no error", second)
			}
		}
	}
}

// Values that come together share the memory one after the other; what is taken at one time is never more than there is.
func TestSelectionsShareTheirMemory(t *testing.T) {
	const spans, each, budget = 20, 50_000, 300_000 // a span's values take 200,000 bytes, those of all 4 million
	rng := rand.New(rand.NewPCG(3, 4))
	var all [spans][]int64
	var selections [spans]*Selection
	for n := range all {
		var h Histogram
		for range each {
			v := 1<<38 + rng.Int64N(1<<30)
			all[n] = append(all[n], v)
			h.Add(v)
		}
		selections[n] = Select(&h, []uint64{each / 2, each})
	}
	m := NewMemory(budget)
	for _, s := range selections {
		if !s.Open(m) {
			t.Fatal("nothing to find")
		}
	}
	for n, s := range selections {
		for _, v := range all[n] {
			if s.Add(v); m.left < 0 || m.left > budget {
				t.Fatalf("%d of %d bytes are left", m.left, budget)
			}
		}
	}
	for n, s := range selections {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all[n])
		for i, want := range []int64{all[n][each/2-1], all[n][each-1]} {
			if v, ok := s.Value(i); !ok || v != want {
				t.Errorf("span %d: %d (%v), want %d, after one showing", n, v, ok, want)
			}
		}
		if s.Open(NewMemory(budget)) {
			t.Errorf("span %d: not all is found", n)
		}
	}
	if m.left != budget {
		t.Errorf("%d of %d bytes were given back", m.left, budget)
	}
}

// A million values around 100 s lie in a handful of buckets, which would take 4 MB; of the parts that Fine counts, one
// showing within 100 kB finds the percentiles.
func TestRefinedSelectionFindsLargeValuesInLittle(t *testing.T) {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]int64, n)
	var h Histogram
	var f Fine
	for i := range values {
		values[i] = 100_000_000_000 + rng.Int64N(2_000_000_000)
		if i%10 == 0 {
			values[i] = rng.Int64N(1000) - 500 // these are none of Fine's
		}
		h.Add(values[i])
		f.AddN(values[i], 1)
	}
	ranks := []uint64{1, n / 20, n / 2, n / 100 * 99, n}
	s := Select(&h, ranks)
	s.Refine(&f)
	s.Open(NewMemory(100_000))
	for _, v := range values {
		s.Add(v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(values)
	for i, r := range ranks {
		if v, ok := s.Value(i); !ok || v != values[r-1] {
			t.Errorf("rank %d: %d (%v), want %d", r, v, ok, values[r-1])
		}
	}
}

func TestCurvePercents(t *testing.T) {
	ps := CurvePercents(1_000_000)
	if len(ps) != 19+5*18+1 || ps[0] != 0 || ps[len(ps)-1] != Hundred || !slices.IsSorted(ps) {
		t.Errorf("%d points from %v to %v", len(ps), ps[0].Float(), ps[len(ps)-1].Float())
	}
	for _, want := range percents(50, 75, 95, 99, 99.9, 99.99) {
		if !slices.Contains(ps, want) {
			t.Errorf("%v is not among the points", want.Float())
		}
	}
	if n := len(CurvePercents(1)); n != 20 { // all but the last have rank 1, and so has 90.5
		t.Errorf("%d points for one value", n)
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	var h Histogram
	var m Moments
	values := upTo(1000)
	for _, v := range values {
		h.Add(v * 1000)
	}
	if n := testing.AllocsPerRun(10, func() {
		for _, v := range values {
			h.Add(v * 1000)
			m.Add(v)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h Histogram
	var m Moments
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, 1<<16)
	for i := range values {
		values[i] = int64(rng.ExpFloat64() * 1e6)
	}
	b.SetBytes(8)
	for i := 0; b.Loop(); i++ {
		v := values[i&(1<<16-1)]
		h.Add(v)
		m.Add(v)
	}
}

// Floor: 1 to 10 have buckets of their own, 1000 lies in one from 1000 to 1003, -1 in one of its own.
func TestFloor(t *testing.T) {
	var h Histogram
	for v := int64(1); v <= 10; v++ {
		h.Add(v)
	}
	h.Add(1003)
	h.Add(-1)
	for rank, want := range map[uint64]int64{1: -1, 2: 1, 6: 5, 11: 10, 12: 1000, 99: 1000} {
		if got := h.Floor(rank); got != want {
			t.Errorf("rank %d: %d, want %d", rank, got, want)
		}
	}
	if got := new(Histogram).Floor(1); got != 0 {
		t.Errorf("of nothing: %d", got)
	}
}
