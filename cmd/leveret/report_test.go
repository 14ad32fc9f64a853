package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The form of a report is the one that was asked for, else the one that the file's name tells.
func TestReportFiles(t *testing.T) {
	t.Parallel()
	_, _, dir := record(t, "--pmessages", "200", "--confirm", "10")
	home := t.TempDir()
	for _, c := range []struct{ file, format, begins string }{
		{"a.html", "", "<!doctype html>"}, {"a.md", "", "# leveret: PASS"}, {"a.csv", "", "table,row,figure,value\n"}, {"a.json", "", "{\n"},
		{"a.tex", "", "% Tables of a leveret report"}, {"a.txt", "", "Verdict: PASS"}, {"a", "", "Verdict: PASS"}, {"b.html", "json", "{\n"}, {"b.md", "text", "Verdict: PASS"},
	} {
		path := filepath.Join(home, c.file)
		args := []string{"analyze", dir, "-o", path}
		if c.format != "" {
			args = append(args, "--format", c.format)
		}
		code, stdout, stderr := invoke(t, args...)
		b, err := os.ReadFile(path)
		if code != exitOK || err != nil || !strings.HasPrefix(string(b), c.begins) || stdout != "" || !strings.Contains(stderr, "verdict PASS, report "+path+"\n") {
			t.Errorf("%+v: exit %d, %v, begins with %.40q\n%s%s", c, code, err, b, stdout, stderr)
		}
		if len(b) >= 3_000_000 {
			t.Errorf("%s has %d bytes", c.file, len(b))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(home, "*.part")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A file is replaced as a whole or stays as it was; what cannot be written is known before the analysis, where it can be.
func TestReportFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	_, _, dir := record(t, "--pmessages", "100", "--confirm", "10")
	home := t.TempDir()
	for path, want := range map[string]int{home: exitUsage, filepath.Join(home, "nowhere", "a.html"): exitFailed} {
		code, stdout, stderr := invoke(t, "analyze", dir, "--output", path)
		if code != want || stdout != "" || !strings.Contains(stderr, "--output="+path) {
			t.Errorf("%s: exit %d, want %d\n%s", path, code, want, stderr)
		}
	}
}

// A run makes its page itself.
func TestRunWritesItsPage(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "page.html")
	code, stdout, stderr := invoke(t, "run", "--quiet", "--pmessages", "200", "--confirm", "10", "--capture", filepath.Join(home, "capture"), "--output", path)
	b, err := os.ReadFile(path)
	if code != exitOK || err != nil || stdout != "" || !strings.Contains(string(b), "this run measures leveret, not RabbitMQ") || strings.Count(string(b), "<figure") < 4 {
		t.Errorf("exit %d, %v, %d bytes\n%s%s", code, err, len(b), stdout, stderr)
	}
}
