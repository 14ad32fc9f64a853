package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/cmd/internal/calibrate"
)

// A quick calibration is complete, its figures are possible, and the report of a run on this host quotes it.
func TestCalibrateMeasuresEverythingAndReportsQuoteIt(t *testing.T) {
	t.Setenv(asMain, "1") // the broker's process is this test program
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	if _, err := calibrate.DefaultPath(); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := invoke(t, "calibrate", "--quick", "--format", "json", "--tmp", t.TempDir())
	var c calibrate.Calibration
	if err := json.Unmarshal([]byte(stdout), &c); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v\n%s", code, err, stderr)
	}
	possible(t, "calibration", reflect.ValueOf(c))
	if len(c.Codec) != 3 || len(c.Recording) != 3 || len(c.Ceilings) != 4 || len(c.Pacing) != 4 || len(c.Latency) != 3 || len(c.Pinning) != 3 || !c.Quick {
		t.Errorf("incomplete: %s", stdout)
	}
	if c.Clock.ReadNS <= 0 || c.Clock.ResolutionNS <= 0 || c.Loopback.SocketBytesPerS <= 0 || c.Loopback.CopyBytesPerS <= 0 {
		t.Errorf("clock %+v, loopback %+v", c.Clock, c.Loopback)
	}
	for _, v := range c.Recording {
		if v.Rows == 0 || v.BytesPerRow <= 0 || v.NSPerRow <= 0 {
			t.Errorf("recording %+v", v)
		}
	}
	for _, v := range c.Ceilings {
		if v.Messages == 0 || v.MsgsPerS <= 0 {
			t.Errorf("ceiling %+v", v)
		}
	}
	for _, v := range c.Pacing { // never before it is due
		if v.Count == 0 || v.MinNS < 0 || v.P50NS > v.P99NS || v.P99NS > v.MaxNS {
			t.Errorf("pacing %+v", v)
		}
	}
	for _, v := range c.Latency { // the broker never gives a message out before its time
		if v.Count == 0 || v.MinNS <= 0 || v.P50NS > v.P99NS || v.P99NS > v.MaxNS {
			t.Errorf("latency error %+v", v)
		}
	}
	for _, v := range c.Pinning {
		if possible := v.NotPossible == ""; possible != (v.MsgsPerS > 0) || possible != (v.RoundTripNS > 0) {
			t.Errorf("pinning %+v", v)
		}
	}
	if c.Pinning[0].Pin != "off" || c.Pinning[0].NotPossible != "" {
		t.Errorf("without pinning: %+v", c.Pinning[0])
	}
	if n := strings.Count(stderr, " of 8: "); n != 8 {
		t.Errorf("%d lines of progress, want 8:\n%s", n, stderr)
	}
	quoted, _, dir := record(t, "--pmessages", "10", "--confirm", "5")
	if q := quoted.Calibration; q == nil || q.AtNS != c.AtNS || *q.PublishMsgsPerS != c.Ceilings[0].MsgsPerS {
		t.Errorf("the run's result quotes %+v", q)
	}
	if _, text, _ := invoke(t, "analyze", dir); !strings.Contains(text, "calibrated") {
		t.Errorf("no line about it in\n%s", text)
	}
}

// possible fails for every number that is not finite, and every list that is empty.
func possible(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			t.Errorf("%s is %v", name, v.Float())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			possible(t, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		if v.Len() == 0 {
			t.Errorf("%s is empty", name)
		}
		for i := range v.Len() {
			possible(t, name, v.Index(i))
		}
	}
}

// Ctrl-C while it measures: nothing is kept, no broker is left, the exit code says so.
func TestCalibrateInterruptedKeepsNothing(t *testing.T) {
	t.Setenv(asMain, "1")
	dir := t.TempDir()
	file := filepath.Join(dir, "calibration.json")
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	progress := &cancelAt{text: "5 of 8", cancel: cancel}
	code := run(ctx, []string{"calibrate", "--quick", "--output", file, "--tmp", dir}, strings.NewReader(""), &out, progress)
	if code != exitInterrupted || out.Len() != 0 || !strings.Contains(progress.String(), "interrupted") {
		t.Errorf("exit %d\n%s%s", code, &out, progress)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// cancelAt is a stderr that presses Ctrl-C when it reads text.
type cancelAt struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (c *cancelAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.text) {
		time.AfterFunc(300*time.Millisecond, c.cancel) // in the middle of it
	}
	return c.Buffer.Write(p)
}

func TestCalibrateSaysWhatIsWrong(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if code, _, stderr := invoke(t, "calibrate", "--quick", "--tmp", missing); code != exitFailed || !strings.Contains(stderr, missing) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := invoke(t, "calibrate", "now"); code != exitUsage || !strings.Contains(stderr, `"now"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// The calibration of another host says nothing about a run.
func TestAForeignCalibrationIsNotQuoted(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	path, err := calibrate.DefaultPath()
	if err != nil {
		t.Fatal(err)
	}
	c := &calibrate.Calibration{SchemaVersion: calibrate.SchemaVersion, Host: hostFacts()}
	h := result.Host{Name: c.Host.Name, OS: c.Host.OS, CPUs: c.Host.CPUs, CPUModel: c.Host.CPUModel}
	for _, name := range []string{c.Host.Name, c.Host.Name + "-other"} {
		c.Host.Name = name
		if err := calibrate.Store(path, c); err != nil {
			t.Fatal(err)
		}
		r := &result.Result{Host: h}
		if quoteCalibration(r); (r.Calibration != nil) != (name == h.Name) {
			t.Errorf("calibration of %s on %s: %+v", name, h.Name, r.Calibration)
		}
	}
}

// A broker started by another program ends with that program, whose end closes its standard input.
func TestBrokerEndsWithItsInput(t *testing.T) {
	code, stdout, stderr := invoke(t, "broker", "--listen", "127.0.0.1:0", "--until-eof") // its input is empty
	if code != exitOK || !strings.HasPrefix(stdout, "amqp://") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
