package options

import (
	"math"

	"leveret/capture/event"
)

func (r *Run) consumerOptions(d dialect) []*Option {
	return []*Option{
		{Name: "consumers", PerfTest: []string{"y"}, Arg: "N", Group: groupConsume, value: integer(&r.Consumers, 1, 0, event.MaxProducers), Help: "consumer connections"},
		{Name: "consumer-channel-count", PerfTest: []string{"Y"}, Arg: "N", Group: groupConsume, value: integer(&r.ConsumerChannelCount, 1, 1, math.MaxUint16), Help: "channels per consumer connection; each is a consumer"},
		{Name: "qos", PerfTest: []string{"q"}, Arg: "N", Group: groupConsume, value: integer(&r.QoS, 0, 0, math.MaxUint16), Help: "prefetch of each consumer; 0: no limit"},
		{Name: "global-qos", PerfTest: []string{"Q"}, Arg: "N", Group: groupConsume, value: integer(&r.GlobalQoS, 0, 0, math.MaxUint16), Help: "prefetch of each consumer channel, over all its queues; 0: no limit"},
		{Name: "consumer-args", PerfTest: []string{"ca"}, Arg: "KEY=VALUE,...", Group: groupConsume, value: queueArgs(&r.ConsumerArgs), Help: "arguments of the consumers, such as x-priority=10"},
		{Name: "stream-consumer-offset", PerfTest: []string{"sco"}, Arg: "OFFSET", Group: groupConsume, value: streamOffset(&r.StreamConsumerOffset), Help: "where consumers of a stream begin: first, last, next, a number, or a time such as 2026-06-03T07:45:54Z; without it next"},
		{Name: "polling", PerfTest: []string{"po"}, Group: groupConsume, value: toggle(&r.Polling, false), Help: "ask for each message (basic.get) instead of subscribing"},
		{Name: "polling-interval", PerfTest: []string{"pi"}, Arg: "MILLISECONDS", Group: groupConsume, value: d.lenient(count(&r.PollingInterval, millisecond)), Help: "wait so long after each answer to --polling; 0: not at all"},
		{Name: "cmessages", PerfTest: []string{"D"}, Arg: "N", Group: groupConsume, value: d.lenient(integer[int64](&r.CMessages, 0, 0, math.MaxInt64)), Help: "messages of each consumer channel; 0: no limit"},
		{Name: "exit-when", PerfTest: []string{"ew"}, Arg: "WHEN", Group: groupConsume, value: choice(&r.ExitWhen, "", "idle", "empty"), Help: "consumers stop when nothing has come for over a second (idle), or when one of their queues is empty (empty)"},
		{Name: "slow-start", PerfTest: []string{"S"}, Group: groupConsume, value: toggle(&r.SlowStart, false), Help: "consumers begin one second after each other"},
		{Name: "consumer-start-delay", PerfTest: []string{"csd"}, Arg: "SECONDS", Group: groupConsume, value: d.lenient(seconds(&r.ConsumerStartDelay, 0, 0)), Help: "consumers begin so long after the producers, and find a backlog"},
	}
}

func (r *Run) ackOptions() []*Option {
	return []*Option{
		{Name: "autoack", PerfTest: []string{"a"}, Group: groupConsume, value: toggle(&r.AutoAck, false), Help: "automatic acks"},
		{Name: "multi-ack-every", PerfTest: []string{"A"}, Arg: "N", Group: groupConsume, value: integer(&r.MultiAckEvery, 0, 0, math.MaxUint16), Help: "one multiple ack every N messages, at most --qos; 0: one ack a message"},
		{Name: "nack", PerfTest: []string{"na"}, Group: groupConsume, value: toggle(&r.Nack, false), Help: "refuse messages (basic.nack) instead of acking them"},
		{Name: "requeue", PerfTest: []string{"re"}, Arg: "true|false", Group: groupConsume, value: toggle(&r.Requeue, true), Help: "with --nack, messages go back into the queue"},
		{Name: "ctxsize", PerfTest: []string{"n"}, Arg: "N", Group: groupConsume, value: integer(&r.CTxSize, 0, 0, math.MaxInt32), Help: "ack in transactions of N messages; 0: none"},
	}
}

func (r *Run) workOptions() []*Option {
	return []*Option{
		{Name: "consumer-rate", PerfTest: []string{"R"}, Arg: "MSG/S", Group: groupConsume, value: consumerRate(&r.ConsumerRate), Help: "most messages per second of each consumer channel; -1: no limit"},
		{Name: "consumer-latency", PerfTest: []string{"L"}, Arg: "MICROSECONDS", Group: groupConsume, value: count(&r.ConsumerLatency, microsecond), Help: "simulated work of a consumer with each message; a message counts as received before it"},
		{Name: "variable-latency", PerfTest: []string{"vl"}, Arg: "MICROSECONDS:SECONDS", Many: true, Group: groupConsume, value: workStages(&r.VariableLatency), Help: "simulated work for a time; repeatable: one after the other, for ever"},
	}
}
