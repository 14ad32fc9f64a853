package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"leveret/analyze"
	"leveret/cmd/internal/options"
)

func TestExportToAFile(t *testing.T) {
	_, _, capture := record(t, "--pmessages", "300", "--confirm", "10", "--faults", "drop@100,duplicate@200")
	dir := t.TempDir()
	file := filepath.Join(dir, "messages.jsonl")
	code, stdout, stderr := invoke(t, "export", capture, "--output", file)
	if b, err := os.ReadFile(file); code != exitOK || stdout != "" || err != nil || bytes.Count(b, []byte("\n")) != 300 || !bytes.HasPrefix(b, []byte(`{"capture":`)) {
		t.Errorf("exit %d, %d bytes of JSON lines: %v\n%s%s", code, len(b), err, stdout, stderr)
	}
	if !strings.Contains(stderr, "300 rows in "+file) {
		t.Errorf("stderr: %s", stderr)
	}
	// The file stays as it is unless it is given up.
	code, _, stderr = invoke(t, "export", capture, "--where", "lost", "--output", file)
	if b, _ := os.ReadFile(file); code != exitFailed || !strings.Contains(stderr, "--force replaces it") || bytes.Count(b, []byte("\n")) != 300 {
		t.Errorf("exit %d, %d bytes\n%s", code, len(b), stderr)
	}
	code, _, stderr = invoke(t, "export", capture, "--where", "lost", "--output", file, "--force", "--quiet", "--format", "csv")
	b, _ := os.ReadFile(file)
	if lines := strings.Split(string(b), "\r\n"); code != exitOK || stderr != "" || len(lines) != 3 || !strings.HasPrefix(lines[0], "capture,tag,producer,seq,") || !strings.HasSuffix(lines[1], ",lost,,") {
		t.Errorf("exit %d: %q\n%s", code, b, stderr)
	}
	// What could not be written leaves nothing behind, nor is a folder taken for a file.
	if code, _, stderr = invoke(t, "export", filepath.Join(dir, "none"), "--output", filepath.Join(dir, "x.csv")); code != exitFailed || !strings.Contains(stderr, "none") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, _, stderr = invoke(t, "export", capture, "--output", dir, "--force"); code != exitFailed || !strings.Contains(stderr, "is no file") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// A capture that is damaged is exported as far as it goes; --strict makes that an exit code.
func TestExportOfADamagedCapture(t *testing.T) {
	_, _, capture := record(t, "--pmessages", "300", "--confirm", "10")
	if err := os.Truncate(filepath.Join(capture, "sends-00.arrow"), 900); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := invoke(t, "export", capture, "--rows", "deliveries")
	if code != exitOK || strings.Count(stdout, "\r\n") != 301 || !strings.Contains(stderr, "INCOMPLETE: sends-00.arrow") {
		t.Errorf("exit %d, %d lines\n%s", code, strings.Count(stdout, "\r\n"), stderr)
	}
	if code, _, stderr = invoke(t, "export", capture, "--strict"); code != exitVerdict || !strings.Contains(stderr, "INCOMPLETE: sends") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// closedPipe fails as a pipe does whose reader has gone.
type closedPipe struct{ taken int }

func (p *closedPipe) Write(b []byte) (int, error) {
	if p.taken += len(b); p.taken > 100_000 {
		return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
	}
	return len(b), nil
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestExportWhoseReaderGoes(t *testing.T) {
	_, _, capture := record(t, "--pmessages", "5000", "--confirm", "100")
	for _, format := range []string{"csv", "jsonl", "parquet"} {
		for _, rows := range []string{"messages", "sends"} {
			var stderr bytes.Buffer
			args := []string{"export", capture, "--format", format, "--rows", rows}
			if code := run(t.Context(), args, strings.NewReader(""), &closedPipe{}, &stderr); code != exitOK || stderr.Len() > 0 {
				t.Errorf("%v: exit %d\n%s", args, code, &stderr)
			}
			if code := run(t.Context(), args, strings.NewReader(""), fullDisk{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
				t.Errorf("%v: exit %d\n%s", args, code, &stderr)
			}
		}
	}
}

// A real pipe whose reader takes one line.
func TestExportToHead(t *testing.T) {
	_, _, capture := record(t, "--pmessages", "20000", "--confirm", "100")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "export", capture)
	c.Env = append(os.Environ(), asMain+"=1")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 8)
	_, err = io.ReadFull(out, head)
	out.Close()
	if end := c.Wait(); err != nil || string(head) != "capture," || end != nil || stderr.Len() > 0 {
		t.Errorf("%q, %v, %v\n%s", head, err, end, &stderr)
	}
}

func TestExportInterrupted(t *testing.T) {
	_, _, capture := record(t, "--pmessages", "300", "--confirm", "10")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "x.parquet")
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"export", capture, "--output", file}, strings.NewReader(""), &stdout, &stderr)
	if _, err := os.Stat(file); code != exitInterrupted || !errors.Is(err, os.ErrNotExist) || !strings.Contains(stderr.String(), "was not written") {
		t.Errorf("exit %d, %v\n%s", code, err, &stderr)
	}
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// The help names every kind of rows and everything that can be asked for.
func TestExportHelp(t *testing.T) {
	_, text, _ := invoke(t, "export", "--help")
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n,:;", r) })
	for _, name := range append(analyze.RowKinds(), analyze.WhereNames()...) {
		found := false
		for _, w := range words {
			found = found || w == name
		}
		if !found {
			t.Errorf("the help lacks %s", name)
		}
	}
	for line := range strings.Lines(text[strings.Index(text, "What stands"):]) {
		if len(line) > 81 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
	_, o := options.NewExport()
	if chosen := selection(o); chosen.FromNS != analyze.All("messages").FromNS || chosen.Producer != -1 || chosen.Check() != nil {
		t.Errorf("without options: %+v", chosen)
	}
}
