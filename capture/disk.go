package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"leveret/capture/manifest"
)

// disk is what the recorder needs of a file system; tests put slow and full ones in its place.
type disk interface {
	create(path string) (file, error) // fails where path exists
	rename(from, to string) error
	remove(path string) error
	syncDir(path string) error
	present(path string, f file) error // nil while path leads to f
}

type file interface {
	Write([]byte) (int, error)
	Sync() error
	Close() error
}

type osDisk struct{}

func (osDisk) create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) remove(path string) error { return os.Remove(path) }

// syncDir makes renames and new names durable; Windows has no such call and needs none.
func (osDisk) syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (osDisk) present(path string, f file) error {
	there, err := os.Stat(path)
	if err != nil {
		return err
	}
	opened, ok := f.(*os.File)
	if !ok {
		return nil
	}
	if own, err := opened.Stat(); err != nil || !os.SameFile(own, there) {
		return &fs.PathError{Op: "stat", Path: path, Err: errors.New("another file has taken its place")}
	}
	return nil
}

// emptyDir makes dir, or makes sure that it holds nothing. made says that it was not there.
func emptyDir(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, os.MkdirAll(dir, 0o755)
	}
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("the directory holds %s already: a recording needs one that is empty or does not exist; choose another or remove it", entries[0].Name())
	}
	return false, err
}

// writeManifest writes m so that path has either nothing or all of it: into a temporary file, synced, renamed.
func writeManifest(d disk, path string, m *manifest.Manifest) error {
	b, err := manifest.Encode(m)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temporary := path + ".tmp"
	f, err := d.create(temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = d.rename(temporary, path)
	}
	if err != nil {
		d.remove(temporary)
		return explain(err)
	}
	return explain(d.syncDir(filepath.Dir(path)))
}

// explain adds the remedy to an error that has one.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: the disk is full; what was written stays readable; free space or record elsewhere", err)
	case quotaExceeded(err):
		return fmt.Errorf("%w: the quota is used up, or a file as large as this user's may be (ulimit -f); what was written stays readable; raise the limit or record elsewhere", err)
	}
	return err
}

// gone is the error of a capture whose files are not where they were made.
func gone(err error) error {
	return fmt.Errorf("%w: the directory was removed, moved or replaced while the recording went on; leave it alone until the run has ended", err)
}
