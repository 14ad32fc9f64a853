package reports

import (
	"fmt"

	"leveret/analyze/result"
)

// marksShown bounds the list of marks; the charts and JSON have all.
const marksShown = 20

// marks lists what was noted while the run went on.
func (p *page) marks(r *result.Result) {
	if len(r.Marks) == 0 {
		return
	}
	p.heading("Marks (seconds after the start)")
	for i, m := range r.Marks {
		if i == marksShown {
			p.remark(fmt.Sprintf("and %s more", result.Group(int64(len(r.Marks)-marksShown))))
			return
		}
		text := m.Text
		if m.Queue != "" {
			text += " (queue " + m.Queue + " purged)"
		}
		p.item("", "", 0, fmt.Sprintf("%.3f: %s", float64(span(r.Config.StartedNS, m.AtNS))/1e9, p.clean(text)))
	}
}
