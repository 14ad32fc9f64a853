package loadcore

import (
	"fmt"
	"strings"
	"testing"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// channelsOnOne is a plan of one connection with many producers.
func channelsOnOne(ep Endpoint, channels int) *Plan {
	plan := oneQueue(ep, "q", make([]manifest.Producer, channels), nil)
	for i := range plan.Producers {
		plan.Producers[i] = manifest.Producer{Size: 12, Confirm: 1, Limit: 1}
	}
	plan.Connections = 1
	return plan
}

// C097: more channels than the broker allows are refused before any is opened, by the broker's number; as many as it allows
// work, without one to spare for questions; and no limit is no limit.
func TestChannelMax(t *testing.T) {
	noLeaks(t)
	if err := channelsOnOne(Endpoint{}, 2048).Preflight(t.Context(), &manifest.Broker{ChannelMax: 2047}); err == nil || !strings.Contains(err.Error(), "2048 channels") || !strings.Contains(err.Error(), "allows 2047") {
		t.Error(err)
	}
	if err := channelsOnOne(Endpoint{}, 2047).Preflight(t.Context(), &manifest.Broker{ChannelMax: 2047}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		limit    uint16
		channels int
		asked    uint16 // in tune-ok
		want     string
	}{
		{3, 3, 3, ""},
		{3, 4, 3, "allows 3 on one connection"},
		{0, 3000, 3001, ""},
		{2047, 2048, 2047, "allows 2047 on one connection"},
	} {
		opened := 0
		var answer uint16
		ep := startStub(t, &stub{limits: wire.Limits{ChannelMax: c.limit, FrameMax: 131072},
			onMethod: func(sc *stubConn, _ uint16, m wire.Method) bool {
				switch m := m.(type) {
				case *wire.ConnectionTuneOk:
					answer = m.ChannelMax
				case *wire.ChannelOpen:
					opened++
				}
				return false
			},
			onMessage: func(sc *stubConn, m stubMessage) { sc.send(wire.AppendAck(nil, m.channel, m.tag, false)) },
		})
		out, err := Run(t.Context(), channelsOnOne(ep, c.channels), &memory{})
		switch {
		case c.want == "" && (err != nil || out.Confirmed != int64(c.channels)):
			t.Errorf("limit %d, %d channels: %v", c.limit, c.channels, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || opened > 0):
			t.Errorf("limit %d, %d channels: %d were opened: %v", c.limit, c.channels, opened, err)
		}
		if answer != c.asked {
			t.Errorf("limit %d, %d channels: tune-ok says %d, want %d", c.limit, c.channels, answer, c.asked)
		}
	}
}

// One connection more than the descriptors allow is refused with the numbers; with the broker in this process, half as many.
func TestDescriptors(t *testing.T) {
	limit, known := raiseDescriptors(1 << 30)
	if !known || limit > 1<<20 {
		t.Skipf("no limit of descriptors that matters here (%d, %v)", limit, known)
	}
	most := int(limit) - otherDescriptors
	for _, c := range []struct {
		connections int
		inProcess   bool
		want        string
	}{
		{most, false, ""},
		{most + 1, false, fmt.Sprintf("open at most %d connections", most)},
		{most / 2, true, ""},
		{most/2 + 1, true, fmt.Sprintf("open at most %d connections", most/2)},
	} {
		p := &Plan{Connections: c.connections, BrokerInProcess: c.inProcess}
		err := p.checkDescriptors()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprint(limit))) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
