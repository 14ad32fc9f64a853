package wire

import (
	"fmt"
	"testing"
)

// batch is how often an operation is done per measurement: AllocsPerRun rounds down, so one operation could hide.
const batch = 128

// dataPlaneOperations are all functions that come once a message. A failing one panics, which fails the test or
// benchmark that runs it.
func dataPlaneOperations() map[string]func() {
	buf := make([]byte, 0, 1<<16)
	exchange, key := []byte("some exchange"), []byte("some.routing.key")
	props := &Properties{ContentType: "application/json", DeliveryMode: Persistent, Priority: 1, MessageID: "id", Timestamp: 1700000000, ClusterID: "c"}
	header := AppendHeader(nil, 1, 12, props)
	raw := header[7+12 : len(header)-1]
	body, large := make([]byte, 12), make([]byte, 1<<15)
	args := func(frame []byte) []byte { return frame[11 : len(frame)-1] }
	var (
		publish = args(AppendPublish(nil, 1, string(exchange), string(key), true))
		deliver = args(AppendDeliver(nil, 1, "consumer", 1, true, exchange, key))
		ret     = args(AppendReturn(nil, 1, 312, "NO_ROUTE", exchange, key))
		getOk   = args(AppendGetOk(nil, 1, 1, false, exchange, key, 5))
		settle  = args(AppendAck(nil, 1, 1, true))
		frame   = AppendBody(nil, 1, body, 4096)
		payload = header[7 : len(header)-1]
	)
	return map[string]func(){
		"NextFrame": func() {
			if _, n, err := NextFrame(frame, 131072); n != 20 || err != nil {
				panic(fmt.Sprint(n, err))
			}
		},
		"FrameSize": func() {
			if n, ok := FrameSize(frame); n != 20 || !ok {
				panic(n)
			}
		},
		"PeekMethod": func() {
			if id, a, err := PeekMethod(publish); id == 0 || len(a) == 0 || err != nil {
				panic(err)
			}
		},
		"ParsePublish":     func() { check(ParsePublish(publish)) },
		"ParseDelivery":    func() { _, _, _, err := ParseDelivery(deliver); check(0, err) },
		"ParseDeliver":     func() { check(ParseDeliver(deliver)) },
		"ParseReturn":      func() { check(ParseReturn(ret)) },
		"ParseGetOk":       func() { check(ParseGetOk(getOk)) },
		"ParseAck":         func() { check(ParseAck(settle)) },
		"ParseNack":        func() { check(ParseNack(settle)) },
		"ParseReject":      func() { check(ParseReject(settle)) },
		"ParseHeader":      func() { check(ParseHeader(payload)) },
		"AppendPublish":    func() { buf = AppendPublish(buf[:0], 1, "some exchange", "some.routing.key", true) },
		"AppendDeliver":    func() { buf = AppendDeliver(buf[:0], 1, "consumer", 1, true, exchange, key) },
		"AppendReturn":     func() { buf = AppendReturn(buf[:0], 1, ReplyNoRoute, "NO_ROUTE", exchange, key) },
		"AppendGetOk":      func() { buf = AppendGetOk(buf[:0], 1, 1, false, exchange, key, 5) },
		"AppendAck":        func() { buf = AppendAck(buf[:0], 1, 1, true) },
		"AppendNack":       func() { buf = AppendNack(buf[:0], 1, 1, true, true) },
		"AppendReject":     func() { buf = AppendReject(buf[:0], 1, 1, true) },
		"AppendRawHeader":  func() { buf = AppendRawHeader(buf[:0], 1, 12, raw) },
		"AppendHeader":     func() { buf = AppendHeader(buf[:0], 1, 12, props) },
		"AppendBody":       func() { buf = AppendBody(buf[:0], 1, body, 131072) },
		"AppendBody split": func() { buf = AppendBody(buf[:0], 1, large, 4096) },
		"AppendHeartbeat":  func() { buf = AppendHeartbeat(buf[:0]) },
		"AppendFrame":      func() { buf = AppendFrame(buf[:0], FrameBody, 1, body) },
	}
}

func check[T any](_ T, err error) {
	if err != nil {
		panic(err)
	}
}

func TestDataPlaneDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		return // run without -race by make check as well
	}
	for name, f := range dataPlaneOperations() {
		if n := testing.AllocsPerRun(10, func() {
			for range batch {
				f()
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations in %d calls", name, n, batch)
		}
	}
}
