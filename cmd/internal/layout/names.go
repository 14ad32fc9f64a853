package layout

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Bounds of what makes queues.
const (
	mostQueues   = 1 << 16 // so many a row of the record can name
	mostNameSize = 255     // bytes, AMQP 0-9-1 section 4.2.5.3
)

// nameQueues finds out what the queues are called. PerfTest lets a pattern win over a list, and a file over a list.
func (b *builder) nameQueues() (err error) {
	o := b.o
	pattern := o.QueuePattern != "" || b.given("queue-pattern")
	switch {
	case pattern && o.QueueFile != "":
		return errors.New("--queue-pattern and --queue-file both name the queues: give one of them")
	case pattern:
		b.names, err = b.patternNames()
	case b.given("queue-pattern-from") || b.given("queue-pattern-to"):
		return errors.New("--queue-pattern-from and --queue-pattern-to count the queues of a pattern: give --queue-pattern, such as queue-%d")
	case o.QueueFile != "":
		b.names, err = queueFile(o.QueueFile)
	default:
		b.names = o.Queues
		return nil
	}
	b.Sequence = true
	if err == nil && len(o.Queues) > 0 {
		by := "--queue-file"
		if pattern {
			by = "--queue-pattern"
		}
		b.note("--queue=%s is not used: %s names the queues", strings.Join(o.Queues, ","), by)
	}
	return err
}

func (b *builder) patternNames() ([]string, error) {
	o := b.o
	if !b.given("queue-pattern-from") || !b.given("queue-pattern-to") {
		return nil, fmt.Errorf("--queue-pattern=%s needs to know which numbers to fill in: give --queue-pattern-from and --queue-pattern-to, both inclusive", o.QueuePattern)
	}
	from, to := o.QueuePatternFrom, o.QueuePatternTo
	switch {
	case from < 0:
		return nil, fmt.Errorf("--queue-pattern-from=%d: must be 0 or more", from)
	case to < from:
		return nil, fmt.Errorf("--queue-pattern-from=%d is above --queue-pattern-to=%d: there would be no queue", from, to)
	case to-from >= mostQueues:
		return nil, fmt.Errorf("--queue-pattern-from=%d to --queue-pattern-to=%d makes %d queues: at most %d are possible", from, to, to-from+1, mostQueues)
	}
	number, err := parsePattern(o.QueuePattern)
	if err != nil {
		return nil, fmt.Errorf("--queue-pattern=%s: %w", o.QueuePattern, err)
	}
	names := make([]string, 0, to-from+1)
	for n := from; n <= to; n++ {
		name := number(n)
		if len(name) > mostNameSize {
			return nil, fmt.Errorf("--queue-pattern=%.40s...: makes names of %d bytes, and at most %d fit", o.QueuePattern, len(name), mostNameSize)
		}
		names = append(names, name)
	}
	return names, nil
}

// queueFile reads the names of queues, one a line. Blank lines name none.
func queueFile(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--queue-file=%s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	var names []string
	lines := map[string]int{}
	scanner := bufio.NewScanner(f)
	n := 1
	for ; scanner.Scan(); n++ {
		name := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\ufeff"))
		switch first := lines[name]; {
		case name == "":
			continue
		case len(name) > mostNameSize:
			return nil, fmt.Errorf("--queue-file=%s: line %d has %d bytes, and a queue's name at most %d", path, n, len(name), mostNameSize)
		case first > 0:
			return nil, fmt.Errorf("--queue-file=%s: line %d names the queue %q again, after line %d: name each queue once", path, n, name, first)
		case len(names) == mostQueues:
			return nil, fmt.Errorf("--queue-file=%s: line %d is one queue too many, at most %d are possible", path, n, mostQueues)
		}
		lines[name] = n
		names = append(names, name)
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("--queue-file=%s: line %d has more than %d bytes, and a queue's name at most %d; write one name a line", path, n, bufio.MaxScanTokenSize-1, mostNameSize)
	case err != nil:
		return nil, fmt.Errorf("--queue-file=%s: line %d: %w", path, n, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("--queue-file=%s: names no queue; write one name a line", path)
	}
	return names, nil
}
