package wire_test

import (
	"fmt"

	"leveret/loadcore/wire"
)

// A whole publish, and how the other end takes it apart.
func Example() {
	body := []byte("hello")
	var buf []byte
	buf = wire.AppendPublish(buf, 1, "", "greetings", true)
	buf = wire.AppendHeader(buf, 1, uint64(len(body)), &wire.Properties{DeliveryMode: wire.Persistent})
	buf = wire.AppendBody(buf, 1, body, wire.DefaultFrameMax)

	for len(buf) > 0 {
		f, n, err := wire.NextFrame(buf, wire.DefaultFrameMax)
		if err != nil || n == 0 {
			fmt.Println("incomplete or broken:", err)
			return
		}
		switch f.Type {
		case wire.FrameMethod:
			id, args, _ := wire.PeekMethod(f.Payload)
			p, _ := wire.ParsePublish(args)
			fmt.Printf("%s to %q, mandatory %v\n", id, p.RoutingKey, p.Mandatory)
		case wire.FrameHeader:
			h, _ := wire.ParseHeader(f.Payload)
			p, _ := wire.ParseProperties(h.RawProperties)
			fmt.Printf("%d bytes, delivery mode %d\n", h.BodySize, p.DeliveryMode)
		case wire.FrameBody:
			fmt.Printf("%s\n", f.Payload)
		}
		buf = buf[n:]
	}
	// Output:
	// basic.publish to "greetings", mandatory true
	// 5 bytes, delivery mode 2
	// hello
}
