package chart

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"leveret/analyze/result"
)

// Write draws charts of a result into dir, which it makes if need be, each in every format of the options and with its figures
// as CSV beside it, and returns the files' paths in a fixed order. Charts without data are left out; Skipped names them. Files of
// the same names are replaced, each as a whole. An error of one chart does not keep the others from being drawn.
func Write(dir string, r *result.Result, o Options) (files []string, err error) {
	if r == nil {
		return nil, errors.New("draw charts: there is no result")
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	return WriteSpecs(dir, Specs(r, o), o)
}

// WriteSpecs is Write for charts that are built already.
func WriteSpecs(dir string, specs []*Spec, o Options) (files []string, err error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("draw charts: %w", err)
	}
	var errs []error
	for _, s := range specs {
		if s.NoData != "" {
			continue
		}
		for _, format := range append(o.Formats[:len(o.Formats):len(o.Formats)], "csv") {
			path := filepath.Join(dir, s.Name+"."+format)
			if err := writeChart(path, s, format, o); err != nil {
				errs = append(errs, fmt.Errorf("draw chart: %s: %w", path, err))
				continue
			}
			files = append(files, path)
		}
	}
	return files, errors.Join(errs...)
}

// writeChart replaces the file at path, so that nobody ever reads half a picture.
func writeChart(path string, s *Spec, format string, o Options) (err error) {
	part := path + ".part"
	if format == "csv" {
		err = writeCSV(part, s)
	} else {
		var b []byte
		if b, err = Encode(s, format, o); err == nil {
			err = os.WriteFile(part, b, 0o644)
		}
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		os.Remove(part)
	}
	return err
}

func writeCSV(path string, s *Spec) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(CSV(w, s), w.Flush(), f.Close())
}
