package panel

import (
	"fmt"
	"strings"

	"leveret/analyze/result"
)

// The lines below the tables: how the run stands.

func (p *layout) addQueues() {
	text := "not known"
	if p.backlog >= 0 {
		text = result.Plural(p.backlog, "message")
		if p.narrow {
			text = result.Group(p.backlog)
		}
		switch {
		case p.growth > 0:
			text += ", growing by " + rateText(p.growth) + "/s"
		case p.growth < 0:
			text += ", falling by " + rateText(-p.growth) + "/s"
		}
	}
	if p.window > 0 {
		awaited := fmt.Sprintf("; %s of %s confirms awaited", result.Group(p.inFlight), result.Group(p.window))
		if p.narrow {
			awaited = "; unconfirmed " + result.Group(p.inFlight)
		}
		text += awaited
	}
	p.labelled(rankStanding, "backlog", span{text: text})
}

func (p *layout) addConnections() {
	state := fmt.Sprintf("%s of %s open", result.Group(int64(p.open)), result.Group(int64(p.planned)))
	switch {
	case p.blocked > 0:
	case p.open < p.planned && !p.ended:
		p.labelled(rankStanding, "connections", span{state, styleWarn})
		return
	default:
		p.labelled(rankMore, "connections", span{text: state})
		return
	}
	p.labelled(rankStanding, "connections", span{result.Group(int64(p.blocked)) + " blocked by the broker", styleWarn}, span{text: ", " + state})
}

func (p *layout) addRecorder() {
	s := &p.record
	text := fmt.Sprintf("%s, %s", result.Plural(s.Rows, "row"), bytesText(s.Bytes))
	stalls := int64(s.Stalls)
	if s.Waiting {
		stalls++
	}
	if stalls == 0 {
		text += ", no stalls"
	} else {
		text += fmt.Sprintf(", %s, %s in all", result.Plural(stalls, "stall"), latencyText(s.StallNS, p.ascii))
	}
	rank, spans := rankMore, []span{{text: text}}
	trouble := ""
	switch {
	case s.Lost > 0:
		trouble = fmt.Sprintf("; %s lost", result.Plural(s.Lost, "row"))
	case s.Waiting:
		trouble = "; publishing waits for the disk"
	case s.Congested:
		trouble = "; consumers wait for the disk"
	}
	if trouble != "" {
		rank, spans = rankStanding, append(spans, span{trouble, styleWarn})
	}
	p.labelled(rank, "recorder", spans...)
}

// addErrors names what went wrong, and the last few failures.
func (p *layout) addErrors(most int) {
	var kinds []string
	if p.failures > 0 {
		kinds = append(kinds, result.Plural(p.failures, "failure"))
	}
	if p.nacked > 0 {
		kinds = append(kinds, result.Group(p.nacked)+" nacked")
	}
	if p.returned > 0 {
		kinds = append(kinds, result.Group(p.returned)+" returned")
	}
	if len(kinds) == 0 {
		p.labelled(rankDetail, "errors", span{text: "none"})
		return
	}
	p.labelled(rankStanding, "errors", span{strings.Join(kinds, ", "), styleBad})
	for i, e := range p.errors {
		if i == most {
			break
		}
		rank := rankDetail
		if i == 0 {
			rank = rankMore
		}
		text := plainText(e.text, p.ascii)
		if e.count > 1 {
			text = result.Group(e.count) + " times: " + text
		}
		p.add(rank, span{text: "  "}, span{text, styleBad})
	}
}
