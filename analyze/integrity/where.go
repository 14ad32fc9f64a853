package integrity

import (
	"fmt"
	"strings"

	"leveret/analyze/result"
)

// where tells which queues a count is of, and with it the spans of missing messages.
func (r *report) where(count func(*tally) int64) string {
	var parts []string
	for i := range r.ts {
		t := &r.ts[i]
		n := count(t)
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("queue %s: %s", t.queue.name, result.Group(n))
		if n == t.Missing && t.Missing > 0 {
			part += t.describeSpans()
		}
		if n == t.RemovedByRule {
			part += r.whatRemoved(t)
		} else if at, ok := r.f.cancelled(t.queue); ok && n == t.Lost {
			part += fmt.Sprintf("; the broker cancelled a consumer of it %s after the start, as it does when a queue is deleted", seconds(at))
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + few(parts) + ")"
}

// whatRemoved names the rules that may have taken messages of a queue away.
func (r *report) whatRemoved(t *tally) string {
	text := ""
	if t.rule != "" {
		text = ", " + t.rule
	}
	for _, part := range []struct {
		n    int64
		rule string
	}{{t.losses, t.lossRule}, {t.purged, r.f.purges(t.queue)}} {
		switch part.n {
		case 0:
		case t.RemovedByRule:
			text += ", " + part.rule
		default:
			text += fmt.Sprintf(", %s of them %s", result.Group(part.n), part.rule)
		}
	}
	return text
}

// describeSpans tells which messages are missing, as long as that is short and says more than the finding's first messages,
// which are listed with it.
func (t *tally) describeSpans() string {
	var parts []string
	runs := false
	for _, s := range t.spans {
		part := fmt.Sprintf("producer %d sequence %d", s.producer.number, s.first)
		if s.first != s.last {
			part += fmt.Sprintf(" to %d", s.last)
			runs = true
		}
		parts = append(parts, part)
	}
	if !runs {
		return ""
	}
	if t.manySpans {
		parts = append(parts, "...")
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// few joins the first few of many.
func few(parts []string) string {
	const shown = 3
	if len(parts) > shown {
		return fmt.Sprintf("%s; and %d more", strings.Join(parts[:shown], "; "), len(parts)-shown)
	}
	return strings.Join(parts, "; ")
}

func sumOf(ts []tally, count func(*tally) int64) (n int64) {
	for i := range ts {
		n += count(&ts[i])
	}
	return n
}
