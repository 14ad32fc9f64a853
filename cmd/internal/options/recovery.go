package options

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"leveret/loadcore"
)

// Recovery is what is done about connections that are lost.
type Recovery struct {
	OnDisconnect   string // reconnect, stop, fail
	ReconnectDelay loadcore.Backoff
	ReconnectTime  time.Duration
	Republish      bool

	DisableConnectionRecovery  bool
	ConnectionRecoveryInterval string // N or MIN-MAX seconds
}

// perfTestDelay is what PerfTest's client waits before each attempt.
var perfTestDelay = loadcore.Backoff{Min: 5 * time.Second, Max: 5 * time.Second, Even: true}

func (r *Recovery) options(d dialect) []*Option {
	delay := loadcore.DefaultReconnectDelay
	if d.perfTest {
		delay = perfTestDelay
	}
	return []*Option{
		{Name: "on-disconnect", Arg: "WHAT", Group: groupBroker, value: choice(&r.OnDisconnect, "reconnect", "reconnect", "stop", "fail"), Help: "what becomes of a connection that is lost, a channel that the broker closes, a consumer that it cancels: reconnect opens it again, with all that it carried; stop ends what it carried, and the rest of the run goes on; fail ends the run"},
		{Name: "reconnect-delay", Arg: "MIN-MAX", Group: groupBroker, value: backoff(&r.ReconnectDelay, delay), Help: "wait before an attempt to reconnect, at random: up to MIN at first, then up to twice as long each time, up to MAX (100ms-5s); a single time: always that"},
		{Name: "reconnect-time", Arg: "SECONDS", Group: groupBroker, value: seconds(&r.ReconnectTime, loadcore.DefaultReconnectTime, time.Millisecond), Help: "how long after the loss to try; then it ends what it carried"},
		{Name: "republish", Group: groupBroker, value: toggle(&r.Republish, false), Help: "after a reconnect, send again what the loss has left in doubt (sent, and neither confirmed nor refused), under the same identity; consumers may get it twice"},
		{Name: "disable-connection-recovery", PerfTest: []string{"dcr"}, Group: groupBroker, value: toggle(&r.DisableConnectionRecovery, false), Help: "the same as --on-disconnect stop"},
		{Name: "connection-recovery-interval", PerfTest: []string{"cri"}, Arg: "N|MIN-MAX", Group: groupBroker, value: recoveryInterval(&r.ConnectionRecoveryInterval), Help: "seconds to wait before each attempt to reconnect, instead of --reconnect-delay; MIN-MAX: a random number of them"},
	}
}

// Check refuses what contradicts itself, and takes the options over that say the same in PerfTest's words.
func (r *Recovery) Check(given func(string) bool) error {
	if r.DisableConnectionRecovery {
		if given("on-disconnect") && r.OnDisconnect != "stop" {
			return fmt.Errorf("--disable-connection-recovery and --on-disconnect=%s contradict each other: give one of them", r.OnDisconnect)
		}
		r.OnDisconnect = "stop"
	}
	if r.Republish && r.OnDisconnect != "reconnect" {
		return fmt.Errorf("--republish: it sends again what is in doubt after a reconnect, and with --on-disconnect %s there is none; give --on-disconnect reconnect, or leave it out", r.OnDisconnect)
	}
	if r.ConnectionRecoveryInterval == "" {
		return nil
	}
	if given("reconnect-delay") {
		return errors.New("--connection-recovery-interval and --reconnect-delay say the same: give one of them")
	}
	low, high, span := strings.Cut(r.ConnectionRecoveryInterval, "-")
	if !span {
		high = low
	}
	from, _ := strconv.Atoi(low) // recoveryInterval has read them
	to, _ := strconv.Atoi(high)
	r.ReconnectDelay = loadcore.Backoff{Min: time.Duration(from) * time.Second, Max: time.Duration(to) * time.Second, Even: true}
	return nil
}

// Plan gives the recovery to a plan.
func (r *Recovery) Plan(p *loadcore.Plan) {
	if r.OnDisconnect != "stop" {
		p.OnDisconnect = loadcore.OnDisconnect(r.OnDisconnect)
	}
	p.ReconnectDelay, p.ReconnectTime, p.Republish = r.ReconnectDelay, r.ReconnectTime, r.Republish
}

// mostDelay bounds a wait between two attempts.
const mostDelay = time.Hour

// backoff reads TIME or MIN-MAX.
func backoff(p *loadcore.Backoff, initial loadcore.Backoff) value {
	*p = initial
	return value{func() string {
		if p.Min == p.Max {
			return p.Min.String()
		}
		return p.Min.String() + "-" + p.Max.String()
	}, func(s string) error {
		low, high, span := strings.Cut(s, "-")
		least, err := parseSeconds(low)
		most := least
		if span && err == nil {
			most, err = parseSeconds(high)
		}
		if err != nil || most < least || most > mostDelay || most <= 0 {
			return fmt.Errorf("must be a time such as 500ms, or the shortest and the longest such as 100ms-5s, at most %v", mostDelay)
		}
		*p = loadcore.Backoff{Min: least, Max: most, Even: !span}
		return nil
	}, "duration"}
}
