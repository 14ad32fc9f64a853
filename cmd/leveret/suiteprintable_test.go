package main

import (
	"strings"
	"testing"
)

// Control characters of a suite's titles and labels reach no terminal, and a title of two lines stays one comment of the CSV.
func TestControlCharactersOfASuiteAreNotPrinted(t *testing.T) {
	file, dir := suiteFile(t, `
options: {pmessages: 10, rate: 500}
tables:
  - title: "first\nsecond\e[2J"
    axes: [{option: size, values: [{label: "\e]0;x\a", is: 12}]}]
    columns: [{figure: sent}]
  - {title: other, rows: [{name: "a\e[1mb"}], columns: [{figure: sent}]}
`)
	code, stdout, stderr := invoke(t, "suite", file, "--capture", dir, "--format", "csv")
	if code != exitOK || !strings.HasPrefix(stdout, "# first second") {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	if comment, _, _ := strings.Cut(stdout, "\n"); strings.ContainsAny(comment+stderr, "\x1b\a") {
		t.Errorf("control characters: %q %q", comment, stderr)
	}
}
