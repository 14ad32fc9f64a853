package perflines

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/cmd/internal/perftest"
	"leveret/loadcore"
)

// verbose is a Recorder that prints a line for each publish, confirm, delivery and ack before it hands them on. The load
// waits for whoever reads the lines: it is for slow rates.
type verbose struct {
	loadcore.Recorder
	plan   *loadcore.Plan
	full   bool  // with properties and body
	unitNS int64 // of the timestamps

	mu  sync.Mutex // guards the following
	out *bufio.Writer
}

// NewVerbose is a Recorder before next that prints to out; full: with properties and body, millis: timestamps are in ms, not ns.
func NewVerbose(plan *loadcore.Plan, next loadcore.Recorder, full, millis bool, out io.Writer) loadcore.Recorder {
	v := &verbose{Recorder: next, plan: plan, full: full, unitNS: 1, out: bufio.NewWriter(out)}
	if millis {
		v.unitNS = 1e6
	}
	return v
}

// lines prints what print writes, undivided.
func (v *verbose) lines(print func(w io.Writer)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	print(v.out)
	v.out.Flush() // nobody to read it is no reason to end the run
}

func (v *verbose) Sends(s *event.Sends) {
	if s.Sent != event.None {
		v.lines(func(w io.Writer) {
			for i := range s.N {
				details := ""
				if v.full {
					size := s.Size
					if s.Sizes != nil {
						size = s.Sizes[i]
					}
					seq := s.First + uint64(i)
					details = perftest.Details(propertiesShown(&v.plan.Producers[s.Producer]), fmt.Sprintf("[sequence = %d, size = %d]", seq, size))
				}
				fmt.Fprintln(w, perftest.Published(int(s.Producer), s.Sent/v.unitNS, s.First+uint64(i)+1, details))
			}
		})
	}
	v.Recorder.Sends(s)
}

var settlementNames = map[event.SettlementKind]string{event.Ack: "ack", event.Nack: "nack", event.Commit: "commit"}

// unsettled are the lines of what came of a message and is no confirm.
var unsettled = map[event.SettlementKind]func(producer int, timestamp int64, id uint64) string{
	event.Return: perftest.Returned, event.InDoubt: perftest.InDoubt,
}

func (v *verbose) Settlements(s *event.Settlements) {
	v.lines(func(w io.Writer) {
		at, producer, left := s.At/v.unitNS, int(s.Producer), uint32(0)
		for i := range s.Runs {
			r := &s.Runs[i]
			if line := unsettled[r.Kind]; line != nil {
				for k := range uint64(r.N) {
					fmt.Fprintln(w, line(producer, at, r.First+k+1))
				}
				continue
			}
			kind := settlementNames[r.Kind]
			if left == 0 { // a frame begins
				left = r.FrameMessages
			}
			for k := range uint64(r.N) {
				fmt.Fprintln(w, perftest.Settled(producer, kind, at, r.First+k+1))
				if r.FrameMessages <= 1 {
					fmt.Fprintln(w, perftest.ConfirmFrame(producer, kind, r.First+k+1, 1))
				}
			}
			if left -= min(left, r.N); left == 0 && r.FrameMessages > 1 {
				fmt.Fprintln(w, perftest.ConfirmFrame(producer, kind, r.First+uint64(r.N), r.FrameMessages))
			}
		}
	})
	v.Recorder.Settlements(s)
}

func (v *verbose) Deliveries(d *event.Deliveries) {
	v.lines(func(w io.Writer) {
		for i := range d.Rows {
			r, details := &d.Rows[i], ""
			if v.full {
				details = perftest.Details(nil, bodyShown(r))
			}
			fmt.Fprintln(w, perftest.Received(int(d.Consumer), d.At/v.unitNS, r.DeliveryTag, details))
		}
	})
	v.Recorder.Deliveries(d)
}

func (v *verbose) Acks(a *event.Acks) {
	v.lines(func(w io.Writer) {
		fmt.Fprintln(w, perftest.Acknowledged(int(a.Consumer), a.At/v.unitNS, a.DeliveryTag, a.Messages))
	})
	v.Recorder.Acks(a)
}

// bodyShown is what is known of a body that was received.
func bodyShown(r *event.Delivery) string {
	switch {
	case r.Body == event.Unstamped:
		return fmt.Sprintf("[no identity, size = %d]", r.Size)
	case r.Body == event.Corrupt:
		return fmt.Sprintf("[damaged, claims producer = %d, sequence = %d, size = %d]", r.Producer, r.Seq, r.Size)
	}
	again := ""
	if r.Redelivered {
		again = ", redelivered"
	}
	return fmt.Sprintf("[producer = %d, sequence = %d, size = %d%s]", r.Producer, r.Seq, r.Size, again)
}

// propertiesShown are the properties of a producer's messages, each "name = value", in PerfTest's order.
func propertiesShown(p *manifest.Producer) (shown []string) {
	add := func(name string, value any) { shown = append(shown, fmt.Sprintf("%s = %v", name, value)) }
	text := func(name, value string) {
		if value != "" {
			add(name, value)
		}
	}
	m := p.Properties
	if m == nil {
		m = &manifest.Properties{}
	}
	text("content-type", m.ContentType)
	text("content-encoding", m.ContentEncoding)
	if len(m.Headers) > 0 {
		headers := ""
		for i, h := range m.Headers {
			if i > 0 {
				headers += ", "
			}
			headers += fmt.Sprintf("%s = %v", h.Key, h.Value)
		}
		add("headers", "{"+headers+"}")
	}
	if p.Persistent {
		add("delivery-mode", 2)
	}
	if m.Priority != nil {
		add("priority", *m.Priority)
	}
	text("correlation-id", m.CorrelationID)
	text("reply-to", m.ReplyTo)
	text("expiration", m.Expiration)
	text("message-id", m.MessageID)
	if m.Timestamp != nil {
		add("timestamp", *m.Timestamp)
	}
	text("type", m.Type)
	text("user-id", m.UserID)
	text("app-id", m.AppID)
	text("cluster-id", m.ClusterID)
	return shown
}
