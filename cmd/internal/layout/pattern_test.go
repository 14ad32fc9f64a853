package layout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leveret/cmd/internal/options"
)

// C018: what java.util.Formatter makes of whole numbers (its documentation, "Integral" and "Number Localization Algorithm").
func TestC018PatternsAreJavas(t *testing.T) {
	for _, c := range []struct {
		pattern string
		n       int
		want    string
	}{
		{"perf-test-%d", 7, "perf-test-7"},
		{"perf-test-%03d", 1, "perf-test-001"},
		{"perf-test-%03d", 1234, "perf-test-1234"},
		{"q-%05d", 500, "q-00500"},
		{"q-%5d.", 42, "q-   42."},
		{"q-%-5d.", 42, "q-42   ."},
		{"q-%,d", 1234567, "q-1,234,567"},
		{"q-%,d", 999, "q-999"},
		{"q-%,09d", 12345, "q-00012,345"},
		{"q-%+d", 5, "q-+5"},
		{"q-%+05d", 5, "q-+0005"},
		{"q-% d", 5, "q- 5"},
		{"q-%(d", 5, "q-5"},
		{"q-%x", 255, "q-ff"},
		{"q-%X", 255, "q-FF"},
		{"q-%#x", 255, "q-0xff"},
		{"q-%#X", 255, "q-0XFF"},
		{"q-%08x", 48879, "q-0000beef"},
		{"q-%o", 8, "q-10"},
		{"q-%#o", 8, "q-010"},
		{"q-%1$d", 3, "q-3"},
		{"q-%1$04d", 3, "q-0003"},
		{"100%%-%d-%%", 3, "100%-3-%"},
		{"%d", 0, "0"},
		{"%10d", 1, "         1"},
	} {
		format, err := parsePattern(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		if got := format(c.n); got != c.want {
			t.Errorf("%q of %d: %q, want %q", c.pattern, c.n, got, c.want)
		}
	}
}

func TestC018BadPatternsAreRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		"q":                        "no place for the number",
		"":                         "no place for the number",
		"q-%%":                     "no place for the number",
		"q-%%d":                    "no place for the number",
		"q-%s":                     "%s is no verb for a whole number",
		"q-%f":                     "%f is no verb",
		"q-%i":                     "%i is no verb",
		"q-%n-%d":                  "%n is no verb",
		"q-%2$d":                   "is no verb",
		"q-%.3d":                   "is no verb",
		"q-%d-%d":                  "more than one place",
		"q-%1$d-%1$d":              "more than one place",
		"q-%":                      "not a whole verb",
		"q-%05":                    "not a whole verb",
		"q-%0d":                    "not to what width",
		"q-%-d":                    "not to what width",
		"q-%-05d":                  "contradict",
		"q-%+ d":                   "contradict",
		"q-%,x":                    "do not go with the verb",
		"q-%#d":                    "do not go with the verb",
		"q-%++d":                   "stands there twice",
		"q-%300d":                  "at most 255 bytes",
		"q-%99999999999999999999d": "at most 255 bytes",
	} {
		if _, err := parsePattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", pattern, err, want)
		}
	}
}

// laidOut parses a command line of leveret run and lays it out.
func laidOut(t *testing.T, args ...string) (*Layout, error) {
	t.Helper()
	set, o := options.NewRun(nil)
	if _, err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	o.ID = "ID"
	return Of(o, set.Changed)
}

func mustLayOut(t *testing.T, args ...string) *Layout {
	t.Helper()
	l, err := laidOut(t, args...)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return l
}

func names(l *Layout) []string {
	var names []string
	for _, q := range l.Topology.Queues {
		names = append(names, q.Name)
	}
	return names
}

// C018: the range ends are inclusive.
func TestC018PatternNamesQueues(t *testing.T) {
	l := mustLayOut(t, "--queue-pattern", "perf-test-%03d", "--queue-pattern-from", "1", "--queue-pattern-to", "500")
	got := names(l)
	if len(got) != 500 || got[0] != "perf-test-001" || got[499] != "perf-test-500" {
		t.Errorf("%d queues, %s to %s", len(got), got[0], got[len(got)-1])
	}
	if got := names(mustLayOut(t, "--queue-pattern", "q-%d", "--queue-pattern-from", "0", "--queue-pattern-to", "0")); !slices.Equal(got, []string{"q-0"}) {
		t.Errorf("from 0 to 0: %q", got)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--queue-pattern-from=5 is above --queue-pattern-to=4", []string{"--queue-pattern", "q-%d", "--queue-pattern-from", "5", "--queue-pattern-to", "4"}},
		{"give --queue-pattern-from and --queue-pattern-to", []string{"--queue-pattern", "q-%d"}},
		{"give --queue-pattern-from and --queue-pattern-to", []string{"--queue-pattern", "q-%d", "--queue-pattern-from", "1"}},
		{"give --queue-pattern,", []string{"--queue-pattern-from", "1", "--queue-pattern-to", "2"}},
		{"--queue-pattern=q-%s: %s is no verb", []string{"--queue-pattern", "q-%s", "--queue-pattern-from", "1", "--queue-pattern-to", "2"}},
		{"no place for the number", []string{"--queue-pattern", "", "--queue-pattern-from", "1", "--queue-pattern-to", "2"}},
		{"makes 65537 queues", []string{"--queue-pattern", "q-%d", "--queue-pattern-from", "0", "--queue-pattern-to", "65536"}},
		{"names of 256 bytes", []string{"--queue-pattern", strings.Repeat("q", 255) + "%d", "--queue-pattern-from", "1", "--queue-pattern-to", "2"}},
		{"give one of them", []string{"--queue-pattern", "q-%d", "--queue-file", "f", "--queue-pattern-from", "1", "--queue-pattern-to", "2"}},
	} {
		if _, err := laidOut(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestQueueFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queues")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\ufeffa\r\n b \n\nc")
	l := mustLayOut(t, "--queue-file", path, "--queue", "x", "--producers", "4")
	if got := names(l); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
	if len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "--queue=x is not used") {
		t.Errorf("notes %q", l.Notes)
	}
	for text, want := range map[string]string{
		"a\nb\na\n":                          `line 3 names the queue "a" again, after line 1`,
		"\n \n":                              "names no queue",
		"a\n" + strings.Repeat("b", 256):     "line 2 has 256 bytes",
		"a\n\n" + strings.Repeat("b", 1<<17): "line 3 has more than 65535 bytes, and a queue's name at most 255",
	} {
		write(text)
		if _, err := laidOut(t, "--queue-file", path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--queue-file="+path) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	if _, err := laidOut(t, "--queue-file", path+"-not"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
