package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"leveret/loadcore/rabbitmqtest"
)

// Every command of the README works as it stands there, with the placeholders filled in and the run made shorter. The make
// targets are run by CI; here they only have to exist.
func TestREADMECommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	uri := rabbitmqtest.Shared(t).URI(t)
	t.Chdir(t.TempDir())
	ran := 0
	for _, line := range commandLines(string(readme)) {
		words := strings.Fields(line)
		if words[0] == "make" {
			if !regexp.MustCompile(`(?m)^` + words[1] + `:`).Match(makefile) {
				t.Errorf("the README has %q, the Makefile has no such target", line)
			}
			continue
		}
		if words[0] != "bin/leveret" {
			t.Errorf("a command that no test knows: %q", line)
			continue
		}
		ran++
		for i, w := range words {
			switch {
			case strings.HasPrefix(w, "amqp://user:pass@"):
				words[i] = uri
			case i > 0 && words[i-1] == "--time":
				words[i] = "2"
			}
		}
		want := exitOK
		if strings.Contains(line, "--faults") {
			want = exitVerdict
		}
		if code, _, stderr := invoke(t, words[1:]...); code != want {
			t.Errorf("%s: exit %d, want %d\n%s", line, code, want, stderr)
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands found in the README", ran)
	}
}

// commandLines are the lines of the sh blocks, continued ones joined.
func commandLines(markdown string) []string {
	var lines []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(markdown, -1) {
		joined := strings.ReplaceAll(block[1], "\\\n", " ")
		for line := range strings.Lines(joined) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
