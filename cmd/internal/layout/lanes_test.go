package layout

import (
	"fmt"
	"reflect"
	"testing"

	"leveret/capture/manifest"
)

func TestProducersAreAsTheOptionsSay(t *testing.T) {
	priority := uint8(5)
	for name, c := range map[string]struct {
		args []string
		want manifest.Producer // Batch and Connection are left out
	}{
		"plain":        {nil, manifest.Producer{Size: 12, Stamp: "body"}},
		"transactions": {[]string{"--ptxsize", "7", "--flag", "persistent,mandatory"}, manifest.Producer{Size: 12, Stamp: "body", TxSize: 7, Persistent: true, Mandatory: true}},
		"properties": {[]string{"--message-properties", "priority=5,deliveryMode=2,shop=7", "--confirm", "10", "--pmessages", "9"},
			manifest.Producer{Size: 12, Stamp: "body", Persistent: true, Confirm: 10, Limit: 9,
				Properties: &manifest.Properties{Priority: &priority, Headers: []manifest.Arg{{Key: "shop", Value: int64(7)}}}}},
		"delivery mode wins over the flag": {[]string{"--message-properties", "deliveryMode=1", "--flag", "persistent"}, manifest.Producer{Size: 12, Stamp: "body"}},
		"sizes": {[]string{"--variable-size", "100:2", "--variable-size", "5000:1"}, manifest.Producer{Size: 5000, Stamp: "body",
			Sizes: []manifest.SizeStage{{Bytes: 100, ForNS: 2e9}, {Bytes: 5000, ForNS: 1e9}}}},
		"JSON":         {[]string{"--json-body", "--size", "400"}, manifest.Producer{Size: 400, Stamp: "header", PooledBodies: true, Properties: &manifest.Properties{ContentType: "application/json"}}},
		"JSON, named":  {[]string{"--json-body", "--message-properties", "contentType=x/y"}, manifest.Producer{Size: 12, Stamp: "header", PooledBodies: true, Properties: &manifest.Properties{ContentType: "x/y"}}},
		"for PerfTest": {[]string{"--stamp", "perftest"}, manifest.Producer{Size: 12, Stamp: "perftest"}},
		"quorum":       {[]string{"--queue", "q", "--quorum-queue"}, manifest.Producer{Size: 12, Stamp: "body", Persistent: true}},
	} {
		got := mustLayOut(t, c.args...).Producers[0]
		got.Batch = 0
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestConsumersAreAsTheOptionsSay(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want manifest.Consumer // Connection and Queues are left out
	}{
		"plain":         {nil, manifest.Consumer{AckEvery: 1}},
		"acks":          {[]string{"--multi-ack-every", "5", "--qos", "10", "--global-qos", "20"}, manifest.Consumer{AckEvery: 5, Prefetch: 10, GlobalPrefetch: 20}},
		"automatic":     {[]string{"--autoack", "--cmessages", "4"}, manifest.Consumer{AckEvery: 1, AutoAck: true, Limit: 4}},
		"nack":          {[]string{"--nack"}, manifest.Consumer{AckEvery: 1, Nack: true, Requeue: true}},
		"nack, dropped": {[]string{"--nack", "--requeue=false"}, manifest.Consumer{AckEvery: 1, Nack: true}},
		"transactions":  {[]string{"--ctxsize", "3"}, manifest.Consumer{AckEvery: 1, TxSize: 3}},
		"polling":       {[]string{"--polling", "--polling-interval", "5", "--exit-when", "empty"}, manifest.Consumer{AckEvery: 1, Polling: true, PollIntervalNS: 5e6, ExitWhen: "empty"}},
		"work":          {[]string{"--consumer-latency", "1500"}, manifest.Consumer{AckEvery: 1, Work: []manifest.WorkStage{{WorkNS: 1500e3}}}},
		"varying work": {[]string{"--variable-latency", "100:1", "--variable-latency", "0:2"}, manifest.Consumer{AckEvery: 1,
			Work: []manifest.WorkStage{{WorkNS: 100e3, ForNS: 1e9}, {ForNS: 2e9}}}},
		"rate":  {[]string{"--consumer-rate", "20", "--qos", "1"}, manifest.Consumer{AckEvery: 1, Prefetch: 1, Rate: manifest.Rate{Messages: 20, PerNS: 1e9}}},
		"later": {[]string{"--consumer-start-delay", "3"}, manifest.Consumer{AckEvery: 1, StartDelayNS: 3e9}},
	} {
		got := mustLayOut(t, c.args...).Consumers[0]
		got.Connection, got.Queues = 0, nil
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestSlowStartIsASecondEach(t *testing.T) {
	var delays []int64
	for _, c := range mustLayOut(t, "--consumers", "2", "--consumer-channel-count", "2", "--slow-start", "--consumer-start-delay", "5").Consumers {
		delays = append(delays, c.StartDelayNS)
	}
	if got := fmt.Sprint(delays); got != "[5000000000 6000000000 7000000000 8000000000]" {
		t.Errorf("delays %s", got)
	}
}

func TestOnlyPolledQueuesAreDeleted(t *testing.T) {
	l := &Layout{Consumers: []manifest.Consumer{{Queues: []int{2, 0}, Polling: true}, {Queues: []int{1, 2}}}}
	if got := fmt.Sprint(l.Polled()); got != "[0]" {
		t.Errorf("polled %s", got)
	}
}
