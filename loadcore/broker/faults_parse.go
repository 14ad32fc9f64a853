package broker

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"leveret/loadcore/wire"
)

// FaultsHelp describes the language of ParseFaults for --help texts.
const FaultsHelp = `A list of faults, separated by commas, each KIND@WHERE[:ARGUMENT]...
WHERE says which messages, counted from 1 in the order the broker takes them:
  N         message N
  N-M       messages N to M
  N-M/STEP  messages N, N+STEP, N+2*STEP, ... up to M
  *         every message
KIND is one of
  drop            confirmed, but never delivered
  duplicate       delivered twice, the second time with the redelivered flag clear too
  corrupt         one byte of the body is changed; byte=N which one, from 0 (default 0), xor=N how (1-255, default 255)
  reorder         delivered right after the next message of its channel; hold=DURATION: without a next one it is
                  delivered in its place after that time (default 1s)
  delay           stays in its queue for a time, and so do the messages behind it; fixed=D, uniform=D..D or
                  exponential=D (the mean), the last two with seed=N (default 1)
  nack            negatively confirmed and not delivered; only on channels with confirms
  return          returned with 312 NO_ROUTE and not delivered; only where published as mandatory
  stall           the broker stops reading all connections for a time, stall@N:DURATION
  block           memory alarm for a time (connection.blocked, then unblocked), block@N:DURATION
  close-channel   the publishing channel is closed instead; code=N (default 406), text=TEXT without , and :
  cut             the publishing connection is cut in the middle of a frame
Example: drop@1000-7000/1000,duplicate@500,corrupt@777:byte=3,delay@*:uniform=1ms..5ms`

const (
	maxFaultRules = 64            // every message is compared with every rule
	maxFaultTime  = 1 * time.Hour // any single duration
	defaultHold   = time.Second
)

// ParseFaults reads a fault specification in the language of FaultsHelp. The empty string is no faults. An error names
// the item, what is wrong with it and what would be right.
func ParseFaults(spec string) (Faults, error) {
	var f Faults
	if strings.TrimSpace(spec) == "" {
		return f, nil
	}
	for item := range strings.SplitSeq(spec, ",") {
		item = strings.TrimSpace(item)
		r, err := parseFault(item)
		if err != nil {
			return Faults{}, fmt.Errorf("fault %d, %q: %w", len(f.rules)+1, item, err)
		}
		f.rules = append(f.rules, r)
		if len(f.rules) > maxFaultRules {
			return Faults{}, fmt.Errorf("faults: more than %d items; join them with N-M/STEP", maxFaultRules)
		}
	}
	return f, nil
}

func parseFault(item string) (r faultRule, err error) {
	head, rest, _ := strings.Cut(item, ":")
	name, where, ok := strings.Cut(head, "@")
	if !ok {
		return r, fmt.Errorf("no messages given; write KIND@WHERE, as in drop@1000 or delay@*:fixed=2ms")
	}
	i := slices.Index(faultNames[:], name)
	if i < 0 {
		return r, fmt.Errorf("unknown kind %q; it can be %s", name, strings.Join(faultNames[:], ", "))
	}
	r.kind = FaultKind(i)
	if err := r.parseWhere(where); err != nil {
		return r, err
	}
	r.setDefaults()
	var args []string
	if rest != "" || strings.Contains(item, ":") {
		args = strings.Split(rest, ":")
	}
	for _, a := range args {
		if err := r.parseArgument(a); err != nil {
			return r, err
		}
	}
	return r, r.complete()
}

func (r *faultRule) setDefaults() {
	r.xor = 0xff
	r.hold = defaultHold
	r.code = 406
	r.law = delayLaw{min: -1, seed: 1}
}

func (r *faultRule) parseWhere(s string) error {
	if s == "*" {
		r.from, r.to, r.step = 1, math.MaxUint64, 1
		return nil
	}
	r.step = 1
	span, step, hasStep := strings.Cut(s, "/")
	from, to, hasTo := strings.Cut(span, "-")
	var err error
	if r.from, err = parseNumber(from); err != nil {
		return err
	}
	r.to = r.from
	if hasTo {
		if r.to, err = parseNumber(to); err != nil {
			return err
		}
	}
	if hasStep {
		if !hasTo {
			return fmt.Errorf("%q has a step but no range; write N-M/STEP", s)
		}
		if r.step, err = parseNumber(step); err != nil {
			return err
		}
	}
	if r.to < r.from {
		return fmt.Errorf("range %q ends before it begins; write the smaller number first", span)
	}
	return nil
}

func parseNumber(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not a message number; they are whole numbers from 1 (or * for every message)", s)
	}
	return n, nil
}

// parseArgument takes one of the parts behind a colon.
func (r *faultRule) parseArgument(a string) error {
	key, value, hasValue := strings.Cut(a, "=")
	switch r.kind {
	case FaultCorrupt:
		switch key {
		case "byte":
			return parseInt(a, value, 0, math.MaxInt32, func(n int) { r.byteIndex = n })
		case "xor":
			return parseInt(a, value, 1, 255, func(n int) { r.xor = byte(n) })
		}
	case FaultReorder:
		if key == "hold" {
			return parseTime(a, value, &r.hold)
		}
	case FaultDelay:
		return r.law.parse(a, key, value)
	case FaultStall, FaultBlock:
		if !hasValue {
			return parseTime(a, key, &r.span)
		}
	case FaultCloseChannel:
		switch key {
		case "code":
			return parseInt(a, value, 300, 599, func(n int) { r.code = uint16(n) })
		case "text":
			if len(value) > 255 {
				return fmt.Errorf("text is %d bytes; at most 255 fit into channel.close", len(value))
			}
			r.text = value
			return nil
		}
	}
	return fmt.Errorf("%s does not take %q; %s", r.kind, a, r.takes())
}

// takes says which arguments the kind has, for errors.
func (r *faultRule) takes() string {
	switch r.kind {
	case FaultCorrupt:
		return "it takes byte=N and xor=N"
	case FaultReorder:
		return "it takes hold=DURATION"
	case FaultDelay:
		return "it takes fixed=D, uniform=D..D or exponential=D, and seed=N"
	case FaultStall, FaultBlock:
		return "it takes a duration, as in " + r.kind.String() + "@5000:1s"
	case FaultCloseChannel:
		return "it takes code=N and text=TEXT"
	}
	return "it takes no arguments"
}

// complete checks what only the whole item shows.
func (r *faultRule) complete() error {
	switch r.kind {
	case FaultDelay:
		if r.law.min < 0 {
			return fmt.Errorf("no law given; add :fixed=2ms, :uniform=1ms..5ms or :exponential=2ms")
		}
	case FaultStall, FaultBlock:
		if r.span <= 0 {
			return fmt.Errorf("no duration given; write %s@%s:1s", r.kind, r.where())
		}
	case FaultCloseChannel:
		if r.text == "" {
			r.text = wire.ReplyCode(r.code).String() + " - fault close-channel"
		}
	}
	return nil
}

func (l *delayLaw) parse(a, key, value string) error {
	if key == "seed" {
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return fmt.Errorf("%q: the seed is a whole number from 0 to 18446744073709551615", a)
		}
		l.seed = n
		return nil
	}
	if l.min >= 0 {
		return fmt.Errorf("%q is a second law; give one fixed, uniform or exponential", a)
	}
	switch key {
	case "fixed":
		l.kind = lawFixed
		return parseTime(a, value, &l.min)
	case "exponential":
		l.kind = lawExponential
		return parseTime(a, value, &l.min)
	case "uniform":
		l.kind = lawUniform
		low, high, ok := strings.Cut(value, "..")
		if !ok {
			return fmt.Errorf("%q has no upper end; write uniform=1ms..5ms", a)
		}
		if err := parseTime(a, low, &l.min); err != nil {
			return err
		}
		if err := parseTime(a, high, &l.max); err != nil {
			return err
		}
		if l.max < l.min {
			return fmt.Errorf("%q ends before it begins; write the shorter time first", a)
		}
		return nil
	}
	return fmt.Errorf("delay does not take %q; it takes fixed=D, uniform=D..D or exponential=D, and seed=N", a)
}

func parseInt(a, value string, low, high int, set func(int)) error {
	n, err := strconv.ParseInt(value, 0, 32)
	if err != nil || n < int64(low) || n > int64(high) {
		return fmt.Errorf("%q: want a whole number from %d to %d", a, low, high)
	}
	set(int(n))
	return nil
}

func parseTime(a, value string, d *time.Duration) error {
	t, err := time.ParseDuration(value)
	if err != nil || t < 0 || t > maxFaultTime {
		return fmt.Errorf("%q: want a duration such as 500us, 2ms or 1s, at most %v", a, maxFaultTime)
	}
	*d = t
	return nil
}
