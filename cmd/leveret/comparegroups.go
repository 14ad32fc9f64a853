package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
	"leveret/cmd/internal/suite"
)

// source is one group of runs to be read: each run with the directories of its captures.
type source struct {
	label string
	runs  [][]string
	path  string // that the label is the last part of; "" where it was given
	note  string // what must be known of it before it is compared; ""
}

// groupsOf reads the words of a command line: [LABEL=]CAPTURE[,CAPTURE...] each. Its errors are usage errors.
func groupsOf(words []string) (all []source, err error) {
	for _, word := range words {
		groups, err := groupOf(word)
		if err != nil {
			return nil, err
		}
		all = append(all, groups...)
	}
	distinguish(all)
	return all, nil
}

// distinguish gives groups that would have the same label more of their paths, or else a number.
func distinguish(all []source) {
	n := map[string]int{}
	for _, s := range all {
		n[s.label]++
	}
	for i := range all {
		if s := &all[i]; n[s.label] > 1 && s.path != "" {
			s.label = filepath.Join(filepath.Base(filepath.Dir(s.path)), s.label)
		}
	}
	for i := range all {
		if slices.ContainsFunc(all[:i], func(s source) bool { return s.label == all[i].label }) {
			all[i].label = fmt.Sprintf("%s (%d)", all[i].label, i+1)
		}
	}
}

func groupOf(word string) ([]source, error) {
	label, list := "", word
	if before, after, is := strings.Cut(word, "="); is && !exists(word) && !strings.ContainsAny(before, `/\,`) {
		label, list = before, after
		if label == "" || list == "" {
			return nil, fmt.Errorf("%q: write LABEL=CAPTURE[,CAPTURE...]", word)
		}
	}
	items := []string{list}
	if !exists(list) {
		items = strings.Split(list, ",")
	}
	if len(items) == 1 {
		if variants, err := variantsOf(items[0]); err != nil || len(variants) > 1 {
			if err == nil && label != "" {
				err = fmt.Errorf("%s holds %d variants: give one of them a label, such as %s=%s", items[0], len(variants), label, filepath.Join(items[0], variants[0].label))
			}
			return variants, err
		}
	}
	g := source{label: label}
	for _, item := range items {
		if index, _ := readRepeats(item); index != nil {
			g.note = index.shortfall(item)
		}
		if item == "" {
			return nil, fmt.Errorf("%q: a capture is missing between the commas", word)
		}
		runs, err := runsOf(item)
		if err != nil {
			return nil, err
		}
		g.runs = append(g.runs, runs...)
	}
	if dir := givenTwice(g.runs); dir != "" {
		return nil, fmt.Errorf("%q: %s is given twice: the runs of a group must be different ones, as how much they differ is what noise is known from", word, dir)
	}
	if g.label == "" {
		g.path = filepath.Clean(items[0])
		g.label = filepath.Base(g.path)
	}
	return []source{g}, nil
}

// givenTwice is a directory that stands among the runs twice, be it under another path; "": none.
func givenTwice(runs [][]string) string {
	var seen []os.FileInfo
	for _, dir := range slices.Concat(runs...) {
		info, err := os.Stat(dir)
		if err != nil {
			continue // its reading says what is wrong
		}
		if slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			return dir
		}
		seen = append(seen, info)
	}
	return ""
}

// checkApart refuses candidates that share runs with the base: what the same run says on both sides is no difference, and no test
// allows for it. A single run may be compared with itself, which shows what there is to compare.
func checkApart(all []source) error {
	base := &all[0]
	for i := range all[1:] {
		candidate := &all[i+1]
		if len(base.runs) == 1 && len(candidate.runs) == 1 {
			continue
		}
		if dir := givenTwice(slices.Concat(base.runs, candidate.runs)); dir != "" {
			return &options.UsageError{Command: "compare", Err: fmt.Errorf("%s stands in %s and in %s, too: a run can be on one side only; leave it out of one of them", dir, base.label, candidate.label)}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// variantsOf are the groups of a directory that leveret run --repeat made, or those of a suite: its rows; nil for another one.
func variantsOf(dir string) ([]source, error) {
	if suite.IsSuite(dir) {
		return rowsOfSuite(dir)
	}
	index, err := readRepeats(dir)
	if index == nil || err != nil {
		return nil, err
	}
	var all []source
	for _, v := range index.Variants {
		runs, err := index.runsOf(dir, v.Label)
		if err != nil {
			return nil, err
		}
		all = append(all, source{label: v.Label, runs: runs})
	}
	if len(all) > 0 {
		all[0].note = index.shortfall(dir)
	}
	return all, nil
}

// runsOf are the runs that one item stands for: captures of one run joined by +, a capture, or a directory of captures.
func runsOf(item string) ([][]string, error) {
	if isCapture(item) {
		return [][]string{{item}}, nil
	}
	if variants, err := variantsOf(item); err != nil || len(variants) == 1 {
		return runsOfAll(variants), err
	} else if len(variants) > 1 {
		return nil, fmt.Errorf("%s holds %d variants: name one of them, such as %s", item, len(variants), filepath.Join(item, variants[0].label))
	}
	if exists(item) {
		return capturesIn(item)
	}
	parts := strings.Split(item, "+")
	for _, part := range parts {
		switch {
		case !exists(part):
			return nil, fmt.Errorf("there is no capture %s", part)
		case !isCapture(part):
			return nil, fmt.Errorf("%s holds no capture: give a directory that leveret run recorded into", part)
		}
	}
	return [][]string{parts}, nil
}

func runsOfAll(groups []source) (runs [][]string) {
	for _, g := range groups {
		runs = append(runs, g.runs...)
	}
	return runs
}

// isCapture tells whether a recording was begun in the directory.
func isCapture(dir string) bool {
	return slices.ContainsFunc([]string{manifest.FinalName, manifest.StartName, manifest.JournalName}, func(name string) bool { return exists(filepath.Join(dir, name)) })
}

func capturesIn(dir string) (runs [][]string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); isCapture(path) {
			runs = append(runs, []string{path})
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s holds no capture: give a directory that leveret run recorded into, or one of --repeat", dir)
	}
	return runs, nil
}
