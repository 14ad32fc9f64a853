package loadcore

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"leveret/capture/event"
	"leveret/loadcore/wire"
)

// Token is a password that expires. It does not show through fmt.
type Token struct {
	Secret  string
	Expires time.Time // the zero Time: never, as far as is known
}

// Format keeps the secret out of every output.
func (Token) Format(f fmt.State, _ rune) { io.WriteString(f, "token(hidden)") }

// Tokens are the passwords of endpoints that log in with one that expires (Endpoint.SetTokens): the current one, and its renewal
// on the connections that are open, by connection.update-secret.
type Tokens struct {
	fetch func(context.Context) (Token, error)
	retry time.Duration // how long is waited after a fetch that failed

	mu      sync.Mutex // guards the following
	current Token
	renewed int
	holders map[*holder]struct{}
}

// holder is a connection that is open: update gives it a new secret, and does not wait for anything.
type holder struct{ update func(secret string) }

// NewTokens returns tokens that fetch gets: one call at a time, each bounded by its context. Its errors must not hold secrets.
func NewTokens(fetch func(context.Context) (Token, error)) *Tokens {
	return &Tokens{fetch: fetch, retry: 5 * time.Second, holders: map[*holder]struct{}{}}
}

// tokenTimeout is how long one fetch may take.
const tokenTimeout = 10 * time.Second

// Renew gets a token and gives it to all connections that are open.
func (t *Tokens) Renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	token, err := t.fetch(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.current = token
	t.renewed++
	open := make([]*holder, 0, len(t.holders))
	for h := range t.holders {
		open = append(open, h)
	}
	t.mu.Unlock()
	for _, h := range open {
		h.update(token.Secret)
	}
	return nil
}

// Keep renews each token when four fifths of its time are over, as RabbitMQ's Java client does, until ctx ends. Where that
// fails it tries again every few seconds; report gets each error, and nil when it works again. The first token is got by Renew.
func (t *Tokens) Keep(ctx context.Context, report func(error)) {
	failing := false
	for {
		wait := t.retry
		if !failing {
			left, expires := t.left()
			if !expires {
				return
			}
			wait = max(left*4/5, time.Second)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		err := t.Renew(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil || failing {
			report(err)
		}
		failing = err != nil
	}
}

// left is the time that the current token still has; false: it does not expire.
func (t *Tokens) left() (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Until(t.current.Expires), !t.current.Expires.IsZero()
}

// Expires is when the current token does, the zero Time where that is not known; Renewed how many have been got so far.
func (t *Tokens) Expires() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.Expires
}

func (t *Tokens) Renewed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.renewed
}

func (t *Tokens) secret() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current.Secret
}

// hold has update called with every new secret from now on, and at once if the current one is another than used, until
// release.
func (t *Tokens) hold(used string, update func(secret string)) (release func()) {
	h := &holder{update: update}
	t.mu.Lock()
	t.holders[h] = struct{}{}
	now := t.current.Secret
	t.mu.Unlock()
	if now != used {
		update(now)
	}
	return func() {
		t.mu.Lock()
		delete(t.holders, h)
		t.mu.Unlock()
	}
}

// Format keeps the secret out of every output.
func (t *Tokens) Format(f fmt.State, _ rune) { io.WriteString(f, "tokens(hidden)") }

// SetTokens has the endpoint log in with tokens in place of a password.
func (e *Endpoint) SetTokens(t *Tokens) { e.tokens = t }

// HoldSecret has update called with every new password until release is called, for a connection that logged in with used. An
// endpoint whose password does not change never calls it. update must not wait for anything.
func (e *Endpoint) HoldSecret(used string, update func(secret string)) (release func()) {
	if e.tokens == nil {
		return func() {}
	}
	return e.tokens.hold(used, update)
}

// SecretReason is what connection.update-secret gives as its reason; brokers log it.
const SecretReason = "the token was renewed"

// defaultSecretTimeout bounds the wait for connection.update-secret-ok. A connection that the broker has blocked is not held to
// it: it does not read from those.
const defaultSecretTimeout = 30 * time.Second

// renewal is what is unanswered of a connection's new secrets.
type renewal struct {
	mu         sync.Mutex // guards the following
	unanswered int
	since      int64 // of the record's clock: the oldest of them, or the last answer
	ended      bool  // the connection has
	release    func()
}

// begin has the connection follow the secret that it logged in with.
func (r *renewal) begin(ep *Endpoint, used string, update func(secret string)) {
	release := ep.HoldSecret(used, update)
	r.mu.Lock()
	ended := r.ended
	r.release = release
	r.mu.Unlock()
	if ended {
		release()
	}
}

func (r *renewal) end() {
	r.mu.Lock()
	r.ended = true
	release := r.release
	r.mu.Unlock()
	if release != nil {
		release()
	}
}

// updateSecret sends the broker a new secret; the answer is awaited by the monitor.
func (c *conn) updateSecret(secret string) {
	m := &wire.ConnectionUpdateSecret{NewSecret: secret, Reason: SecretReason}
	if err := wire.CheckMethod(m, c.link.limits.FrameMax); err != nil {
		c.fail(loss{text: fmt.Sprintf("the new token of %d bytes does not fit a frame of %d (--framemax)", len(secret), c.link.limits.FrameMax)})
		return
	}
	if state := c.current(); state != event.Open && state != event.Blocked {
		return
	}
	c.renewal.mu.Lock()
	if c.renewal.unanswered == 0 {
		c.renewal.since = c.eng.clock.Now()
	}
	c.renewal.unanswered++
	c.renewal.mu.Unlock()
	c.out.send(wire.AppendMethod(nil, 0, m))
}

func (c *conn) secretUpdated() error {
	c.renewal.mu.Lock()
	defer c.renewal.mu.Unlock()
	if c.renewal.unanswered == 0 {
		return fmt.Errorf("the broker sent connection.update-secret-ok unasked")
	}
	c.renewal.unanswered--
	c.renewal.since = c.eng.clock.Now()
	return nil
}

// secretOverdue reports whether an answer should have come by now.
func (c *conn) secretOverdue(now int64) bool {
	c.renewal.mu.Lock()
	defer c.renewal.mu.Unlock()
	return c.renewal.unanswered > 0 && now-c.renewal.since > int64(c.eng.plan.secretTimeout) && c.current() != event.Blocked
}
