package broker

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// hits lists the messages up to 10000 that a specification's faults hit.
func hits(f *Faults, kind FaultKind) (list []uint64) {
	for n := uint64(1); n <= 10000; n++ {
		if set, ok := f.at(n); ok && set.has(kind) {
			list = append(list, n)
		}
	}
	return list
}

func TestParseFaultsWhere(t *testing.T) {
	for _, c := range []struct {
		spec string
		kind FaultKind
		want []uint64
	}{
		{"drop@1000-7000/1000", FaultDrop, []uint64{1000, 2000, 3000, 4000, 5000, 6000, 7000}},
		{"duplicate@500", FaultDuplicate, []uint64{500}},
		{"nack@1-3", FaultNack, []uint64{1, 2, 3}},
		{"return@9997-12000/2", FaultReturn, []uint64{9997, 9999}},
		{"drop@5-5", FaultDrop, []uint64{5}},
		{"drop@5-9/100", FaultDrop, []uint64{5}},
		{" drop@1 , drop@3 ", FaultDrop, []uint64{1, 3}},
		{"drop@20000", FaultDrop, nil},
		{"drop@1", FaultNack, nil},
	} {
		f, err := ParseFaults(c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if got := hits(&f, c.kind); !slices.Equal(got, c.want) {
			t.Errorf("%s hits %v, want %v", c.spec, got, c.want)
		}
	}
	all, err := ParseFaults("delay@*:fixed=1ms")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(hits(&all, FaultDelay)); n != 10000 {
		t.Errorf("* hits %d of 10000", n)
	}
	if _, ok := all.at(math.MaxUint64); !ok {
		t.Error("* does not hit the last message there can be")
	}
}

func TestParseFaultsArguments(t *testing.T) {
	f, err := ParseFaults("corrupt@7:byte=3,corrupt@8:xor=1,reorder@9:hold=20ms,stall@10:1s,block@11:2s,close-channel@12:code=541:text=BANG," +
		"close-channel@13,cut@14,delay@15:fixed=2ms,delay@15:fixed=3ms")
	if err != nil {
		t.Fatal(err)
	}
	at := func(n uint64) faultSet {
		set, ok := f.at(n)
		if !ok {
			t.Fatalf("nothing at %d", n)
		}
		return set
	}
	if r := at(7).corrupt; r.byteIndex != 3 || r.xor != 0xff {
		t.Errorf("corrupt@7: %+v", r)
	}
	if r := at(8).corrupt; r.byteIndex != 0 || r.xor != 1 {
		t.Errorf("corrupt@8: %+v", r)
	}
	if r := at(9).reorder; r.hold != 20*time.Millisecond {
		t.Errorf("reorder@9: %+v", r)
	}
	if s := at(10); s.stall != time.Second || s.block != 0 {
		t.Errorf("stall@10: %+v", s)
	}
	if s := at(11); s.block != 2*time.Second || s.stall != 0 {
		t.Errorf("block@11: %+v", s)
	}
	if r := at(12).closing; r.code != 541 || r.text != "BANG" {
		t.Errorf("close-channel@12: %+v", r)
	}
	if r := at(13).closing; r.code != 406 || r.text != "PRECONDITION_FAILED - fault close-channel" {
		t.Errorf("close-channel@13: %+v", r)
	}
	if s := at(14); !s.has(FaultCut) || s.has(FaultDrop) {
		t.Errorf("cut@14: %+v", s)
	}
	if s := at(15); s.delay != 5*time.Millisecond {
		t.Errorf("two delays of 2 and 3 ms: %v", s.delay)
	}
}

func TestParseFaultsErrors(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"drop", `fault 1, "drop": no messages given; write KIND@WHERE`},
		{"drop@1,dorp@2", `fault 2, "dorp@2": unknown kind "dorp"; it can be drop, duplicate, `},
		{"drop@0", `"0" is not a message number`},
		{"drop@x", `"x" is not a message number`},
		{"drop@-3", `"" is not a message number`},
		{"drop@9-3", `range "9-3" ends before it begins`},
		{"drop@9/3", `"9/3" has a step but no range`},
		{"drop@1-9/0", `"0" is not a message number`},
		{"drop@1:now", `drop does not take "now"; it takes no arguments`},
		{"drop@1:", `drop does not take ""; it takes no arguments`},
		{"corrupt@1:byte=-1", `"byte=-1": want a whole number from 0 to`},
		{"corrupt@1:xor=0", `"xor=0": want a whole number from 1 to 255`},
		{"corrupt@1:bit=3", `it takes byte=N and xor=N`},
		{"delay@*", `no law given; add :fixed=2ms`},
		{"delay@*:normal=2ms", `it takes fixed=D, uniform=D..D or exponential=D`},
		{"delay@*:uniform=2ms", `"uniform=2ms" has no upper end`},
		{"delay@*:uniform=5ms..1ms", `ends before it begins`},
		{"delay@*:fixed=2", `want a duration such as 500us`},
		{"delay@*:fixed=-2ms", `want a duration`},
		{"delay@*:fixed=2h", `at most 1h`},
		{"delay@*:fixed=2ms:fixed=3ms", `"fixed=3ms" is a second law`},
		{"delay@*:exponential=2ms:seed=x", `the seed is a whole number`},
		{"stall@5", `no duration given; write stall@5:1s`},
		{"block@5-9", `no duration given; write block@5-9:1s`},
		{"stall@5:0s", `no duration given`},
		{"stall@5:soon", `want a duration`},
		{"reorder@5:by=2", `it takes hold=DURATION`},
		{"close-channel@5:code=7", `want a whole number from 300 to 599`},
		{"close-channel@5:text=" + strings.Repeat("x", 256), `at most 255 fit`},
		{strings.Repeat("drop@1,", 65) + "drop@1", `more than 64 items`},
		{"drop@1,", `fault 2, "": no messages given`},
	} {
		f, err := ParseFaults(c.spec)
		if err == nil {
			t.Errorf("%s is accepted as %s", c.spec, f)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q does not contain %q", c.spec, err, c.want)
		}
	}
}

func TestFaultsEmpty(t *testing.T) {
	for _, spec := range []string{"", "  "} {
		f, err := ParseFaults(spec)
		if err != nil || !f.Empty() || f.String() != "" {
			t.Errorf("%q: %v, %q, %v", spec, f.Empty(), f.String(), err)
		}
	}
	if f, _ := ParseFaults("drop@1"); f.Empty() {
		t.Error("drop@1 counts as none")
	}
}

func TestFaultsString(t *testing.T) {
	const full = "drop@1000-7000/1000,duplicate@500,corrupt@777:byte=3:xor=255,reorder@100:hold=1s,delay@*:uniform=1ms..5ms:seed=1," +
		"delay@3-9:exponential=2ms:seed=7,delay@5:fixed=2ms,nack@10,return@11,stall@5000:1s,block@5001:2s," +
		"close-channel@900:code=404:text=NOT_FOUND - x,cut@800"
	f, err := ParseFaults(full)
	if err != nil {
		t.Fatal(err)
	}
	if f.String() != full {
		t.Errorf("got  %s\nwant %s", f, full)
	}
	// Everything that the help shows is accepted.
	example := FaultsHelp[strings.LastIndex(FaultsHelp, "Example: ")+len("Example: "):]
	if _, err := ParseFaults(example); err != nil {
		t.Error(err)
	}
	for k := range faultKinds {
		if !strings.Contains(FaultsHelp, "\n  "+FaultKind(k).String()+" ") {
			t.Errorf("the help does not explain %s", FaultKind(k))
		}
	}
}

// TestDelayLaws checks the laws by their moments over 100,000 messages: of a uniform law on [1 ms, 5 ms) the mean is 3 ms
// and the standard deviation 4/sqrt(12) = 1.1547 ms; of an exponential law both are the mean. The bounds are five standard
// errors (sd/sqrt(n), for the sd of the exponential law sqrt(2)*mean/sqrt(n)).
func TestDelayLaws(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		spec           string
		mean, sd       float64 // ms
		bound          float64 // of the mean, ms
		sdBound        float64
		lowest, uppest float64
	}{
		{"delay@*:fixed=2ms", 2, 0, 1e-9, 1e-9, 2, 2},
		{"delay@*:uniform=1ms..5ms", 3, 1.1547, 0.0183, 0.02, 1, 5},
		{"delay@*:exponential=2ms", 2, 2, 0.0317, 0.045, 0, 2 * maxExponentials},
		{"delay@*:exponential=2ms:seed=99", 2, 2, 0.0317, 0.045, 0, 2 * maxExponentials},
	} {
		f, err := ParseFaults(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		var sum, squares float64
		for i := uint64(1); i <= n; i++ {
			set, _ := f.at(i)
			ms := float64(set.delay) / 1e6
			if ms < c.lowest || ms > c.uppest {
				t.Fatalf("%s: message %d is delayed by %v ms", c.spec, i, ms)
			}
			sum += ms
			squares += ms * ms
		}
		mean := sum / n
		sd := math.Sqrt(max(0, squares/n-mean*mean))
		if math.Abs(mean-c.mean) > c.bound || math.Abs(sd-c.sd) > c.sdBound {
			t.Errorf("%s: mean %.4f ms, sd %.4f ms; want %.4f and %.4f", c.spec, mean, sd, c.mean, c.sd)
		}
	}
}

// TestDelayIsAFunctionOfTheNumber: the same seed gives the same delays, another one others.
func TestDelayIsAFunctionOfTheNumber(t *testing.T) {
	parse := func(s string) *Faults {
		f, err := ParseFaults(s)
		if err != nil {
			t.Fatal(err)
		}
		return &f
	}
	a, b, other := parse("delay@*:uniform=0s..1s"), parse("delay@*:uniform=0s..1s:seed=1"), parse("delay@*:uniform=0s..1s:seed=2")
	same := 0
	for n := uint64(1); n <= 1000; n++ {
		x, _ := a.at(n)
		y, _ := b.at(n)
		z, _ := other.at(n)
		if x.delay != y.delay {
			t.Fatalf("message %d: %v and %v under the same seed", n, x.delay, y.delay)
		}
		if x.delay == z.delay {
			same++
		}
	}
	if same > 1 {
		t.Errorf("%d of 1000 delays are the same under another seed", same)
	}
}

func TestDelayIsWhatAMessageIsHeld(t *testing.T) {
	f, err := ParseFaults("delay@3:fixed=2ms,delay@3-4:fixed=1ms,drop@5")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[uint64]time.Duration{1: 0, 3: 3 * time.Millisecond, 4: time.Millisecond, 5: 0} {
		if got := f.Delay(n); got != want {
			t.Errorf("message %d: %v, want %v", n, got, want)
		}
	}
}
