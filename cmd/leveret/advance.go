package main

import (
	"fmt"
	"io"
	"time"

	"leveret/analyze/result"
	"leveret/cmd/internal/panel"
	"leveret/loadcore/topology"
)

// advanceEvery is how often long work tells how far it has got.
const advanceEvery = time.Second

// advance tells how far the declaring or removing of many objects has got, through show, at most once a second. What is done within
// the first second is not worth a word.
func advance(what string, show func(text string)) topology.Advance {
	last := time.Now()
	return func(done, all int) {
		if time.Since(last) < advanceEvery {
			return
		}
		last = time.Now()
		show(fmt.Sprintf("%s: %s of %s", what, result.Group(int64(done)), result.Group(int64(all))))
	}
}

// advanceOn shows it as a status on a terminal, else as lines; nowhere where quiet is asked for. The second function takes a status away.
func advanceOn(out io.Writer, quiet bool, what string) (topology.Advance, func()) {
	status := panel.NewStatus(out, quiet)
	switch {
	case quiet:
		return nil, func() {}
	case status.Shows():
		return advance(what, status.Show), func() { status.Show("") }
	}
	return advance(what, func(text string) { fmt.Fprintln(out, text) }), func() {}
}
