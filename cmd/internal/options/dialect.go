package options

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The dialect of PerfTest's command line, as its parser (Apache Commons CLI) reads it:
//
//	-qpf 1  -qpf=1            short spellings have one dash and any number of letters
//	-x1  -time60              a value may follow a single letter, or a whole long name, at once
//	--rate 10  -rate=10       long names have one dash or two
//	--pmess 10                and may be cut short where one name remains
//	-c -1                     a word that begins with a dash and a digit is a value
//	-f persistent mandatory   some options take all words up to the next option
//
// What it would split silently is not split, or said: see recognize.

// word is an option as it stands on the command line.
type word struct {
	option   *Option
	spelling string // with its dashes
	value    string
	attached bool // value is part of the word
}

func (p *PerfTest) parseWords(args []string) error {
	p.in.Shown = slices.Clone(args)
	given := make(map[*Option]string)
	for i := 0; i < len(args); {
		if args[i] == "--" {
			if i+1 < len(args) {
				return unexpected(args[i+1])
			}
			return nil
		}
		if !isOption(args[i]) {
			return unexpected(args[i])
		}
		words, err := p.recognize(args[i])
		if err != nil {
			return err
		}
		first := i
		i++
		for _, w := range words {
			if i, err = p.take(w, args, i, given); err != nil {
				return err
			}
		}
		p.hideSecrets(words[0], first, i)
	}
	return nil
}

// take gives an option its values, of which the separate ones begin at args[i], and returns where the next word stands.
func (p *PerfTest) take(w word, args []string, i int, given map[*Option]string) (int, error) {
	o := w.option
	var values []string
	switch {
	case w.attached:
		values = append(values, w.value)
	case o.Arg == "":
		values = append(values, o.bare())
	}
	for ; o.Arg != "" && i < len(args) && !isOption(args[i]) && (o.Many || len(values) == 0); i++ {
		values = append(values, args[i])
	}
	if len(values) == 0 && !o.Optional {
		return i, fmt.Errorf("%s needs a value: %s %s", w.spelling, w.spelling, o.Arg)
	}
	for _, v := range values {
		v = unquoted(v)
		if first, again := given[o]; again && !o.Many {
			if o.Arg != "" && first != v {
				p.in.note("%s is given more than once; the first value counts, as in PerfTest: %s", w.spelling, o.show(first))
			}
			continue
		}
		given[o] = v
		if err := p.set(o, v); err != nil {
			if o.Redact != nil {
				return i, fmt.Errorf("%s: %w", w.spelling, err)
			}
			return i, fmt.Errorf("%s %s: %w", w.spelling, inLine(v), err)
		}
	}
	return i, nil
}

// hideSecrets replaces what is recorded of the words from first to before next.
func (p *PerfTest) hideSecrets(w word, first, next int) {
	if w.option.Redact == nil {
		return
	}
	if w.attached {
		shown := p.in.Shown[first]
		p.in.Shown[first] = strings.TrimSuffix(shown, w.value) + w.option.show(w.value)
	}
	for i := first + 1; i < next; i++ {
		p.in.Shown[i] = w.option.show(p.in.Shown[i])
	}
}

// isOption tells an option from a value: -1, -0.5 and -1:10 are values.
func isOption(text string) bool {
	name := strings.TrimLeft(text, "-")
	if name == text || name == "" {
		return false
	}
	c := name[0]
	return c == '?' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// unquoted removes the quotes that a shell script has quoted.
func unquoted(s string) string {
	if len(s) > 1 && strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`) {
		return s[1 : len(s)-1]
	}
	return s
}

func unexpected(text string) error {
	return fmt.Errorf("unexpected word %q: options begin with a dash, and the option before it takes no more values", text)
}

// recognize finds the option of a word, or the switches that it strings together.
func (p *PerfTest) recognize(text string) ([]word, error) {
	bare, double := strings.CutPrefix(text, "--")
	bare = strings.TrimPrefix(bare, "-")
	name, value, attached := strings.Cut(bare, "=")
	w := word{spelling: strings.TrimSuffix(text, "="+value), value: value, attached: attached}
	var err error
	if w.option, err = p.named(name, double); err != nil {
		return nil, fmt.Errorf("%s: %w", w.spelling, err)
	}
	if w.option != nil {
		return []word{w}, nil
	}
	if !double && !attached {
		if w, ok := p.joined(name); ok {
			return []word{w}, nil
		}
		if words := p.strung(name); words != nil {
			p.in.note("-%s is read as %s", name, spellings(words))
			return words, nil
		}
	}
	return nil, p.unknownWord(w.spelling, name)
}

// named finds an option by its short spelling, its long name or the beginning of that; nil: there is none. What is not
// PerfTest's has to be spelled in full, so that it makes no beginning ambiguous.
func (p *PerfTest) named(name string, double bool) (*Option, error) {
	if o := p.short(name); o != nil && !double {
		return o, nil
	}
	if o := p.find(name); o.value != nil {
		return o, nil
	}
	if len(name) < 2 && !double {
		return nil, nil
	}
	var found *Option
	var names []string
	for _, o := range p.options {
		if o.inPerfTest() && strings.HasPrefix(o.Name, name) {
			found, names = o, append(names, "--"+o.Name)
		}
	}
	if len(names) > 1 {
		return nil, fmt.Errorf("is the beginning of %s: write more of it", strings.Join(names, ", "))
	}
	return found, nil
}

func (p *PerfTest) short(name string) *Option {
	for _, o := range p.options {
		if slices.Contains(o.PerfTest, name) {
			return o
		}
	}
	return nil
}

// joined reads a value that follows at once: a long name, or a single letter. What follows a letter has to be a value of its
// option; where that can be any text, a note says how the word was read.
func (p *PerfTest) joined(name string) (word, bool) {
	for n := len(name) - 1; n > 1; n-- {
		if o := p.find(name[:n]); o.value != nil && o.inPerfTest() && o.Arg != "" {
			return word{o, "-" + name[:n], name[n:], true}, true
		}
	}
	if len(name) < 2 {
		return word{}, false
	}
	o := p.short(name[:1])
	if o == nil || o.Arg == "" {
		return word{}, false
	}
	w := word{o, "-" + name[:1], name[1:], true}
	switch c := w.value[:1]; o.kind() {
	case "text", "list":
		if o.Redact == nil {
			p.in.note("-%s is read as %s %s", name, w.spelling, w.value)
		} else if !strings.HasPrefix(strings.ToLower(w.value), "amqp") {
			return word{}, false
		}
	case "choice", "flags":
		before := o.value.String()
		if o.value.Set(w.value) != nil {
			return word{}, false
		}
		o.value.Set(before)
	default:
		if _, err := strconv.Atoi(c); err != nil && c != "-" && c != "." {
			return word{}, false
		}
	}
	return w, true
}

// strung reads several switches of one letter behind one dash; nil: they are not all that.
func (p *PerfTest) strung(name string) []word {
	var words []word
	for _, letter := range name {
		o := p.short(string(letter))
		if o == nil || o.Arg != "" || o.Group == groupAsk {
			return nil
		}
		words = append(words, word{option: o, spelling: "-" + string(letter)})
	}
	return words
}

func spellings(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.spelling
	}
	return strings.Join(texts, " ")
}

// unknownWord names what was not found, and what was probably meant.
func (p *PerfTest) unknownWord(spelling, name string) error {
	short := strings.TrimRight(name, "0123456789")
	digits := strings.TrimPrefix(name, short)
	switch o := p.short(short); {
	case o != nil && digits != "" && o.Arg != "":
		return fmt.Errorf("unknown option %s; did you mean -%s %s?", spelling, short, digits)
	case o != nil:
		return fmt.Errorf("unknown option %s; did you mean -%s?", spelling, short)
	}
	if near := nearest(name, p.options); near != "" {
		return fmt.Errorf("unknown option %s; did you mean --%s? leveret perf-test --help lists them all", spelling, near)
	}
	if name == "legacy-metrics" || name == "l" {
		return errors.New(spelling + ": the metrics of old releases, with an average, are not offered; leave it out")
	}
	return fmt.Errorf("unknown option %s; leveret perf-test --help lists them", spelling)
}
