package broker

import (
	"strings"
	"testing"
)

func TestTopicMatches(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no string // keys separated by spaces; - is the empty key
	}{
		{"", "-", "a . a.b"},
		{"a", "a", "- b a.a a."},
		{"*", "a abc", "- a.b . a."},
		{"#", "- a a.b a.b.c . ..", ""},
		{"*.*", "a.b . a. .b", "- a a.b.c"},
		{"*.#", "a a.b a.b.c . ..", "-"},
		{"#.*", "a a.b a.b.c", "-"},
		{"#.#", "- a a.b a.b.c", ""},
		{"a.#", "a a.b a.b.c a.", "- b b.a ab"},
		{"#.b", "b a.b a.a.b b.b .b", "- a b.a"},
		{"a.*.c", "a.b.c a.c.c a..c", "a.c a.b.b.c a.b"},
		{"a.#.c", "a.c a.b.c a.b.b.c a.c.c", "a a.b c.a.c a.c.b"},
		{"#.b.#", "b a.b b.c a.b.c a.a.b.c.c", "- a a.c"},
		{"#.a.#.b.#", "a.b x.a.b a.x.b a.b.x x.a.x.b.x a.a.b.b", "b.a a b a.x x.b"},
		{"*.a.#.b", "x.a.b x.a.y.b a.a.b", "a.b x.y.a.b x.a"},
		{"#.a.*.b.#", "a.x.b a.a.x.b y.a.x.b.y a.x.a.x.b", "a.b a.x.x.b"},
		{"quick.orange.*", "quick.orange.rabbit", "quick.orange quick.orange.male.rabbit"},
		{"lazy.#", "lazy lazy.brown.fox", "lazier.fox"},
	} {
		for _, set := range []struct {
			keys string
			want bool
		}{{c.yes, true}, {c.no, false}} {
			for key := range strings.FieldsSeq(set.keys) {
				if key == "-" {
					key = ""
				}
				if got := topicMatches(c.pattern, key); got != set.want {
					t.Errorf("pattern %q, key %q: %v, want %v", c.pattern, key, got, set.want)
				}
			}
		}
	}
}

// TestTopicMatchesLikeItsDefinition compares with the plainest reading of the rules, over all patterns and keys of up to four
// words out of a small alphabet.
func TestTopicMatchesLikeItsDefinition(t *testing.T) {
	patterns := sequences([]string{"a", "b", "*", "#"}, 4)
	keys := sequences([]string{"a", "b", ""}, 4)
	for _, p := range patterns {
		for _, k := range keys {
			pattern, key := strings.Join(p, "."), strings.Join(k, ".")
			if key == "" && len(k) == 1 {
				continue // one empty word is the same string as no word, and counts as that
			}
			if got, want := topicMatches(pattern, key), matchWords(p, k); got != want {
				t.Fatalf("pattern %q, key %q: %v, want %v", pattern, key, got, want)
			}
		}
	}
}

// sequences are all lists of up to n words.
func sequences(words []string, n int) [][]string {
	all := [][]string{{}}
	last := all
	for range n {
		var longer [][]string
		for _, s := range last {
			for _, w := range words {
				longer = append(longer, append(s[:len(s):len(s)], w))
			}
		}
		all = append(all, longer...)
		last = longer
	}
	return all
}

func matchWords(p, k []string) bool {
	switch {
	case len(p) == 0:
		return len(k) == 0
	case p[0] == "#":
		for i := range len(k) + 1 {
			if matchWords(p[1:], k[i:]) {
				return true
			}
		}
		return false
	}
	return len(k) > 0 && (p[0] == "*" || p[0] == k[0]) && matchWords(p[1:], k[1:])
}

// TestTopicMatchesFast: a pattern of many # against a long key is no trap.
func TestTopicMatchesFast(t *testing.T) {
	pattern := strings.Repeat("#.a.", 60) + "b"
	key := strings.Repeat("a.", 120) + "a"
	if topicMatches(pattern, key) { // with backtracking into every # this would not end
		t.Error("a key without b matches")
	}
}
