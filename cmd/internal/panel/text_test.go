package panel

import (
	"math"
	"testing"
	"time"
)

func TestPanelNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{rateText(0), "0"}, {rateText(0.5), "0.5"}, {rateText(3), "3"}, {rateText(9.96), "10"}, {rateText(19997.4), "19,997"}, {rateText(1234567.5), "1,234,568"},
		{latencyText(0, true), "0 us"}, {latencyText(1_000, true), "1.00 us"}, {latencyText(480_000, true), "480 us"}, {latencyText(480_000, false), "480 µs"},
		{latencyText(999_499, true), "999 us"}, {latencyText(999_500, true), "1.00 ms"}, {latencyText(9_994_999, true), "9.99 ms"}, {latencyText(9_995_000, true), "10.0 ms"},
		{latencyText(12_000_000, false), "12.0 ms"}, {latencyText(1_200_000_000, true), "1.20 s"}, {latencyText(3600e9, true), "3600 s"},
		{bytesText(0), "0 B"}, {bytesText(999), "999 B"}, {bytesText(21_300_000), "21.3 MB"}, {bytesText(5_000_000_000_000), "5.00 TB"},
		{spanText(0), "0 s"}, {spanText(1500 * time.Millisecond), "1.5 s"}, {spanText(48*time.Second + 900*time.Millisecond), "48 s"},
		{spanText(time.Minute), "1 min"}, {spanText(200 * time.Second), "3 min 20 s"}, {spanText(65 * time.Second), "1 min 05 s"}, {spanText(125 * time.Minute), "2 h 05 min"},
		{percentText(0.834), "83 %"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestBarAndSparkline(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{barText(0, 4, false), "░░░░"}, {barText(0.5, 4, false), "██░░"}, {barText(1.2, 4, false), "████"}, {barText(-1, 4, false), "░░░░"},
		{barText(0.5, 6, true), "[##..]"}, {barText(0.5, 2, true), ""},
		{sparkText(nil, false), ""}, {sparkText([]float64{0, 0}, false), "▁▁"},
		// Seven steps above 0: the lowest is for less than 1/7 of the greatest, the next for less than 2/7, and so on.
		{sparkText([]float64{0, 1, 2, 4, 6, 7, math.NaN(), 7}, false), "▁▃▄▆██ █"},
		{sparkText([]float64{0, 1, 2, 4, 6, 7}, true), "_:-+##"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// What a broker says reaches the terminal as text only.
func TestForeignTextCannotSteerTheTerminal(t *testing.T) {
	if got := plainText("a\x1b[2Jb\u009bc\u202ed\xff\te\nf", false); got != "a?[2Jb?c?d? e f" {
		t.Errorf("%q", got)
	}
	if got := plainText("größe", true); got != "gr??e" {
		t.Errorf("%q", got)
	}
}

func TestCutText(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		ascii   bool
		want    string
	}{
		{"abc", 3, false, "abc"}, {"abcd", 3, false, "ab…"}, {"abcd", 3, true, "a.."}, {"abcd", 1, true, ""}, {"abcd", 0, false, ""},
		{"字字字", 5, false, "字字…"}, {"字字字", 4, false, "字…"}, // two columns each
		{"e\u0301e\u0301e\u0301", 2, false, "e\u0301…"}, // letters and accents apart
	} {
		if got := cutText(c.text, c.columns, c.ascii); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestHistoryKeepsTheLastMinute(t *testing.T) {
	h := &history{}
	for i := range 100 {
		h.add(float64(i))
	}
	all := h.columns(60)
	if len(all) != 60 || all[0] != 40 || all[59] != 99 {
		t.Errorf("%v", all)
	}
	// Twelve columns of five: 40..44 has the mean 42, 95..99 has 97.
	if five := h.columns(12); len(five) != 12 || five[0] != 42 || five[11] != 97 {
		t.Errorf("%v", five)
	}
	// With 101 the first column would be of four and is still the right one; a thirteenth has begun, so the first is left out.
	h.add(100)
	if five := h.columns(12); len(five) != 12 || five[0] != 47 || five[11] != 100 {
		t.Errorf("%v", five)
	}
}
