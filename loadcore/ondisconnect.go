package loadcore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// OnDisconnect is what becomes of a connection that is lost, a channel that the broker closes and a consumer that it cancels,
// once load has begun.
type OnDisconnect string

const (
	// DisconnectStop: what it carried ends, and the rest of the run goes on.
	DisconnectStop OnDisconnect = ""
	// DisconnectReconnect: it is opened again, with all that it carried, and the run goes on (recovery.go).
	DisconnectReconnect OnDisconnect = "reconnect"
	// DisconnectFail: the run stops publishing at once, drains with what is left, and ends.
	DisconnectFail OnDisconnect = "fail"
)

// DefaultReconnectTime is how long a connection is tried to be opened again.
const DefaultReconnectTime = 5 * time.Minute

// DefaultReconnectDelay is fast enough for a broker that has dropped one connection, and slow enough for one that starts.
var DefaultReconnectDelay = Backoff{Min: 100 * time.Millisecond, Max: 5 * time.Second}

// Backoff is how long is waited before each attempt to open something again.
type Backoff struct {
	Min, Max time.Duration
	// Even: each wait is random between Min and Max. Else the first is up to Min, the second up to twice that, and so on up to
	// Max, each random in the upper half of its bound: so those that were lost together do not come back together.
	Even bool
}

// wait is the wait before attempt n, from 0.
func (b Backoff) wait(n int) time.Duration {
	if b.Even {
		return b.Min + rand.N(b.Max-b.Min+1)
	}
	bound := b.Min
	for ; n > 0 && bound < b.Max; n-- {
		bound *= 2
	}
	bound = min(bound, max(b.Max, b.Min))
	return bound/2 + rand.N(bound/2+1)
}

// streak are losses of one connection, or one lane, that follow each other so soon that none of the recoveries between them counts:
// a broker that takes a connection and drops it with the first message would be asked for ever.
type streak struct {
	since, up time.Time // of the first loss, and of the last recovery; zero: there was none
	attempts  int
}

// begin notes a loss, and returns when to give up.
func (s *streak) begin(p *Plan) (until time.Time) {
	now := time.Now()
	if s.up.IsZero() || now.Sub(s.up) > p.ReconnectDelay.Max {
		s.since, s.attempts = now, 0
	}
	return s.since.Add(p.ReconnectTime)
}

// wait is how long to wait before the next attempt.
func (s *streak) wait(p *Plan) time.Duration {
	s.attempts++
	return p.ReconnectDelay.wait(s.attempts - 1)
}

// recovered notes a recovery.
func (s *streak) recovered() { s.up = time.Now() }

// checkDisconnect refuses what could not be done.
func (p *Plan) checkDisconnect() error {
	var errs []error
	switch p.OnDisconnect {
	case DisconnectStop, DisconnectReconnect, DisconnectFail:
	default:
		errs = append(errs, fmt.Errorf("--on-disconnect=%s: want reconnect, stop or fail", p.OnDisconnect))
	}
	if d := p.ReconnectDelay; d.Min < 0 || d.Max < d.Min {
		errs = append(errs, fmt.Errorf("--reconnect-delay=%v-%v: want a time, or the shortest and the longest", d.Min, d.Max))
	}
	if p.ReconnectTime < 0 {
		errs = append(errs, fmt.Errorf("--reconnect-time=%v: want a time from 0 up", p.ReconnectTime))
	}
	if p.Republish && p.OnDisconnect != DisconnectReconnect {
		errs = append(errs, errors.New("--republish: it sends again what is in doubt after a reconnect, and nothing is reconnected; give --on-disconnect reconnect, or leave it out"))
	}
	return errors.Join(errs...)
}
