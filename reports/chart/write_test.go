package chart

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "charts")
	files, err := Write(dir, loadSample(t, "stall"), Options{DPI: 60})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
		if info, err := os.Stat(f); err != nil || info.Size() == 0 || filepath.Dir(f) != dir {
			t.Errorf("%s: %v", f, err)
		}
	}
	want := strings.Fields("rates.png rates.svg rates.csv latency-confirm.png latency-confirm.svg latency-confirm.csv latency-delivery.png latency-delivery.svg latency-delivery.csv percentiles.png percentiles.svg percentiles.csv")
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Errorf("%d entries in the directory, %v", len(entries), err)
	}
	if files, err = Write(dir, loadSample(t, "stall"), Options{Formats: []string{"svg"}}); err != nil || len(files) != 2*4 {
		t.Errorf("once more, as SVG alone: %q, %v", files, err)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(dir, "blocked")
	if err := os.MkdirAll(filepath.Join(blocked, "rates.svg", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := loadSample(t, "stall")
	for _, c := range []struct {
		name  string
		dir   string
		r     *result.Result
		o     Options
		files int
		want  string
	}{
		{"no result", dir, nil, Options{}, 0, "there is no result"},
		{"unknown format", dir, r, Options{Formats: []string{"gif"}}, 0, `chart format "gif" is unknown: use svg, png, pdf, eps, tex`},
		{"unknown chart", dir, r, Options{Names: []string{"rates", "pie"}}, 0, `"pie" is no chart: there are rates, backlog, `},
		{"unknown style", dir, r, Options{Style: "neon"}, 0, `chart style "neon" is unknown: use light, dark, print`},
		{"unknown font", dir, r, Options{Font: "Comic"}, 0, `chart font "Comic" is not among those that are built in: use sans, serif, mono`},
		{"too narrow", dir, r, Options{WidthIn: 1}, 0, "chart width 1 inches: use 3 to 40"},
		{"too high", dir, r, Options{HeightIn: 99}, 0, "chart height 99 inches: use 2 to 40"},
		{"too coarse", dir, r, Options{DPI: 1}, 0, "chart resolution 1 dots per inch: use 50 to 1200"},
		{"too many pixels", dir, r, Options{WidthIn: 40, HeightIn: 40, DPI: 1200}, 0, "more than 64 million pixels"},
		{"a file in the way of the directory", file, r, Options{}, 0, "draw charts: mkdir"},
		{"a directory in the way of a file: the others are drawn", blocked, r, Options{Formats: []string{"svg"}}, 3 + 4, "rates.svg: rename"},
	} {
		files, err := Write(c.dir, c.r, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(files) != c.files {
			t.Errorf("%s: %q, %v", c.name, files, err)
		}
	}
	if _, err := Encode(&Spec{}, "gif", Options{}); err == nil {
		t.Error("Encode took an unknown format")
	}
}

// C107: an environment without anything, no home, no fonts, no display.
func TestEmptyEnvironment(t *testing.T) {
	const key = "LEVERET_CHART_TEST_DIR"
	if dir := os.Getenv(key); dir != "" { // the process below
		if len(os.Environ()) > 1 || os.Getenv("HOME") != "" {
			t.Fatalf("the environment is not empty: %q", os.Environ())
		}
		if _, err := Write(dir, loadSample(t, "stall"), Options{DPI: 60}); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestEmptyEnvironment$")
	cmd.Env = []string{key + "=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	here := t.TempDir()
	files, err := Write(here, loadSample(t, "stall"), Options{DPI: 60})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.Base(f)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs with the environment", filepath.Base(f))
		}
	}
}
