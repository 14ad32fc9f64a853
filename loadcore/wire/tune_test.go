package wire

import (
	"errors"
	"testing"
)

// Case C016 among others: 0 means "no limit" from either side, and is never answered where the peer has a limit.
func TestNegotiate(t *testing.T) {
	for _, c := range []struct {
		name                 string
		wish, proposal, want Limits
	}{
		{"RabbitMQ's defaults, no wishes", Limits{}, Limits{2047, 131072, 60}, Limits{2047, 131072, 60}},
		{"the server limits nothing", Limits{}, Limits{0, 0, 0}, Limits{65535, 131072, 0}},
		{"the server limits nothing, the client does", Limits{100, 8192, 10}, Limits{0, 0, 0}, Limits{100, 8192, 10}},
		{"the client wants less", Limits{10, 4096, 5}, Limits{2047, 131072, 60}, Limits{10, 4096, 5}},
		{"the client wants more", Limits{65535, 1 << 20, 600}, Limits{2047, 131072, 60}, Limits{2047, 131072, 60}},
		{"the server proposes a huge frame-max", Limits{}, Limits{2047, 1 << 31, 60}, Limits{2047, 1 << 31, 60}},
		{"heartbeat off by the server only", Limits{Heartbeat: 30}, Limits{2047, 131072, 0}, Limits{2047, 131072, 30}},
		{"heartbeat off by the client only", Limits{Heartbeat: 0}, Limits{2047, 131072, 60}, Limits{2047, 131072, 60}},
	} {
		got, err := Negotiate(c.wish, c.proposal)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
		if accepted, err := AcceptTune(c.proposal, got); err != nil || accepted != got {
			t.Errorf("%s: the server makes %+v of it, %v", c.name, accepted, err)
		}
	}
}

func TestNegotiateRefusesTinyFrames(t *testing.T) {
	for _, c := range []struct{ wish, proposal uint32 }{{4095, 131072}, {4095, 0}, {0, 4095}, {1, 131072}} {
		_, err := Negotiate(Limits{FrameMax: c.wish}, Limits{FrameMax: c.proposal})
		var te *TuneError
		if !errors.As(err, &te) || te.Limit != 4096 || !te.Below {
			t.Errorf("wish %d, proposal %d: %v", c.wish, c.proposal, err)
		}
	}
}

// RabbitMQ's rules. The refusals were provoked from a RabbitMQ 3.10.8, and the texts are those of its log.
func TestAcceptTune(t *testing.T) {
	rabbit := Limits{2047, 131072, 60}
	for _, c := range []struct {
		name     string
		proposal Limits
		answer   Limits
		want     Limits
		text     string
	}{
		{"as proposed", rabbit, rabbit, rabbit, ""},
		{"lower", rabbit, Limits{1, 4096, 0}, Limits{1, 4096, 0}, ""},
		{"the client decides the heartbeat", rabbit, Limits{2047, 131072, 600}, Limits{2047, 131072, 600}, ""},
		{"no limits at all", Limits{}, Limits{}, Limits{65535, 0, 0}, ""},
		{"limits where there were none", Limits{}, Limits{10, 131072, 0}, Limits{10, 131072, 0}, ""},
		{"frame-max too high", rabbit, Limits{2047, 131073, 60}, Limits{},
			"negotiated frame_max = 131073 is higher than the maximum allowed value (131072)"},
		{"frame-max of 0", rabbit, Limits{2047, 0, 60}, Limits{},
			"negotiated frame_max = 0 is higher than the maximum allowed value (131072)"},
		{"frame-max too low", rabbit, Limits{2047, 4095, 60}, Limits{},
			"negotiated frame_max = 4095 is lower than the minimum allowed value (4096)"},
		{"channel-max too high", rabbit, Limits{2048, 131072, 60}, Limits{},
			"negotiated channel_max = 2048 is higher than the maximum allowed value (2047)"},
		{"channel-max of 0", rabbit, Limits{0, 131072, 60}, Limits{},
			"negotiated channel_max = 0 (no limit) is higher than the maximum allowed value (2047)"},
	} {
		got, err := AcceptTune(c.proposal, c.answer)
		text := ""
		if err != nil {
			text = err.Error()
			var te *TuneError
			if !errors.As(err, &te) || te.ReplyCode() != 530 {
				t.Errorf("%s: %#v", c.name, err)
			}
		}
		if got != c.want || text != c.text {
			t.Errorf("%s: %+v, %q, want %+v, %q", c.name, got, text, c.want, c.text)
		}
	}
}
