package suite

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the reader knows and what is told of it are the same keys, and the example is a suite.
func TestKeysAreDescribed(t *testing.T) {
	known := map[string]bool{}
	for _, file := range []string{"read.go", "readrows.go", "readsetup.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"([a-z-]+)": +(?:r\.[a-z][A-Za-z]*\(|func\(n \*yaml\.Node\)|later\()`).FindAllStringSubmatch(string(source), -1) {
			known[m[1]] = true
		}
	}
	if len(known) < 50 {
		t.Fatalf("only %d keys were found in the reader", len(known))
	}
	for key := range known {
		if !strings.Contains(Keys, "`"+key+"`") {
			t.Errorf("key %s is not described", key)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(Keys, -1) {
		for _, key := range strings.Split(m[1], ", ") {
			if key = strings.Trim(key, "`"); !known[key] {
				t.Errorf("key %s is described, and the reader does not know it", key)
			}
		}
	}
	_, example, _ := strings.Cut(Keys, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	// Two sizes on two machines but for one, and two rows; three times each.
	s, rows := planned(t, example, Changes{})
	if len(rows) != 5 || len(s.NewRecord(rows, Changes{}, nil, "").Runs) != 15 {
		t.Errorf("%d rows", len(rows))
	}
}
