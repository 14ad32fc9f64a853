package loadcore

import (
	"context"
	"net/netip"
	"time"

	"leveret/capture/event"
	"leveret/capture/manifest"
)

// Defaults of a Plan's fields that are left 0.
const (
	DefaultConnectTimeout = 10 * time.Second
	DefaultDrainTimeout   = 30 * time.Second
	DefaultCloseTimeout   = 5 * time.Second
	DefaultConfirmTimeout = 30 * time.Second
	DefaultWriteTimeout   = time.Minute
	DefaultBlockedTimeout = time.Hour
	DefaultFrameMax       = 131072
	DefaultChannelMax     = 2047
	DefaultHeartbeat      = 60 * time.Second
)

// Plan is what one run opens, sends and receives. Run does not change it.
type Plan struct {
	// Endpoint is the broker, or one of them, which names the limits of all.
	Endpoint Endpoint
	// Endpoints, where there are several, are all of them; Allocation says which connection goes to which, and AllocationSeed
	// determines a random one. The connection's Open event names its endpoint.
	Endpoints      []Endpoint
	Allocation     Allocation
	AllocationSeed uint64
	// Clock times everything that is recorded.
	Clock *event.Clock
	// Tag is the run tag, at most event.MaxTag, that every message carries.
	Tag uint16
	// ID names the run; connections are named after it at the broker, unless Naming says otherwise.
	ID     string
	Naming Naming

	// Topology is declared before Run and not changed by it.
	Topology *manifest.Topology
	// Producers and Consumers are the lanes; their Connection is below Connections.
	Producers   []manifest.Producer
	Consumers   []manifest.Consumer
	Connections int
	// Bodies are what producers with PooledBodies send. They are read until Run returns, and never written to.
	Bodies [][]byte

	// Time ends publishing this long after the barrier; 0: no limit.
	Time time.Duration

	// ConnectTimeout bounds the opening of one connection at one endpoint, from name lookup to the last channel made ready, with a
	// second more for each twenty channels, and later each answer to what is asked on an open one, or, after a loss, all that is asked
	// to make a channel ready again, with 50 ms more for each object that is declared or bound for it.
	ConnectTimeout time.Duration
	// ConfirmTimeout ends a producer whose oldest message has waited this long for its confirm, and a consumer whose commit or
	// basic.get has for its answer; negative: never.
	ConfirmTimeout time.Duration
	// WriteTimeout ends a connection whose socket has taken nothing of one write call for this long. A broker that holds a
	// connection back by TCP alone does so for moments. BlockedTimeout takes its place while the broker has the connection
	// blocked, which it may have until somebody has freed its disk; it ends also a connection that is blocked for so long, and
	// a producer that channel.flow has stopped.
	WriteTimeout   time.Duration
	BlockedTimeout time.Duration
	// DrainTimeout bounds everything between the stop of publishing and the cancelling of the consumers; negative: no time.
	DrainTimeout time.Duration
	// CloseTimeout bounds everything from there to the end: cancelling, closing channels and connections; for each hundred of its
	// channels and connections a run has half a second more. Negative: connections are closed without asking.
	CloseTimeout time.Duration
	// EndTimeout, where set, bounds draining and closing together: what draining has left of it is for closing, where that is
	// more than CloseTimeout.
	EndTimeout time.Duration

	// OnDisconnect is what is done about connections that are lost. With DisconnectReconnect an attempt to open one again waits
	// for ReconnectDelay first (zero: DefaultReconnectDelay), where thousands are lost at the same time at random up to half a millisecond
	// for each of them, and ReconnectTime after the loss there are no more of them (0:
	// DefaultReconnectTime). Republish then sends again what was left in doubt, under the same identity.
	OnDisconnect   OnDisconnect
	ReconnectDelay Backoff
	ReconnectTime  time.Duration
	Republish      bool

	// FrameMax (bytes), ChannelMax and Heartbeat are asked for; what the broker and the endpoint's own query options
	// allow is the limit. A negative Heartbeat asks for none.
	FrameMax   uint32
	ChannelMax uint16
	Heartbeat  time.Duration

	// Drive is how the connections are kept going; Pin fixes their goroutines to threads or processors.
	Drive Drive
	Pin   Pin
	// ConnectRate is how many connections are begun a second; 0: as many as the broker takes.
	ConnectRate int
	// TCP are the options of the sockets.
	TCP TCPOptions
	// SourceAddresses are the local addresses to connect from, in turn; none: the system's choice.
	SourceAddresses []netip.Addr
	// BrokerInProcess: the broker takes file descriptors of this process, too.
	BrokerInProcess bool

	// Coalesce bounds how long a reader of a dedicated connection may leave unread what has come, to take more of it at once
	// (coalesce.go); 0: not at all. In closed loop only.
	Coalesce time.Duration

	// Ready, where set, is called once, when every lane is ready and before load begins; its error ends the run then.
	Ready func(context.Context) error
	// Started, where set, is called once, when load begins.
	Started func()
	// Progress, where set, can be read while the run goes on.
	Progress *Progress

	channels      uint16 // to ask for on each connection
	consumersFrom int    // the first connection of consumers
	secretTimeout time.Duration
	noPolling     bool // for tests: the shared drive as on systems whose sockets it cannot wait for
}
