package assert

import (
	"errors"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		text              string
		figure            string
		bound             float64
		relative, reached bool
		falls             bool
	}{
		{"p99(confirm.service) > +10%", "p99(confirm.service)", 0.1, true, false, false},
		{" p99.9( delivery . response )>=+2.5 ms ", "p99.9(delivery.response)", 2.5e6, false, true, false},
		{"rate(received) < -5 %", "rate(received)", -0.05, true, false, true},
		{"rate(received)<-1000", "rate(received)", -1000, false, false, true},
		{"lost > +0", "lost", 0, false, false, false},
		{"mean(ack) <= -1us", "mean(ack)", -1000, false, true, true},
	} {
		x, err := ParseChange(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if x.Figure.String() != c.figure || x.Bound != c.bound || x.Relative != c.relative || x.Reached != c.reached || x.Falls != c.falls {
			t.Errorf("%q: %s %+v", c.text, x.Figure.String(), x)
		}
	}
}

// A mistake is shown where it is.
func TestMistakesInChanges(t *testing.T) {
	for _, c := range []struct{ text, what, until string }{
		{"p99(confirm.service) > 10%", "a sign", "p99(confirm.service) > "},
		{"p99(confirm.service) > -10%", "rose by more", "p99(confirm.service) > "},
		{"p99(confirm.service) < +10%", "fell by more", "p99(confirm.service) < "},
		{"p99(confirm.service) == +10%", "more than (>)", "p99(confirm.service) "},
		{"p99(confirm.service) > +10", "a unit", "p99(confirm.service) > +10"},
		{"p99(confirm.service) > +x%", "a number", "p99(confirm.service) > +"},
		{"rate(received) < -5ms", "nothing", "rate(received) < -5"},
		{"rate(received) < -101%", "more than 100", "rate(received) < -"},
		{"rate(received) < -5% and more", "should end here", "rate(received) < -5% "},
		{"p99(confirm.services) > +1%", "service", "p99(confirm."},
		{"nonsense > +1", "no count", ""},
		{"", "a figure", ""},
	} {
		_, err := ParseChange(c.text)
		var mistake *Error
		if !errors.As(err, &mistake) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if !strings.Contains(mistake.What, c.what) || mistake.Assertion[:mistake.At] != c.until {
			t.Errorf("%q: %q at %d (%q), want %q behind %q", c.text, mistake.What, mistake.At, c.text[:mistake.At], c.what, c.until)
		}
	}
	if _, err := ParseFigure("p99(confirm.service) > 1"); err == nil {
		t.Error("more than a figure was read as one")
	}
}
