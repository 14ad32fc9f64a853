package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// sealKey is the last key of a sealed document: its value is the CRC-32C, eight hexadecimal digits, of all bytes before the
// key. Recordings made before there was one have none, and are taken as they are.
const sealKey = `"crc32c"`

const sealFormat = sealKey + ": \"%08x\"\n}\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MaxBytes is how long the text may be: whoever reads it takes no more.
const MaxBytes = 64 << 20

// Encode makes the text of start.json and manifest.json, sealed. One that is longer than MaxBytes is an error.
func Encode(m *Manifest) ([]byte, error) {
	written := *m
	written.Topology.Routes = sharedRoutes(m.Topology.Routes)
	b, err := json.MarshalIndent(&written, "", "  ")
	if err != nil {
		return nil, err
	}
	if b, err = Seal(b); err == nil && len(b) > MaxBytes {
		err = fmt.Errorf("what is to be said of the run takes %d MB, and at most %d MB would be read: give it fewer producers, consumers or queues", len(b)>>20, MaxBytes>>20)
	}
	return b, err
}

// Seal puts a checksum at the end of a JSON object, in place of the one that it has.
func Seal(text []byte) ([]byte, error) {
	text = bytes.TrimRight(text, " \n")
	if i := bytes.LastIndex(text, []byte(sealKey)); i >= 0 {
		text = append(bytes.Clone(bytes.TrimRight(text[:i], " \n,")), '}')
	}
	body, ok := bytes.CutSuffix(text, []byte("}"))
	if body = bytes.TrimRight(body, " \n"); !ok || len(body) < 2 {
		return nil, fmt.Errorf("seal a JSON object: %d bytes are none, or have no key", len(text))
	}
	sealed := append(bytes.Clone(body), ",\n  "...)
	return fmt.Appendf(sealed, sealFormat, crc32.Checksum(sealed, castagnoli)), nil
}

// CheckSeal tells whether a sealed text is what was written. A text without a seal passes.
func CheckSeal(text []byte) error {
	i := bytes.LastIndex(text, []byte(sealKey))
	if i < 0 {
		return nil
	}
	if want := fmt.Appendf(nil, sealFormat, crc32.Checksum(text[:i], castagnoli)); !bytes.Equal(text[i:], want) {
		return fmt.Errorf("its checksum does not hold: %.40q where %q should stand", text[i:], want[:len(want)-len("\n}\n")])
	}
	return nil
}

// Decode reads the text of start.json or manifest.json. The error names a damaged checksum or text, or another version of the
// format; of a newer one nothing is taken.
func Decode(text []byte) (*Manifest, error) {
	if err := CheckSeal(text); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	var version struct {
		FormatVersion int `json:"format_version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if version.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("format version %d, this program knows %d", version.FormatVersion, FormatVersion)
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if err := restoreRoutes(m.Topology.Routes); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return m, nil
}
