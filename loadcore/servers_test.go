package loadcore

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// later is an address at which a stub listens after a while.
func later(t *testing.T, after time.Duration) Endpoint {
	t.Helper()
	addr := closedPort(t)
	timer := time.AfterFunc(after, func() {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Errorf("the port was taken by another: %v", err)
			return
		}
		s := &stub{t: t, ln: ln, mechs: "PLAIN"}
		s.serving.Go(s.accept)
		t.Cleanup(s.stop)
	})
	t.Cleanup(func() { timer.Stop() })
	return mustParse(t, "amqp://"+addr)
}

func TestAwaitServers(t *testing.T) {
	up, down := startStub(t, &stub{}), mustParse(t, "amqp://"+closedPort(t))
	o := ConnectOptions{Timeout: 5 * time.Second}
	for _, c := range []struct {
		name    string
		eps     []Endpoint
		need    int
		timeout time.Duration
		up      []Endpoint
		down    int
		err     string
	}{
		{"all are there", []Endpoint{up, up}, 0, 0, []Endpoint{up, up}, 0, ""},
		{"one is enough", []Endpoint{down, up}, 1, 0, []Endpoint{up}, 1, ""},
		{"one is not enough", []Endpoint{down, up}, 2, 0, nil, 0, "1 of 2 brokers answered"},
		{"all are needed unless said otherwise", []Endpoint{down, up}, 0, 1200 * time.Millisecond, nil, 0, "2 are needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			noLeaks(t)
			got, missing, err := AwaitServers(t.Context(), c.eps, c.need, c.timeout, o)
			if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), down.String()) || !strings.Contains(err.Error(), "--servers-up-limit")) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if len(got) != len(c.up) || len(missing) != c.down {
				t.Fatalf("%v up, %v down", got, missing)
			}
			for i := range got {
				if got[i].Address() != c.up[i].Address() {
					t.Errorf("%v up, want %v", got, c.up)
				}
			}
		})
	}
	t.Run("one starts late", func(t *testing.T) {
		late := later(t, 1500*time.Millisecond)
		got, missing, err := AwaitServers(t.Context(), []Endpoint{late, up}, 0, time.Minute, o)
		if err != nil || len(got) != 2 || got[0].Address() != late.Address() || len(missing) > 0 {
			t.Errorf("%v up, %v down, %v", got, missing, err)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, _, err := AwaitServers(ctx, []Endpoint{down}, 0, time.Minute, o); err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("error %v", err)
		}
	})
}
