package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/cmd/internal/suite"
)

// What cannot be analyzed is said with the option, or the path that was given, and what to do about it.
func TestMistakesOfAnalyzeAreExplained(t *testing.T) {
	t.Parallel()
	_, _, dir := record(t, "--pmessages", "10")
	above := filepath.Dir(dir)
	holding := func(name, text string) string {
		all := t.TempDir()
		if err := os.CopyFS(filepath.Join(all, "run1"), os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(all, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return all
	}
	repeated, rows := holding(repeatsName, `{"format_version": 1}`), holding(suite.RecordName, "{}")
	nowhere := filepath.Join(above, "nowhere")
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"analyze", dir, dir}, exitUsage, "leveret analyze: capture " + dir + " is given twice: give each once"},
		{[]string{"analyze", dir, "--interval", "1e-9"}, exitUsage, "leveret analyze: --interval=1ns: over the run's "},
		{[]string{"analyze", repeated}, exitFailed, repeated + " holds repeated runs and is no capture: leveret compare " + repeated + " compares its variants; or give one of its captures, such as " + filepath.Join(repeated, "run1")},
		{[]string{"analyze", rows, dir}, exitFailed, rows + " is the directory of a suite and no capture: leveret analyze " + rows + " makes its tables"},
		{[]string{"export", rows}, exitFailed, "or give one of the captures below it, such as " + filepath.Join(rows, "run1")},
		{[]string{"analyze", above}, exitFailed, above + " is no capture, but there are some below it: give one of them, such as " + dir},
		{[]string{"mark", above, "stopped"}, exitFailed, above + " is no capture, but there are some below it: give one of them, such as " + dir},
		{[]string{"analyze", dir, "-o", filepath.Join(nowhere, "x.html")}, exitFailed, "--output=" + filepath.Join(nowhere, "x.html") + ": there is no directory " + nowhere + ": make it, or give another path"},
		{[]string{"export", dir, "--output", filepath.Join(nowhere, "x.csv")}, exitFailed, "--output=" + filepath.Join(nowhere, "x.csv") + ": there is no directory " + nowhere + ": make it, or give another path"},
	} {
		args := tt.args
		if args[0] != "mark" {
			args = append(args, "--quiet")
		}
		code, _, stderr := invoke(t, args...)
		if code != tt.code || !strings.Contains(stderr, tt.says) || strings.Contains(stderr, ".part") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, want %d and %q\n%s", tt.args, code, tt.code, tt.says, stderr)
		}
	}
}

// A recording that was killed takes marks of the time in which it recorded, by the time of day, and no others.
func TestMarksOfARecordingThatWasKilled(t *testing.T) {
	t.Parallel()
	_, _, dir := record(t, "--pmessages", "10")
	path := filepath.Join(dir, manifest.StartName)
	m, err := manifestOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.ClockStart.BootID == "" {
		t.Log("this system has no boot id: whether a recording goes on cannot be told")
		return
	}
	written, err := os.Stat(filepath.Join(dir, manifest.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	m.Outcome, m.Recording, m.ClockEnd, m.PID = nil, nil, nil, math.MaxInt32 // no process has that id
	b, err := manifest.Encode(m)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err == nil {
		err = os.Remove(filepath.Join(dir, manifest.FinalName))
	}
	if err != nil {
		t.Fatal(err)
	}
	stamp := func(at time.Time) string { return at.Format("2006-01-02T15:04:05.999999999Z07:00") }
	for _, tt := range []struct{ at, says string }{
		{"", "the recording was cut short, it was recorded from "},
		{"0", "--at: the recording was cut short, so that it is not known when its load began: give a time of day"},
		{stamp(written.ModTime().Add(time.Second)), "is outside of what was recorded, from "},
	} {
		args := []string{"mark", dir, "stopped"}
		if tt.at != "" {
			args = append(args, "--at", tt.at)
		}
		if code, _, stderr := invoke(t, args...); code != exitUsage || !strings.Contains(stderr, tt.says) {
			t.Errorf("%q: exit %d\n%s", args, code, stderr)
		}
	}
	mark(t, dir, "it was here", "--at", stamp(written.ModTime().Add(-time.Millisecond)))
	if r := analyzedJSON(t, dir); len(r.Marks) != 1 || r.Complete {
		t.Errorf("%+v, complete %v", r.Marks, r.Complete)
	}
}
