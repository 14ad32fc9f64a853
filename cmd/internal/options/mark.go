package options

import (
	"errors"
	"fmt"
	"time"
)

// Mark holds the options of `leveret mark`.
type Mark struct {
	At     Moment
	Purged string // queue; "": none
}

// Moment is a moment of a run; the zero value is none.
type Moment struct {
	Given bool
	// Since is the time since the start barrier; meaningless where Time is set.
	Since time.Duration
	Time  time.Time // by the wall clock
}

// NewMark returns the set of `leveret mark` and the struct that it fills.
func NewMark() (*Set, *Mark) {
	m := &Mark{}
	return newSet("mark", []*Option{
		{Name: "at", Arg: "TIME", Group: groupMark, value: moment(&m.At), Help: "when it happened: seconds after the start barrier (of a capture that is closed), or a time such as '2026-01-31 13:30:05.5' (with a zone, +01:00, or the local one's); without it now"},
		{Name: "purged", Arg: "QUEUE", Group: groupMark, value: text(&m.Purged, ""), Help: "this queue was purged just before: what was sent before and never received is then removed by a rule, and not lost"},
	}), m
}

// momentForms are how a time can be given: as in RFC 3339, or with a blank, as in RabbitMQ's log; without a zone it is local.
var momentForms = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// Times of these years can be told in nanoseconds since 1970 in 64 bits, whatever their zone.
const firstYear, lastYear = 1970, 2261

func moment(p *Moment) value {
	given := ""
	return value{func() string { return given }, func(s string) error {
		for _, form := range momentForms {
			if t, err := time.ParseInLocation(form, s, time.Local); err == nil {
				if y := t.Year(); y < firstYear || y > lastYear {
					return fmt.Errorf("the year must be from %d to %d", firstYear, lastYear)
				}
				*p, given = Moment{Given: true, Time: t}, s
				return nil
			}
		}
		d, err := parseSeconds(s)
		if err != nil {
			return errors.New("must be seconds after the start barrier, such as 12.5, or a time such as '2026-01-31 13:30:05'")
		}
		*p, given = Moment{Given: true, Since: d}, s
		return nil
	}, "moment"}
}
