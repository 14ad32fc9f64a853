package hostile

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"leveret/loadcore/wire"
)

// Program is what is done to the frames of one run, drawn from bytes: any bytes are one.
//
//	byte  0     1 ...                 every step has stepBytes bytes:
//	      Setup steps                 connection, frame (of that connection, from 1), what, and two numbers for it
type Program struct {
	Setup byte // for who runs it
	steps []step

	mu   sync.Mutex // guards the following, which connections share
	seen [][]byte   // a frame of each method that the broker has sent, to be sent again elsewhere
	held map[int][]byte
}

const (
	stepBytes = 5
	// mostSteps bounds a program; what bytes are left say nothing.
	mostSteps = 12
	// connections that steps tell apart; later ones share their numbers.
	connections = 4
)

type step struct {
	connection, frame, what int
	a, b                    byte
}

// Parse reads a program.
func Parse(data []byte) *Program {
	p := &Program{held: map[int][]byte{}}
	if len(data) == 0 {
		return p
	}
	p.Setup = data[0]
	for data = data[1:]; len(data) >= stepBytes && len(p.steps) < mostSteps; data = data[stepBytes:] {
		p.steps = append(p.steps, step{int(data[0]) % connections, 1 + int(data[1])%64, int(data[2]) % len(doings), data[3], data[4]})
	}
	return p
}

// Step appends a step to the bytes of a program: what is done is named as in Doings.
func Step(data []byte, connection, frame int, what string, a, b byte) []byte {
	i := slices.IndexFunc(doings, func(d doing) bool { return d.name == what })
	if i < 0 {
		panic("hostile: nothing is called " + what)
	}
	return append(data, byte(connection), byte(frame-1), byte(i), a, b)
}

// Doings are the names of what can be done to a frame.
func Doings() (names []string) {
	for _, d := range doings {
		names = append(names, d.name)
	}
	return names
}

// Say does to a frame what the program says; for Listen.
func (p *Program) Say(t *Talk, _ wire.Frame, frame []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remember(frame)
	out := slices.Clone(frame)
	for _, s := range p.steps {
		if s.connection == t.Number%connections && s.frame == t.Frames {
			out = doings[s.what].do(p, t, out, s.a, s.b)
		}
	}
	if late := p.held[t.Number]; late != nil && len(out) > 0 {
		out = append(out, late...)
		delete(p.held, t.Number)
	}
	return out
}

// remember keeps the first frame of each method, and of content.
func (p *Program) remember(frame []byte) {
	if len(p.seen) < 64 && !slices.ContainsFunc(p.seen, func(old []byte) bool { return kindOf(old) == kindOf(frame) }) {
		p.seen = append(p.seen, slices.Clone(frame))
	}
}

// kindOf is the type of a frame and its method.
func kindOf(frame []byte) uint64 {
	if frame[0] == wire.FrameMethod && len(frame) >= head+4 {
		return uint64(binary.BigEndian.Uint32(frame[head:])) | 1<<32
	}
	return uint64(frame[0])
}

// head is how long a frame's is, in bytes.
const head = 7

// doing is one thing that can be done to frames, which may be several by now, or none.
type doing struct {
	name string
	do   func(p *Program, t *Talk, frame []byte, a, b byte) []byte
}

var doings = []doing{
	{"drop", func(*Program, *Talk, []byte, byte, byte) []byte { return nil }},
	{"repeat", func(_ *Program, _ *Talk, f []byte, a, _ byte) []byte { return slices.Repeat(f, 2+int(a)%30) }},
	{"hold", hold},
	{"length", func(_ *Program, _ *Talk, f []byte, a, b byte) []byte { return at(f, 3+int(a)%4, b) }},
	{"channel", func(_ *Program, _ *Talk, f []byte, a, b byte) []byte { return at(at(f, 1, a&1*b), 2, a) }},
	{"type", func(_ *Program, _ *Talk, f []byte, a, _ byte) []byte { return at(f, 0, a%10) }},
	{"method", func(_ *Program, _ *Talk, f []byte, a, b byte) []byte {
		return at(at(f, head+1, classes[int(a)%len(classes)]), head+3, b%130)
	}},
	{"tag", tag},
	{"flip", func(_ *Program, _ *Talk, f []byte, a, b byte) []byte { return flip(f, int(a), b) }},
	{"truncate", func(_ *Program, _ *Talk, f []byte, a, _ byte) []byte { return f[:len(f)*int(a)/256] }},
	{"shorten", shorten},
	{"split", split},
	{"invent", func(_ *Program, _ *Talk, f []byte, a, b byte) []byte { return append(f, invented(a, b)...) }},
	{"other", other},
	{"garbage", func(_ *Program, _ *Talk, f []byte, a, b byte) []byte {
		for i := range int(a) {
			f = append(f, byte(i)*b+a)
		}
		return f
	}},
	{"cut", func(_ *Program, t *Talk, f []byte, a, _ byte) []byte {
		t.Client.Write(f[:len(f)*int(a)/256])
		t.Client.Close()
		return nil
	}},
	{"mute", func(_ *Program, t *Talk, f []byte, _, _ byte) []byte { t.Mute.Store(true); return f }},
	{"deaf", func(_ *Program, t *Talk, f []byte, _, _ byte) []byte { t.Deaf.Store(true); return f }},
	{"delay", func(_ *Program, _ *Talk, f []byte, a, _ byte) []byte {
		time.Sleep(time.Duration(a) * time.Millisecond / 4)
		return f
	}},
}

var classes = []byte{10, 20, 40, 50, 60, 85, 90, 99}

func at(f []byte, i int, b byte) []byte {
	if i < len(f) {
		f[i] = b
	}
	return f
}

func flip(f []byte, i int, b byte) []byte {
	if len(f) > 0 {
		f[i%len(f)] ^= b
	}
	return f
}

// hold has a frame come after the next one of its connection.
func hold(p *Program, t *Talk, f []byte, _, _ byte) []byte {
	p.held[t.Number] = append(p.held[t.Number], f...)
	return nil
}

// tag changes the delivery tag of a settlement or a delivery: to a small one, a very large one, or one near it.
func tag(_ *Program, _ *Talk, f []byte, a, b byte) []byte {
	i := head + 4
	if len(f) < i+9 {
		return f
	}
	if id := wire.MethodID(binary.BigEndian.Uint32(f[head:])); id == wire.BasicDeliverID {
		i += 1 + int(f[i]) // behind the consumer tag
	}
	if len(f) < i+8 {
		return f
	}
	was := binary.BigEndian.Uint64(f[i:])
	now := [...]uint64{uint64(b), ^uint64(b), was + uint64(b), was - uint64(b)}[a%4]
	binary.BigEndian.PutUint64(f[i:], now)
	if i+8 < len(f)-1 && a&4 != 0 {
		f[i+8] ^= 1 // multiple, or redelivered
	}
	return f
}

// shorten takes bytes out of a payload, and has the frame's length agree.
func shorten(_ *Program, _ *Talk, f []byte, a, b byte) []byte {
	if len(f) < wire.FrameOverhead || int(binary.BigEndian.Uint32(f[3:]))+wire.FrameOverhead != len(f) {
		return f
	}
	payload := f[head : len(f)-1]
	i := int(a) % (len(payload) + 1)
	n := min(int(b), len(payload)-i)
	return wire.AppendFrame(nil, f[0], binary.BigEndian.Uint16(f[1:]), slices.Delete(slices.Clone(payload), i, i+n))
}

// split sends a frame in pieces of a few bytes.
func split(_ *Program, t *Talk, f []byte, a, _ byte) []byte {
	for piece := range slices.Chunk(f, 1+int(a)%8) {
		if _, err := t.Client.Write(piece); err != nil {
			return nil
		}
	}
	return nil
}

// other sends a frame of before once more, on this channel or another.
func other(p *Program, _ *Talk, f []byte, a, b byte) []byte {
	old := slices.Clone(p.seen[int(a)%len(p.seen)])
	if b < 8 {
		at(old, 2, b)
	} else if len(f) > 2 {
		copy(old[1:3], f[1:3])
	}
	return append(f, old...)
}

// invented are frames that a broker has reason to send now and then.
func invented(a, b byte) []byte {
	ch := uint16(b % 4)
	method := func(m wire.Method) []byte { return wire.AppendMethod(nil, ch, m) }
	onConnection := func(m wire.Method) []byte { return wire.AppendMethod(nil, 0, m) }
	switch a % 18 {
	case 0:
		return onConnection(&wire.ConnectionBlocked{Reason: "low on memory"})
	case 1:
		return onConnection(&wire.ConnectionUnblocked{})
	case 2:
		return onConnection(&wire.ConnectionClose{ReplyCode: wire.ReplyConnectionForced, ReplyText: "CONNECTION_FORCED - broker forced connection closure"})
	case 3:
		return onConnection(&wire.ConnectionCloseOk{})
	case 4:
		return onConnection(&wire.ConnectionUpdateSecretOk{})
	case 5:
		return method(&wire.ChannelClose{ReplyCode: wire.ReplyPreconditionFailed, ReplyText: "PRECONDITION_FAILED - unknown delivery tag 7"})
	case 6:
		return method(&wire.ChannelFlow{Active: b&16 != 0})
	case 7:
		return method(&wire.BasicCancel{ConsumerTag: "0"})
	case 8:
		return wire.AppendAck(nil, ch, uint64(b>>2), b&1 != 0)
	case 9:
		return wire.AppendNack(nil, ch, uint64(b>>2), b&1 != 0, false)
	case 10:
		return method(&wire.BasicGetEmpty{})
	case 11:
		return method(&wire.TxCommitOk{})
	case 12:
		return method(&wire.QueueDeclareOk{Queue: "q", MessageCount: uint32(b)})
	case 13:
		return wire.AppendHeader(wire.AppendReturn(nil, ch, wire.ReplyNoRoute, "NO_ROUTE", nil, []byte("q")), ch, uint64(b), nil)
	case 14:
		return wire.AppendHeader(wire.AppendDeliver(nil, ch, "0", uint64(b>>2), false, nil, []byte("q")), ch, 1<<60, nil)
	case 15:
		return wire.AppendBody(nil, ch, make([]byte, 1+int(b)), 4096)
	case 16:
		return wire.AppendHeartbeat(nil)
	}
	return wire.AppendHeader(nil, ch, uint64(b), &wire.Properties{Headers: nested(int(b))})
}

// nested is a table with tables in it, deep of them.
func nested(deep int) wire.Table {
	t := wire.Table{{Key: "k", Value: int64(1)}}
	for range min(deep, wire.MaxTableDepth-1) {
		t = wire.Table{{Key: "k", Value: t}}
	}
	return t
}
