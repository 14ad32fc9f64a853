package assert

import (
	"errors"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func ptr[T any](v T) *T { return &v }

// sample is a run of 1,000 messages with figures of which each is another number.
func sample() *result.Result {
	return &result.Result{
		Verdict: result.Pass, Complete: true,
		Config: result.Config{Producers: 1, Consumers: 1, Confirm: 100, OpenLoop: true},
		Counts: result.Counts{Sent: 1000, Confirmed: 1000, Received: 1003, ReceivedUnique: 1000, Duplicates: 3},
		Rates:  result.Rates{Sent: ptr(50_000.5), Received: ptr(49_999.0)},
		Latency: result.Latencies{
			Delivery: result.Latency{
				Service: &result.Distribution{Count: 1000, MinNS: ptr(int64(5)), MeanNS: ptr(2e6), StdDevNS: ptr(1e5), P50NS: ptr(int64(1_500_000)), P99NS: ptr(int64(20_000_000)), MaxNS: ptr(int64(31_000_000)),
					Asked: []result.AskedPercentile{{Percent: 99.999, ValueNS: ptr(int64(30_000_001))}}},
				Response: &result.Distribution{Count: 980, Censored: 20, MinNS: ptr(int64(5)), MeanNS: ptr(2e6), StdDevNS: ptr(1e5), P50NS: ptr(int64(1_500_000)), MaxNS: ptr(int64(31_000_000)),
					AtLeastNS: ptr(int64(40_000_000)), MaxAtLeastNS: ptr(int64(900_000_000)), AtLeast: &result.Bounds{P99NS: ptr(int64(50_000_000))}},
			},
		},
	}
}

func TestAssertions(t *testing.T) {
	for _, c := range []struct {
		text string
		met  bool
		why  string // part of it
	}{
		{"lost == 0", true, ""},
		{"lost==0", true, ""},
		{"duplicates <= 3", true, ""},
		{"duplicates < 3", false, ""},
		{"duplicates != 3", false, ""},
		{"duplicates != 4", true, ""},
		{"received > 1002", true, ""},
		{"received>=1004", false, ""},
		{"rate(received) >= 50000", false, ""},
		{"rate( sent ) >= 50000.5", true, ""},
		{"rate(confirmed) > 0", false, "it was not measured"},
		{"rate(drain) > 0", false, "too little was received"},
		{"p99(delivery.service) < 20ms", false, ""},
		{"p99(delivery.service) <= 20 ms", true, ""},
		{"p99(delivery.service) <= 0.02s", true, ""},
		{"p99(delivery.service) == 20000us", true, ""},
		{"p99(delivery.service) == 20000µs", true, ""},
		{"p99.000(delivery.service) < 20000001ns", true, ""},
		{"p99.999(delivery.service) > 30ms", true, ""},
		{"p12(delivery.service) > 0ns", false, "was not looked for"},
		{"mean(delivery.service) == 2ms", true, ""},
		{"stddev(delivery.service) < 0.1ms", false, ""},
		{"min(delivery.service) >= 5ns", true, ""},
		{"max(delivery.service) < 31ms", false, ""},
		// Twenty of 1,000 have no answer: the percentile at rank 990 is known to be at least 50 ms, the maximum 900 ms.
		{"p50(delivery.response) < 2ms", true, ""},
		{"p99(delivery.response) < 10s", false, "20 never answered"},
		{"p99(delivery.response) <= 10s", false, "known from below only"},
		{"p99(delivery.response) == 50ms", false, "known from below only"},
		{"p99(delivery.response) != 50ms", false, "known from below only"},
		{"p99(delivery.response) != 49ms", true, "known from below only"},
		{"p99(delivery.response) >= 50ms", true, "known from below only"},
		{"p99(delivery.response) > 50ms", false, "known from below only"},
		{"max(delivery.response) > 899ms", true, "took longer"},
		{"max(delivery.response) < 100s", false, "took longer"},
		{"mean(delivery.response) < 100s", false, "20 never answered"},
		{"min(delivery.response) < 6ns", true, ""},
		{"p50(confirm.service) < 1s", false, "no message was confirmed"},
		{"p50(commit.response) < 1s", false, "there is no such latency"},
		{"max(ack) < 1s", false, "no ack was recorded"},
		{"out_of_order == -0.0", true, ""},
	} {
		a, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := a.Judge(sample())
		if got.Met != c.met || !strings.Contains(got.Why, c.why) || c.why == "" && got.Why != "" || got.Text != c.text {
			t.Errorf("%s: %+v, want %v with %q", c.text, got, c.met, c.why)
		}
	}
}

// A count of what did not arrive is known from below only where the run was not drained or its record is not whole.
func TestCountsThatAreNotKnown(t *testing.T) {
	undrained := sample()
	undrained.Findings = []result.Finding{{Code: "not_drained", Severity: result.SeverityInconclusive}}
	cut := sample()
	cut.Complete = false
	unconfirmed := sample()
	unconfirmed.Config.Confirm, unconfirmed.Counts.Confirmed, unconfirmed.Counts.Missing = 0, 0, 2
	unconfirmed.Findings = []result.Finding{{Code: "missing", Severity: result.SeverityInconclusive}}
	for _, c := range []struct {
		name, text string
		r          *result.Result
		met        bool
	}{
		{"undrained", "lost == 0", undrained, false},
		{"undrained", "lost >= 0", undrained, true},
		{"undrained", "duplicates <= 3", undrained, true},
		{"cut", "duplicates <= 3", cut, false},
		{"cut", "duplicates >= 3", cut, true},
		{"unconfirmed", "missing == 2", unconfirmed, true},
		{"unconfirmed", "lost == 0", unconfirmed, false},
		{"unconfirmed", "confirmed == 0", unconfirmed, false},
	} {
		a, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Judge(c.r); got.Met != c.met || !c.met && got.Why == "" {
			t.Errorf("%s, %s: %+v", c.name, c.text, got)
		}
	}
}

func TestWrongAssertionsShowWhere(t *testing.T) {
	for _, c := range []struct{ text, what, caret string }{
		{"", "a figure should stand here", "^"},
		{"lots == 0", `no count is called "lots"`, "^"},
		{"lost = 0", "one of < <= > >= == !=", "     ^"},
		{"lost == ", "a number should stand here", "        ^"},
		{"lost == zero", "a number should stand here", "        ^"},
		{"lost == 0ms", "lost has no unit", "         ^"},
		{"lost == 0 and duplicates == 0", "has no unit", "          ^"},
		{"lost == 0 , duplicates == 0", "should end here", "          ^"},
		{"rate(lost) > 1", "there is a rate of", "     ^"},
		{"rate > 1", "rate needs what is counted", "^"},
		{"p99 < 20ms", "p99 needs a latency", "^"},
		{"p0(delivery.service) < 1ms", "must be a number above 0", " ^"},
		{"p101(delivery.service) < 1ms", "must be a number above 0", " ^"},
		{"p99.0000000001(ack) < 1ms", "at most 9 decimals", " ^"},
		{"median(ack) < 1ms", "there is rate(...)", "^"},
		{"p99(send.service) < 1ms", "latency of confirm, delivery", "    ^"},
		{"p99(delivery) < 1ms", "since when should stand here", "            ^"},
		{"p99(delivery.due) < 1ms", "service) or due (response)", "             ^"},
		{"p99(ack.response) < 1ms", "write ack alone", "        ^"},
		{"p99(ack < 1ms", "a closing parenthesis", "        ^"},
		{"p99(ack) < 20", "a latency needs a unit", "             ^"},
		{"p99(ack) < 20m", "a latency needs a unit", "             ^"},
		{"p99(ack) < 1e3us", "a latency needs a unit", "            ^"},
		{"lost\t== 0", "a character that no assertion has", "    ^"},
	} {
		_, err := Parse(c.text)
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if !strings.Contains(lines[0], c.what) || lines[len(lines)-1] != "  "+c.caret {
			t.Errorf("%q:\n%v\nwant %q and\n  %s", c.text, err, c.what, c.caret)
		}
	}
	if _, err := Parse(strings.Repeat("x", MostBytes+1)); err == nil {
		t.Error("a long assertion is taken")
	}
}

// What is not met is a finding behind those that failed the run by themselves, and fails it.
func TestApply(t *testing.T) {
	r := sample()
	r.Findings = []result.Finding{{Code: "duplicates", Severity: result.SeverityFail}, {Code: "closed_loop", Severity: result.SeverityNote}}
	var all []*Assertion
	for _, text := range []string{"lost == 0", "duplicates == 0", "p99(delivery.service) < 10ms"} {
		a, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	Apply(r, all)
	if r.Verdict != result.Fail || len(r.Assertions) != 3 || !r.Assertions[0].Met || r.Assertions[1].Met || r.Assertions[2].Met {
		t.Errorf("%s, %+v", r.Verdict, r.Assertions)
	}
	if len(r.Findings) != 4 || r.Findings[1].Code != "assertion_not_met" || r.Findings[1].Text != "duplicates == 0: it is 3 messages" ||
		r.Findings[2].Text != "p99(delivery.service) < 10ms: it is 20 ms" || r.Findings[3].Code != "closed_loop" {
		t.Errorf("%+v", r.Findings)
	}
	met := sample()
	if Apply(met, all[:1]); met.Verdict != result.Pass || len(met.Findings) != 0 {
		t.Errorf("%+v", met)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"lost == 0", "p99.9(delivery.response) < 20ms", "rate(received) >= 50000", "p99(ack) < 1µs", "p(", "\xff", "mean(commit.service)!=-1.5s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.At > len(wrong.Assertion) || err.Error() == "" {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		a.Judge(sample())
		a.Judge(&result.Result{})
	})
}
