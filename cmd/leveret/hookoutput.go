package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"

	"leveret/capture/manifest"
)

// What hooks write goes to leveret's standard error, line by line, and the beginning of what one that failed has complained of into
// its mark.

// Bounds of the output of a hook: of a line, and of what is kept of its standard error.
const (
	mostHookLine  = 4096
	mostComplaint = 200
	keptLines     = 2
)

// outputGrace is how long the mark of a hook that has ended waits for the rest of its output: a command that it has left behind may
// hold that open.
const outputGrace = 300 * time.Millisecond

// hookOutput reads what one hook writes.
type hookOutput struct {
	h       *hooks
	pipes   []*os.File // to be closed when the run is over
	writers []*os.File // the command's ends
	reading sync.WaitGroup

	mu   sync.Mutex
	kept []string // the first lines of standard error
}

// attach gives a command that has not begun pipes for its output.
func (h *hooks) attach(cmd *exec.Cmd) (*hookOutput, error) {
	o := &hookOutput{h: h}
	for _, to := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			o.begun()
			o.close()
			return nil, err
		}
		*to = w
		o.pipes, o.writers = append(o.pipes, r), append(o.writers, w)
	}
	h.mu.Lock()
	h.outputs = append(h.outputs, o)
	h.mu.Unlock()
	for i, r := range o.pipes {
		o.reading.Go(func() { o.read(r, i == 1) })
	}
	return o, nil
}

// begun leaves the command's ends to the command.
func (o *hookOutput) begun() {
	for _, w := range o.writers {
		w.Close()
	}
}

func (o *hookOutput) close() {
	for _, r := range o.pipes {
		r.Close()
	}
}

// read passes lines on until nobody writes any more. Of a line that is too long the end is left out.
func (o *hookOutput) read(r io.Reader, complains bool) {
	var line []byte
	long := false
	end := func() {
		o.line(string(line), long, complains)
		line, long = line[:0], false
	}
	buffer := make([]byte, 4096)
	for {
		n, err := r.Read(buffer)
		for _, b := range buffer[:n] {
			switch {
			case b == '\n':
				end()
			case len(line) < mostHookLine:
				line = append(line, b)
			default:
				long = true
			}
		}
		if err != nil {
			if len(line) > 0 {
				end()
			}
			return
		}
	}
}

// line takes one line. What is left of a word that was cut is left out: it may be half a URI, with its password.
func (o *hookOutput) line(text string, cut, complains bool) {
	if cut {
		text = text[:strings.LastIndexAny(text, " \t")+1] + "..."
	}
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, withoutPasswords(strings.ToValidUTF8(text, "?")))
	if !o.h.r.options.Quiet {
		o.h.say(text)
	}
	if text = oneLine(text); !complains || text == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.kept) < keptLines {
		o.kept = append(o.kept, text)
	}
}

// complaint is the beginning of what the command wrote to standard error, on one line, at most so many bytes; "" where it wrote
// nothing. It waits a moment for what is on its way.
func (o *hookOutput) complaint(most int) string {
	done := make(chan struct{})
	go func() {
		o.reading.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(outputGrace):
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	text, most := strings.Join(o.kept, "; "), min(most, mostComplaint)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:max(0, most-3)], "") + "..."
	}
	return text
}

// withComplaint is the text of a mark, and what a command that failed has complained of, as far as a mark has room.
func withComplaint(text string, o *hookOutput) string {
	const says = "; it says: "
	room := manifest.MaxMarkText - len(text) - len(says)
	if room < 10 {
		return text
	}
	if c := o.complaint(room); c != "" {
		return text + says + c
	}
	return text
}
