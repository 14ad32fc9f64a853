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

// Schedule holds the options that say when messages are due. At most one of Rate, Interval and Stages is given.
type Schedule struct {
	Rate     manifest.Rate    // Messages 0: closed loop
	Idle     bool             // --rate 0: connections and channels, and no messages
	Interval time.Duration    // 0: not given
	Stages   []manifest.Stage // in the order of the command line
	Arrivals string           // "even" or "poisson"
	Seed     uint64
	// RandomDelay is the most that a producer begins late; 0: phases are spread evenly.
	RandomDelay time.Duration
	CatchUp     *int64 // nil: all
}

func (s *Schedule) options(d dialect) []*Option {
	return []*Option{
		{Name: "rate", PerfTest: []string{"r"}, Arg: "MSG/S", Group: groupProduce, value: rate(&s.Rate, &s.Idle), Help: "messages per second of each producer channel, evenly spaced; -1: as fast as the broker takes them; 0: none, the producers only connect"},
		{Name: "publishing-interval", PerfTest: []string{"P"}, Arg: "SECONDS", Group: groupProduce, value: ifGiven(seconds(&s.Interval, 0, 100*time.Millisecond)), Help: "one message of each producer channel every so many seconds, at least 0.1; the first one within the first interval, see --producer-random-start-delay"},
		{Name: "variable-rate", PerfTest: []string{"vr"}, Arg: "RATE:SECONDS", Many: true, Group: groupProduce, value: stages(&s.Stages, parseStep), Help: "a rate for a time; repeatable: one after the other, for ever; rate 0: a pause"},
		{Name: "ramp", Arg: "FROM:TO:SECONDS", Group: groupProduce, value: stages(&s.Stages, parseRamp), Help: "a rate that goes evenly from one to the other; repeatable, also between --variable-rate"},
		{Name: "arrivals", Arg: "HOW", Group: groupProduce, value: choice(&s.Arrivals, "even", "even", "poisson"), Help: "even: messages of a rate are evenly spaced; poisson: they come at random, independent of each other"},
		{Name: "seed", Arg: "N", Group: groupProduce, value: unsigned(&s.Seed, 1), Help: "determines everything random: the same seed gives the same due times"},
		{Name: "producer-random-start-delay", PerfTest: []string{"prsd"}, Arg: "SECONDS", Group: groupProduce, value: d.lenient(ifGiven(seconds(&s.RandomDelay, 0, d.leastDelay))), Help: d.delayHelp()},
		{Name: "catch-up", Arg: "all|none|N", Group: groupProduce, value: catchUp(&s.CatchUp), Help: "what to do about messages that are late by over 10 ms and by another message: send all, none, or at most the N last of them; the others are recorded as not sent"},
	}
}

// Check looks at what no option can tell by itself. given tells whether an option was.
func (s *Schedule) Check(given func(name string) bool) error {
	var rates []string
	for _, name := range []string{"rate", "publishing-interval", "variable-rate", "ramp"} {
		if given(name) {
			rates = append(rates, "--"+name)
		}
	}
	stages := given("variable-rate") || given("ramp")
	switch {
	case len(rates) > 1 && !(stages && len(rates) == 2 && given("variable-rate") && given("ramp")):
		return fmt.Errorf("%s: each of them says when messages are due; give one (--variable-rate and --ramp go together)", strings.Join(rates, " and "))
	case s.Timed():
		return nil
	case s.Arrivals != "even":
		return fmt.Errorf("--arrivals=%s: without a rate nothing is ever due; give --rate, --publishing-interval, --variable-rate or --ramp", s.Arrivals)
	case s.CatchUp != nil:
		return errors.New("--catch-up: without a rate nothing is ever late; give --rate, --publishing-interval, --variable-rate or --ramp")
	}
	return nil
}

// Timed tells whether messages have due times.
func (s *Schedule) Timed() bool {
	return s.Idle || s.Rate.Messages > 0 || s.Interval > 0 || len(s.Stages) > 0
}

func (d dialect) delayHelp() string {
	text := "each producer channel begins at random, 1 ms to so many seconds after the start; "
	if d.perfTest {
		return text + "without it 1 second as soon as there is a rate; 0: they begin together, their messages spread evenly over each other's periods"
	}
	return text + "without it the messages of all of them are spread evenly over each other's periods"
}

// Apply sets the schedule of a producer, but for its phase. An idle producer has a message that is due at the end of time: its
// phase stands.
func (s *Schedule) Apply(p *manifest.Producer) {
	p.Rate, p.Stages, p.CatchUp, p.Seed = s.Rate, s.Stages, s.CatchUp, 0
	if s.Idle {
		p.Rate, p.PhaseNS = manifest.Rate{Messages: 1, PerNS: math.MaxInt64}, math.MaxInt64
	}
	if s.Interval > 0 {
		p.Rate = manifest.Rate{Messages: 1, PerNS: int64(s.Interval)}
	}
	if s.Arrivals == "poisson" {
		p.Arrivals, p.Seed = manifest.ArrivalsPoisson, s.Seed
	}
}

// stages appends to a list that several options share, in the order of the command line.
func stages(p *[]manifest.Stage, parse func(string) (manifest.Stage, error)) value {
	var given []string
	return value{func() string { return strings.Join(given, ",") }, func(text string) error {
		s, err := parse(text)
		if err != nil {
			return err
		}
		*p, given = append(*p, s), append(given, text)
		return nil
	}, "stage"}
}

func parseStep(s string) (manifest.Stage, error) {
	rate, seconds, ok := strings.Cut(s, ":")
	if !ok || strings.Contains(seconds, ":") {
		return manifest.Stage{}, errors.New("must be messages per second and seconds, such as 1000:30; 0:10 is a pause")
	}
	return stageOf(rate, rate, seconds)
}

func parseRamp(s string) (manifest.Stage, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return manifest.Stage{}, errors.New("must be two rates in messages per second, and seconds, such as 0:1000:30")
	}
	return stageOf(parts[0], parts[1], parts[2])
}

func stageOf(from, to, duration string) (s manifest.Stage, err error) {
	if s.From, err = stageRate(from); err != nil {
		return s, err
	}
	if s.To, err = stageRate(to); err != nil {
		return s, err
	}
	d, err := parseSeconds(duration)
	if err == nil && d <= 0 {
		err = errors.New("seconds must be more than 0")
	}
	s.ForNS = int64(d)
	return s, err
}

// stageRate is a rate that may be 0.
func stageRate(s string) (manifest.Rate, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == 0 && !math.Signbit(f) {
		return manifest.Rate{PerNS: 1e9}, nil
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && f < 0 {
		return manifest.Rate{}, errors.New("a negative rate has no place in a rate that varies: every stage has a rate, 0 or more")
	}
	return parseRate(s)
}

// catchUp is all, none, or a number.
func catchUp(p **int64) value {
	return value{func() string {
		switch {
		case *p == nil:
			return "all"
		case **p == 0:
			return "none"
		}
		return strconv.FormatInt(**p, 10)
	}, func(s string) error {
		switch s {
		case "all":
			*p = nil
			return nil
		case "none":
			s = "0"
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return errors.New("must be all, none, or the most late messages to send")
		}
		*p = &n
		return nil
	}, "count"}
}

func unsigned(p *uint64, initial uint64) value {
	*p = initial
	return value{func() string { return strconv.FormatUint(*p, 10) }, func(s string) error {
		n, err := strconv.ParseUint(s, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("is too large: must be from 0 to %d", uint64(math.MaxUint64))
		}
		if err != nil {
			return errors.New("must be a whole number from 0 up")
		}
		*p = n
		return nil
	}, "number"}
}

// brief reads a short duration with its unit; 0 is off. The unit is written in ASCII.
func brief(p *time.Duration, initial, most time.Duration) value {
	*p = initial
	return value{func() string { return strings.Replace(p.String(), "µs", "us", 1) }, func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 || d > most {
			return fmt.Errorf("must be a duration such as 200us, at most %v; 0: off", most)
		}
		*p = d
		return nil
	}, "duration"}
}
