// Package rules tests what the project has decided about itself: who may import whom, which names stand at the top of the
// repository, and that its text speaks only of itself. It holds no code of the program.
package rules

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var topLevel = []string{
	"cmd", "loadcore", "capture", "analyze", "reports", "go.mod", "Makefile", "README.md",
	"go.sum", "LICENSE", ".gitignore", ".ci",
}

// trackedFiles returns the files of the repository; where it is no git repository (an archive), those on the disk without
// what is built or recorded.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	dir := root(t)
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = dir
	if output, err := cmd.Output(); err == nil && len(output) > 0 {
		return strings.Split(strings.TrimSuffix(string(output), "\x00"), "\x00")
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "captures"}, name) {
			return filepath.SkipDir
		}
		if !entry.IsDir() {
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTopLevelNames(t *testing.T) {
	found := map[string]bool{}
	for _, file := range trackedFiles(t) {
		name, _, _ := strings.Cut(file, "/")
		found[name] = true
		if !slices.Contains(topLevel, name) {
			t.Errorf("%s: %s does not belong at the top level; it holds only %s", file, name, strings.Join(topLevel, ", "))
		}
	}
	for _, name := range topLevel {
		if !found[name] {
			t.Errorf("%s is missing at the top level", name)
		}
	}
}

// foreign are texts that belong to one machine or to one way of fetching packages, not to the project. They are put
// together here, so that this file does not hold them.
var foreign = []string{
	"/" + "work/main", "/" + "work/shared", "/" + "work/.", "/" + "root/", "/" + "home/",
	"proxy" + ".golang.org", "sum" + ".golang.org", "registry" + ".npmjs.org", "deb" + ".debian.org", "/" + "usr/local/go/",
	"issues" + " show", "before" + "-stop",
}

func TestTextSpeaksOnlyOfTheProject(t *testing.T) {
	texts := 0
	for _, file := range trackedFiles(t) {
		text, err := os.ReadFile(filepath.Join(root(t), file))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			continue // a picture, or a recording
		}
		texts++
		for i, line := range strings.Split(string(text), "\n") {
			for _, word := range foreign {
				if strings.Contains(line, word) {
					t.Errorf("%s:%d: %q does not belong into the project's text", file, i+1, word)
				}
			}
		}
	}
	if texts < 10 {
		t.Errorf("only %d text files were found", texts)
	}
}
