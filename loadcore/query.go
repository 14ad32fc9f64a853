package loadcore

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// queryOptions are the query options of RabbitMQ's URI specification that a client can honour. Whatever is not here is
// refused by name: an option that is ignored has misled its user.
var queryOptions = map[string]struct {
	tls bool
	set func(e *Endpoint, value string) error
}{
	"heartbeat":              {set: (*Endpoint).setHeartbeat},
	"connection_timeout":     {set: (*Endpoint).setConnectTimeout},
	"channel_max":            {set: (*Endpoint).setChannelMax},
	"frame_max":              {set: (*Endpoint).setFrameMax},
	"auth_mechanism":         {set: (*Endpoint).setMechanism},
	"cacertfile":             {tls: true, set: func(e *Endpoint, v string) error { e.TLSOptions.CACert = v; return nil }},
	"certfile":               {tls: true, set: func(e *Endpoint, v string) error { e.TLSOptions.Cert = v; return nil }},
	"keyfile":                {tls: true, set: func(e *Endpoint, v string) error { e.TLSOptions.Key = v; return nil }},
	"server_name_indication": {tls: true, set: func(e *Endpoint, v string) error { e.TLSOptions.ServerName = v; return nil }},
	"verify":                 {tls: true, set: (*Endpoint).setVerify},
}

func (e *Endpoint) parseQuery(query string) error {
	if query == "" {
		return nil
	}
	seen := map[string]bool{}
	for _, pair := range strings.Split(query, "&") {
		name, raw, _ := strings.Cut(pair, "=")
		option, known := queryOptions[name]
		switch {
		case !known:
			return fmt.Errorf("query option %q is not supported; supported are %s", name, knownQueryOptions())
		case seen[name]:
			return fmt.Errorf("query option %s is given twice", name)
		case option.tls && e.TLS == nil:
			return fmt.Errorf("query option %s needs TLS: write the URI with amqps://", name)
		}
		seen[name] = true
		value, err := percentDecode(raw)
		if err != nil {
			return fmt.Errorf("query option %s: %w", name, err)
		}
		if value == "" {
			return fmt.Errorf("query option %s has no value", name)
		}
		if err := option.set(e, value); err != nil {
			return fmt.Errorf("query option %s=%s: %w", name, value, err)
		}
	}
	return nil
}

func knownQueryOptions() string {
	names := make([]string, 0, len(queryOptions))
	for name := range queryOptions {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// setHeartbeat: seconds, 0 for none.
func (e *Endpoint) setHeartbeat(value string) error {
	n, err := queryNumber(value, 65535)
	if err != nil {
		return err
	}
	d := time.Duration(n) * time.Second
	e.Heartbeat = &d
	return nil
}

// setConnectTimeout: milliseconds, as RabbitMQ's own clients read it.
func (e *Endpoint) setConnectTimeout(value string) error {
	n, err := queryNumber(value, 1<<31-1)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("want at least 1 (milliseconds)")
	}
	d := time.Duration(n) * time.Millisecond
	e.ConnectTimeout = &d
	return nil
}

func (e *Endpoint) setChannelMax(value string) error {
	n, err := queryNumber(value, 65535)
	if err != nil {
		return err
	}
	limit := uint16(n)
	e.ChannelMax = &limit
	return nil
}

func (e *Endpoint) setFrameMax(value string) error {
	n, err := queryNumber(value, 1<<32-1)
	if err != nil {
		return err
	}
	limit := uint32(n)
	if err := checkFrameMax(limit); err != nil {
		return err
	}
	e.FrameMax = &limit
	return nil
}

func (e *Endpoint) setMechanism(value string) error {
	switch strings.ToLower(value) {
	case "plain":
		e.External = false
	case "external":
		e.External = true
	default:
		return fmt.Errorf("want plain or external")
	}
	return nil
}

func (e *Endpoint) setVerify(value string) error {
	switch value {
	case "verify_peer":
		e.TLSOptions.Insecure = false
	case "verify_none":
		e.TLSOptions.Insecure = true
	default:
		return fmt.Errorf("want verify_peer or verify_none")
	}
	return nil
}

func queryNumber(value string, limit uint64) (uint64, error) {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n > limit {
		return 0, fmt.Errorf("want a whole number from 0 to %d", limit)
	}
	return n, nil
}
