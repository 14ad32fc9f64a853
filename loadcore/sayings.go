package loadcore

import (
	"fmt"
	"slices"
)

// sayings are texts about numbered things, such as producers: what is the same of many of them is said once.
type sayings struct {
	all []saying
	at  map[string]int // by what and text
}

type saying struct {
	what, text string
	first, n   int
}

func (s *sayings) add(what string, number int, text string) {
	key := what + ": " + text
	i, said := s.at[key]
	if !said {
		if s.at == nil {
			s.at = map[string]int{}
		}
		i = len(s.all)
		s.at[key] = i
		s.all = append(s.all, saying{what: what, text: text, first: number})
	}
	s.all[i].first = min(s.all[i].first, number)
	s.all[i].n++
}

// mostSayings bounds a list of what went wrong for things of which there may be thousands.
const mostSayings = 20

// list is a line each, "producer 3 and 17 more: text", by the least number; of very many the first.
func (s *sayings) list() (lines []string) {
	slices.SortStableFunc(s.all, func(a, b saying) int { return a.first - b.first })
	for _, x := range s.all {
		more := ""
		if x.n > 1 {
			more = fmt.Sprintf(" and %d more", x.n-1)
		}
		lines = append(lines, fmt.Sprintf("%s %d%s: %s", x.what, x.first, more, x.text))
	}
	return first(lines, mostSayings)
}

// first are the first n of the lines, and how many more there are.
func first(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	return append(slices.Clip(lines[:n]), fmt.Sprintf("and %d more of that kind", len(lines)-n))
}
