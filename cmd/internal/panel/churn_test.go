package panel

import (
	"strings"
	"testing"
	"time"

	"leveret/loadcore"
)

// The first line comes when the interval has begun before the load: 50 in half a second are 100 a second. Then 150 more in a second.
func TestChurnLine(t *testing.T) {
	l := churnLine{Churn: Churn{Interval: time.Second}}
	for _, c := range []struct {
		at   time.Duration
		f    loadcore.ChurnFigures
		want string
	}{
		{500 * time.Millisecond, loadcore.ChurnFigures{Made: 50, Undone: 40}, "made 100/s  undone 80/s"},
		{1500 * time.Millisecond, loadcore.ChurnFigures{Made: 200, Undone: 190}, "made 150/s  undone 150/s"},
	} {
		if got := l.next(c.at, c.f); !strings.Contains(got, c.want) {
			t.Errorf("after %v: %q, want %q", c.at, got, c.want)
		}
	}
}
