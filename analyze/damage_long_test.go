//go:build long

package analyze

import (
	"fmt"
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
	p := newPatient(t, dir, whole)
	if n := len(p.good[deliveries]); n < most {
		t.Fatalf("%s has %d bytes", deliveries, n)
	}
	analyses, cuts := 0, 0
	for _, name := range p.names {
		size, span, before := len(p.good[name]), 4<<10, ""
		if name == deliveries {
			span = most
		}
		for cut := max(0, size-span); cut < size && !t.Failed(); cut++ {
			cuts++
			b := p.good[name]
			p.put(name, b[:cut:cut])
			now := p.opened(name)
			if now != before || cut%64 == 0 {
				p.cut(name, cut)
				analyses++
			}
			before = now
		}
		p.heal()
	}
	t.Logf("%d cuts, %d of them analyzed", cuts, analyses)
}

var numbers = regexp.MustCompile(`[0-9]+`)

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
	text := numbers.ReplaceAllString(strings.Join(c.reasons, "\n"), "N")
	rows := int64(0)
	for _, b := range c.batches {
		if b.file.name == name {
			text += fmt.Sprintf("\n%d %d %d", b.offset, b.length, b.rows)
		}
		rows += b.rows
	}
	return fmt.Sprintf("%s\n%d batches, %d rows, %v %v %v", text, len(c.batches), rows, c.final, c.journal != nil, c.id)
}
