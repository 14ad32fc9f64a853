package panel

import (
	"bytes"
	"testing"
	"time"

	"leveret/loadcore"
)

// The first loss and the return of all connections are a line each; in a storm there is a pair a second, which tells of all that were
// lost since the last one; where one is given up nothing says that all are back.
func TestOutages(t *testing.T) {
	var out bytes.Buffer
	var s outages
	begin := time.Now()
	at := func(after time.Duration, o loadcore.Outage) { s.say(&out, begin.Add(after), o) }
	at(0, loadcore.Outage{})
	at(200*time.Millisecond, loadcore.Outage{Lost: 3, Missing: 2, Text: "CONNECTION_FORCED -\nkicked", SinceNS: 1e9})
	at(400*time.Millisecond, loadcore.Outage{Lost: 3, Missing: 1, Text: "CONNECTION_FORCED -\nkicked", SinceNS: 1e9})
	at(600*time.Millisecond, loadcore.Outage{Lost: 3, Text: "CONNECTION_FORCED -\nkicked", SinceNS: 1e9, BackNS: 1.12e9})
	at(800*time.Millisecond, loadcore.Outage{Lost: 4, Text: "again", SinceNS: 2e9, BackNS: 2.1e9})
	at(1000*time.Millisecond, loadcore.Outage{Lost: 6, Missing: 1, Text: "once more", SinceNS: 3e9})
	at(1300*time.Millisecond, loadcore.Outage{Lost: 6, Missing: 1, Text: "once more", SinceNS: 3e9})
	at(1500*time.Millisecond, loadcore.Outage{Lost: 6, Text: "once more", SinceNS: 3e9, BackNS: 3.5e9})
	at(2500*time.Millisecond, loadcore.Outage{Lost: 7, Missing: 1, Text: "the last", SinceNS: 4e9})
	at(2700*time.Millisecond, loadcore.Outage{Lost: 7, Text: "the last", SinceNS: 4e9, BackNS: 5e9, GivenUp: true})
	want := "3 connections lost: CONNECTION_FORCED - kicked\nall connections back after 0.12 s\n" +
		"3 connections lost: once more\nall connections back after 0.50 s\n1 connection lost: the last\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
