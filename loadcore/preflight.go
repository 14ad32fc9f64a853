package loadcore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"leveret/capture/manifest"
)

// The check before many connections are opened: what the system and the broker allow, against what the plan needs. Its
// errors say which limit it is, what it is, what is needed, and what to change.

// otherDescriptors is what everything beside the run's connections may need: standard streams, the record's files, the
// connections that declare and probe, timers, the runtime's poller.
const otherDescriptors = 64

// Preflight checks the plan against the limits of this system, and, where the broker is known from a Probe with the plan's
// ProbeOptions, against the broker's. The limit of file descriptors is raised as far as the system allows. Where one loopback
// address has too few local ports, SourceAddresses are set: more of them. All errors are in the one that is returned, a line
// each. Run does the same once more without the broker.
func (p *Plan) Preflight(ctx context.Context, b *manifest.Broker) error {
	var errs []error
	if b != nil {
		errs = append(errs, p.checkChannels(int(b.ChannelMax)))
	}
	return errors.Join(append(errs, p.checkDescriptors(), p.checkPorts(ctx))...)
}

// ProbeOptions are the options for a Probe whose answer Preflight can judge by.
func (p *Plan) ProbeOptions(name string) ConnectOptions {
	d := *p
	d.channels = p.neededChannels()
	o := d.connectOptions(0)
	o.Name = name
	return o
}

// lanesOf counts the lanes of each connection.
func (p *Plan) lanesOf() []int {
	lanes := make([]int, max(p.Connections, 0))
	for i := range p.Producers {
		if c := p.Producers[i].Connection; c >= 0 && c < len(lanes) { // Validate says the others
			lanes[c]++
		}
	}
	for i := range p.Consumers {
		if c := p.Consumers[i].Connection; c >= 0 && c < len(lanes) {
			lanes[c]++
		}
	}
	return lanes
}

// checkChannels holds the channels of the fullest connection against what the broker allows; 0: no limit but the protocol's.
func (p *Plan) checkChannels(limit int) error {
	if limit == 0 {
		limit = maxChannels
	}
	for number, lanes := range p.lanesOf() {
		if lanes > limit {
			return tooManyChannels(number, lanes, limit)
		}
	}
	return nil
}

// neededChannels is the channel_max to ask for: what the fullest connection needs, and one channel for questions.
func (p *Plan) neededChannels() uint16 {
	most := DefaultChannelMax
	for _, lanes := range p.lanesOf() {
		most = max(most, lanes+1)
	}
	return uint16(min(most, maxChannels))
}

// maxChannels is the highest channel number (AMQP 0-9-1: a short).
const maxChannels = 65535

func tooManyChannels(connection, lanes, limit int) error {
	return fmt.Errorf("connection %d needs %d channels, and the broker allows %d on one connection (channel_max): ask for at most that many (--producer-channel-count, --consumer-channel-count) and for more connections instead", connection, lanes, limit)
}

// checkDescriptors raises the limit of file descriptors to what is needed, where it can be.
func (p *Plan) checkDescriptors() error {
	each, whose := 1, "one a connection"
	if p.BrokerInProcess {
		each, whose = 2, "two a connection, as the embedded broker runs in the same process"
	}
	need := uint64(p.Connections*each + otherDescriptors)
	limit, known := raiseDescriptors(need)
	if !known || limit >= need {
		return nil
	}
	most := max(int(limit)-otherDescriptors, 0) / each
	err := fmt.Errorf("%d connections need %d file descriptors (%s, %d for everything else), and the system allows this process %d: open at most %d connections, spread them over several processes, or raise the limit (ulimit -Hn %d as root, LimitNOFILE= of a systemd service, nofile in /etc/security/limits.conf)",
		p.Connections, need, whose, otherDescriptors, limit, most, need)
	if p.BrokerInProcess {
		err = fmt.Errorf("%w, or run leveret broker in a process of its own and aim --uri at it", err)
	}
	return err
}

// checkPorts holds the connections against the local ports that one local address has towards the broker.
func (p *Plan) checkPorts(ctx context.Context) error {
	low, high, known := localPorts()
	if !known {
		return nil
	}
	// Some ports are always taken, or have been a moment ago.
	ports := high - low + 1
	usable := ports - ports/20
	addresses := max(len(p.SourceAddresses), 1)
	want := (p.Connections + usable - 1) / usable
	if want == 1 && p.Connections > ports/2 {
		want = 2 // Linux looks through every second port first, and that for each connection once they are taken
	}
	if want > 1 && want < 250 && len(p.SourceAddresses) == 0 && toLoopback4(ctx, p.Endpoint.Host) {
		for i := range want {
			p.SourceAddresses = append(p.SourceAddresses, netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + i)}))
		}
		return nil
	}
	if p.Connections <= usable*addresses {
		return nil
	}
	return fmt.Errorf("%d connections to %s from %d local address(es) need as many local ports, and the system has %d an address (net.ipv4.ip_local_port_range is %d to %d, of which %d are counted on): widen it (sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"), or give more addresses of this host with --source-address (A,B and so on)",
		p.Connections, p.Endpoint.Address(), addresses, ports, low, high, usable)
}

// toLoopback4 reports whether the host is on IPv4 loopback, all of whose addresses can be connected from.
func toLoopback4(ctx context.Context, host string) bool {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	if err != nil {
		return false
	}
	for _, a := range addresses {
		if a.Unmap().IsLoopback() {
			return true
		}
	}
	return false
}
