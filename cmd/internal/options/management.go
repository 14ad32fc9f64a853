package options

import (
	"time"

	"leveret/loadcore/management"
)

func (r *Run) managementOptions() []*Option {
	return []*Option{
		{Name: "management-uri", Arg: "URI", Group: groupBroker, Env: "LEVERET_MANAGEMENT_URI", Redact: management.Redacted, value: text(&r.ManagementURI, ""), Help: "http:// or https:// URI of the broker's management API (port 15672, with TLS 15671), without user the one of --uri logs in: the broker's side is recorded, too: queues, nodes, connections, policies, bindings; may also stand in the environment variable LEVERET_MANAGEMENT_URI"},
		{Name: "management-interval", Arg: "SECONDS", Group: groupBroker, value: seconds(&r.ManagementInterval, 5*time.Second, 100*time.Millisecond), Help: "how often the management API is asked for figures; the broker brings its own up to date every 5 seconds unless it is configured otherwise"},
	}
}
