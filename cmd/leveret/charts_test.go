package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leveret/cmd/internal/options"
	"leveret/reports/chart"
)

// Charts of run and of analyze: by name, in every format and style, each with its figures beside it, and clear errors.
func TestChartsOfACapture(t *testing.T) {
	home := t.TempDir()
	charts := filepath.Join(home, "charts")
	r, code, dir := record(t, "--producers", "1", "--consumers", "1", "--pmessages", "500", "--rate", "1000", "--confirm", "10",
		"--charts", charts, "--chart", "rates", "--chart-format", "svg", "--chart-style", "dark", "--chart-size", "84x60mm")
	if code != exitOK || len(r.Intervals) == 0 {
		t.Fatalf("exit %d", code)
	}
	if got := fileNames(t, charts); got != "rates.csv rates.svg" {
		t.Errorf("run wrote %s", got)
	}
	if svg, err := os.ReadFile(filepath.Join(charts, "rates.svg")); err != nil || !bytes.Contains(svg, []byte(chart.ThemeOf("dark").Page)) ||
		!bytes.Contains(svg, []byte(`width="238.11pt" height="170.08pt"`)) { // 84 and 60 mm at 72 points to 25.4 mm
		t.Errorf("not a dark chart of 84 by 60 mm: %v", err)
	}
	charts = filepath.Join(home, "bare")
	if code, _, stderr := invoke(t, "analyze", dir, "--charts", charts, "--chart", "rates", "--chart-format", "svg", "--chart-caption", "off"); code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	svg, err := os.ReadFile(filepath.Join(charts, "rates.svg"))
	if err != nil || !bytes.Contains(svg, []byte(">embedded broker: measures leveret, not RabbitMQ</text>")) ||
		bytes.Count(svg, []byte("Message rates over time")) != 1 || bytes.Count(svg, []byte("12-byte messages")) != 1 { // in title and desc alone
		t.Errorf("a chart without caption: %v\n%s", err, svg)
	}
	charts = filepath.Join(home, "again")
	code, _, stderr := invoke(t, "analyze", dir, "--charts", charts, "--chart", "latency-delivery,spread-queue", "--chart-format", "svg,png,pdf,eps,tex",
		"--chart-style", "print", "--chart-dpi", "60", "--chart-font", "serif")
	want := "latency-delivery.csv latency-delivery.eps latency-delivery.pdf latency-delivery.png latency-delivery.svg latency-delivery.tex " +
		"spread-queue.csv spread-queue.eps spread-queue.pdf spread-queue.png spread-queue.svg spread-queue.tex"
	if got := fileNames(t, charts); code != exitOK || got != want {
		t.Errorf("exit %d, %s\n%s", code, got, stderr)
	}
	for args, want := range map[string]string{
		"--charts x --chart rats":                            `--chart=rats: "rats" is no chart: there are rates, backlog, in-flight, latency-confirm, `,
		"--chart rates":                                      "--chart=rates: where to? give --charts DIR",
		"--charts x --chart-size 40x40 --chart-dpi 1200":     "--chart-size, --chart-dpi: chart of 40 by 40 inches at 1200 dots per inch has more than 64 million pixels",
		"--charts x --chart-format svg,gif":                  `--chart-format`,
		"--charts x --chart-size 1x1":                        "--chart-size",
		"--charts x --chart-style sepia --chart-format svg ": "--chart-style",
	} {
		for _, command := range [][]string{{"analyze", dir}, {"run", "--capture", filepath.Join(home, "never"), "--time", "1"}} {
			code, _, stderr := invoke(t, append(command, strings.Fields(args)...)...)
			if code != exitUsage || !strings.Contains(stderr, want) {
				t.Errorf("%s %s: exit %d, want %q\n%s", command[0], args, code, want, stderr)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(home, "never")); err == nil {
		t.Error("a run whose charts could not be drawn was begun")
	}
	drawsInAnEmptyEnvironment(t, dir)
}

func fileNames(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// C107: no home, no fonts, no display: only what the program carries.
func drawsInAnEmptyEnvironment(t *testing.T, capture string) {
	charts := filepath.Join(t.TempDir(), "charts")
	cmd := exec.Command(os.Args[0], "analyze", capture, "--charts", charts, "--chart-format", "svg,png,pdf,eps,tex", "--quiet")
	cmd.Env = []string{asMain + "=1", "TMPDIR=/nowhere"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if files := strings.Fields(fileNames(t, charts)); len(files) < 6*4 {
		t.Errorf("only %q", files)
	}
}

// What the options allow is what can be drawn.
func TestChartOptionsAgree(t *testing.T) {
	for name, all := range map[string][]string{"--chart-format": chart.Formats, "--chart-style": chart.Styles, "--chart-font": chart.Fonts} {
		for _, value := range all {
			set, _ := options.NewAnalyze()
			if _, err := set.Parse([]string{name, value}); err != nil {
				t.Errorf("%s %s: %v", name, value, err)
			}
		}
	}
	for _, size := range []string{"3x2", "40x40"} {
		set, o := options.NewAnalyze()
		if _, err := set.Parse([]string{"--chart-size", size, "--chart-dpi", "50"}); err != nil {
			t.Fatal(err)
		}
		if err := checkCharts(&o.Report.ChartOptions); err != nil {
			t.Errorf("%s: %v", size, err)
		}
	}
	if _, o := options.NewAnalyze(); !slices.Equal(o.Report.ChartFormat, []string{"png", "svg"}) {
		t.Errorf("formats by default %v", o.Report.ChartFormat)
	}
}

// The README's table has a line for every chart, and for none that there is not.
func TestChartsOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "| `--chart` | shows |\n|---|---|\n")
	var named []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			break
		}
		for name := range strings.SplitSeq(cells[1], ",") {
			named = append(named, strings.Trim(name, " `"))
		}
	}
	all := slices.Concat(chart.Names(), chart.RunNames())
	slices.Sort(named)
	slices.Sort(all)
	if !slices.Equal(named, all) {
		t.Errorf("the table has\n%q, there are\n%q", named, all)
	}
}
