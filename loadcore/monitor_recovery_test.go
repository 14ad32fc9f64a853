package loadcore

import (
	"testing"

	"leveret/capture/manifest"
)

// A connection is away for longer than the confirm timeout and comes back: the wait for confirms counts from then, with a window that
// was empty, and with a transaction whose number of commits has not changed either.
func TestConfirmTimeoutCountsFromTheRecovery(t *testing.T) {
	const s = int64(1e9)
	for _, c := range []struct {
		what  string
		spec  manifest.Producer
		loses func(p *producer)
		waits func(p *producer)
	}{
		{"confirms", manifest.Producer{Size: 12, Confirm: 10}, func(p *producer) { p.win.abandon() }, func(p *producer) { p.win.publish(1) }},
		{"transactions", manifest.Producer{Size: 12, TxSize: 1}, func(p *producer) { p.tx.abandon() }, func(p *producer) {
			p.tx.sent(0, 1)
			p.tx.committing.Store(true)
		}},
	} {
		e, _, _ := barePlan(t, oneQueue(Endpoint{Host: "localhost"}, "q", []manifest.Producer{c.spec}, nil))
		p, w := e.producers[0], &answerWatch{}
		look := func(at int64) bool {
			e.lookAtConfirms(p, w, at)
			return p.ended.Load()
		}
		look(1 * s)
		if c.what == "transactions" { // its commit is under way when the connection is lost
			c.waits(p)
			look(2 * s)
		}
		p.suspend()
		c.loses(p)
		look(40 * s)
		p.resume()
		c.waits(p)
		if look(41*s) || look(69*s) {
			t.Errorf("%s: ended within the timeout of 30 s after the recovery at 40 s", c.what)
		}
		if !look(72 * s) {
			t.Errorf("%s: not ended 31 s after the recovery", c.what)
		}
	}
}
