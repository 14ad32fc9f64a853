package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leveret/analyze"
	"leveret/analyze/result"
	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/cmd/internal/options"
)

func markCommand() command {
	return command{name: "mark", arguments: "CAPTURE TEXT [options]", summary: "notes in a capture, of a run that goes on or is over, what happened when",
		run: runMark, help: markHelp}
}

func markHelp(w io.Writer) {
	set, _ := options.NewMark()
	commandHelp(w, markCommand(), `
Writes one line into a capture: what somebody did to the broker or saw, and when. It may be done
while the run goes on, by several at a time, and afterwards. The report names the marks, with
their times. On the host that records times are exact, elsewhere as good as the wall clocks.
Passwords in URIs are left out of the text.

With --purged the mark says that a queue was purged: make it when the purge is done. Messages of
that queue that were sent before it and never received are then removed by a rule, and not lost.`, `
  leveret mark captures/run1 'node 2 stopped'
  leveret mark captures/run1 'purged by hand' --purged orders
  leveret mark captures/run1 'alarm in the log' --at '2026-01-31 13:30:05.25+01:00'
  leveret mark captures/run1 'the slow phase begins' --at 12.5`, set)
}

func runMark(_ context.Context, args []string, s streams) (int, error) {
	set, o := options.NewMark()
	rest, err := set.Parse(args)
	if err != nil {
		return 0, err
	}
	switch len(rest) {
	case 0:
		return 0, mistake(set, "which capture? leveret mark CAPTURE TEXT, a directory that leveret run records or has recorded")
	case 1:
		return 0, mistake(set, "what happened? leveret mark %s TEXT", rest[0])
	case 2:
	default:
		return 0, mistake(set, "%d texts: put what happened between quotation marks, %q", len(rest)-1, strings.Join(rest[1:], " "))
	}
	dir, mark := rest[0], &manifest.Mark{Text: withoutPasswords(rest[1]), From: manifest.MarkFromUser, Purged: o.Purged}
	m, err := manifestOf(dir)
	if err != nil {
		return exitFailed, err
	}
	if o.Purged != "" {
		if err := canBePurged(m, o.Purged); err != nil {
			return 0, mistake(set, "--purged=%s: %v", o.Purged, err)
		}
	}
	now := event.NewClock().Snapshot()
	if err := place(mark, m, dir, &o.At, &now); err != nil {
		return 0, mistake(set, "%v", err)
	}
	if err := mark.Check(); err != nil {
		return 0, mistake(set, "%w", err)
	}
	if err := manifest.AddMark(dir, mark); err != nil {
		return exitFailed, err
	}
	fmt.Fprintf(s.err, "marked %s: %s\n", when(mark, m), mark.Text)
	return exitOK, nil
}

// manifestOf reads what a capture says about itself: all of it, or what was known when it began.
func manifestOf(dir string) (*manifest.Manifest, error) {
	for _, name := range []string{manifest.FinalName, manifest.StartName} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m, err := manifest.Decode(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		return m, nil
	}
	switch _, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no capture at %s (yet): a run makes it when it is connected, and names it", dir)
	case err != nil:
		return nil, fmt.Errorf("capture: %w", err)
	}
	if err := notOneCapture(dir); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("capture: %s: has neither %s nor %s, so that nothing tells its clock; give the directory of a capture", dir, manifest.FinalName, manifest.StartName)
}

// canBePurged tells why a queue cannot have been purged in the run.
func canBePurged(m *manifest.Manifest, name string) error {
	const shown = 10
	var names []string
	for i := range m.Topology.Queues {
		switch q := &m.Topology.Queues[i]; {
		case q.Name == name && q.Type == "stream":
			return errors.New("is a stream, which cannot be purged")
		case q.Name == name:
			return nil
		case q.Name != "":
			names = append(names, q.Name)
		}
	}
	if len(names) == 0 {
		return errors.New("is no queue of the run, as far as its capture names them")
	}
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%s more", result.Group(int64(more))))
	}
	return fmt.Errorf("is no queue of the run; they are %s", strings.Join(names, ", "))
}

// place puts a mark on the clock of the capture, and refuses one that lies outside of what was recorded.
func place(mark *manifest.Mark, m *manifest.Manifest, dir string, at *options.Moment, now *event.Snapshot) error {
	ns, exact := m.ClockStart.TimeOf(now)
	mark.Clock = manifest.ClockMonotonic
	if !exact {
		mark.Clock = manifest.ClockWall
	}
	end, cut := ns, false // it goes on: nothing was recorded yet of what is to come
	if m.ClockEnd != nil {
		end = m.ClockEnd.ClockNS
	} else if standing, last := analyze.StandingOf(dir, m); standing == analyze.CutShort {
		end, cut = min(ns, ns-(now.WallNS-last.UnixNano())), true
	}
	switch o := m.Outcome; {
	case !at.Given:
		mark.AtNS = ns
	case !at.Time.IsZero():
		mark.AtNS = ns - (now.WallNS - at.Time.UnixNano())
	case o == nil && cut:
		return errors.New("--at: the recording was cut short, so that it is not known when its load began: give a time of day")
	case o == nil:
		return errors.New("--at: when the run's load began is known only when it is over: give a time of day, or leave it out for now")
	case o.BarrierNS == event.None:
		return errors.New("--at: the run ended before its load began: give a time of day")
	default:
		mark.AtNS, mark.Clock = o.BarrierNS+int64(at.Since), manifest.ClockMonotonic
	}
	return withinRecording(mark.AtNS, m.ClockStart.ClockNS, end, at.Given, cut)
}

// withinRecording refuses a time that lies outside of what was recorded, from start to end on the capture's clock; cut: nobody
// closed the recording.
func withinRecording(at, start, end int64, given, cut bool) error {
	switch {
	case at >= start && at <= end:
		return nil
	case !given && cut:
		return fmt.Errorf("the recording was cut short, it was recorded from %s to %s: say with --at at what time of day it happened", clockTime(start), clockTime(end))
	case !given:
		return fmt.Errorf("the capture is over, it was recorded from %s to %s: say with --at when it happened", clockTime(start), clockTime(end))
	}
	return fmt.Errorf("--at: %s is outside of what was recorded, from %s to %s: give a time within it", clockTime(at), clockTime(start), clockTime(end))
}

func clockTime(ns int64) string { return time.Unix(0, ns).Format("2006-01-02 15:04:05.000 -07:00") }

// when tells the time of a mark, counted from the start barrier where that is known.
func when(mark *manifest.Mark, m *manifest.Manifest) string {
	if o := m.Outcome; o != nil && o.BarrierNS != event.None {
		return fmt.Sprintf("%.3f s after the start", float64(mark.AtNS-o.BarrierNS)/1e9)
	}
	return "at " + clockTime(mark.AtNS)
}
