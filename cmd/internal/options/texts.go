package options

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
)

var errStrict = errors.New("must be strict, or nothing: what is not there yet is declared then")

// splitList gives the items of a list that commas separate, without the empty ones.
func splitList(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" && !yield(item) {
				return
			}
		}
	}
}

// plainList is a list in which an item may come twice: it counts twice then.
func plainList(p *[]string) value {
	return value{func() string { return strings.Join(*p, ",") }, func(s string) error {
		*p = nil
		for item := range splitList(s) {
			*p = append(*p, item)
		}
		if len(*p) == 0 {
			return errors.New("names nothing")
		}
		return nil
	}, "list"}
}

// oneName is the only name of a list: one connection asks for one.
func oneName(p *string) value {
	return value{func() string { return *p }, func(s string) error {
		names := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
		if len(names) != 1 {
			return fmt.Errorf("must be one name, %d are given: a TLS client asks for one (RFC 6066 section 3)", len(names))
		}
		*p = names[0]
		return nil
	}, "name"}
}

// keyValues adds KEY=VALUE, separated by commas.
func keyValues(p *[]string) value {
	return value{func() string { return strings.Join(*p, ",") }, func(s string) error {
		for item := range splitList(s) {
			if key, _, ok := strings.Cut(item, "="); !ok || key == "" {
				return errors.New("must be KEY=VALUE, separated by commas") // the item may be the rest of a secret
			}
			*p = append(*p, item)
		}
		return nil
	}, "pairs"}
}

// exposed adds NAME=NUMBER.
func exposed(p *[]ExposedMetric) value {
	return value{func() string {
		items := make([]string, len(*p))
		for i, m := range *p {
			items[i] = m.Name + "=" + strconv.FormatFloat(m.Value, 'f', -1, 64)
		}
		return strings.Join(items, ",")
	}, func(s string) error {
		for item := range splitList(s) {
			name, number, _ := strings.Cut(item, "=")
			n, err := strconv.ParseFloat(number, 64)
			if name == "" || err != nil {
				return fmt.Errorf("%q: must be NAME=NUMBER, such as expected_published=50000", item)
			}
			*p = append(*p, ExposedMetric{name, n})
		}
		return nil
	}, "metrics"}
}

// level is a switch that sets a text; the fuller of two levels wins.
func level(p *string, to string) value {
	return value{func() string { return strconv.FormatBool(*p == to) }, func(s string) error {
		on := false
		err := toggle(&on, false).set(s)
		if err == nil && on && *p != VerboseFull {
			*p = to
		}
		return err
	}, "bool"}
}

// path is an absolute path of a URL.
func path(p *string, initial string) value {
	v := text(p, initial)
	v.set = func(s string) error {
		if !strings.HasPrefix(s, "/") || strings.ContainsAny(s, " ?#{}") {
			return errors.New("must be a path such as /metrics")
		}
		*p = s
		return nil
	}
	return v
}

// metricPrefix is what names of metrics may begin with. As in PerfTest "." and "-" become "_" in them, and ":" too, which
// Prometheus keeps for its rules.
func metricPrefix(p *string, initial string) value {
	v := text(p, initial)
	v.set = func(s string) error {
		other := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.-:", r)
		}
		if strings.ContainsFunc(s, other) || s != "" && s[0] >= '0' && s[0] <= '9' {
			return errors.New("names of metrics in Prometheus have the letters a to z and A to Z, digits and _, no digit in front (., - and : become _)")
		}
		*p = s
		return nil
	}
	return v
}

func notEmpty(v value) value {
	plain := v.set
	v.set = func(s string) error {
		if strings.TrimSpace(s) == "" {
			return errors.New("must not be empty")
		}
		return plain(s)
	}
	return v
}

// streamOffset is first, last, next, a number or a time.
func streamOffset(p *string) value {
	return value{func() string { return *p }, func(s string) error {
		switch lower := strings.ToLower(s); lower {
		case "first", "last", "next":
			*p = lower
			return nil
		}
		if _, err := strconv.ParseUint(s, 10, 63); err == nil {
			*p = s
			return nil
		}
		t, err := parseTime(s)
		if err != nil {
			return errors.New("must be first, last, next, a number, or a time such as 2026-06-03T07:45:54Z")
		}
		*p = t.Format(time.RFC3339)
		return nil
	}, "offset"}
}

// parseTime reads a time of ISO 8601 with its offset; seconds may be left out, as Java lets them be.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04Z07:00", s)
	}
	return t, err
}
