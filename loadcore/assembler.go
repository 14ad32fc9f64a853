package loadcore

import (
	"hash/crc32"

	"leveret/capture/event"
	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// The control side of the assembler: when one is needed, and how it is made.

// assembled tells whether a producer's messages differ in more than the stamp in the body.
func (p *Plan) assembled(s *manifest.Producer) bool {
	return s.Stamp == manifest.StampHeader || s.Stamp == manifest.StampPerfTest || s.Routes > 1 ||
		len(s.Sizes) > 0 || s.PooledBodies || p.Topology.Routes[s.Route].Random
}

// newAssembler makes the assembler of a producer whose channel is open.
func newAssembler(p *producer, props *wire.Properties) (*assembler, error) {
	s, t := p.spec, p.eng.plan.Topology
	a := &assembler{
		channel: p.ch.number, payload: int(p.ch.conn.link.limits.FrameMax) - wire.FrameOverhead, mandatory: s.Mandatory,
		routes: t.Routes[s.Route : s.Route+max(s.Routes, 1)], first: uint16(s.Route),
		keys:     newRandomKeys(s.Seed, p.eng.plan.Tag, p.index),
		identity: Stamp{Tag: p.eng.plan.Tag, Producer: p.index}.identity(),
		perfTest: s.Stamp == manifest.StampPerfTest, millis: s.StampMillis,
	}
	if s.PooledBodies {
		a.bodies = p.eng.bodies
	}
	props = a.stampHeaders(s, props)
	if err := wire.CheckProperties(props, p.ch.conn.link.limits.FrameMax); err != nil {
		return nil, propertiesError(err)
	}
	a.header = wire.AppendHeader(nil, a.channel, 0, props)
	a.longest = p.eng.longestPublish(s)
	a.prepareSizes(p)
	return a, nil
}

// longestPublish is how long the basic.publish frames of a producer are at most, in bytes. Thousands of producers may take the same
// thousands of routes in turn.
func (e *engine) longestPublish(s *manifest.Producer) int {
	routes := [2]int{s.Route, max(s.Routes, 1)}
	if known, ok := e.longest.Load(routes); ok {
		return known.(int)
	}
	longest := 0
	var frame []byte
	for _, route := range e.plan.Topology.Routes[routes[0] : routes[0]+routes[1]] {
		key := route.RoutingKey
		if route.Random {
			key = anyKey
		}
		frame = wire.AppendPublish(frame[:0], 0, route.Exchange, key, false)
		longest = max(longest, len(frame))
	}
	e.longest.Store(routes, longest)
	return longest
}

// stampHeaders puts the stamp's own headers in front of the producer's, and finds where their values are.
func (a *assembler) stampHeaders(s *manifest.Producer, props *wire.Properties) *wire.Properties {
	if s.Stamp != manifest.StampHeader && s.Stamp != manifest.StampPerfTest {
		return props
	}
	with := wire.Properties{}
	if props != nil {
		with = *props
	}
	own := wire.Table{{Key: StampHeaderName, Value: make([]byte, StampHeaderSize)}}
	// A content header frame: head, class, weight, body size and flags, the properties in front of the headers, their length.
	at := contentBodySize + 8 + 2 + 4
	for _, before := range []struct {
		flag uint16
		text string
	}{{wire.FlagContentType, with.ContentType}, {wire.FlagContentEncoding, with.ContentEncoding}} {
		if with.Present()&before.flag != 0 {
			at += 1 + len(before.text)
		}
	}
	a.stampAt = at + 1 + len(StampHeaderName) + 1 + 4
	if a.perfTest && a.bodies != nil {
		own = append(own, wire.Field{Key: perfTestHeader, Value: int64(0)})
		a.timeAt = a.stampAt + StampHeaderSize + 1 + len(perfTestHeader) + 1
	}
	with.Headers = append(own, with.Headers...)
	return &with
}

// prepareSizes makes a form for each size that occurs.
func (a *assembler) prepareSizes(p *producer) {
	s := p.spec
	if a.bodies != nil {
		return
	}
	if len(s.Sizes) == 0 {
		a.form = a.newForm(p, s.Size)
		return
	}
	forms := map[int]*sizeForm{}
	for _, stage := range s.Sizes {
		if forms[stage.Bytes] == nil {
			forms[stage.Bytes] = a.newForm(p, stage.Bytes)
		}
		a.course.forms = append(a.course.forms, forms[stage.Bytes])
		a.course.cycle += stage.ForNS
	}
	a.course.stages = s.Sizes
	a.form = a.course.forms[0]
}

func (a *assembler) newForm(p *producer, size int) *sizeForm {
	f := &sizeForm{size: size}
	zeros := zeroBytes(uint64(size))
	f.sum = ^zeros.apply(^uint32(0))
	switch {
	case a.stampAt == 0:
		f.st = newStamper(p.eng.plan.Tag, p.index, size, p.timed)
	case a.perfTest && size > perfTestSize:
		f.rest = newConstantSum(nil, uint64(size-perfTestSize))
	}
	return f
}

// sizeCourse is a size that changes with the time since the barrier.
type sizeCourse struct {
	stages []manifest.SizeStage
	forms  []*sizeForm // of the stages
	cycle  int64       // ns that all stages take
	until  int64       // end of the stage that at found last
}

// at is the form at a time (ns since the barrier, rising), nil where the form found last still holds.
func (c *sizeCourse) at(t int64) *sizeForm {
	if t < c.until {
		return nil
	}
	begin := t - t%c.cycle
	for i := range c.stages {
		if begin += c.stages[i].ForNS; t < begin {
			c.until = begin
			return c.forms[i]
		}
	}
	return nil // not reached: the stages make up the cycle
}

// pooledBody is a body of the plan with its checksum.
type pooledBody struct {
	data []byte
	sum  uint32
}

func poolBodies(bodies [][]byte) []pooledBody {
	pool := make([]pooledBody, len(bodies))
	for i, b := range bodies {
		pool[i] = pooledBody{data: b, sum: crc32.Update(0, castagnoli, b)}
	}
	return pool
}

// describe has the record know route and size of the producer's next n messages.
func (p *producer) describe(n int) {
	a := p.enc.asm
	if a == nil {
		return
	}
	a.describe(p.seq, n)
	p.noteDescribed(n)
}

func (p *producer) noteDescribed(n int) {
	a, s := p.enc.asm, &p.sends
	if a.bodies != nil {
		s.Sizes = a.sizes[:n]
	} else {
		s.Size = uint32(a.form.size)
	}
	if len(a.routes) > 1 {
		s.Routes = a.routed[:n]
	}
}

// stamp makes the frames of the next n messages.
func (p *producer) stamp(n int) {
	a := p.enc.asm
	if a == nil {
		p.enc.stamp(p.seq, n, p.sends.Due)
		return
	}
	now := event.None
	if a.perfTest {
		now = p.eng.clock.Now()
	}
	a.put(p.seq, n, p.sends.Due, now)
	p.noteDescribed(n)
}

// resize takes the size of this moment.
func (p *producer) resize() {
	if a := p.enc.asm; a != nil && len(a.course.stages) > 0 {
		if f := a.course.at(p.eng.clock.Now() - p.eng.barrier.Load()); f != nil {
			a.form = f
		}
	}
}
