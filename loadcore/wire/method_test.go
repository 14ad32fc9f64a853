package wire

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A whole method frame by hand: head, class 50 method 10, reserved short, name, bits, empty table, end octet.
func TestAppendMethodByHand(t *testing.T) {
	want := "\x01\x01\x02\x00\x00\x00\x0d" + "\x00\x32\x00\x0a" + "\x00\x00" + "\x01q" + "\x12" + "\x00\x00\x00\x00" + "\xce"
	m := &QueueDeclare{Queue: "q", Durable: true, NoWait: true}
	if got := AppendMethod([]byte("before"), 258, m); string(got) != "before"+want {
		t.Errorf("written % x\nwant    % x", got[6:], want)
	}
}

func TestParseMethodRefuses(t *testing.T) {
	var se *SyntaxError
	for _, short := range []string{"", "\x00", "\x00\x3c\x00"} {
		if _, err := ParseMethod([]byte(short)); !errors.As(err, &se) || !strings.Contains(err.Error(), "class and method id") {
			t.Errorf("% x: %v", short, err)
		}
		if id, args, err := PeekMethod([]byte(short)); id != 0 || args != nil || err == nil {
			t.Errorf("% x: %v %v %v", short, id, args, err)
		}
	}
	var ue *UnknownMethodError
	_, err := ParseMethod([]byte("\x00\x3c\x00\x4d"))
	if !errors.As(err, &ue) || ue.ID != 60<<16|77 || ue.ReplyCode() != 540 || !strings.Contains(err.Error(), "class 60 has no method 77") {
		t.Errorf("basic.77: %v", err)
	}
	if got := MethodID(60<<16 | 77).String(); got != "method 60.77" {
		t.Errorf("basic.77 is called %q", got)
	}
	for _, c := range []struct{ payload, text string }{
		{"\x00\x32\x00\x0a\x00\x00\x05q", "queue.declare: queue: offset 3: ends too early"},
		{"\x00\x32\x00\x0a\x00\x00\x01q\x00\x00\x00\x00\x05", "queue.declare: arguments: offset 9: ends too early"},
		{"\x00\x32\x00\x0a\x00\x00\x01q\x00\x00\x00\x00\x00xy", "queue.declare: offset 9: trailing bytes: 2"},
	} {
		m, err := ParseMethod([]byte(c.payload))
		if m != nil || !errors.As(err, &se) || se.ReplyCode() != 502 || !strings.Contains(err.Error(), c.text) {
			t.Errorf("% x: %v, %v, want %q", c.payload, m, err, c.text)
		}
	}
}

func TestPeekMethodAliases(t *testing.T) {
	payload := []byte("\x00\x3c\x00\x50\x00\x00\x00\x00\x00\x00\x00\x05\x01beyond")
	id, args, err := PeekMethod(payload[:13])
	if err != nil || id != BasicAckID || len(args) != 9 || cap(args) != 9 || &args[0] != &payload[4] {
		t.Errorf("%v, %d of %d bytes, %v", id, len(args), cap(args), err)
	}
}

// ParseMethod copies; the data plane's parsers alias, with no room to append into what follows.
func TestOwnership(t *testing.T) {
	frame := AppendDeliver(nil, 1, "tag", 5, true, []byte("exchange"), []byte("key"))
	payload := frame[7 : len(frame)-1]
	m, err := ParseMethod(payload)
	if err != nil {
		t.Fatal(err)
	}
	_, args, _ := PeekMethod(payload)
	d, err := ParseDeliver(args)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"tag": d.ConsumerTag, "exchange": d.Exchange, "key": d.RoutingKey} {
		if string(b) != name || cap(b) != len(b) {
			t.Errorf("%q has capacity %d", b, cap(b))
		}
	}
	clear(payload)
	if want := (&BasicDeliver{ConsumerTag: "tag", DeliveryTag: 5, Redelivered: true, Exchange: "exchange", RoutingKey: "key"}); !reflect.DeepEqual(m, want) {
		t.Errorf("overwriting the buffer changed %+v", m)
	}
	if string(d.Exchange) != strings.Repeat("\x00", 8) {
		t.Errorf("the data plane copied %q", d.Exchange)
	}
}

func TestCheckMethod(t *testing.T) {
	long := strings.Repeat("q", 256)
	// Frame 8, ids 4, reserved 2, name 2, bits 1, table length 4, key "k" 2, type and length 5: 28 bytes and the value.
	fits := &QueueDeclare{Queue: "q", Arguments: Table{{Key: "k", Value: strings.Repeat("v", 4096-28)}}}
	over := &QueueDeclare{Queue: "q", Arguments: Table{{Key: "k", Value: strings.Repeat("v", 4096-27)}}}
	if err := CheckMethod(fits, 4096); err != nil || len(AppendMethod(nil, 1, fits)) != 4096 {
		t.Errorf("a method of exactly frame-max: %v", err)
	}
	if err := CheckMethod(over, 0); err != nil {
		t.Errorf("no limit: %v", err)
	}
	for _, c := range []struct {
		m    Method
		text string
	}{
		{&QueueDeclare{Queue: long}, "queue.declare: queue: 256 bytes, at most 255 are possible"},
		{&QueueBind{RoutingKey: long}, "queue.bind: routing-key: 256 bytes, at most 255 are possible"},
		{&ConnectionOpen{VirtualHost: long}, "connection.open: virtual-host: 256 bytes, at most 255 are possible"},
		{&BasicConsume{Arguments: Table{{Key: "x-priority", Value: 3}}}, "basic.consume: arguments: x-priority: a field table cannot hold a value of Go type int"},
		{over, "queue.declare as one frame: 4097 bytes, at most 4096 are possible"},
	} {
		if err := CheckMethod(c.m, 4096); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %q", err, c.text)
		}
		if c.m != Method(over) && !panics(func() { AppendMethod(nil, 1, c.m) }) {
			t.Errorf("written although refused: %q", c.text)
		}
	}
	both := CheckMethod(&QueueBind{Queue: long, Exchange: long}, 0)
	if both == nil || !strings.Contains(both.Error(), "queue.bind: queue:") || !strings.Contains(both.Error(), "queue.bind: exchange:") {
		t.Errorf("two faults: %v", both)
	}
}

func TestDataPlaneNeverCutsNames(t *testing.T) {
	fits, long := strings.Repeat("k", 255), strings.Repeat("k", 256)
	if err := CheckShortString("routing key", fits); err != nil {
		t.Error(err)
	}
	if err := CheckShortString("routing key", long); err == nil || err.Error() != "cannot send over AMQP: routing key: 256 bytes, at most 255 are possible" {
		t.Errorf("%v", err)
	}
	frame := AppendPublish(nil, 1, fits, fits, true)
	if p, err := ParsePublish(frame[11 : len(frame)-1]); err != nil || string(p.Exchange) != fits || string(p.RoutingKey) != fits {
		t.Errorf("%+v, %v", p, err)
	}
	for name, f := range map[string]func(){
		"publish exchange": func() { AppendPublish(nil, 1, long, "", false) },
		"publish key":      func() { AppendPublish(nil, 1, "", long, false) },
		"deliver tag":      func() { AppendDeliver(nil, 1, long, 1, false, nil, nil) },
		"deliver key":      func() { AppendDeliver(nil, 1, "", 1, false, nil, []byte(long)) },
		"return exchange":  func() { AppendReturn(nil, 1, 312, "", []byte(long), nil) },
		"get-ok key":       func() { AppendGetOk(nil, 1, 1, false, nil, []byte(long), 0) },
	} {
		if !panics(f) {
			t.Errorf("%s: 256 bytes were written", name)
		}
	}
}

func TestReplyText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short"},
		{strings.Repeat("x", 255), strings.Repeat("x", 255)},
		{strings.Repeat("x", 256), strings.Repeat("x", 252) + "..."},
		{strings.Repeat("ü", 128), strings.Repeat("ü", 126) + "..."},             // 252 bytes are whole characters
		{"x" + strings.Repeat("ü", 128), "x" + strings.Repeat("ü", 125) + "..."}, // 252 would split one
		{strings.Repeat("\x80", 300), strings.Repeat("\x80", 248) + "..."},       // not text at all
	} {
		if got := ReplyText(c.in); got != c.want || len(got) > 255 {
			t.Errorf("%d bytes became %q", len(c.in), got)
		}
	}
	long := strings.Repeat("x", 1000)
	want := strings.Repeat("x", 252) + "..."
	frame := AppendReturn(nil, 1, ReplyNoRoute, long, nil, nil)
	if r, err := ParseReturn(frame[11 : len(frame)-1]); err != nil || string(r.Text) != want {
		t.Errorf("return: %q, %v", r.Text, err)
	}
	for _, m := range []Method{&ConnectionClose{ReplyText: long}, &ChannelClose{ReplyText: long}, &BasicReturn{ReplyText: long}, &ConnectionBlocked{Reason: long}} {
		if err := CheckMethod(m, 4096); err != nil {
			t.Error(err)
		}
		frame := AppendMethod(nil, 1, m)
		if !strings.Contains(string(frame), "\xff"+want) {
			t.Errorf("%s: % x", m.ID(), frame)
		}
	}
}

// The data plane reads and writes what the structures do, in every flag.
func TestDataPlaneMatchesStructures(t *testing.T) {
	for _, yes := range []bool{false, true} {
		for _, c := range []struct {
			m    Method
			fast []byte
		}{
			{&BasicPublish{Exchange: "e", RoutingKey: "key", Mandatory: yes}, AppendPublish(nil, 9, "e", "key", yes)},
			{&BasicDeliver{ConsumerTag: "t", DeliveryTag: 1 << 50, Redelivered: yes, Exchange: "e", RoutingKey: "key"},
				AppendDeliver(nil, 9, "t", 1<<50, yes, []byte("e"), []byte("key"))},
			{&BasicReturn{ReplyCode: 312, ReplyText: "text", Exchange: "e", RoutingKey: "key"}, AppendReturn(nil, 9, 312, "text", []byte("e"), []byte("key"))},
			{&BasicGetOk{DeliveryTag: 3, Redelivered: yes, Exchange: "e", RoutingKey: "key", MessageCount: 99},
				AppendGetOk(nil, 9, 3, yes, []byte("e"), []byte("key"), 99)},
			{&BasicAck{DeliveryTag: 7, Multiple: yes}, AppendAck(nil, 9, 7, yes)},
			{&BasicNack{DeliveryTag: 7, Multiple: yes, Requeue: !yes}, AppendNack(nil, 9, 7, yes, !yes)},
			{&BasicReject{DeliveryTag: 7, Requeue: yes}, AppendReject(nil, 9, 7, yes)},
		} {
			if want := AppendMethod(nil, 9, c.m); string(c.fast) != string(want) {
				t.Errorf("%s: % x, want % x", c.m.ID(), c.fast, want)
			}
		}
	}
	immediate := AppendMethod(nil, 1, &BasicPublish{Immediate: true})
	if p, err := ParsePublish(immediate[11 : len(immediate)-1]); err != nil || !p.Immediate || p.Mandatory {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestParseDelivery(t *testing.T) {
	args := AppendArgs(nil, &BasicDeliver{ConsumerTag: "tag", DeliveryTag: 5, Redelivered: true, Exchange: "exchange", RoutingKey: "key"})
	if tag, number, redelivered, err := ParseDelivery(args); string(tag) != "tag" || number != 5 || !redelivered || err != nil {
		t.Errorf("%q, %d, %v, %v", tag, number, redelivered, err)
	}
	for i := range args {
		if _, _, _, err := ParseDelivery(args[:i]); err == nil {
			t.Errorf("%d of %d bytes are accepted", i, len(args))
		}
	}
	if _, _, _, err := ParseDelivery(append(args, 0)); err == nil {
		t.Error("a byte too many is accepted")
	}
}

// Each data plane parser refuses every shortening and any lengthening, with a zero result.
func TestDataPlaneRefuses(t *testing.T) {
	parsers := map[MethodID]func([]byte) (any, error){
		BasicPublishID: func(b []byte) (any, error) { return ParsePublish(b) },
		BasicDeliverID: func(b []byte) (any, error) { return ParseDeliver(b) },
		BasicReturnID:  func(b []byte) (any, error) { return ParseReturn(b) },
		BasicGetOkID:   func(b []byte) (any, error) { return ParseGetOk(b) },
		BasicAckID:     func(b []byte) (any, error) { return ParseAck(b) },
		BasicNackID:    func(b []byte) (any, error) { return ParseNack(b) },
		BasicRejectID:  func(b []byte) (any, error) { return ParseReject(b) },
	}
	for _, m := range []Method{
		&BasicPublish{Exchange: "e", RoutingKey: "key", Mandatory: true}, &BasicDeliver{ConsumerTag: "t", DeliveryTag: 1, Exchange: "e", RoutingKey: "key"},
		&BasicReturn{ReplyText: "t", Exchange: "e", RoutingKey: "key"}, &BasicGetOk{DeliveryTag: 1, Exchange: "e", RoutingKey: "key", MessageCount: 1},
		&BasicAck{DeliveryTag: 1}, &BasicNack{DeliveryTag: 1}, &BasicReject{DeliveryTag: 1},
	} {
		parse, args := parsers[m.ID()], AppendArgs(nil, m)
		if _, err := parse(args); err != nil {
			t.Errorf("%s: %v", m.ID(), err)
		}
		bad := [][]byte{append(args[:len(args):len(args)], 0)}
		for i := range args {
			bad = append(bad, args[:i])
		}
		for _, b := range bad {
			v, err := parse(b)
			var se *SyntaxError
			if !errors.As(err, &se) || se.Where != m.ID().String() || !reflect.ValueOf(v).IsZero() {
				t.Errorf("%s: %d of %d bytes: %+v, %v", m.ID(), len(b), len(args), v, err)
			}
		}
	}
}
