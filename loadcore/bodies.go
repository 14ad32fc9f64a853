package loadcore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"unicode/utf8"

	"leveret/capture/manifest"
)

// MaxBodyPool bounds the bytes of all bodies of a pool together. Producers share it: it is held once, however many they are.
const MaxBodyPool = 512 << 20

// ReadBodies reads bodies from files, in their order. Its errors name the file and the option.
func ReadBodies(files []string) (pool [][]byte, about []manifest.Body, err error) {
	total := 0
	for _, name := range files {
		b, err := readBody(name, MaxBodyPool-total)
		if err != nil {
			return nil, nil, fmt.Errorf("--body: %w", err)
		}
		total += len(b)
		pool = append(pool, b)
		about = append(about, manifest.Body{Name: name, SizeBytes: len(b)})
	}
	if len(pool) == 0 {
		return nil, nil, errors.New("--body: no file is given")
	}
	return pool, about, nil
}

// readBody reads a regular file of at most so many bytes. What it is, is looked at before it is opened: opening a named pipe waits
// for whoever writes to it.
func readBody(name string, most int) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file here; name files that hold one body each, separated by commas, with their paths", name)
	case err != nil:
		return nil, err // names the file
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is no regular file: name a file whose content is the body, of at most %d MiB (all bodies together)", name, MaxBodyPool>>20)
	case info.Size() > int64(most):
		return nil, tooLarge(name, info.Size())
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err // names the file
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(b) > most { // it has grown
		return nil, tooLarge(name, int64(len(b)))
	}
	return b, nil
}

func tooLarge(name string, size int64) error {
	return fmt.Errorf("%s has %d bytes: with it the bodies have more than %d MiB together, which is the most; name a smaller file", name, size, MaxBodyPool>>20)
}

// Bounds of JSONBodies.
const (
	MaxJSONBodies = 1 << 20
	MaxJSONFields = 1 << 20
)

// JSONBodies makes count bodies of random JSON, each of at least size bytes: objects whose fields are drawn from fields
// prepared ones, of all simple types. The same seed gives the same bodies. With few fields and a large size a text at the
// end of the object makes up the rest. Its errors name the options.
func JSONBodies(count, size, fields int, seed uint64) (pool [][]byte, about []manifest.Body, err error) {
	switch {
	case count < 1 || count > MaxJSONBodies:
		return nil, nil, fmt.Errorf("--body-count=%d: want 1 to %d", count, MaxJSONBodies)
	case fields < 1 || fields > MaxJSONFields:
		return nil, nil, fmt.Errorf("--body-field-count=%d: want 1 to %d", fields, MaxJSONFields)
	case size < 0:
		return nil, nil, fmt.Errorf("--size=%d: want 0 bytes or more", size)
	case size > MaxBodyPool/count-jsonSlack:
		return nil, nil, fmt.Errorf("--body-count=%d of --size=%d are more than %d MiB together, which is the most", count, size, MaxBodyPool>>20)
	}
	m := &jsonMaker{draws: draws{state: mix(seed ^ golden)}}
	for i := range fields {
		m.fields = append(m.fields, m.field(i))
		m.order = append(m.order, i)
	}
	for i := range count {
		pool = append(pool, m.body(size))
		about = append(about, manifest.Body{Name: "JSON " + strconv.Itoa(i+1), SizeBytes: len(pool[i])})
	}
	return pool, about, nil
}

// jsonSlack bounds how many bytes a body may have beyond its size: one field and a bit.
const jsonSlack = 160

// draws is a SplitMix64 generator.
type draws struct{ state uint64 }

// upTo draws from 0 to n-1.
func (d *draws) upTo(n int) int {
	d.state += golden
	return int(wideMul(mix(d.state), uint64(n)).hi)
}

type jsonMaker struct {
	draws
	fields [][]byte // "name":value
	order  []int    // a permutation of the fields
}

// field makes the i-th field. Names differ by their number.
func (m *jsonMaker) field(i int) []byte {
	b := append([]byte{'"'}, m.word(3, 8)...)
	b = strconv.AppendInt(append(b, '_'), int64(i), 10)
	b = append(b, `":`...)
	switch m.upTo(8) {
	case 0:
		return strconv.AppendBool(b, m.upTo(2) == 0)
	case 1:
		return strconv.AppendInt(b, int64(m.upTo(2_000_001)-1_000_000), 10)
	case 2:
		return strconv.AppendFloat(b, float64(m.upTo(1_000_000))/1000, 'f', 3, 64)
	case 3:
		return append(b, "null"...)
	}
	b = append(b, '"')
	for n := m.upTo(5) + 1; n > 0; n-- {
		b = append(append(b, m.word(2, 9)...), ' ')
	}
	return append(b[:len(b)-1], '"')
}

// letters are what words consist of: also some that take two bytes in UTF-8.
var letters = []rune("etaoinshrdlucmwfgypbvkéüñø")

func (m *jsonMaker) word(least, most int) []byte {
	var b []byte
	for n := least + m.upTo(most-least+1); n > 0; n-- {
		b = utf8.AppendRune(b, letters[m.upTo(len(letters))])
	}
	return b
}

// body draws fields without repeating one until the size is reached.
func (m *jsonMaker) body(size int) []byte {
	b := append(make([]byte, 0, size+jsonSlack), '{')
	for left := len(m.order); left > 0 && (len(b) < size || len(b) == 1); left-- {
		k := m.upTo(left)
		m.order[k], m.order[left-1] = m.order[left-1], m.order[k]
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, m.fields[m.order[left-1]]...)
	}
	if rest := size - len(b) - 1; rest > 0 {
		b = append(b, `,"text":"`...)
		for len(b) < size-2 {
			b = append(append(b, m.word(2, 9)...), ' ')
		}
		b = append(b, '"')
	}
	return append(b, '}')
}
