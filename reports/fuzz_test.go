package reports

import (
	"encoding/json"
	"strings"
	"testing"

	"leveret/analyze/result"
)

// No result makes a report panic, write wider lines than asked for, or write JSON that does not read back.
func FuzzReports(f *testing.F) {
	// Small seeds: mutations of large ones take most of the time.
	for _, r := range []*result.Result{tinySample(), consumersSample(), {}} {
		doc, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(doc, 80, 10)
	}
	f.Add([]byte(`{"intervals":[{},{"latency":{"confirm":{"service":{}}}}],"queues":[{},{}],"findings":[{"first":[{}]}],"spans":[{}],"curves":[{"points":[{}]}]}`), 0, -1)
	f.Fuzz(func(t *testing.T, doc []byte, width, intervals int) {
		var r result.Result
		if json.Unmarshal(doc, &r) != nil {
			return
		}
		width = max(leastWidth, min(width, 300))
		text := textOf(t, &r, TextOptions{Width: width, Intervals: intervals, ASCII: true})
		for l := range strings.Lines(text) {
			if n := len(strings.TrimSuffix(l, "\n")); n > width {
				t.Fatalf("%d columns of %d: %s", n, width, l)
			}
		}
		textOf(t, &r, TextOptions{Color: true})
		var again result.Result
		if err := json.Unmarshal(jsonOf(t, &r), &again); err != nil {
			t.Fatal(err)
		}
	})
}
