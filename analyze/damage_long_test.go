//go:build long

package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leveret/capture/schema"
)

const (
	cutsOfAFile  = 200
	randomDamage = 1002

	recordedHistories = 1000
	shownHistories    = 20000
)

// The largest file cut at every byte of its last 64 KiB, which begin in the middle of its batches, and the others at every
// byte of their last 4 KiB. What a cut leaves is opened and compared with what the cut before left; it is analyzed where another
// batch is gone or something else is said of it, and at every 64th byte: of the bytes behind the last whole batch an analysis
// reads none.
func TestCutAtEveryByte(t *testing.T) {
	const most = 64 << 10
	dir, whole := captureOf(t, 300, "none", false)
	deliveries := schema.FileName(schema.Deliveries, 0)
	sizes := newPatient(t, dir, whole)
	if n := len(sizes.good[deliveries]); n < most {
		t.Fatalf("%s has %d bytes", deliveries, n)
	}
	span := func(name string, from, to int) { // counted from the end
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newPatient(t, dir, whole).cutEverywhere(name, from, to)
		})
	}
	span(deliveries, most, most/2)
	span(deliveries, most/2, 0)
	for _, name := range sizes.names {
		if name != deliveries {
			span(name, 4<<10, 0)
		}
	}
}

// cutEverywhere cuts a file at every byte between two places, counted from its end.
func (p *patient) cutEverywhere(name string, from, to int) {
	p.t.Helper()
	size, path := len(p.good[name]), filepath.Join(p.dir, name)
	analyses, cuts, before := 0, 0, ""
	for cut := size - to - 1; cut >= max(0, size-from) && !p.t.Failed(); cut-- {
		if err := os.Truncate(path, int64(cut)); err != nil {
			p.t.Fatal(err)
		}
		now := p.opened(name)
		cuts++
		if now != before || cut%64 == 0 {
			p.cut(name, cut)
			analyses++
		}
		before = now
	}
	p.t.Logf("%d cuts, %d of them analyzed", cuts, analyses)
}

var anyNumber = regexp.MustCompile(`[0-9]+`)

// opened opens what is left, and tells all that an analysis knows of it before it reads a row, but for the numbers in the reasons.
func (p *patient) opened(name string) string {
	p.t.Helper()
	c, err := openCapture(p.dir, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.close()
	if len(c.reasons) == 0 {
		return "whole"
	}
	text := anyNumber.ReplaceAllString(strings.Join(c.reasons, "\n"), "N")
	rows := int64(0)
	for _, b := range c.batches {
		if b.file.name == name {
			text += fmt.Sprintf("\n%d %d %d", b.offset, b.length, b.rows)
		}
		rows += b.rows
	}
	return fmt.Sprintf("%s\n%d batches, %d rows, %v %v %v", text, len(c.batches), rows, c.final, c.journal != nil, c.id)
}
