package chart

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// A separator stays with what stands before it, wherever the line breaks: read on, no words run together.
func TestSeparatorsAtLineBreaks(t *testing.T) {
	all, err := newTypesets(1, light, "sans")
	if err != nil {
		t.Fatal(err)
	}
	text := joinNotEmpty("open loop, 0.5 messages per second", "no confirms", "acks manual", "durable queues")
	broken := map[string]bool{}
	for width := vg.Length(60); width < 400; width++ {
		lines := all.caption.wrap(text, width, 20)
		if got := strings.Join(lines, " "); got != text {
			t.Fatalf("at %v: %q", width, lines)
		}
		for i, l := range lines {
			if all.caption.width(l) > width || strings.HasPrefix(l, "·") {
				t.Errorf("at %v: line %q", width, l)
			}
			if i < len(lines)-1 && strings.HasSuffix(l, "·") {
				broken[l] = true
			}
		}
	}
	if len(broken) < 3 {
		t.Errorf("hardly a line ended at a separator: %v", broken)
	}
	if got := unbroken([]string{"·", "a", "·", "b"}); !slices.Equal(got, []string{"·", "a ·", "b"}) {
		t.Errorf("%q", got)
	}
}
