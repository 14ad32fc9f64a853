package options

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Variant is a configuration that is compared with others: options that are put behind those of the command line.
type Variant struct {
	Label string // a file name
	Args  []string
}

const (
	mostRepeats  = 500
	mostVariants = 32
)

func (r *Run) repeatOptions() []*Option {
	return []*Option{
		{Name: "repeat", Arg: "N", Group: groupRecord, value: integer(&r.Repeat, 0, 0, mostRepeats), Help: "record N runs of each configuration, each by a process and into a capture of its own below --capture; leveret compare tells their differences from noise"},
		{Name: "variant", Arg: "'LABEL: OPTIONS'", Group: groupRecord, value: variants(&r.Variants), Redact: labelOnly, Help: "a configuration of its own, such as 'w10: --confirm 10': these options come behind the others; may be repeated, the first one is the base. In each of the --repeat rounds every variant runs once, in an order shuffled by --seed"},
	}
}

// labelOnly leaves out what may be secret among a variant's options.
func labelOnly(s string) string {
	label, _, _ := strings.Cut(s, ":")
	if label = strings.TrimSpace(label); variantLabel.MatchString(label) {
		return label + ": ..."
	}
	return "..."
}

var variantLabel = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// variants appends one variant.
func variants(p *[]Variant) value {
	return value{func() string {
		var texts []string
		for _, v := range *p {
			texts = append(texts, v.Label)
		}
		return strings.Join(texts, ",")
	}, func(s string) error {
		label, rest, found := strings.Cut(s, ":")
		label = strings.TrimSpace(label)
		if !found || !variantLabel.MatchString(label) {
			return errors.New("must begin with a label of letters, digits, '.', '_' and '-', and a colon: 'w10: --confirm 10'")
		}
		if err := portable(label); err != nil {
			return err
		}
		args, err := shellWords(rest)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(*p, func(v Variant) bool { return strings.EqualFold(v.Label, label) }) {
			return fmt.Errorf("%q is the label of another variant, too", label)
		}
		if len(args) > 0 && !strings.HasPrefix(args[0], "--") {
			return fmt.Errorf("options of a variant begin with --, and %q does not", args[0])
		}
		if *p = append(*p, Variant{Label: label, Args: args}); len(*p) > mostVariants {
			return fmt.Errorf("at most %d variants can be compared", mostVariants)
		}
		return nil
	}, "variant"}
}

// shellWords splits at blanks, but not between quotes, of which there are single and double ones.
func shellWords(s string) (words []string, err error) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range s {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
