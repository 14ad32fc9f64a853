package manifest

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func aMark(text string) *Mark {
	return &Mark{AtNS: 1_800_000_000_000_000_001, Clock: ClockMonotonic, From: MarkFromUser, Text: text}
}

// A line is what the page about the format says.
func TestMarkLine(t *testing.T) {
	dir := t.TempDir()
	m := aMark("größer \"x\"")
	m.Purged = "q"
	if err := AddMark(dir, m); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, MarksName))
	if err != nil {
		t.Fatal(err)
	}
	before := `{"at_ns":1800000000000000001,"clock":"monotonic","from":"mark","text":"größer \"x\"","purged":"q"`
	if want := fmt.Sprintf("%s,\"crc32c\":\"%08x\"}\n", before, crc32.Checksum([]byte(before), crc32.MakeTable(0x82F63B78))); string(b) != want {
		t.Errorf("%s want %s", b, want)
	}
	if marks, damaged := ReadMarks(dir); len(damaged) > 0 || len(marks) != 1 || marks[0] != *m {
		t.Errorf("%+v %v", marks, damaged)
	}
}

// Several processes add marks at a time; here several of the file's handles.
func TestMarksAtATime(t *testing.T) {
	const writers, each = 16, 40
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := AddMark(dir, aMark(fmt.Sprintf("%d of %d %s", i, w, strings.Repeat("x", 20*w)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	marks, damaged := ReadMarks(dir)
	if len(damaged) > 0 || len(marks) != writers*each {
		t.Fatalf("%d marks, %v", len(marks), damaged)
	}
	next := [writers]int{} // those of one writer in their order
	for _, m := range marks {
		var i, w int
		if _, err := fmt.Sscanf(m.Text, "%d of %d", &i, &w); err != nil || next[w] != i {
			t.Fatalf("%q, want %d", m.Text, next[w])
		}
		next[w]++
	}
}

// Every bit flipped, cut at every byte: the lines that are whole are read, the one that is not is named; and a mark that is added
// then is whole.
func TestMarksDamaged(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"one", "two", "three"} {
		if err := AddMark(dir, aMark(text)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, MarksName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := func(b []byte) (all []string, damaged []string) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		marks, damaged := ReadMarks(dir)
		for _, m := range marks {
			all = append(all, m.Text)
		}
		return all, damaged
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	for at := range good {
		for bit := range 8 {
			b := bytes.Clone(good)
			b[at] ^= 1 << bit
			read, damaged := texts(b)
			hit := bytes.Count(good[:at], []byte("\n"))
			want := []string{"one", "two", "three"}
			want = slices.Delete(want, hit, hit+1)
			if good[at] == '\n' && hit < 2 { // the next line goes with it
				want = slices.Delete(want, hit, hit+1)
			}
			if !slices.Equal(read, want) || len(damaged) == 0 || !strings.Contains(damaged[0], "line ") {
				t.Fatalf("bit %d of byte %d flipped: %q, %q", bit, at, read, damaged)
			}
		}
		read, damaged := texts(good[:at])
		whole := bytes.Count(good[:at], []byte("\n"))
		if torn := at > 0 && good[at-1] != '\n'; len(read) != whole || (len(damaged) > 0) != torn {
			t.Fatalf("cut at %d: %q, %q", at, read, damaged)
		}
		if at%17 == 0 {
			if err := AddMark(dir, aMark("after")); err != nil {
				t.Fatal(err)
			}
			if marks, _ := ReadMarks(dir); len(marks) != whole+1 || marks[whole].Text != "after" {
				t.Fatalf("cut at %d, then added: %+v", at, marks)
			}
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d lines", len(lines))
	}
}

// A file that is too large is neither read whole nor added to.
func TestMarksBounded(t *testing.T) {
	dir := t.TempDir()
	if err := AddMark(dir, aMark("first")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, MarksName), 20<<20); err != nil {
		t.Fatal(err)
	}
	if marks, damaged := ReadMarks(dir); len(marks) != 1 || len(damaged) == 0 || !strings.Contains(damaged[0], "more than 16777216 bytes") {
		t.Errorf("%+v %.200q", marks, damaged)
	}
	if err := AddMark(dir, aMark("more")); err == nil || !strings.Contains(err.Error(), "it takes no more") {
		t.Error(err)
	}
}

// FuzzMarks reads any file of marks; what is read can be written and read again.
func FuzzMarks(f *testing.F) {
	line, err := aMark("x").line()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseMark(b)
		if err != nil {
			return
		}
		line, err := m.line()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseMark(line); err != nil || *again != *m {
			t.Errorf("%v: %+v, was %+v", err, again, m)
		}
	})
}
