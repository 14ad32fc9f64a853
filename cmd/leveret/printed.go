package main

import (
	"fmt"
	"io"
	"sync/atomic"
)

// printed is standard output with lines that do not end the run where they cannot be written. It remembers the first error that
// lost some of them. Safe for concurrent use where what it writes to is.
type printed struct {
	to   io.Writer
	lost atomic.Pointer[error]
}

// Write hands on every piece, also after an error: a disk may have room again.
func (p *printed) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if err != nil && !pipeClosed(err) {
		p.lost.CompareAndSwap(nil, &err)
	}
	return n, err
}

// err tells that lines are missing from the output, and why. Nobody reading them any more is no error; nor is p nil, which
// has lost nothing.
func (p *printed) err() error {
	if p == nil || p.lost.Load() == nil {
		return nil
	}
	return fmt.Errorf("lines of standard output could not be written: %w", *p.lost.Load())
}
