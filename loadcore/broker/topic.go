package broker

import "strings"

// topicMatches reports whether a routing key matches a topic binding's pattern. Both are words separated by dots (an
// empty string is one empty word, except that RabbitMQ takes an empty key or pattern for no words at all); "*" stands
// for exactly one word, "#" for any number of words, none included.
//
// The pattern is walked with one point of return, the last "#": a later "#" can take over whatever an earlier one could
// have matched, so going back further is never needed and the work is at most len(pattern) * len(key).
func topicMatches(pattern, key string) bool {
	p, k := words{rest: pattern, more: pattern != ""}, words{rest: key, more: key != ""}
	var hashP, hashK words
	inHash := false
	for k.more {
		if p.more {
			w, next := p.next()
			switch kw, knext := k.next(); {
			case w == "#":
				hashP, hashK, inHash = next, k, true
				p = next
				continue
			case w == "*" || w == kw:
				p, k = next, knext
				continue
			}
		}
		if !inHash {
			return false
		}
		// The last "#" takes one word more.
		_, hashK = hashK.next()
		p, k = hashP, hashK
	}
	for p.more {
		w, next := p.next()
		if w != "#" {
			return false
		}
		p = next
	}
	return true
}

// words is the rest of a dotted string; more is false behind the last word.
type words struct {
	rest string
	more bool
}

func (w words) next() (word string, after words) {
	word, rest, more := strings.Cut(w.rest, ".")
	return word, words{rest, more}
}
