package loadcore

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"leveret/capture/manifest"
)

// C055: more connections than there are local ports are spread over loopback addresses where the broker is on loopback, and
// refused with numbers and remedy where it is not.
func TestLocalPorts(t *testing.T) {
	low, high, known := localPorts()
	if !known {
		t.Fatal("the range of local ports is not known")
	}
	ports := high - low + 1
	p := &Plan{Connections: 2*ports + 1, Endpoint: Endpoint{Host: "127.0.0.1", Port: 5672}}
	if err := p.checkPorts(t.Context()); err != nil || len(p.SourceAddresses) != 3 || p.SourceAddresses[2] != netip.MustParseAddr("127.0.0.3") {
		t.Errorf("%v, %v", p.SourceAddresses, err)
	}
	for connections, addresses := range map[int]int{ports / 2: 0, ports/2 + 1: 2} {
		p = &Plan{Connections: connections, Endpoint: Endpoint{Host: "127.0.0.1", Port: 5672}}
		if err := p.checkPorts(t.Context()); err != nil || len(p.SourceAddresses) != addresses {
			t.Errorf("%d connections: %v, %v", connections, p.SourceAddresses, err)
		}
		p.Endpoint.Host, p.SourceAddresses = "192.0.2.1", nil
		if err := p.checkPorts(t.Context()); err != nil || len(p.SourceAddresses) != 0 {
			t.Errorf("%d connections to elsewhere: %v, %v", connections, p.SourceAddresses, err)
		}
	}
	p = &Plan{Connections: ports + 1, Endpoint: Endpoint{Host: "192.0.2.1", Port: 5672}}
	err := p.checkPorts(t.Context())
	for _, want := range []string{fmt.Sprint(ports + 1), fmt.Sprint(ports), "ip_local_port_range", "--source-address"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	p.SourceAddresses = []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8")}
	if err := p.checkPorts(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSourceAddresses(t *testing.T) {
	noLeaks(t)
	var mu sync.Mutex
	from := map[string]int{}
	ep := startStub(t, &stub{onOpen: func(c *stubConn) {
		mu.Lock()
		from[c.RemoteAddr().(*net.TCPAddr).IP.String()]++
		mu.Unlock()
	}})
	plan := fleet(ep, 9, 1, manifest.Producer{Size: 12, Limit: 1})
	plan.SourceAddresses = []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")}
	runPlan(t, plan)
	if len(from) != 2 || from["127.0.0.2"] != 5 || from["127.0.0.3"] != 5 {
		t.Errorf("connections came from %v", from)
	}
	plan.SourceAddresses = []netip.Addr{netip.MustParseAddr("192.0.2.77")}
	if _, err := Run(t.Context(), plan, &memory{}); err == nil || !strings.Contains(err.Error(), "--source-address") {
		t.Errorf("an address that this host does not have: %v", err)
	}
}
