package panel

import (
	"fmt"
	"io"
	"strings"
	"time"

	"leveret/analyze/result"
	"leveret/loadcore"
)

// outages say when connections were lost, and when all were back.
type outages struct {
	said    int64     // losses that were told
	begun   time.Time // when the last pair of lines was begun
	pending bool      // that all are back is still to be said
}

// outagesLook is how often lines look for losses, outagesApart the least time between two pairs of lines: in a storm of losses the
// next pair tells of all meanwhile.
const (
	outagesLook  = 200 * time.Millisecond
	outagesApart = time.Second
)

func (s *outages) say(out io.Writer, now time.Time, o loadcore.Outage) {
	if o.Lost > s.said && !s.pending && now.Sub(s.begun) >= outagesApart {
		fmt.Fprintf(out, "%s lost: %s\n", result.Plural(o.Lost-s.said, "connection"), plainText(strings.Join(strings.Fields(o.Text), " "), true))
		s.said, s.begun, s.pending = o.Lost, now, true
	}
	if !s.pending || o.Missing > 0 || o.BackNS == 0 {
		return
	}
	s.pending = false
	if !o.GivenUp {
		more := ""
		if o.Lost > s.said {
			more = fmt.Sprintf(" (%s lost meanwhile)", result.Group(o.Lost-s.said))
		}
		fmt.Fprintf(out, "all connections back after %.2f s%s\n", float64(o.BackNS-o.SinceNS)/1e9, more)
	}
	s.said = o.Lost
}
