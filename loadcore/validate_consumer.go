package loadcore

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// maxWork bounds the simulated work on one message (ns): a day.
const maxWork = int64(24 * time.Hour)

func (p *Plan) checkConsumer(s *manifest.Consumer) error {
	switch {
	case s.Connection < 0 || s.Connection >= p.Connections:
		return fmt.Errorf("connection %d of %d does not exist", s.Connection, p.Connections)
	case len(s.Queues) == 0:
		return errors.New("--queue: it has no queue to consume from")
	case s.AckEvery < 0:
		return fmt.Errorf("--multi-ack-every=%d: want 1 or more", s.AckEvery)
	case s.TxSize < 0:
		return fmt.Errorf("--ctxsize=%d: want 0 (no transactions) or more", s.TxSize)
	case s.Limit < 0:
		return fmt.Errorf("--cmessages=%d: want 0 (no limit) or more", s.Limit)
	case s.ExitWhen != "" && s.ExitWhen != manifest.ExitIdle && s.ExitWhen != manifest.ExitEmpty:
		return fmt.Errorf("--exit-when=%s: want idle or empty", s.ExitWhen)
	case s.StartDelayNS < 0:
		return fmt.Errorf("--consumer-start-delay: %v: want 0 or more", time.Duration(s.StartDelayNS))
	case s.PollIntervalNS < 0:
		return fmt.Errorf("--polling-interval: %v: want 0 or more", time.Duration(s.PollIntervalNS))
	}
	for _, q := range s.Queues {
		if q < 0 || q >= len(p.Topology.Queues) {
			return fmt.Errorf("queue %d of %d does not exist", q, len(p.Topology.Queues))
		}
		if err := wire.CheckShortString("--queue", p.Topology.Queues[q].Name); err != nil {
			return err
		}
		if err := checkQueueType(s, &p.Topology.Queues[q]); err != nil {
			return err
		}
	}
	return errors.Join(checkPrefetch(s), checkWork(s), wire.CheckTable("--consumer-args", tableOf(s.Arguments)))
}

// checkPrefetch refuses what makes the broker wait for acks that would wait for messages.
func checkPrefetch(s *manifest.Consumer) error {
	for _, q := range []struct {
		option string
		count  int
	}{{"--qos", s.Prefetch}, {"--global-qos", s.GlobalPrefetch}} {
		switch {
		case q.count < 0 || q.count > math.MaxUint16:
			return fmt.Errorf("%s=%d: want 0 (no limit) to %d", q.option, q.count, math.MaxUint16)
		case s.AutoAck || s.Polling || q.count == 0: // then the broker limits nothing
		case s.AckEvery > q.count:
			return fmt.Errorf("--multi-ack-every=%d with %s=%d: the broker would wait for acks and the consumer for messages; want --multi-ack-every of at most %s", s.AckEvery, q.option, q.count, q.option)
		case s.TxSize > q.count:
			return fmt.Errorf("--ctxsize=%d with %s=%d: acks count when they are committed, so the broker would wait for the commit and the consumer for messages; want --ctxsize of at most %s", s.TxSize, q.option, q.count, q.option)
		}
	}
	return nil
}

// checkQueueType refuses what RabbitMQ refuses a consumer of a quorum queue or a stream.
func checkQueueType(s *manifest.Consumer, q *manifest.Queue) error {
	switch {
	case q.Type == "quorum" && s.GlobalPrefetch > 0:
		return fmt.Errorf("--global-qos=%d: queue %s is a quorum queue, which has no prefetch of a whole channel; use --qos", s.GlobalPrefetch, q.Name)
	case q.Type != stream:
		return nil
	case s.Polling:
		return fmt.Errorf("--polling: queue %s is a stream, which basic.get cannot read; leave it out", q.Name)
	case s.AutoAck:
		return fmt.Errorf("--autoack: queue %s is a stream, whose consumers have to ack; leave it out, and give --qos", q.Name)
	case s.GlobalPrefetch > 0:
		return fmt.Errorf("--global-qos=%d: queue %s is a stream, which has no prefetch of a whole channel; use --qos", s.GlobalPrefetch, q.Name)
	case s.Prefetch == 0:
		return fmt.Errorf("--qos=0: queue %s is a stream, whose consumers need a prefetch; give --qos 200, say", q.Name)
	}
	return nil
}

// checkWork refuses work and rates that could not be worked out.
func checkWork(s *manifest.Consumer) error {
	if r := s.Rate; r.Messages < 0 || r.Messages > 0 && r.PerNS <= 0 || r.Messages > math.MaxInt64/4 {
		return fmt.Errorf("--consumer-rate: %d messages in %d ns is no rate", r.Messages, r.PerNS)
	}
	if len(s.Work) > maxStages {
		return fmt.Errorf("--variable-latency: %d stages: want at most %d", len(s.Work), maxStages)
	}
	for i, w := range s.Work {
		switch {
		case w.WorkNS < 0 || w.WorkNS > maxWork:
			return fmt.Errorf("--consumer-latency: %v a message: want 0 to %v", time.Duration(w.WorkNS), time.Duration(maxWork))
		case w.ForNS < 0 || w.ForNS > maxStage || w.ForNS == 0 && len(s.Work) > 1:
			return fmt.Errorf("--variable-latency: stage %d lasts %v: want more than 0, and at most %v", i+1, time.Duration(w.ForNS), time.Duration(maxStage))
		}
	}
	return nil
}

// ConsumerNotes are what a report has to say of how the plan's consumers show in its figures.
func (p *Plan) ConsumerNotes() (notes []string) {
	note := func(on func(manifest.Consumer) bool, text string) {
		if slices.ContainsFunc(p.Consumers, on) {
			notes = append(notes, text)
		}
	}
	note(func(s manifest.Consumer) bool { return newWork(&s) != nil && s.AutoAck && !s.Polling },
		"consumers work, or have a rate, with automatic acks: they read in step with their work, so that the received times, and the delivery latency, contain the wait for it")
	note(func(s manifest.Consumer) bool { return s.Nack && s.Requeue && !s.AutoAck },
		"consumers put every message back (nack with requeue): they come again, and the queues never get empty")
	return notes
}
