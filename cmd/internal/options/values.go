package options

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"leveret/capture/manifest"
)

// value adapts a pair of functions to pflag.Value, so that a row of the table says in one line how it is read.
type value struct {
	get  func() string
	set  func(string) error
	kind string
}

func (v value) String() string {
	if v.get == nil {
		return ""
	}
	return v.get()
}
func (v value) Set(s string) error { return v.set(s) }
func (v value) Type() string       { return v.kind }

func text(p *string, initial string) value {
	*p = initial
	return value{func() string { return *p }, func(s string) error { *p = s; return nil }, "text"}
}

// list splits at commas and drops empty items; an item that comes twice is a mistake.
func list(p *[]string) value {
	return value{func() string { return strings.Join(*p, ",") }, func(s string) error {
		*p = nil
		for item := range strings.SplitSeq(s, ",") {
			item = strings.TrimSpace(item)
			if contains(*p, item) {
				return fmt.Errorf("%q stands there twice: name it once", item)
			}
			if item != "" {
				*p = append(*p, item)
			}
		}
		return nil
	}, "list"}
}

// choices is a list whose items must be among those given.
func choices(p *[]string, initial string, allowed ...string) value {
	v := list(p)
	plain := v.set
	v.set = func(s string) error {
		if err := plain(s); err != nil {
			return err
		}
		for _, item := range *p {
			if !contains(allowed, item) {
				return fmt.Errorf("%q is none of %s", item, strings.Join(allowed, ", "))
			}
		}
		return nil
	}
	if initial != "" {
		*p = strings.Split(initial, ",")
	}
	return v
}

func choice(p *string, initial string, allowed ...string) value {
	*p = initial
	return value{func() string { return *p }, func(s string) error {
		if !contains(allowed, s) {
			return fmt.Errorf("must be one of %s", strings.Join(allowed, ", "))
		}
		*p = s
		return nil
	}, "choice"}
}

func contains(list []string, item string) bool {
	for _, l := range list {
		if l == item {
			return true
		}
	}
	return false
}

func integer[T int | int64](p *T, initial, least, most T) value {
	*p = initial
	return value{func() string { return strconv.FormatInt(int64(*p), 10) }, func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange) && n < 0:
			return fmt.Errorf("is too small: must be from %d to %d", least, most)
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("is too large: must be from %d to %d", least, most)
		case err != nil:
			return errors.New("must be a whole number, in digits alone")
		case n < int64(least) || n > int64(most):
			return fmt.Errorf("must be from %d to %d", least, most)
		}
		*p = T(n)
		return nil
	}, "int"}
}

// toggle is true or false; as a switch it needs no value.
func toggle(p *bool, initial bool) value {
	*p = initial
	return value{func() string { return strconv.FormatBool(*p) }, func(s string) error {
		b, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("must be true or false")
		}
		*p = b
		return nil
	}, "bool"}
}

// seconds reads a number of seconds, as PerfTest does, or a Go duration such as 500ms.
func seconds(p *time.Duration, initial, least time.Duration) value {
	*p = initial
	return value{func() string { return strconv.FormatFloat(p.Seconds(), 'f', -1, 64) }, func(s string) error {
		d, err := parseSeconds(s)
		if err != nil {
			return err
		}
		if d < least {
			return fmt.Errorf("must be at least %s s", strconv.FormatFloat(least.Seconds(), 'f', -1, 64))
		}
		*p = d
		return nil
	}, "seconds"}
}

// wholeSeconds is seconds for values that the protocol carries without fraction.
func wholeSeconds(p *time.Duration, initial, least time.Duration) value {
	v := seconds(p, initial, least)
	plain := v.set
	v.set = func(s string) error {
		if err := plain(s); err != nil {
			return err
		}
		if *p%time.Second != 0 {
			return errors.New("must be whole seconds")
		}
		return nil
	}
	return v
}

// mostSeconds leaves room to add two times, in nanoseconds.
const mostSeconds = math.MaxInt64 / 1_000_000_000 / 2

func parseSeconds(s string) (time.Duration, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if math.IsNaN(f) || f < 0 || f > mostSeconds {
			return 0, fmt.Errorf("must be a number of seconds from 0 to %d", mostSeconds)
		}
		d := time.Duration(math.Round(f * 1e9))
		if f > 0 && d == 0 { // 0 means something else, such as without end
			return 0, errors.New("is less than a nanosecond")
		}
		return d, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New("must be a number of seconds, or a duration such as 500ms or 2m")
	}
	return d, nil
}

// maxSize bounds every size: what is larger is a mistake, and would only be found out by running out of memory.
const maxSize = 1 << 40

// size reads bytes, with an optional unit kb, mb, gb or kib, mib, gib.
func size(p *int64, initial, least int64) value {
	*p = initial
	return value{func() string { return strconv.FormatInt(*p, 10) }, func(s string) error {
		n, err := parseSize(s)
		if err != nil {
			return err
		}
		if n < least || n > maxSize {
			return fmt.Errorf("must be from %d bytes to 1 TiB", least)
		}
		*p = n
		return nil
	}, "bytes"}
}

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1}, {"", 1}}

func parseSize(s string) (int64, error) {
	lower := strings.ToLower(strings.TrimSpace(s))
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(lower, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if n < 0 || err != nil && !errors.Is(err, strconv.ErrRange) {
			break
		}
		if err != nil || n > math.MaxInt64/u.bytes {
			return 0, errors.New("is too large: must be at most 1 TiB")
		}
		return n * u.bytes, nil
	}
	return 0, errors.New("must be a number of bytes, such as 65536, 64kib or 1mb")
}

// rate reads messages per second as an exact fraction; -1 means as fast as the broker takes them. 0 sets none, where that is
// possible (none is not nil).
func rate(p *manifest.Rate, none *bool) value {
	given := "-1"
	return value{func() string { return given }, func(s string) error {
		if f, err := strconv.ParseFloat(s, 64); err == nil && f == 0 && none != nil {
			*p, *none, given = manifest.Rate{}, true, "0"
			return nil
		}
		r, err := parseRate(s)
		if err != nil {
			return err
		}
		*p, given = r, s
		if none != nil {
			*none = false
		}
		return nil
	}, "msg/s"}
}

// errRateForm is of what is no plain number.
var errRateForm = errors.New("must be messages per second, at most 1000000000, such as 1000 or 0.5; -1 means as fast as the broker takes them")

// maxRateDecimals keeps messages x 1e9 x 10^decimals within an int64.
const maxRateDecimals = 6

func parseRate(s string) (manifest.Rate, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f < 0 {
		if f != -1 {
			return manifest.Rate{}, errors.New("must not be negative; only -1 means no limit, as fast as the broker takes them")
		}
		return manifest.Rate{}, nil
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > maxRateDecimals {
		return manifest.Rate{}, fmt.Errorf("has more than %d decimals", maxRateDecimals)
	}
	digits := whole + fraction
	n, err := strconv.ParseInt(digits, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return manifest.Rate{}, errors.New("is too large: must be at most 1000000000")
	}
	if err != nil || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		return manifest.Rate{}, errRateForm
	}
	if n == 0 {
		return manifest.Rate{}, errors.New("0 is no rate")
	}
	per := int64(1e9)
	for range fraction {
		per *= 10
	}
	if n > per {
		return manifest.Rate{}, errors.New("must be at most 1000000000")
	}
	return manifest.Rate{Messages: n, PerNS: per}, nil
}

// maxID is how long the name of a run may be, in bytes. Directories and queues are named after it with some characters more, and
// their names have at most 255 bytes.
const maxID = 200

// runName is a text that stands in lines and names: one line of at most maxID bytes.
func runName(p *string) value {
	return value{func() string { return *p }, func(s string) error {
		switch {
		case len(s) > maxID:
			return fmt.Errorf("has %d bytes, and at most %d are possible: it names the run, its directory and queues", len(s), maxID)
		case strings.ContainsFunc(s, breaksLines):
			return errors.New("must be without line breaks and control characters: it stands in every line of output")
		}
		*p = s
		return nil
	}, "text"}
}

func breaksLines(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// fileName is a name that can be one of a directory, too.
func fileName(v value) value {
	plain := v.set
	v.set = func(s string) error {
		if s == "" || s == "." || s == ".." || strings.ContainsAny(s, "/\\\x00") {
			return errors.New("must be a name without slashes: it names the run and its directory")
		}
		if err := portable(s); err != nil {
			return err
		}
		return plain(s)
	}
	return v
}

// portable refuses names that files of Windows cannot have, on every system: captures are carried from one to another.
func portable(name string) error {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	last := len(base) - 1
	switch {
	case base == "con", base == "prn", base == "aux", base == "nul",
		last == 3 && (base[:last] == "com" || base[:last] == "lpt") && base[last] >= '0' && base[last] <= '9':
		return fmt.Errorf("%q is the name of a device on Windows, and cannot be that of a directory there: choose another one", name)
	case strings.HasSuffix(name, "."), strings.HasSuffix(name, " "):
		return fmt.Errorf("%q ends in a dot or a blank, which Windows leaves out of the names of directories: choose another one", name)
	}
	return nil
}

// mostShown is how many bytes of a value stand in an error.
const mostShown = 80

// inLine is a value as an error repeats it: on one line, and not all of it where it is long.
func inLine(s string) string {
	if len(s) > mostShown {
		s = strings.ToValidUTF8(s[:mostShown], "") + "..."
	}
	if strings.ContainsFunc(s, breaksLines) {
		return strconv.Quote(s)
	}
	return s
}
