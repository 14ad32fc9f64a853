package main

import (
	"net"
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
	node := rabbitmqtest.Shared(t)
	uri := node.URI(t)
	t.Chdir(t.TempDir())
	t.Setenv(asMain, "1") // runs that are repeated are processes of their own
	ran := 0
	for _, line := range commandLines(string(readme)) {
		words := strings.Fields(line)
		if words[0] == "make" {
			if !regexp.MustCompile(`(?m)^` + words[1] + `:`).Match(makefile) {
				t.Errorf("the README has %q, the Makefile has no such target", line)
			}
			continue
		}
		ran++
		t.Run(line, func(t *testing.T) { runREADMECommand(t, line, uri, node.ManagementURL()) })
	}
	if ran < 10 {
		t.Errorf("only %d commands found in the README", ran)
	}
}

// runREADMECommand runs one line, which may begin with a variable of the environment.
func runREADMECommand(t *testing.T, line, uri, management string) {
	words := shellWords(line)
	for i, w := range words {
		switch before := words[max(i-1, 0)]; {
		case strings.HasPrefix(w, "amqp://user:pass@"):
			words[i] = uri
		case before == "--management-uri":
			words[i] = management
		case before == "--time" || before == "-z":
			words[i] = "2"
		case before == "--repeat":
			words[i] = "1"
		case before == "--metrics-prometheus-port":
			words[i] = freePort(t)
		}
	}
	if name, value, is := strings.Cut(words[0], "="); is {
		if !strings.HasPrefix(value, "amqp://user:pass@") {
			t.Fatalf("a variable that no test knows: %q", line)
		}
		t.Setenv(name, uri)
		words = words[1:]
	}
	if words[0] != "bin/leveret" {
		t.Fatalf("a command that no test knows: %q", line)
	}
	want := exitOK
	if strings.Contains(line, "--faults") {
		want = exitVerdict
	}
	code, stdout, stderr := invoke(t, words[1:]...)
	if code != want {
		t.Errorf("exit %d, want %d\n%s\n%s", code, want, stderr, stdout)
	}
	if strings.Contains(line, "LEVERET_URI") && !strings.Contains(stderr, "RabbitMQ") {
		t.Errorf("not through the broker of the environment:\n%s", stderr)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// shellWords splits at blanks, but not between single quotes.
func shellWords(line string) (words []string) {
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	return words
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
