package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"leveret/analyze/result"
)

func jsonOf(t *testing.T, r *result.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJSONGolden(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) { golden(t, s.name+".json", jsonOf(t, s.r)) })
	}
}

// The keys that scripts rely on: they may be joined by others, never renamed.
func TestJSONKeys(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(jsonOf(t, stallSample()), &doc); err != nil {
		t.Fatal(err)
	}
	object := func(path ...string) map[string]any {
		at := any(doc)
		for _, key := range path {
			m, ok := at.(map[string]any)
			if !ok {
				t.Fatalf("%s: %T is not an object", strings.Join(path, "."), at)
			}
			at = m[key]
			if list, ok := at.([]any); ok && len(list) > 0 {
				at = list[0]
			}
		}
		m, ok := at.(map[string]any)
		if !ok {
			t.Fatalf("%s: %T is not an object", strings.Join(path, "."), at)
		}
		return m
	}
	distribution := strings.Fields("count censored min_ns mean_ns p50_ns p75_ns p95_ns p99_ns p99_9_ns p99_99_ns max_ns")
	for _, c := range []struct {
		path []string
		keys []string
	}{
		{nil, strings.Fields("schema_version verdict findings counts rates latency intervals complete stop_reason broker")},
		{[]string{"findings"}, strings.Fields("code severity count text")},
		{[]string{"counts"}, strings.Fields(`sent confirmed nacked returned unconfirmed not_sent received received_unique redelivered lost missing
			missing_unconfirmed removed_by_rule unroutable queued_at_stop unacked_at_stop discarded_at_stop duplicates corrupt corrupt_unattributed
			out_of_order foreign`)},
		{[]string{"rates"}, strings.Fields("sent_msgs_per_s confirmed_msgs_per_s received_msgs_per_s")},
		{[]string{"latency", "confirm", "service"}, distribution},
		{[]string{"latency", "confirm", "response"}, distribution},
		{[]string{"latency", "delivery", "service"}, distribution},
		{[]string{"latency", "delivery", "response"}, distribution},
		{[]string{"intervals"}, strings.Fields("start_ns end_ns sent confirmed received")},
		{[]string{"broker"}, strings.Fields("embedded product version")},
	} {
		m := object(c.path...)
		for _, key := range c.keys {
			if _, ok := m[key]; !ok {
				t.Errorf("%s: key %q is missing", strings.Join(c.path, "."), key)
			}
		}
	}
	if complete, ok := doc["complete"].(bool); !ok || !complete {
		t.Errorf("complete is %v, want true", doc["complete"])
	}
}

// What was not measured is null, and lists are lists (C005).
func TestJSONNullsAndLists(t *testing.T) {
	text := string(jsonOf(t, &result.Result{}))
	for _, want := range []string{
		`"findings": []`, `"captures": []`, `"queues": []`, `"intervals": []`, `"curves": []`, `"spans": []`, `"queue_types": []`, `"sizes_bytes": []`,
		`"service": null`, `"response": null`, `"sent_msgs_per_s": null`, `"client_cpu_ns": null`, `"ready_at_start": null`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

func TestJSONReadsBack(t *testing.T) {
	for _, s := range samples() {
		var got result.Result
		if err := json.Unmarshal(jsonOf(t, s.r), &got); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if want := plain(s.r); !reflect.DeepEqual(&got, want) {
			t.Errorf("%s: the result read back differs", s.name)
		}
	}
}

// Machine output is ASCII whatever the terminal (C088), and strings survive it.
func TestJSONIsASCII(t *testing.T) {
	r := baseResult()
	r.StopReason = "größer <&> \U0001F407 \x1b[31m"
	b := jsonOf(t, r)
	if i := slices.IndexFunc(b, func(c byte) bool { return c >= 0x80 || c < 0x20 && c != '\n' }); i >= 0 {
		t.Errorf("byte %#x at %d", b[i], i)
	}
	var got result.Result
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.StopReason != r.StopReason {
		t.Errorf("%q came back as %q", r.StopReason, got.StopReason)
	}
}

func TestJSONOfNumbersThatAreNone(t *testing.T) {
	r := baseResult()
	r.Rates.Sent, r.Rates.Drain, r.Config.RateTotal = ptr(math.NaN()), ptr(math.Inf(1)), ptr(math.Inf(-1))
	d := &result.Distribution{Count: 1, MeanNS: ptr(math.NaN()), StdDevNS: ptr(2.0)}
	r.Latency.Confirm.Service = d
	r.Intervals = []result.Interval{{Latency: result.Latencies{Delivery: result.Latency{Response: d}}}}
	r.Curves = []result.Curve{{Points: []result.CurvePoint{{Percent: math.NaN()}, {Percent: 50}}}}
	var got result.Result
	if err := json.Unmarshal(jsonOf(t, r), &got); err != nil {
		t.Fatal(err)
	}
	if got.Rates.Sent != nil || got.Rates.Drain != nil || got.Config.RateTotal != nil || got.Latency.Confirm.Service.MeanNS != nil ||
		got.Intervals[0].Latency.Delivery.Response.MeanNS != nil {
		t.Error("a number that is not finite is not null")
	}
	if got.Latency.Confirm.Service.StdDevNS == nil || len(got.Curves[0].Points) != 1 || got.Curves[0].Points[0].Percent != 50 {
		t.Error("a finite number got lost")
	}
	if !math.IsNaN(*d.MeanNS) || len(r.Curves[0].Points) != 2 {
		t.Error("the result itself was changed")
	}
}

// failingWriter takes no byte.
type failingWriter struct{}

var errFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestErrors(t *testing.T) {
	if err := JSON(failingWriter{}, baseResult()); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
	if err := Text(failingWriter{}, baseResult(), TextOptions{}); !errors.Is(err, errFull) {
		t.Errorf("Text: %v", err)
	}
	if err := JSON(&bytes.Buffer{}, nil); err == nil {
		t.Error("JSON of nothing: no error")
	}
	if err := Text(&bytes.Buffer{}, nil, TextOptions{}); err == nil {
		t.Error("Text of nothing: no error")
	}
}
