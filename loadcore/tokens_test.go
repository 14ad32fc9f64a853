package loadcore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/capture/manifest"
	"leveret/loadcore/wire"
)

// numbered gives tokens that say which they are.
func numbered(life time.Duration) *Tokens {
	n := 0
	return NewTokens(func(context.Context) (Token, error) {
		n++
		t := Token{Secret: fmt.Sprintf("token %d", n)}
		if life != 0 {
			t.Expires = time.Now().Add(life)
		}
		return t, nil
	})
}

func withTokens(t *testing.T, ep Endpoint, tokens *Tokens) Endpoint {
	t.Helper()
	if err := tokens.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	ep.User = ""
	ep.SetTokens(tokens)
	return ep
}

// Every connection logs in with the first token, and gets the second while it is open, whatever drives it.
func TestTokensAreRenewedOnOpenConnections(t *testing.T) {
	for _, drive := range []Drive{DriveDedicated, DriveShared} {
		t.Run(string(drive), func(t *testing.T) {
			noLeaks(t)
			var mu sync.Mutex
			var logins, updates []string
			s := &stub{onMessage: func(c *stubConn, m stubMessage) { c.send(wire.AppendAck(nil, m.channel, m.tag, false)) }}
			s.onMethod = func(c *stubConn, channel uint16, m wire.Method) bool {
				mu.Lock()
				defer mu.Unlock()
				switch m := m.(type) {
				case *wire.ConnectionStartOk:
					logins = append(logins, m.Response)
				case *wire.ConnectionUpdateSecret:
					updates = append(updates, fmt.Sprint(channel, " ", m.NewSecret))
					c.method(0, &wire.ConnectionUpdateSecretOk{})
				}
				return false
			}
			tokens := numbered(0)
			plan := oneQueue(withTokens(t, startStub(t, s), tokens), "q", nil, nil)
			for i := range 3 {
				p := confirmed(12, 0)
				p.Connection, p.Rate = i, manifest.Rate{Messages: 50, PerNS: 1e9}
				plan.Producers = append(plan.Producers, p)
			}
			plan.Connections, plan.Drive, plan.Time = 3, drive, time.Minute
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			plan.Started = func() {
				go func() {
					defer cancel()
					tokens.Renew(ctx)
					for answered := 0; answered < 3 && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
						mu.Lock()
						answered = len(updates)
						mu.Unlock()
					}
				}()
			}
			out, err := Run(ctx, plan, &memory{})
			if err != nil || len(out.Failures) > 0 || out.Confirmed != out.Sent {
				t.Errorf("%+v, %v", out, err)
			}
			if got, want := fmt.Sprintf("%q", logins), fmt.Sprintf("%q", []string{"\x00\x00token 1", "\x00\x00token 1", "\x00\x00token 1"}); got != want {
				t.Errorf("logins %s, want %s", got, want)
			}
			if got := fmt.Sprint(updates); got != "[0 token 2 0 token 2 0 token 2]" {
				t.Errorf("updates %s", got)
			}
			if len(tokens.holders) > 0 {
				t.Errorf("%d connections hold a secret after the run", len(tokens.holders))
			}
		})
	}
}

// What a broker can do wrong with a new secret ends its connection, with the reason.
func TestTokenThatIsNotTaken(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(c *stubConn)
		want   []string
	}{
		{"refused", func(c *stubConn) {
			c.method(0, &wire.ConnectionClose{ReplyCode: wire.ReplyNotAllowed, ReplyText: "NOT_ALLOWED - New secret was refused by one of the backends"})
		}, []string{"New secret was refused", "audience and scopes"}},
		{"not answered", func(c *stubConn) {}, []string{"did not answer connection.update-secret within 200ms"}},
		{"answered twice", func(c *stubConn) {
			c.method(0, &wire.ConnectionUpdateSecretOk{})
			c.method(0, &wire.ConnectionUpdateSecretOk{})
		}, []string{"connection.update-secret-ok unasked"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			noLeaks(t)
			s := &stub{onMethod: func(conn *stubConn, _ uint16, m wire.Method) bool {
				if _, ok := m.(*wire.ConnectionUpdateSecret); ok {
					c.answer(conn)
					return true
				}
				return false
			}}
			tokens := numbered(0)
			plan := oneQueue(withTokens(t, startStub(t, s), tokens), "q", []manifest.Producer{{Size: 12, Rate: manifest.Rate{Messages: 10, PerNS: 1e9}}}, nil)
			plan.Time, plan.secretTimeout = 30*time.Second, 200*time.Millisecond
			plan.Started = func() { go tokens.Renew(context.Background()) }
			out, _ := runPlan(t, plan)
			if len(out.Failures) != 1 {
				t.Fatalf("%+v", *out)
			}
			for _, want := range c.want {
				if !strings.Contains(out.Failures[0].Text, want) {
					t.Errorf("failure %q does not say %q", out.Failures[0].Text, want)
				}
			}
			if strings.Contains(out.Failures[0].Text, "token 2") {
				t.Errorf("failure %q shows the token", out.Failures[0].Text)
			}
		})
	}
}

// A token that changes between a login and its entry into the list is sent at once.
func TestTokenThatChangedDuringTheLogin(t *testing.T) {
	tokens := numbered(0)
	tokens.Renew(t.Context())
	tokens.Renew(t.Context())
	var got []string
	release := tokens.hold("token 1", func(secret string) { got = append(got, secret) })
	tokens.Renew(t.Context())
	release()
	tokens.Renew(t.Context())
	if fmt.Sprint(got) != "[token 2 token 3]" {
		t.Errorf("got %q", got)
	}
}

// Keep renews in time, goes on after errors, reports them and their end, and stops.
func TestKeep(t *testing.T) {
	noLeaks(t)
	calls := 0
	tokens := NewTokens(func(context.Context) (Token, error) {
		if calls++; calls == 2 {
			return Token{}, errors.New("the endpoint is down")
		}
		return Token{Secret: "x", Expires: time.Now().Add(1500 * time.Millisecond)}, nil
	})
	tokens.retry = 10 * time.Millisecond
	if err := tokens.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var reports []error
	tokens.Keep(ctx, func(err error) {
		reports = append(reports, err)
		if err == nil {
			cancel()
		}
	})
	if len(reports) != 2 || reports[0] == nil || reports[0].Error() != "the endpoint is down" || tokens.Renewed() != 2 {
		t.Errorf("reports %v, %d tokens", reports, tokens.Renewed())
	}
	never := numbered(0)
	never.Renew(t.Context())
	never.Keep(t.Context(), func(error) {}) // nothing to keep
	if never.Renewed() != 1 {
		t.Errorf("%d tokens", never.Renewed())
	}
}

func TestTokensDoNotShow(t *testing.T) {
	ep := withTokens(t, Endpoint{Host: "h", Port: 1}, numbered(0))
	text := fmt.Sprintf("%v %+v %#v %s", ep, ep, ep, ep) + fmt.Sprintf("%v %+v %#v %s", Token{Secret: "token 1"}, Token{Secret: "token 1"}, Token{Secret: "token 1"}, Token{Secret: "token 1"}) +
		fmt.Sprintf("%+v %#v", ep.tokens, ep.tokens)
	if strings.Contains(text, "token 1") {
		t.Errorf("shown: %s", text)
	}
	if ep.Password() != "token 1" {
		t.Errorf("password %q", ep.Password())
	}
}
