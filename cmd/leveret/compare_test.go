package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// comparisonOf runs leveret compare for its JSON.
func comparisonOf(t *testing.T, args ...string) (*result.Comparison, int, string) {
	t.Helper()
	code, stdout, stderr := invoke(t, append([]string{"compare", "--quiet", "--format", "json"}, args...)...)
	var c result.Comparison
	if err := json.Unmarshal([]byte(stdout), &c); err != nil {
		t.Fatalf("exit %d, no comparison (%v)\n%s", code, err, stderr)
	}
	return &c, code, stderr
}

// A run compared with itself: 0 %, no NaN, and what one run cannot tell is said.
func TestC060ARunWithItself(t *testing.T) {
	_, _, dir := record(t, "--time", "1", "--confirm", "100", "--rate", "2000")
	code, text, stderr := invoke(t, "compare", dir, dir)
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	for _, want := range []string{"Embedded broker", "how much runs of the same configuration differ", "One run each", "Differences: none"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is not said", want)
		}
	}
	for _, never := range []string{"NaN", "Inf", "better", "worse"} {
		if strings.Contains(text, never) {
			t.Errorf("%s:\n%s", never, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	c, _, _ := comparisonOf(t, dir, "again="+dir)
	if c.Method != result.ByBlocks || len(c.Metrics) < 6 || c.Groups[1].Label != "again" || len(c.Groups[0].Marks) == 0 {
		t.Errorf("%+v", c)
	}
	for _, m := range c.Metrics {
		x := m.Changes[0]
		if x.Delta == nil || *x.Delta != 0 || x.Verdict != result.ChangeNoise || x.DeltaLow == nil || *x.DeltaLow > 0 || *x.DeltaHigh < 0 {
			t.Errorf("%s: %+v", m.Name, x)
		}
	}
}

// The charts are of the runs beside each other, and the page has them.
func TestChartsOfAComparison(t *testing.T) {
	_, _, dir := record(t, "--pmessages", "2000", "--confirm", "100")
	charts, page := filepath.Join(t.TempDir(), "charts"), filepath.Join(t.TempDir(), "page.html")
	code, _, stderr := invoke(t, "compare", "--quiet", "base="+dir, "again="+dir, "--charts", charts, "--chart", "over-time", "--chart-format", "svg", "--output", page)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	svg, err := os.ReadFile(filepath.Join(charts, "runs-over-time.svg"))
	if err != nil || !strings.Contains(string(svg), "base") || !strings.Contains(string(svg), "again") {
		t.Errorf("%v: no line of each group", err)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "<svg") || !strings.Contains(string(html), "One run each") {
		t.Errorf("the page: %v", err)
	}
	if files, _ := os.ReadDir(charts); len(files) != 2 { // and its figures
		t.Errorf("%v", files)
	}
}

func TestCompareLosses(t *testing.T) {
	_, _, sound := record(t, "--pmessages", "2000", "--confirm", "100")
	_, _, lossy := record(t, "--pmessages", "2000", "--confirm", "100", "--faults", "drop@10-30/10")
	c, code, stderr := comparisonOf(t, "--fail-if", "lost > +0", sound, lossy)
	if code != exitVerdict || !strings.Contains(stderr, "lost > +0") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, m := range c.Metrics {
		if x := m.Changes[0]; m.Name == "lost" && (x.Zero != result.FromZero || x.Delta != nil || x.Verdict != result.ChangeWorse || *m.Values[1].Centre != 3) {
			t.Errorf("%+v", m)
		}
	}
	if len(c.FailIf) != 1 || !c.FailIf[0].Fails {
		t.Errorf("%+v", c.FailIf)
	}
	if marks := c.Groups[1].Marks; len(marks) == 0 || marks[0] != "FAIL" {
		t.Errorf("%q", marks)
	}
	if _, code, _ := comparisonOf(t, lossy, sound); code != exitOK { // the base may have failed
		t.Errorf("exit %d", code)
	}
}

func TestMistakesOfCompare(t *testing.T) {
	_, _, dir := record(t, "--pmessages", "100")
	_, _, second := record(t, "--pmessages", "10")
	_, _, third := record(t, "--pmessages", "10")
	_, _, fourth := record(t, "--pmessages", "10")
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "which runs?"},
		{[]string{dir}, "a single group"},
		{[]string{dir, missing}, "there is no capture " + missing},
		{[]string{dir, t.TempDir()}, "holds no capture"},
		{[]string{dir, "x="}, "LABEL=CAPTURE"},
		{[]string{dir, "x=" + dir + ",,"}, "between the commas"},
		{[]string{dir, "x=" + second + "," + second + "/."}, second + "/. is given twice"},
		{[]string{dir, second + "+" + second}, second + " is given twice"},
		{[]string{dir, dir, "--fail-if", "p99(confirm.service) > 10%"}, "\n  p99(confirm.service) > 10%\n                         ^"},
		{[]string{dir, dir, "--metrics", "p99(confirm)"}, "confirm.service"},
		{[]string{dir, dir, "--by", "queue"}, "unknown option --by"},
		{[]string{dir, dir, "--charts", "x", "--chart", "backlog"}, "--chart=backlog: no chart of several runs is called so; there are runs-rates"},
		{[]string{dir + "," + second, "b=" + third + "," + second + "/."}, second + "/. stands in "},
		{[]string{dir, "b=" + third + "," + dir}, dir + " stands in"},
		{[]string{dir, "three=" + fourth + "," + second + "," + third, "--fail-if", "rate(sent) < -5%"}, "no change, however large"},
	} {
		code, _, stderr := invoke(t, append([]string{"compare"}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, %q is not said: %s", c.args, code, c.want, stderr)
		}
	}
}
