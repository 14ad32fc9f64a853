package loadcore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"testing"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// framed is one message as it stands in the frames of a producer.
type framed struct {
	publish wire.Publish
	props   wire.Properties
	raw     []byte // properties
	body    []byte
}

// parseMessages takes frames apart and fails the test if one is not whole.
func parseMessages(t *testing.T, frames []byte, frameMax uint32) (all []framed) {
	t.Helper()
	for len(frames) > 0 {
		f, n, err := wire.NextFrame(frames, frameMax)
		if err != nil || n == 0 {
			t.Fatalf("message %d: %v, %d bytes are left", len(all), err, len(frames))
		}
		frames = frames[n:]
		switch f.Type {
		case wire.FrameMethod:
			_, args, err := wire.PeekMethod(f.Payload)
			if err != nil {
				t.Fatal(err)
			}
			p, err := wire.ParsePublish(args)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, framed{publish: p})
		case wire.FrameHeader:
			h, err := wire.ParseHeader(f.Payload)
			if err != nil {
				t.Fatal(err)
			}
			m := &all[len(all)-1]
			m.raw = h.RawProperties
			if m.props, err = wire.ParseProperties(h.RawProperties); err != nil {
				t.Fatal(err)
			}
			m.body = make([]byte, 0, h.BodySize)
		case wire.FrameBody:
			m := &all[len(all)-1]
			m.body = append(m.body, f.Payload...)
		}
	}
	for i := range all {
		if len(all[i].body) != cap(all[i].body) {
			t.Fatalf("message %d: a body of %d bytes, %d are announced", i, len(all[i].body), cap(all[i].body))
		}
	}
	return all
}

// barePlan is an engine of one open connection without a broker, and the socket that its producers write to.
func barePlan(t *testing.T, plan *Plan) (*engine, *keepingSink, *memory) {
	t.Helper()
	for i := range plan.Producers {
		plan.Producers[i].Connection = 0
	}
	plan.Connections = 1
	plan = plan.withDefaults()
	if err := plan.Validate(); err != nil {
		t.Fatal(err)
	}
	rec, sock := &memory{}, &keepingSink{}
	e := newEngine(plan, rec)
	e.barrier.Store(e.clock.Now())
	c := e.conn(0)
	c.enter(event.Connecting, loss{})
	c.link = &link{tcp: sock, sock: sock, limits: wire.Limits{FrameMax: 131072, ChannelMax: 2047}}
	c.out = newOutbox(e.clock, c.link, c.fail)
	c.prepareLanes()
	c.enter(event.Open, loss{})
	for _, p := range e.producers {
		if err := p.encode(); err != nil {
			t.Fatal(err)
		}
	}
	return e, sock, rec
}

// publishAll lets a producer send up to its limit.
func publishAll(t *testing.T, p *producer) {
	t.Helper()
	for p.seq < p.limit {
		n := p.take()
		if n == 0 || !p.reserve(n) {
			t.Fatal("nothing to send")
		}
		p.stamp(n)
		if !p.send(n) {
			t.Fatal("not sent")
		}
	}
}

func sendOne(t *testing.T, spec manifest.Producer, bodies [][]byte) (msgs []framed, rec *memory) {
	t.Helper()
	plan := oneQueue(Endpoint{Host: "localhost"}, "q", []manifest.Producer{spec}, nil)
	plan.Bodies = bodies
	e, sock, rec := barePlan(t, plan)
	publishAll(t, e.producers[0])
	return parseMessages(t, sock.kept, 131072), rec
}

// The header stamp, byte by byte.
func TestHeaderStampLayout(t *testing.T) {
	for _, size := range []int{0, 1, 11, 12, 24, 1000, 200_000} {
		msgs, rec := sendOne(t, manifest.Producer{Size: size, Stamp: manifest.StampHeader, Limit: 3}, nil)
		if len(msgs) != 3 || len(rec.sent(t)) != 3 {
			t.Fatalf("size %d: %d messages", size, len(msgs))
		}
		for i, m := range msgs {
			value, ok := m.props.Headers[0].Value.([]byte)
			if m.props.Headers[0].Key != "leveret" || !ok || len(value) != 20 || len(m.props.Headers) != 1 || len(m.body) != size || !slices.Equal(m.body, make([]byte, size)) {
				t.Fatalf("size %d: %d bytes of body, headers %v", size, len(m.body), m.props.Headers)
			}
			// tag abc, producer 0, sequence
			if got, want := fmt.Sprintf("%x", value[:8]), fmt.Sprintf("abc0000%09x", i); got != want {
				t.Errorf("size %d: identity %s, want %s", size, got, want)
			}
			if want := bitwiseCRC32C(m.body, value[:8], value[12:]); binary.BigEndian.Uint32(value[8:]) != want {
				t.Errorf("size %d: checksum %x, want %08x", size, value[8:12], want)
			}
			if int64(binary.BigEndian.Uint64(value[12:])) != event.None {
				t.Errorf("size %d: due %x in closed loop", size, value[12:])
			}
		}
	}
}

func TestHeaderStampCarriesTheDueTime(t *testing.T) {
	msgs, rec := sendOne(t, manifest.Producer{Size: 3, Stamp: manifest.StampHeader, Limit: 5, Rate: manifest.Rate{Messages: 1e9, PerNS: 1e9}}, nil)
	var due []int64
	for _, s := range rec.sends {
		due = append(due, s.Due...)
	}
	for i, m := range msgs {
		value, _ := wire.FindHeader(m.raw, StampHeaderName)
		s, b := readHeaderStamp(value, crc32.Checksum(m.body, castagnoli))
		if b != event.Intact || s != (Stamp{0xabc, 0, uint64(i), due[i]}) {
			t.Errorf("message %d: %v, %+v, due %d", i, b, s, due[i])
		}
	}
}

// What PerfTest and omq would read: an int32 and an int64, big endian; the rest of the body zero.
func TestPerfTestStamp(t *testing.T) {
	for _, c := range []struct {
		size   int
		millis bool
	}{{12, false}, {12, true}, {100, false}, {300_000, true}} {
		plan := oneQueue(Endpoint{Host: "localhost"}, "q", []manifest.Producer{{Size: c.size, Stamp: manifest.StampPerfTest, StampMillis: c.millis, Limit: 4}}, nil)
		e, sock, _ := barePlan(t, plan)
		before := plan.Clock.Now()
		publishAll(t, e.producers[0])
		after := plan.Clock.Now()
		if c.millis {
			before, after = before/1e6, after/1e6
		}
		for i, m := range parseMessages(t, sock.kept, 131072) {
			sequence := int32(m.body[0])<<24 | int32(m.body[1])<<16 | int32(m.body[2])<<8 | int32(m.body[3])
			var at int64
			for _, b := range m.body[4:12] {
				at = at<<8 | int64(b)
			}
			if sequence != int32(i) || at < before || at > after || len(m.body) != c.size || !slices.Equal(m.body[12:], make([]byte, c.size-12)) {
				t.Errorf("%+v: sequence %d, time %d, want %d, between %d and %d", c, sequence, at, i, before, after)
			}
			if len(m.props.Headers) != 1 {
				t.Errorf("%+v: headers %v", c, m.props.Headers)
			}
			value, _ := wire.FindHeader(m.raw, StampHeaderName)
			if s, b := readHeaderStamp(value, bitwiseCRC32C(m.body)); b != event.Intact || s.Seq != uint64(i) {
				t.Errorf("%+v: %v, %+v", c, b, s)
			}
		}
	}
}

// Given bodies are sent in turn, as they are; PerfTest's time is then a header.
func TestPooledBodies(t *testing.T) {
	bodies := [][]byte{[]byte("first"), bytes.Repeat([]byte("0123456789"), 20_000), {}, []byte(`{"a":1}`), bytes.Repeat([]byte{7}, 131064)}
	for _, stamp := range []string{manifest.StampHeader, manifest.StampPerfTest} {
		spec := manifest.Producer{Size: 200_000, Stamp: stamp, PooledBodies: true, Limit: 12, Properties: &manifest.Properties{ContentType: "text/plain"}}
		msgs, rec := sendOne(t, spec, bodies)
		var sizes []uint32
		for _, s := range rec.sends {
			sizes = append(sizes, s.Sizes...)
		}
		if len(msgs) != 12 || len(sizes) != 12 {
			t.Fatalf("%s: %d messages, %d sizes", stamp, len(msgs), len(sizes))
		}
		for i, m := range msgs {
			if want := bodies[i%len(bodies)]; !bytes.Equal(m.body, want) || int(sizes[i]) != len(want) {
				t.Errorf("%s: message %d has %d bytes, recorded %d, want %d", stamp, i, len(m.body), sizes[i], len(want))
			}
			value, _ := wire.FindHeader(m.raw, StampHeaderName)
			if s, b := readHeaderStamp(value, bitwiseCRC32C(m.body)); b != event.Intact || s.Seq != uint64(i) || m.props.ContentType != "text/plain" {
				t.Errorf("%s: message %d: %v %+v, %+v", stamp, i, b, s, m.props)
			}
			if at, there := m.props.Headers.Int("timestamp"); there != (stamp == manifest.StampPerfTest) || there && at < 1e18 {
				t.Errorf("%s: timestamp %d, %v", stamp, at, there)
			}
		}
	}
}

// Messages of one batch go to several routes in turn; one of them has fresh keys.
func TestRoutesInTurn(t *testing.T) {
	const n = 300
	plan := oneQueue(Endpoint{Host: "localhost"}, "q", []manifest.Producer{{Size: 12, Route: 1, Routes: 3, Limit: n, Mandatory: true}}, nil)
	plan.Topology.Routes = append(plan.Topology.Routes, manifest.Route{Exchange: "x", RoutingKey: "one"}, manifest.Route{Exchange: "x", RoutingKey: anyKey, Random: true}, manifest.Route{Exchange: "y", RoutingKey: "a longer one"})
	e, sock, rec := barePlan(t, plan)
	publishAll(t, e.producers[0])
	var routes []uint16
	for _, s := range rec.sends {
		routes = append(routes, s.Routes...)
	}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	msgs := parseMessages(t, sock.kept, 131072)
	if len(msgs) != n || len(routes) != n || len(rec.sends) > 3 {
		t.Fatalf("%d messages, %d routes in %d batches", len(msgs), len(routes), len(rec.sends))
	}
	for i, m := range msgs {
		if s, b := ReadStamp(m.body); b != event.Intact || s.Seq != uint64(i) || int(routes[i]) != 1+i%3 || !m.publish.Mandatory {
			t.Fatalf("message %d: %v, %+v, route %d", i, b, s, routes[i])
		}
		exchange, key := string(m.publish.Exchange), string(m.publish.RoutingKey)
		switch i % 3 {
		case 0:
			if exchange != "x" || key != "one" {
				t.Fatalf("message %d to %q %q", i, exchange, key)
			}
		case 1:
			if exchange != "x" || !uuid.MatchString(key) || seen[key] {
				t.Fatalf("message %d to %q %q, seen %v", i, exchange, key, seen[key])
			}
			seen[key] = true
		case 2:
			if exchange != "y" || key != "a longer one" {
				t.Fatalf("message %d to %q %q", i, exchange, key)
			}
		}
	}
}

// Random keys differ between producers, seeds and tags, and are the same again for the same.
func TestRandomKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, seed := range []uint64{0, 1, 1 << 40} {
		for tag := range uint16(3) {
			for producer := range uint16(3) {
				for n := range uint64(100) {
					var key, again [36]byte
					newRandomKeys(seed, tag, producer).put(key[:], n)
					newRandomKeys(seed, tag, producer).put(again[:], n)
					if seen[string(key[:])] || key != again {
						t.Fatalf("seed %d, tag %d, producer %d: key %d is %s, then %s", seed, tag, producer, n, key, again)
					}
					seen[string(key[:])] = true
				}
			}
		}
	}
}

// A size that varies: 100 bytes for 1 s, 50 for 2 s, over and over.
func TestSizeCourse(t *testing.T) {
	stages := []manifest.SizeStage{{Bytes: 100, ForNS: 1e9}, {Bytes: 50, ForNS: 2e9}}
	c := &sizeCourse{stages: stages, forms: []*sizeForm{{size: 100}, {size: 50}}, cycle: 3e9}
	form := c.forms[0]
	for _, at := range []struct {
		ns   int64
		size int
	}{{0, 100}, {1e9 - 1, 100}, {1e9, 50}, {2.9e9, 50}, {3e9, 100}, {3.5e9, 100}, {10e9, 50}, {30e9, 100}, {31e9, 50}} {
		if f := c.at(at.ns); f != nil {
			form = f
		}
		if form.size != at.size {
			t.Errorf("at %d ns: %d bytes, want %d", at.ns, form.size, at.size)
		}
	}
}

// Every stamp goes with sizes that vary, also between a body that is copied and one that is written from pieces.
func TestVaryingSizes(t *testing.T) {
	for _, stamp := range []string{manifest.StampBody, manifest.StampHeader, manifest.StampPerfTest} {
		spec := manifest.Producer{Size: 100_000, Stamp: stamp, Limit: 6, Batch: 1, Sizes: []manifest.SizeStage{{Bytes: 12, ForNS: 1e9}, {Bytes: 30, ForNS: 1e9}, {Bytes: 100_000, ForNS: 1e9}}}
		plan := oneQueue(Endpoint{Host: "localhost"}, "q", []manifest.Producer{spec}, nil)
		e, sock, rec := barePlan(t, plan)
		p := e.producers[0]
		for i := range 6 {
			e.barrier.Store(e.clock.Now() - int64(i)*1e9 - 1)
			n := p.take()
			p.reserve(n)
			p.stamp(n)
			if n != 1 || !p.send(n) {
				t.Fatal("not sent")
			}
		}
		for i, m := range parseMessages(t, sock.kept, 131072) {
			want := spec.Sizes[i%3].Bytes
			if len(m.body) != want || rec.sends[i].Size != uint32(want) {
				t.Errorf("%s: message %d has %d bytes, recorded %d, want %d", stamp, i, len(m.body), rec.sends[i].Size, want)
			}
			s, b := ReadStamp(m.body)
			if value, ok := wire.FindHeader(m.raw, StampHeaderName); ok {
				s, b = readHeaderStamp(value, bitwiseCRC32C(m.body))
			}
			if b != event.Intact || s.Seq != uint64(i) {
				t.Errorf("%s: message %d of %d bytes: %v, %+v", stamp, i, len(m.body), b, s)
			}
		}
	}
}

// How many messages a write call that failed had begun.
func TestBegunOfAnAssembledBatch(t *testing.T) {
	a := &assembler{ends: []int{100, 250, 300}}
	for _, c := range []struct{ bytes, want int }{{0, 0}, {1, 1}, {100, 1}, {101, 2}, {250, 2}, {299, 3}, {300, 3}} {
		if got := a.begun(c.bytes); got != c.want {
			t.Errorf("%d bytes: %d, want %d", c.bytes, got, c.want)
		}
	}
	large := &assembler{large: true}
	if large.begun(0) != 0 || large.begun(1) != 1 || large.begun(1<<20) != 1 {
		t.Error("of one large message")
	}
}
