package layout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"leveret/analyze/result"
)

// Queue patterns are format strings of Java, filled in with one whole number (java.util.Formatter: general, and the
// integral conversions d, x, X and o). The number is never negative.

// verb is one format specifier: %[1$][flags][width]conversion.
type verb struct {
	flags      string
	width      int
	conversion byte
}

// parsePattern returns what makes a name of a number. The pattern must hold exactly one verb, so that different numbers
// make different names.
func parsePattern(pattern string) (func(n int) string, error) {
	var before, after strings.Builder
	var v *verb
	to := &before
	for rest := pattern; rest != ""; {
		literal, spec, found := strings.Cut(rest, "%")
		to.WriteString(literal)
		if !found {
			break
		}
		if percent, ok := strings.CutPrefix(spec, "%"); ok {
			to.WriteByte('%')
			rest = percent
			continue
		}
		parsed, left, err := parseVerb(spec)
		if err != nil {
			return nil, err
		}
		if v != nil {
			return nil, errors.New("has more than one place for the number: leave one of them, and write %% for a percent sign")
		}
		v, to, rest = &parsed, &after, left
	}
	if v == nil {
		return nil, errors.New("has no place for the number, so that all queues would have one name: write %d, or %03d for three digits")
	}
	return func(n int) string { return before.String() + v.format(n) + after.String() }, nil
}

const verbForms = "want one like %d, %03d, %5d, %,d, %x or %X"

// parseVerb reads what follows a percent sign and returns what follows the verb.
func parseVerb(spec string) (v verb, left string, err error) {
	left = strings.TrimPrefix(spec, "1$") // the first argument, which is the only one
	rest := strings.TrimLeft(left, "-#+ 0,(")
	v.flags, left = left[:len(left)-len(rest)], rest
	rest = strings.TrimLeft(left, "0123456789")
	digits := left[:len(left)-len(rest)]
	if rest == "" {
		return v, "", fmt.Errorf("%%%s is not a whole verb: %s, and %%%% for a percent sign", spec, verbForms)
	}
	whole := "%" + spec[:len(spec)-len(rest)+1]
	v.conversion, left = rest[0], rest[1:]
	if digits != "" {
		if v.width, err = strconv.Atoi(digits); err != nil || v.width > mostNameSize {
			return v, "", fmt.Errorf("%s: a name has at most %d bytes", whole, mostNameSize)
		}
	}
	return v, left, v.check(whole)
}

// check refuses what Java refuses, and verbs that are not for whole numbers.
func (v *verb) check(whole string) error {
	has := func(flag string) bool { return strings.Contains(v.flags, flag) }
	if !strings.Contains("dxXo", string(v.conversion)) {
		return fmt.Errorf("%s is no verb for a whole number: %s", whole, verbForms)
	}
	for i, f := range v.flags {
		if strings.ContainsRune(v.flags[:i], f) {
			return fmt.Errorf("%s: the flag %q stands there twice", whole, f)
		}
	}
	switch {
	case v.conversion == 'd' && has("#"), v.conversion != 'd' && strings.ContainsAny(v.flags, "+ ,("):
		return fmt.Errorf("%s: the flags do not go with the verb: %s", whole, verbForms)
	case has("-") && has("0"):
		return fmt.Errorf("%s: the flags - and 0 contradict each other", whole)
	case has("+") && has(" "):
		return fmt.Errorf("%s: the flags + and space contradict each other", whole)
	case v.width == 0 && (has("-") || has("0")):
		return fmt.Errorf("%s: says how to fill up, and not to what width: %s", whole, verbForms)
	}
	return nil
}

func (v *verb) format(n int) string {
	has := func(flag string) bool { return strings.Contains(v.flags, flag) }
	var sign, digits string
	switch v.conversion {
	case 'd':
		digits = strconv.Itoa(n)
		if has(",") {
			digits = result.Group(int64(n)) // as Java does where people speak English
		}
		if has("+") {
			sign = "+"
		} else if has(" ") {
			sign = " "
		}
	case 'o':
		digits = strconv.FormatInt(int64(n), 8)
		if has("#") {
			sign = "0"
		}
	default:
		digits = strconv.FormatInt(int64(n), 16)
		if has("#") {
			sign = "0x"
		}
	}
	fill := max(v.width-len(sign)-len(digits), 0)
	var s string
	switch {
	case has("0"):
		s = sign + strings.Repeat("0", fill) + digits
	case has("-"):
		s = sign + digits + strings.Repeat(" ", fill)
	default:
		s = strings.Repeat(" ", fill) + sign + digits
	}
	if v.conversion == 'X' {
		s = strings.ToUpper(s)
	}
	return s
}
