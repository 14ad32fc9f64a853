package options

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"leveret/capture/manifest"
)

// lenient takes a negative number for 0, none, as PerfTest's own defaults are written there (-1). Only in its dialect.
func (d dialect) lenient(v value) value {
	if !d.perfTest {
		return v
	}
	plain := v.set
	v.set = func(s string) error {
		if f, err := strconv.ParseFloat(s, 64); err == nil && f < 0 {
			s = "0"
		}
		return plain(s)
	}
	return v
}

// unit is what a plain number of an option means.
type unit struct {
	name     string
	duration time.Duration
}

var (
	microsecond = unit{"microseconds", time.Microsecond}
	millisecond = unit{"milliseconds", time.Millisecond}
)

// count reads a whole number of units, or a Go duration such as 500ms.
func count(p *time.Duration, u unit) value {
	return value{func() string {
		if *p%u.duration == 0 {
			return strconv.FormatInt(int64(*p/u.duration), 10)
		}
		return asciiDuration(*p)
	}, func(s string) error {
		d, err := u.parse(s)
		if err == nil {
			*p = d
		}
		return err
	}, u.name}
}

func (u unit) parse(s string) (time.Duration, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/int64(u.duration) {
		return time.Duration(n) * u.duration, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("must be a number of %s from 0 up, or a duration such as 500us or 20ms", u.name)
}

func asciiDuration(d time.Duration) string { return strings.Replace(d.String(), "µs", "us", 1) }

// ifGiven shows nothing for the initial value: the option is off.
func ifGiven(v value) value {
	initial, get := v.get(), v.get
	v.get = func() string {
		if s := get(); s != initial {
			return s
		}
		return ""
	}
	return v
}

// isoDuration reads a duration of ISO 8601, days to seconds, such as P5DT8H or PT10M30S; also a number of seconds or a Go
// duration. It has to be at least a second, and is cut to whole ones: an x-max-age has no finer unit.
func isoDuration(p *time.Duration) value {
	return value{func() string {
		if *p == 0 {
			return ""
		}
		return p.String()
	}, func(s string) error {
		d, ok := parseISODuration(s)
		if !ok {
			var err error
			if d, err = parseSeconds(s); err != nil {
				return errors.New("must be a duration such as PT10M30S (10 minutes and a half) or P5DT8H (5 days and 8 hours)")
			}
		}
		if d < time.Second {
			return errors.New("must be at least a second, PT1S")
		}
		*p = d.Truncate(time.Second)
		return nil
	}, "duration"}
}

// parseISODuration reads PnDTnHnMnS; each part may be left out, seconds may have decimals. Years, months and weeks have no
// fixed length in seconds, or are not among what PerfTest takes.
func parseISODuration(s string) (time.Duration, bool) {
	rest, ok := strings.CutPrefix(strings.ToUpper(s), "P")
	if !ok {
		return 0, false
	}
	days, clock, timed := strings.Cut(rest, "T")
	total, parts := 0.0, 0
	take := func(text *string, letter string, seconds float64) {
		number, rest, found := strings.Cut(*text, letter)
		if !found {
			return
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 || letter != "S" && n != math.Trunc(n) {
			parts = math.MinInt32
			return
		}
		*text, total, parts = rest, total+n*seconds, parts+1
	}
	take(&days, "D", 86400)
	take(&clock, "H", 3600)
	take(&clock, "M", 60)
	take(&clock, "S", 1)
	if parts <= 0 || days != "" || clock != "" || timed && strings.HasSuffix(rest, "T") || total > float64(math.MaxInt64)/1e9/2 {
		return 0, false
	}
	return time.Duration(math.Round(total * 1e9)), true
}

// interval reads the length of intervals, in seconds and at least a tenth of one; without it 1 second. alike, where set, gets
// what was given, too, and 0 where nothing was.
func interval(p, alike *time.Duration) value {
	given := time.Duration(0)
	*p = time.Second
	v := seconds(&given, 0, 0)
	plain := v.set
	v.set = func(s string) error {
		if err := plain(s); err != nil {
			return err
		}
		if given > 0 && given < time.Second/10 || given == 0 && alike == nil {
			return errors.New("must be at least 0.1")
		}
		if *p = given; given == 0 {
			*p = time.Second
		}
		if alike != nil {
			*alike = given
		}
		return nil
	}
	if alike == nil {
		given = time.Second
	}
	return v
}

// recoveryInterval is N or MIN-MAX, whole seconds.
func recoveryInterval(p *string) value {
	return value{func() string { return *p }, func(s string) error {
		low, high, span := strings.Cut(s, "-")
		from, err := strconv.Atoi(low)
		to, toErr := from, error(nil)
		if span {
			to, toErr = strconv.Atoi(high)
		}
		if err != nil || toErr != nil || from < 0 || to < from || to == 0 {
			return errors.New("must be seconds such as 5, or a span of them such as 30-60")
		}
		*p = s
		return nil
	}, "seconds"}
}

// consumerRate is a rate of which 0, like -1, is no limit: a consumer that takes nothing is none.
func consumerRate(p *manifest.Rate) value {
	v := rate(p, nil)
	plain := v.set
	v.set = func(s string) error {
		if f, err := strconv.ParseFloat(s, 64); err == nil && f == 0 {
			s = "-1"
		}
		return plain(s)
	}
	return v
}

// sizeStages appends body sizes for a time; what is below least is raised to it by the caller where it is to be.
func sizeStages(p *[]manifest.SizeStage, least int) value {
	return staged(func(number string, d time.Duration) error {
		n, err := strconv.Atoi(number)
		if err != nil || n < least || n > math.MaxInt32 {
			return fmt.Errorf("must be bytes, at least %d, and seconds, such as 1000:30", least)
		}
		*p = append(*p, manifest.SizeStage{Bytes: n, ForNS: int64(d)})
		return nil
	}, "bytes and seconds, such as 1000:30")
}

// workStages appends simulated work for a time.
func workStages(p *[]manifest.WorkStage) value {
	return staged(func(number string, d time.Duration) error {
		work, err := microsecond.parse(number)
		if err != nil {
			return errors.New("must be microseconds and seconds, such as 1000:30")
		}
		*p = append(*p, manifest.WorkStage{WorkNS: int64(work), ForNS: int64(d)})
		return nil
	}, "microseconds and seconds, such as 1000:30")
}

// staged reads VALUE:SECONDS.
func staged(add func(number string, d time.Duration) error, form string) value {
	var given []string
	return value{func() string { return strings.Join(given, ",") }, func(s string) error {
		number, duration, ok := strings.Cut(s, ":")
		d, err := parseSeconds(duration)
		if !ok || err != nil {
			return errors.New("must be " + form)
		}
		if d <= 0 {
			return errors.New("seconds must be more than 0")
		}
		if err := add(number, d); err != nil {
			return err
		}
		given = append(given, s)
		return nil
	}, "stage"}
}
