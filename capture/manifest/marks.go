package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"leveret/capture/event"
)

// MarksName is the file of a capture's marks; part of the format. It is none of the recorder's: any process may add to it, while
// the capture is being recorded and afterwards.
const MarksName = "marks.jsonl"

// MaxMarkText is the most bytes that the text of a mark has.
const MaxMarkText = 1000

// maxMarksBytes bounds the file, and with it the memory of who reads it.
const maxMarksBytes = 16 << 20

// Mark is one line of the file: something that somebody saw or did at a moment of the run.
type Mark struct {
	AtNS int64 `json:"at_ns"` // on the capture's clock
	// Clock is how AtNS came onto that clock: ClockMonotonic, or ClockWall.
	Clock string `json:"clock"`
	// From is who wrote it: MarkFromUser or MarkFromHook.
	From string `json:"from"`
	Text string `json:"text"` // one line, 1 to MaxMarkText bytes
	// Purged is the queue, by its name, that was purged at that moment, or just before; "": none.
	Purged string `json:"purged,omitempty"`
}

// How the time of a mark came onto the capture's clock; part of the format.
const (
	ClockMonotonic = "monotonic" // exact: read on the recording host, since the same boot
	ClockWall      = "wall"      // as far off as the wall clocks are
)

// Who writes marks; part of the format.
const (
	MarkFromUser = "mark"
	MarkFromHook = "hook"
)

const markSeal = `,"crc32c":"%08x"}` + "\n"

// Check finds what a mark must not be.
func (m *Mark) Check() error {
	switch {
	case strings.TrimSpace(m.Text) == "":
		return errors.New("mark: without a text: say in a few words what happened")
	case len(m.Text) > MaxMarkText:
		return fmt.Errorf("mark: a text of %d bytes: at most %d", len(m.Text), MaxMarkText)
	case !utf8.ValidString(m.Text) || strings.ContainsFunc(m.Text, unicode.IsControl):
		return fmt.Errorf("mark: the text %q: must be one line of UTF-8", m.Text)
	case m.AtNS == event.None:
		return errors.New("mark: without a time")
	}
	return nil
}

// line is a mark as it stands in the file: a JSON object, and as its last key the CRC-32C of all bytes before the comma that
// precedes it.
func (m *Mark) line() ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1] // the closing brace
	return fmt.Appendf(b, markSeal, crc32.Checksum(b, castagnoli)), nil
}

// AddMark writes a mark behind those that a capture has. Several processes may do so at a time: each line is one write to the end
// of the file.
func AddMark(dir string, m *Mark) error {
	if err := m.Check(); err != nil {
		return err
	}
	line, err := m.line()
	if err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, MarksName), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	return errors.Join(appendLine(f, line), f.Close())
}

func appendLine(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	if info.Size()+int64(len(line)) > maxMarksBytes {
		return fmt.Errorf("mark: %s has %d bytes already, at most %d: it takes no more", f.Name(), info.Size(), maxMarksBytes)
	}
	last := []byte{'\n'}
	if info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return fmt.Errorf("mark: %w", err)
		}
	}
	if last[0] != '\n' { // somebody's write was cut short: only that line is damaged
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("mark: %w", err)
	}
	return nil
}

// ReadMarks reads the marks of a capture, in the order in which they were written; none where it has no such file. What is
// damaged is left out and named, one line each.
func ReadMarks(dir string) (marks []Mark, damaged []string) {
	f, err := os.Open(filepath.Join(dir, MarksName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []string{err.Error()}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxMarksBytes+1))
	if err != nil {
		return nil, []string{err.Error()}
	}
	if len(b) > maxMarksBytes {
		b = b[:maxMarksBytes]
		damaged = append(damaged, fmt.Sprintf("more than %d bytes: the rest was not read", maxMarksBytes))
	}
	for n, line := range bytes.SplitAfter(b, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m, err := parseMark(line)
		if err != nil {
			damaged = append(damaged, fmt.Sprintf("line %d: %v", n+1, err))
			continue
		}
		marks = append(marks, *m)
	}
	return marks, damaged
}

func parseMark(line []byte) (*Mark, error) {
	i := bytes.LastIndex(line, []byte(markSeal[:len(`,"crc32c":"`)]))
	if i < 0 {
		return nil, errors.New("without its checksum")
	}
	if want := fmt.Appendf(nil, markSeal, crc32.Checksum(line[:i], castagnoli)); !bytes.Equal(line[i:], want) {
		return nil, errors.New("its checksum does not hold")
	}
	m := new(Mark)
	if err := json.Unmarshal(line, m); err != nil {
		return nil, err
	}
	return m, m.Check()
}
