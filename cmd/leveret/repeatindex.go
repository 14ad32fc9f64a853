package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// repeatsName is the file that says what a directory of repeated runs holds.
const repeatsName = "repeat.json"

// repeats is what it holds. Nothing in it is secret.
type repeats struct {
	FormatVersion int             `json:"format_version"`
	ID            string          `json:"id"`
	Command       []string        `json:"command"` // arguments as given, secrets removed
	Repeat        int             `json:"repeat"`  // runs of each variant that were asked for
	Seed          uint64          `json:"seed"`    // of the order
	Variants      []repeatVariant `json:"variants"`
	Runs          []repeatedRun   `json:"runs"` // in the order in which they are to be made
}

type repeatVariant struct {
	Label   string   `json:"label"`
	Options []string `json:"options"` // beside those of the command, secrets removed
}

// repeatedRun is one run. Directory is relative to the one of the file.
type repeatedRun struct {
	Variant   string `json:"variant"`
	Number    int    `json:"number"` // of the variant's runs, from 1
	Directory string `json:"directory"`
	State     string `json:"state"`
}

// States of a repeated run.
const (
	runPlanned     = "planned"
	runRecorded    = "recorded"
	runFailed      = "failed"      // recorded, and something went wrong in it
	runInterrupted = "interrupted" // cut short by the user; no repeat of the others
)

// readRepeats is nil where the directory is no such directory.
func readRepeats(dir string) (*repeats, error) {
	path := filepath.Join(dir, repeatsName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &repeats{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w; name the captures themselves", path, err)
	}
	if r.FormatVersion != 1 {
		return nil, fmt.Errorf("%s: format version %d, this leveret knows 1; name the captures themselves", path, r.FormatVersion)
	}
	return r, nil
}

// runsOf are the recorded runs of a variant, below the directory of the file.
func (r *repeats) runsOf(dir, label string) (runs [][]string, err error) {
	for _, x := range r.Runs {
		if x.Variant != label || x.State != runRecorded && x.State != runFailed {
			continue
		}
		if !filepath.IsLocal(x.Directory) {
			return nil, fmt.Errorf("%s: the directory %q lies outside", filepath.Join(dir, repeatsName), x.Directory)
		}
		runs = append(runs, []string{filepath.Join(dir, x.Directory)})
	}
	if len(runs) == 0 {
		return nil, r.nothingOf(dir, label)
	}
	return runs, nil
}

// nothingOf says what can be done where a variant has no run: the repeats were interrupted, or it could not begin.
func (r *repeats) nothingOf(dir, label string) error {
	recorded, other := 0, ""
	for _, x := range r.Runs {
		if x.State == runRecorded || x.State == runFailed {
			recorded, other = recorded+1, filepath.Join(dir, x.Variant)
		}
	}
	of := ""
	if len(r.Variants) > 1 {
		of = " of " + label
	}
	text := fmt.Sprintf("%s: no run%s was recorded, the repeats ended after %d of %d runs: make them again, into another directory, with leveret run --repeat", dir, of, recorded, len(r.Runs))
	if other != "" {
		text += "; or compare those there are, such as " + other + ", with others"
	}
	return errors.New(text)
}

// shortfall says that a variant has fewer runs than were asked for, "" where none has.
func (r *repeats) shortfall(dir string) string {
	recorded := map[string]int{}
	total := 0
	for _, x := range r.Runs {
		if x.State == runRecorded || x.State == runFailed {
			recorded[x.Variant]++
			total++
		}
	}
	if total == len(r.Runs) {
		return ""
	}
	var each []string
	for _, v := range r.Variants {
		each = append(each, fmt.Sprintf("%d of %s", recorded[v.Label], v.Label))
	}
	return fmt.Sprintf("%s: the repeats ended before all were made: %d of %d runs are there (%s)", dir, total, len(r.Runs), strings.Join(each, ", "))
}

// write replaces the file as a whole.
func (r *repeats) write(dir string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, repeatsName)
	if err := os.WriteFile(path+".part", append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
