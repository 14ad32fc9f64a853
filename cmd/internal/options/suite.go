package options

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Suite holds the options of `leveret suite`.
type Suite struct {
	List, DryRun, Print, Keys bool
	// URIs and ManagementURIs are addresses, by the target's name; "": the suite's first target.
	URIs, ManagementURIs map[string]string
	Only                 []string
	Resume               string        // directory of the suite that is to go on
	Time                 time.Duration // 0: as the suite says
	Scale                float64       // 0: 1
	Repeat               int           // 0: as the suite says
	Capture              string        // directory; "": one is made
	Format               string
	ChartFormat          []string
	Quiet                bool
}

// NewSuite returns the set of `leveret suite` and the struct that it fills. redactURI removes the password from a URI.
func NewSuite(redactURI redactor) (*Set, *Suite) {
	s := &Suite{URIs: map[string]string{}, ManagementURIs: map[string]string{}}
	return newSet("suite", []*Option{
		{Name: "list", Group: groupSuite, value: toggle(&s.List, false), Help: "list the suites inside the program, or the rows of one"},
		{Name: "dry-run", Group: groupSuite, value: toggle(&s.DryRun, false), Help: "say what would be run, and how long it would take"},
		{Name: "print", Group: groupSuite, value: toggle(&s.Print, false), Help: "print the suite's YAML file, also of one inside the program, to begin one's own with"},
		{Name: "keys", Group: groupSuite, value: toggle(&s.Keys, false), Help: "print what a suite file may hold, key by key, with an example"},
		{Name: "only", Arg: "WHAT", Group: groupSuite, value: words(&s.Only), Help: "run only rows of this table, of this name or target, or with this value of an axis, such as confirms, integrity or Producers=3; * and ? stand for anything; may be repeated: rows that match any of them"},
		{Name: "time", Arg: "SECONDS", Group: groupSuite, value: seconds(&s.Time, 0, 0), Help: "length of every run that has one, instead of the suite's; its warm-up gets shorter with it; 0: as long as the suite says"},
		{Name: "scale", Arg: "FACTOR", Group: groupSuite, value: factor(&s.Scale), Help: "multiply what the suite lets be scaled: producers, connections, queues, messages"},
		{Name: "repeat", Arg: "N", Group: groupSuite, value: ifGiven(integer(&s.Repeat, 0, 1, 1000)), Help: "runs of each row, interleaved, instead of the suite's; tables show median, least and greatest"},
		{Name: "resume", Arg: "DIR", Group: groupSuite, value: text(&s.Resume, ""), Help: "go on with the suite that was recorded into this directory: what was run stays, what was not or could not is run"},
		{Name: "uri", Arg: "[TARGET=]URI", Group: groupBroker, Redact: redactTarget(redactURI), value: byTarget(&s.URIs), Help: "broker of the suite's first target, or of the one named; may be repeated; may also stand in LEVERET_URI and LEVERET_URI_TARGET, which keeps passwords out of the list of processes; without any the suite goes through the embedded broker and measures leveret, not RabbitMQ"},
		{Name: "management-uri", Arg: "[TARGET=]URI", Group: groupBroker, Redact: redactTarget(redactUserInfo), value: byTarget(&s.ManagementURIs), Help: "its management API, for policies, and for the broker's side of the runs; also LEVERET_MANAGEMENT_URI and LEVERET_MANAGEMENT_URI_TARGET"},
		{Name: "capture", Arg: "DIR", Group: groupRecord, value: text(&s.Capture, ""), Help: "directory to record into, refused if it holds something; without it one below captures, named after the suite"},
		{Name: "format", Arg: "FORMAT", Group: groupReport, value: choice(&s.Format, "text", "text", "markdown", "csv", "latex", "html"), Help: "form of the tables on stdout: text, markdown, csv, latex or html; the directory gets all of them"},
		{Name: "chart-format", Arg: "FORMAT,...", Group: groupReport, value: choices(&s.ChartFormat, "png,svg", "svg", "png", "pdf", "eps", "tex"), Help: "formats of the charts: svg, png, pdf, eps, tex; the page has them anyhow"},
		{Name: "quiet", Group: groupReport, value: toggle(&s.Quiet, false), Help: "no lines of progress"},
	}), s
}

// words appends one word for each time that the option is given.
func words(p *[]string) value {
	return value{func() string { return strings.Join(*p, " ") }, func(s string) error {
		if s == "" {
			return errors.New("says nothing")
		}
		*p = append(*p, s)
		return nil
	}, "words"}
}

func factor(p *float64) value {
	return value{func() string {
		if *p == 0 {
			return ""
		}
		return strconv.FormatFloat(*p, 'g', -1, 64)
	}, func(s string) error {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f > 0 && f <= 1e6) || math.IsNaN(f) {
			return errors.New("must be a factor above 0, at most 1000000, such as 0.1")
		}
		*p = f
		return nil
	}, "factor"}
}

// byTarget reads [TARGET=]URI.
func byTarget(p *map[string]string) value {
	return value{func() string { return "" }, func(s string) error {
		target, uri := cutTarget(s)
		if uri == "" {
			return errors.New("holds no URI")
		}
		if (*p)[target] != "" {
			return fmt.Errorf("a second address for %s", whichTarget(target))
		}
		(*p)[target] = uri
		return nil
	}, "uri"}
}

func whichTarget(name string) string {
	if name == "" {
		return "the first target"
	}
	return "target " + name
}

// cutTarget takes off the name in front of a URI; a URI may hold an equals sign, too, but behind its scheme.
func cutTarget(s string) (target, uri string) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok || strings.ContainsAny(name, ":/@") {
		return "", s
	}
	return name, rest
}

func redactTarget(redactURI redactor) redactor {
	return func(s string) string {
		target, uri := cutTarget(s)
		if target == "" {
			return redactURI(uri)
		}
		return target + "=" + redactURI(uri)
	}
}
