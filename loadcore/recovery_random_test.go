package loadcore

import (
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// fickle is a broker that settles what it gets in a random way, and cuts connections. It is the model, too: it knows which message it
// has answered, and how. Each connection fills its window once before anything is answered.
type fickle struct {
	*rand.Rand
	window, cuts int

	mu       sync.Mutex // guards all
	answered []answeredMessage
	returned map[uint64]int
	conns    map[*stubConn]*fickleConn
}

type answeredMessage struct {
	seq  uint64
	kind event.SettlementKind
}

type fickleConn struct {
	open  []uint64 // tags without an answer
	seqs  map[uint64]uint64
	most  int
	full  bool
	over  bool
	timer *time.Timer
}

func (f *fickle) message(c *stubConn, m stubMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.conns[c]
	if k == nil {
		k = &fickleConn{seqs: map[uint64]uint64{}}
		f.conns[c] = k
	}
	if k.over {
		return
	}
	st, _ := ReadStamp(m.body)
	k.open, k.seqs[m.tag] = append(k.open, m.tag), st.Seq
	k.most = max(k.most, len(k.open))
	if k.timer != nil {
		k.timer.Stop()
	}
	k.timer = time.AfterFunc(30*time.Millisecond, func() { // what is left at the end
		f.mu.Lock()
		defer f.mu.Unlock()
		if !k.over && len(k.open) > 0 {
			f.answer(c, k, m.channel, len(k.open)-1, true, event.Ack)
		}
	})
	k.full = k.full || len(k.open) == f.window
	switch n := f.IntN(40); {
	case !k.full:
	case n == 0 && f.cuts > 0:
		f.cuts--
		k.over = true
		c.Conn.(*net.TCPConn).CloseWrite()
	case len(k.open) == f.window:
		f.answer(c, k, m.channel, len(k.open)-1, true, event.Ack)
	case n < 15:
		f.answer(c, k, m.channel, f.IntN(len(k.open)), false, event.Ack)
	case n < 20:
		f.answer(c, k, m.channel, f.IntN(len(k.open)), true, event.Ack)
	case n < 23:
		f.answer(c, k, m.channel, f.IntN(len(k.open)), false, event.Nack)
	case n < 25:
		f.answer(c, k, m.channel, f.IntN(len(k.open)), true, event.Nack)
	case n < 28:
		f.returned[st.Seq]++
		out := wire.AppendReturn(nil, m.channel, wire.ReplyNoRoute, "NO_ROUTE", nil, []byte("q"))
		out = wire.AppendHeader(out, m.channel, uint64(len(m.body)), nil)
		c.send(wire.AppendBody(out, m.channel, m.body, 131072))
	}
}

// answer settles the i-th of the open tags, and with multiple all before it. f.mu is held.
func (f *fickle) answer(c *stubConn, k *fickleConn, channel uint16, i int, multiple bool, kind event.SettlementKind) {
	tag := k.open[i]
	gone := []uint64{tag}
	if multiple {
		gone = slices.DeleteFunc(slices.Clone(k.open), func(t uint64) bool { return t > tag })
	}
	for _, t := range gone {
		f.answered = append(f.answered, answeredMessage{k.seqs[t], kind})
	}
	k.open = slices.DeleteFunc(k.open, func(t uint64) bool { return slices.Contains(gone, t) })
	if kind == event.Ack {
		c.send(wire.AppendAck(nil, channel, tag, multiple))
	} else {
		c.send(wire.AppendNack(nil, channel, tag, multiple, false))
	}
}

// Random sequences of acks, nacks, multiple ones, returns, cuts and reconnects: every message is settled exactly once, as the
// broker did, or is in doubt; what is sent again is settled by its last answer alone, and the window has its full size after every cut.
func TestEveryMessageIsSettledOnce(t *testing.T) {
	noLeaks(t)
	for seed := range uint64(32) {
		f := &fickle{Rand: rand.New(rand.NewPCG(seed, 7)), cuts: 4, returned: map[uint64]int{}, conns: map[*stubConn]*fickleConn{}}
		f.window = 1 + f.IntN(20)
		ep := startStub(t, &stub{onMessage: f.message})
		p := manifest.Producer{Size: 12 + 12*f.IntN(2), Confirm: f.window, Limit: 300, Batch: 1 + f.IntN(30), Mandatory: true}
		if seed%2 == 1 {
			p.Rate = perSecond(20_000)
		}
		plan := recovering(oneQueue(ep, "q", []manifest.Producer{p}, nil))
		plan.Republish, plan.Drive = seed%4 >= 2, []Drive{DriveDedicated, DriveShared}[seed/4%2]
		out, rec := runPlan(t, plan)
		f.check(t, seed, plan.Republish, out, rec)
	}
}

func (f *fickle) check(t *testing.T, seed uint64, republish bool, out *manifest.Outcome, rec *memory) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	attempts := 0 // one a cut: one that came before all was made good again is of the same recovery
	for _, r := range out.Recoveries {
		attempts += r.Attempts
	}
	if out.Sent != 300 || len(out.Failures) > 0 || attempts != 4-f.cuts {
		t.Fatalf("seed %d: %d cuts left; %+v", seed, f.cuts, *out)
	}
	want := map[uint64][]event.SettlementKind{}
	for _, a := range f.answered {
		want[a.seq] = append(want[a.seq], a.kind)
	}
	fates, doubts := rec.fates(), int64(0)
	for seq := range uint64(300) {
		var answers []event.SettlementKind
		all := fates[message{0, seq}]
		for _, kind := range all {
			if kind != event.InDoubt {
				answers = append(answers, kind)
			}
		}
		doubts += int64(len(all) - len(answers))
		switch {
		case !slices.Equal(answers, want[seq]):
			t.Fatalf("seed %d, message %d: recorded %v, the broker answered %v", seed, seq, all, want[seq])
		case !republish && len(all) != 1:
			t.Fatalf("seed %d, message %d: settled %v", seed, seq, all)
		case republish && (len(answers) != 1 || all[len(all)-1] != answers[0]):
			t.Fatalf("seed %d, message %d, sent again: settled %v", seed, seq, all)
		}
	}
	returns := map[uint64]int{}
	for _, s := range rec.settlements {
		for _, r := range s.Runs {
			for k := range uint64(r.N) {
				if r.Kind == event.Return {
					returns[r.First+k]++
				}
			}
		}
	}
	for seq := range uint64(300) {
		if returns[seq] != f.returned[seq] {
			t.Fatalf("seed %d, message %d: returned %d times, recorded %d", seed, seq, f.returned[seq], returns[seq])
		}
	}
	if out.InDoubt != doubts || republish && out.Republished != doubts {
		t.Errorf("seed %d: in doubt %d, republished %d, recorded %d", seed, out.InDoubt, out.Republished, doubts)
	}
	for _, k := range f.conns {
		if k.most > f.window || len(k.seqs) >= f.window && k.most != f.window {
			t.Errorf("seed %d: %d messages were open at once, the window has %d", seed, k.most, f.window)
		}
	}
}
