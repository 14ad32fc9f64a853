package analyze

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/capture/schema"
)

// source is one capture directory, opened: what its manifest and journal say, and where its batches are.
type source struct {
	dir   string
	index int // among the captures given

	manifest *manifest.Manifest // nil where there is none that can be read
	final    bool               // it is manifest.json: the recording was closed
	growing  bool               // it is still being written
	journal  *journal           // nil where there is none that can be read
	id       string             // "" if nothing tells
	tag      uint16

	files   []*file
	batches []*batch
	// reasons say why the capture does not prove to be whole, one line each.
	reasons []string
	// unknown are files of kinds that a later version records.
	unknown []string
	// marks are what was written into it beside the recording; markDamage names those that cannot be used.
	marks      []manifest.Mark
	markDamage []string
	// strangers are Arrow files in the directory that are none of the capture's, as its manifest says.
	strangers []string

	// named and places are what messages could pass through; see names.
	named  map[string]bool
	places []string

	shift int64 // added to every time, so that all captures have one clock

	rows   [lastKind + 1]int64 // in verified batches
	counts rowCounts
}

// rowCounts are the sums that the engine's own counters are held against.
type rowCounts struct {
	sent, notSent, acks, commits, nacks, returns, inDoubt, acked int64
}

const lastKind = schema.Churn

func (c *source) reason(format string, args ...any) {
	c.reasons = append(c.reasons, fmt.Sprintf(format, args...))
}

// openCapture reads everything about a capture but its rows. Damage becomes reasons; an error means that there is no
// capture to speak of.
func openCapture(dir string, index int) (*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	c := &source{dir: dir, index: index}
	c.readManifest()
	c.readJournal()
	arrows := 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) == arrowExt {
			arrows++
		}
	}
	if c.manifest == nil && c.journal == nil && arrows == 0 {
		return nil, fmt.Errorf("capture: %s: no %s, %s, %s or %s file in it", dir, manifest.FinalName, manifest.StartName, manifest.JournalName, arrowExt)
	}
	c.identify()
	c.findGrowing()
	c.marks, c.markDamage = manifest.ReadMarks(dir)
	if err := c.openFiles(entries); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *source) close() {
	for _, f := range c.files {
		f.f.Close()
	}
}

// readManifest takes manifest.json, else start.json.
func (c *source) readManifest() {
	for _, name := range []string{manifest.FinalName, manifest.StartName} {
		m, err := loadManifest(filepath.Join(c.dir, name))
		if err != nil {
			c.reason("%s: %v", name, cause(err))
			continue
		}
		c.manifest, c.final = m, name == manifest.FinalName
		if c.final && (m.Outcome == nil || m.Recording == nil) {
			c.final = false
			c.reason("%s: without outcome or recording", name)
		}
		return
	}
}

// cause is an error without the path that the reader of the line knows already.
func cause(err error) error {
	var p *fs.PathError
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("missing (the recording was not closed)")
	}
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func loadManifest(path string) (*manifest.Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, manifest.MaxBytes))
	if err != nil {
		return nil, err
	}
	m, err := manifest.Decode(b)
	if err != nil {
		return nil, err
	}
	if err := checkIndexes(m); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return m, nil
}

// checkIndexes finds numbers that point nowhere.
func checkIndexes(m *manifest.Manifest) error {
	queues, routes := len(m.Topology.Queues), len(m.Topology.Routes)
	inside := func(what string, list []int) error {
		for _, q := range list {
			if q < 0 || q >= queues {
				return fmt.Errorf("%s names queue %d of %d", what, q, queues)
			}
		}
		return nil
	}
	for i, r := range m.Topology.Routes {
		if err := inside(fmt.Sprintf("route %d", i), r.Queues); err != nil {
			return err
		}
	}
	for i, c := range m.Consumers {
		if err := inside(fmt.Sprintf("consumer %d", i), c.Queues); err != nil {
			return err
		}
	}
	for i, p := range m.Producers {
		if p.Route < 0 || p.Route >= routes {
			return fmt.Errorf("producer %d names route %d of %d", i, p.Route, routes)
		}
		if p.Routes < 0 || p.Routes > routes-p.Route {
			return fmt.Errorf("producer %d names %d routes from route %d on, of %d", i, p.Routes, p.Route, routes)
		}
	}
	return nil
}

// identify finds out which capture this is: files of another one must not be counted in.
func (c *source) identify() {
	switch {
	case c.manifest != nil:
		c.id, c.tag = c.manifest.ID, c.manifest.Tag
	case c.journal != nil:
		c.id, c.tag = c.journal.header.ID, c.journal.header.Tag
	}
	if c.manifest != nil && c.journal != nil && c.journal.header.ID != c.id {
		c.reason("%s: is of capture %q, not %q", manifest.JournalName, c.journal.header.ID, c.id)
		c.journal = nil
	}
	if j := c.journal; c.manifest != nil && j != nil && j.header.Tag != c.tag { // the journal is under a checksum
		c.reason("run tag: the manifest says %d, the journal %d", c.tag, j.header.Tag)
		c.tag = j.header.Tag
	}
}

// journal is what a journal says, its damaged records left out.
type journal struct {
	header  schema.JournalHeader
	records []schema.Record // of batches
	ended   bool
}

// readJournal reads every record that proves itself.
func (c *source) readJournal() {
	b, err := os.ReadFile(filepath.Join(c.dir, manifest.JournalName))
	if err != nil {
		c.reason("%s: %v", manifest.JournalName, cause(err))
		return
	}
	h, err := schema.ParseJournalHeader(b)
	if err != nil {
		c.reason("%s: %v", manifest.JournalName, err)
		return
	}
	j := &journal{header: h}
	damaged, total, next := 0, uint64(0), uint64(0)
	for b = b[schema.JournalHeaderSize:]; len(b) > 0; b = b[min(len(b), schema.RecordSize):] {
		r, err := schema.ParseRecord(b)
		if err != nil {
			damaged++
			continue
		}
		if r.Sequence != next && damaged == 0 {
			c.reason("%s: record %d follows %d", manifest.JournalName, r.Sequence, next)
		}
		next = r.Sequence + 1
		total++
		if r.End {
			j.ended = true
		} else if r.Kind.Valid() { // others are of a later version, see readHead
			j.records = append(j.records, r)
		}
	}
	if damaged > 0 {
		c.reason("%s: %d of %d records are damaged", manifest.JournalName, damaged, total+uint64(damaged))
	}
	if !j.ended {
		c.reason("%s: without its end: the recording was not closed", manifest.JournalName)
	}
	c.journal = j
}

// moveOutcome moves the times of the manifest's outcome.
func (c *source) moveOutcome(by int64) {
	if by == 0 || c.manifest == nil || c.manifest.Outcome == nil {
		return
	}
	o := c.manifest.Outcome
	for _, t := range []*int64{&o.BarrierNS, &o.PublishStopNS, &o.DrainEndNS, o.ArrivedNS} {
		if t != nil && *t != event.None {
			*t += by
		}
	}
	for i := range o.Failures {
		o.Failures[i].AtNS += by
	}
	if r := c.manifest.Recording; r != nil {
		for i := range r.Stalls {
			r.Stalls[i].FromNS += by
			r.Stalls[i].ToNS += by
		}
	}
}
