package prometheus

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore"
)

const ms = int64(time.Millisecond)

// listen opens an endpoint on a free port.
func listen(t *testing.T, o Options) *Endpoint {
	t.Helper()
	e, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	client := http.Client{Timeout: 20 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, e *Endpoint) map[string]*dto.MetricFamily {
	t.Helper()
	status, text := get(t, e.URL())
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if status != http.StatusOK || err != nil {
		t.Fatalf("status %d, %v\n%s", status, err, text)
	}
	return families
}

// labelled finds the metric of a family that has a label, and any one for no label.
func labelled(t *testing.T, families map[string]*dto.MetricFamily, name, label, value string) *dto.Metric {
	t.Helper()
	for _, m := range families[name].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label && l.GetValue() == value {
				return m
			}
		}
		if label == "" {
			return m
		}
	}
	t.Fatalf("no metric %s with %s=%q", name, label, value)
	return nil
}

func gauge(t *testing.T, families map[string]*dto.MetricFamily, name string) float64 {
	t.Helper()
	return labelled(t, families, name, "", "").GetGauge().GetValue()
}

func counter(t *testing.T, families map[string]*dto.MetricFamily, name string) float64 {
	t.Helper()
	return labelled(t, families, name, "", "").GetCounter().GetValue()
}

// load lets ten messages pass: sent at 0, received after 1 to 10 ms, confirmed by two frames at 4 ms (7) and 20 ms (3).
func load(t *testing.T, plan *loadcore.Plan, live *loadcore.Live) {
	t.Helper()
	live.Sends(&event.Sends{N: 10, Sent: 0, Written: 1})
	live.Settlements(&event.Settlements{At: 4 * ms, Runs: []event.SettledRun{{N: 7, Kind: event.Ack, FrameMessages: 7}}})
	live.Settlements(&event.Settlements{At: 20 * ms, Runs: []event.SettledRun{{First: 7, N: 3, Kind: event.Ack, FrameMessages: 3}}})
	for i := range uint64(10) {
		live.Deliveries(&event.Deliveries{At: int64(i+1) * ms, Rows: []event.Delivery{{Seq: i, Tag: plan.Tag, Body: event.Intact, Due: event.None}}})
	}
}

func somePlan() *loadcore.Plan {
	rate := func(n int64) manifest.Rate { return manifest.Rate{Messages: n, PerNS: 1e9} }
	return &loadcore.Plan{
		Clock: event.NewClock(), Tag: 7, Progress: new(loadcore.Progress),
		Producers: []manifest.Producer{{Rate: rate(100)}, {Stages: []manifest.Stage{{From: rate(50), To: rate(50), ForNS: 1e9}}}},
		Consumers: []manifest.Consumer{{Rate: rate(30)}, {Rate: rate(30)}},
	}
}

// settle waits until the interval has the figures, at most a minute.
func settle(t *testing.T, e *Endpoint, name string) map[string]*dto.MetricFamily {
	t.Helper()
	for range 600 {
		if f := scrape(t, e); gauge(t, f, name) > 0 {
			return f
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s stays 0", name)
	return nil
}

func TestPerfTestsMetrics(t *testing.T) {
	// An interval that is long enough for what happens in it to happen at once.
	e := listen(t, Options{Path: "metrics", Prefix: "perftest_", Tags: []string{"env=lab", "data-center=eu=1"}, Interval: 2 * time.Second, ID: "t1"})
	if f := scrape(t, e); gauge(t, f, "perftest_published") != 0 || f["leveret_delivery_latency_seconds"] != nil {
		t.Error("figures before the run")
	}
	plan := somePlan()
	live := loadcore.NewLive(plan, loadcore.NoRecord{})
	e.Watch(plan, live)
	load(t, plan, live)
	f := settle(t, e, "perftest_published")
	sent := gauge(t, f, "perftest_published") // 10 in about 2 s, of which the last interval has all
	if sent <= 0 || sent > 5.1 || gauge(t, f, "perftest_consumed") != sent || gauge(t, f, "perftest_confirmed") != sent ||
		gauge(t, f, "perftest_nacked") != 0 || gauge(t, f, "perftest_returned") != 0 {
		t.Errorf("rates: %v", sent)
	}
	if got := gauge(t, f, "perftest_expected_published"); got != 150 {
		t.Errorf("expected %v to be published", got)
	}
	if got := gauge(t, f, "perftest_expected_consumed"); got != 60 {
		t.Errorf("expected %v to be consumed", got)
	}
	for name, want := range map[string][6]float64{ // 0.5 0.75 0.95 0.99, greatest, sum
		"perftest_latency_seconds":         {0.005, 0.008, 0.010, 0.010, 0.010, 0.055},
		"perftest_confirm_latency_seconds": {0.004, 0.020, 0.020, 0.020, 0.020, 0.088},
		"perftest_confirm_size":            {3, 7, 7, 7, 7, 10},
	} {
		s := labelled(t, f, name, "env", "lab").GetSummary()
		labelled(t, f, name, "data_center", "eu=1")
		if len(s.GetQuantile()) != 4 || math.Abs(s.GetSampleSum()-want[5]) > 1e-9 {
			t.Fatalf("%s: %v", name, s)
		}
		for i, q := range []float64{0.5, 0.75, 0.95, 0.99} {
			if got := s.GetQuantile()[i]; got.GetQuantile() != q || got.GetValue() < want[i] || got.GetValue() > want[i]*1.001+1e-6 {
				t.Errorf("%s: %v, want %v of %v", name, got, want[i], q)
			}
		}
		if got := gauge(t, f, name+"_max"); got != want[4] {
			t.Errorf("%s_max: %v, want %v", name, got, want[4])
		}
	}
	if s := labelled(t, f, "perftest_confirm_size", "", "").GetSummary(); s.GetSampleCount() != 2 {
		t.Errorf("%v", s)
	}
}

// Counters and histograms are of the whole run, and need no interval to have passed.
func TestOurOwnMetrics(t *testing.T) {
	e := listen(t, Options{Path: "/m", Interval: time.Hour, ID: "t1"})
	plan := somePlan()
	live := loadcore.NewLive(plan, loadcore.NoRecord{})
	e.Watch(plan, live)
	load(t, plan, live)
	live.Settlements(&event.Settlements{At: 4 * ms, Runs: []event.SettledRun{{First: 2, N: 1, Kind: event.Return}}})
	f := scrape(t, e)
	for name, want := range map[string]float64{"sent": 10, "confirmed": 10, "received": 10, "returned": 1, "nacked": 0, "committed": 0, "acknowledged": 0} {
		if got := counter(t, f, "leveret_"+name+"_messages_total"); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	labelled(t, f, "leveret_run_info", "run_id", "t1")
	if got := labelled(t, f, "leveret_connections", "state", "open").GetGauge().GetValue(); got != 0 {
		t.Errorf("%v connections", got)
	}
	for name, want := range map[string]map[float64]uint64{
		"leveret_delivery_latency_seconds": {0.0005: 0, 0.0025: 2, 0.025: 10, 60: 10},
		"leveret_confirm_latency_seconds":  {0.0025: 0, 0.005: 7, 0.025: 10},
	} {
		h := labelled(t, f, name, "", "").GetHistogram()
		buckets := map[float64]uint64{}
		for _, b := range h.GetBucket() {
			buckets[b.GetUpperBound()] = b.GetCumulativeCount()
		}
		for bound, n := range want {
			if got, ok := buckets[bound]; !ok || got != n {
				t.Errorf("%s: %d up to %v, want %d", name, got, bound, n)
			}
		}
		if h.GetSampleCount() != 10 || len(h.GetBucket()) != len(bounds)+1 {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// Where messages are missing among the latencies, quantiles are not a number, and the missing ones are counted.
func TestBiasedLatencyIsNotShown(t *testing.T) {
	e := listen(t, Options{Path: "/metrics", Prefix: "perftest_", Interval: 200 * time.Millisecond})
	plan := &loadcore.Plan{Clock: event.NewClock(), Consumers: make([]manifest.Consumer, 1)}
	live := loadcore.NewLive(plan, loadcore.NoRecord{})
	e.Watch(plan, live)
	stop := make(chan struct{})
	defer close(stop)
	go func() { // in each interval one that comes before it was due
		for {
			live.Deliveries(&event.Deliveries{At: 5, Rows: []event.Delivery{{Body: event.Intact, Due: 6}}})
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	f := settle(t, e, "perftest_consumed")
	if s := labelled(t, f, "perftest_latency_seconds", "", "").GetSummary(); !math.IsNaN(s.GetQuantile()[0].GetValue()) || s.GetSampleCount() != 0 {
		t.Errorf("%v", s)
	}
	if got := labelled(t, f, "leveret_latency_skewed_messages_total", "latency", "delivery").GetCounter().GetValue(); got == 0 {
		t.Error("skew is not counted")
	}
}

func TestExposedMetricsAndCommandLine(t *testing.T) {
	e := listen(t, Options{Path: "metrics", Prefix: "x.", CommandLine: `--rate 5 --id "a"`, Exposed: []Gauge{{"expected_published", 50000}, {"expected.confirm-latency", 0.1}}})
	plan := somePlan()
	e.Watch(plan, loadcore.NewLive(plan, loadcore.NoRecord{}))
	f := scrape(t, e)
	for name, want := range map[string]float64{"x_expected_published": 50000, "x_expected_consumed": 60, "x_expected_confirm_latency": 0.1, "x_published": 0} {
		if got := gauge(t, f, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := labelled(t, f, "x_args", "command_line", `--rate 5 --id "a"`).GetGauge().GetValue(); got != 1 {
		t.Errorf("args: %v", got)
	}
}

func TestOnlyTheMetricsAreServed(t *testing.T) {
	e := listen(t, Options{Path: "/metrics"})
	base := strings.TrimSuffix(e.URL(), "/metrics")
	for _, path := range []string{"/", "/metrics/", "/debug/vars", "/debug/pprof/"} {
		if status, _ := get(t, base+path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Port: port}, fmt.Sprintf("--metrics-prometheus-port=%d: ", port)},
		{Options{Tags: []string{"env"}}, `--metrics-tags: "env": want KEY=VALUE`},
		{Options{Tags: []string{"quantile=1"}}, "--metrics-tags: \"quantile=1\": the label quantile is in use"},
		{Options{Tags: []string{"a.b=1", "a-b=2"}}, "--metrics-tags: the label a_b is given twice"},
		{Options{Exposed: []Gauge{{Name: "published"}}}, "--exposed-metrics: published is a metric of the run itself"},
	} {
		e, err := Listen(c.o)
		if err == nil {
			e.Close()
			t.Errorf("%+v: no error", c.o)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// The end waits for nobody who has connected and says nothing.
func TestCloseHasADeadline(t *testing.T) {
	e, err := Listen(Options{Path: "/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Dial("tcp", e.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := io.WriteString(silent, "GET /metrics HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	closed := make(chan struct{})
	go func() { e.Close(); close(closed) }()
	select {
	case <-closed:
	case <-ctx.Done():
		t.Fatal("not closed")
	}
}
