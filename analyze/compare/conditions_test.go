package compare

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/assert"
	"leveret/analyze/result"
)

// failing tells which of the conditions fail.
func failing(t *testing.T, byEstimate bool, base, candidate Group, texts ...string) (fails []bool, why []string) {
	t.Helper()
	o := Options{ByEstimate: byEstimate, Metrics: []*assert.Figure{figure(t, "rate(received)")}}
	for _, text := range texts {
		o.FailIf = append(o.FailIf, change(t, text))
	}
	for _, f := range compared(t, o, base, candidate).FailIf {
		fails, why = append(fails, f.Fails), append(why, f.Why)
	}
	return fails, why
}

func TestConditions(t *testing.T) {
	base, fell := rates("b", 100, 101, 102, 103, 104, 105), rates("c", 90, 91, 92, 93, 94, 95)
	// From 102.5 to 92.5, of all pairs 10 less: 9.76 %, and beyond noise.
	fails, why := failing(t, false, base, fell,
		"rate(received) < -5%", "rate(received) < -20%", "rate(received) > +5%", "rate(received)<=-10", "rate(received) < -10", "rate(received) < -0%")
	if want := []bool{true, false, false, true, false, true}; !slices.Equal(fails, want) {
		t.Errorf("%v, want %v: %q", fails, want, why)
	}
	// Noise: the estimate is beyond, the change is not told from none.
	noise := rates("c", 80, 90, 104, 106, 98, 103)
	if fails, why := failing(t, false, base, noise, "rate(received) < -1%"); fails[0] || !strings.Contains(why[0], "may be noise") {
		t.Errorf("%v %q", fails, why)
	}
	if fails, why := failing(t, true, base, noise, "rate(received) < -1%"); !fails[0] {
		t.Errorf("by the estimate: %q", why)
	}
	// What cannot be compared fails.
	if fails, why := failing(t, false, base, fell, "p99(confirm.service) > +10%"); !fails[0] || !strings.Contains(why[0], "cannot be compared") {
		t.Errorf("%v %q", fails, why)
	}
}

func TestAConditionThatNothingCouldFulfilIsRefused(t *testing.T) {
	base, candidate := rates("b", 100, 101, 102), rates("c", 50, 51, 52)
	o := Options{FailIf: []*assert.Change{change(t, "rate(received) < -5%")}}
	if _, err := Run([]Group{base, candidate}, o); !errors.Is(err, ErrTooFew) || !strings.Contains(err.Error(), "no change, however large") {
		t.Errorf("%v", err)
	}
	o.ByEstimate = true
	if c := compared(t, o, base, candidate); !c.FailIf[0].Fails {
		t.Errorf("%+v", c.FailIf)
	}
	// What was nowhere before needs no test.
	wrong := func(label string, lost int64) (g Group) {
		g.Label = label
		for range 3 {
			g.Runs = append(g.Runs, figuresOf{sent: 1, received: 1, counts: result.Counts{Lost: lost}}.run())
		}
		return g
	}
	o = Options{FailIf: []*assert.Change{change(t, "lost > +0")}}
	if c := compared(t, o, wrong("b", 0), wrong("c", 2)); !c.FailIf[0].Fails {
		t.Errorf("%+v", c.FailIf)
	}
	if c := compared(t, o, wrong("b", 0), wrong("c", 0)); c.FailIf[0].Fails {
		t.Errorf("%+v", c.FailIf)
	}
}

// A percentile among messages without an answer is known from below, and that can be enough.
func TestAConditionAboutACensoredPercentile(t *testing.T) {
	group := func(label string, p99 int64, censored bool) Group {
		d := distribution(1e6, float64(p99))
		if censored {
			d.Censored, d.P99NS, d.AtLeastNS = 100, nil, &p99
		}
		r := &result.Result{Verdict: result.Pass, Complete: true, Config: result.Config{Producers: 1, Confirm: 1}}
		r.Latency.Confirm.Service = d
		return Group{label, []*result.Result{r}}
	}
	for _, c := range []struct {
		bound int64
		why   string
	}{{50e6, "at least"}, {5e6, "cannot be compared"}} { // of 10 ms; +10 % are 11
		o := Options{FailIf: []*assert.Change{change(t, "p99(confirm.service) > +10%")}}
		f := compared(t, o, group("b", 10e6, false), group("c", c.bound, true)).FailIf[0]
		if !f.Fails || !strings.Contains(f.Why, c.why) {
			t.Errorf("%d: %+v", c.bound, f)
		}
	}
}

func TestWhatElseDiffersIsListed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	base, candidate := noisy("base", 6, 1, random), noisy("candidate", 6, 1, random)
	for i, r := range candidate.Runs {
		r.Config.Confirm, r.Broker.Version = 1000, "4.1.0"
		r.Config.RoutingKeys, r.Config.RoutingKeysTotal = []string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}, 1
		r.Config.StartedNS = int64(i+1) * 1e9
	}
	base.Runs[5].Host.Name = "other"
	base.Runs[2].Verdict, base.Runs[4].Complete = result.Fail, false
	candidate.Runs[0].Broker = result.Broker{Embedded: true}
	c := compared(t, Options{}, base, candidate)
	var whats []string
	for _, d := range c.Differences {
		whats = append(whats, d.What)
		switch d.What {
		case "confirms":
			if !slices.Equal(d.Values, []string{"confirm window 10", "confirm window 1,000"}) || d.Within {
				t.Errorf("%+v", d)
			}
		case "host":
			if d.Values[0] != "none (5 runs); other (1 run)" || !d.Within {
				t.Errorf("%+v", d)
			}
		}
	}
	if want := []string{"broker", "host", "confirms"}; !slices.Equal(whats, want) {
		t.Errorf("%q, want %q", whats, want)
	}
	if want := []string{"FAIL: 1 of 6 runs", "incomplete recording: 1 of 6 runs"}; !slices.Equal(c.Groups[0].Marks, want) {
		t.Errorf("%q", c.Groups[0].Marks)
	}
	if want := []string{"embedded broker: 1 of 6 runs"}; !slices.Equal(c.Groups[1].Marks, want) {
		t.Errorf("%q", c.Groups[1].Marks)
	}
	remarks := strings.Join(c.Remarks, "\n")
	for _, want := range []string{"measure leveret, not RabbitMQ", "Runs of one group differ in host", "2 runs failed or left an incomplete recording", "made before or after"} {
		if !strings.Contains(remarks, want) {
			t.Errorf("%q is not said:\n%s", want, remarks)
		}
	}
}

func TestGroupsThatCannotBeCompared(t *testing.T) {
	for _, groups := range [][]Group{nil, {rates("a", 1)}, {rates("a", 1), rates("a", 2)}, {rates("a", 1), {Label: "b"}}} {
		if _, err := Run(groups, Options{}); err == nil {
			t.Errorf("%v was compared", groups)
		}
	}
}

// 1,937 a second are planned as one each 516,262 ns, which is 1,937.001 a second.
func TestRatesInWords(t *testing.T) {
	for perS, want := range map[float64]string{1e9 / 516_262: "1,937", 1000: "1,000", 1234567.3: "1,234,567", 0.5: "0.5", 1.0 / 3: "0.333333", 1500.25: "1,500.25", 0: "0"} {
		if got := rateText(perS); got != want {
			t.Errorf("%v: %q, want %q", perS, got, want)
		}
	}
}
