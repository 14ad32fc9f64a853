package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"leveret/analyze/result"
)

// DefaultPath is where the latest calibration of this user stands. It fails where the system has no place for such files.
func DefaultPath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "leveret", "calibration.json"), nil
}

// Store writes a calibration in place of the one that is there, folders included.
func Store(path string, c *Calibration) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".calibration-")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Load reads a calibration; its error is fs.ErrNotExist where there is none.
func Load(path string) (*Calibration, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Calibration{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("%s: version %d, this program knows %d", path, c.SchemaVersion, SchemaVersion)
	}
	return c, nil
}

// For is what a report quotes of the calibration, nil if it was not made on the host that recorded the run.
func (c *Calibration) For(h result.Host) *result.Calibration {
	if h.Name == "" || h.Name != c.Host.Name || h.OS != c.Host.OS || h.CPUs != c.Host.CPUs || h.CPUModel != c.Host.CPUModel {
		return nil
	}
	q := &result.Calibration{AtNS: c.AtNS, Tool: c.Tool.Name + " " + c.Tool.Version, Quick: c.Quick, ClockReadNS: &c.Clock.ReadNS}
	for _, v := range c.Ceilings {
		switch v.Name {
		case PublishConfirmed:
			q.PublishMsgsPerS = &v.MsgsPerS
		case ConsumeAutoAck:
			q.ConsumeMsgsPerS = &v.MsgsPerS
		}
	}
	for _, v := range c.Pacing {
		if v.RateMsgsPerS == 1000 {
			q.PacingRateMsgsPerS, q.PacingP99NS = v.RateMsgsPerS, v.P99NS
		}
	}
	for _, v := range c.Latency {
		if v.Law != "" {
			q.LatencyErrorP50NS, q.LatencyErrorP99NS = v.P50NS, v.P99NS
			break
		}
	}
	return q
}
