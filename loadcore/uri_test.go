package loadcore

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// C044: vhosts; C043: passwords; C079: IPv6; C106: the default port of amqps.
func TestParseURI(t *testing.T) {
	secret := fmt.Sprintf("s%d", time.Now().UnixNano()) // built at run time: no password stands in the sources
	for _, c := range []struct {
		uri                   string
		host                  string
		port                  int
		user, password, vhost string
		tls                   bool
	}{
		{"amqp://", "localhost", 5672, "guest", "guest", "/", false},
		{"amqp://localhost", "localhost", 5672, "guest", "guest", "/", false},
		{"amqp://localhost/", "localhost", 5672, "guest", "guest", "/", false}, // a bare slash: the documented choice
		{"amqp://localhost/%2F", "localhost", 5672, "guest", "guest", "/", false},
		{"amqp://localhost/%2f", "localhost", 5672, "guest", "guest", "/", false},
		{"amqp://localhost/%2F%2F", "localhost", 5672, "guest", "guest", "//", false},
		{"amqp://localhost/staging", "localhost", 5672, "guest", "guest", "staging", false},
		{"amqp://u:" + secret + "@broker.example:1234/v", "broker.example", 1234, "u", secret, "v", false},
		{"AMQPS://u:" + secret + "@broker.example", "broker.example", 5671, "u", secret, "/", true},
		{"amqp://u:a+b@h/", "h", 5672, "u", "a+b", "/", false},
		{"amqp://u:p%40ss@h/", "h", 5672, "u", "p@ss", "/", false},
		{"amqp://u:%2Fa%3Fb%23@h/", "h", 5672, "u", "/a?b#", "/", false},
		{"amqp://u:a^b(c,d@h/", "h", 5672, "u", "a^b(c,d", "/", false},
		{"amqp://u:a:b@h/", "h", 5672, "u", "a:b", "/", false},
		{"amqp://u@h", "h", 5672, "u", "guest", "/", false},
		{"amqp://u:@h", "h", 5672, "u", "", "/", false},
		{"amqp://[::1]:5672/", "::1", 5672, "guest", "guest", "/", false},
		{"amqp://[::1]", "::1", 5672, "guest", "guest", "/", false},
		{"amqp://[fe80::1%25eth0]/", "fe80::1%eth0", 5672, "guest", "guest", "/", false},
		{"amqps://[::1]", "::1", 5671, "guest", "guest", "/", true},
		{"amqp://u:p@h/a%40b", "h", 5672, "u", "p", "a@b", false},
	} {
		e, err := ParseURI(c.uri)
		if err != nil {
			t.Errorf("%s: %v", c.uri, err)
			continue
		}
		if e.Host != c.host || e.Port != c.port || e.User != c.user || e.Password() != c.password || e.VHost != c.vhost || (e.TLS != nil) != c.tls {
			t.Errorf("%s: got host %s port %d user %s password %s vhost %s TLS %v", c.uri, e.Host, e.Port, e.User, e.Password(), e.VHost, e.TLS != nil)
		}
	}
}

// C043, C079, C106: what is refused says what it is, and never shows the password.
func TestParseURIRefuses(t *testing.T) {
	for _, c := range []struct{ uri, want string }{
		{"localhost", "amqp://"},
		{"http://localhost", "amqp://"},
		{"amqp://guest:SECRET#123@localhost:5672/", "percent-encode the password (# is %23)"},
		{"amqp://u:SECRET#x@h/", "percent-encode the password"},
		{"amqp://u:SECRET%ss@h/", "percent-encode it (% is %25)"},
		{"amqp://u:SECRET%@h/", "percent-encode it (% is %25)"},
		{"amqp://u:SECRET%4@h/", "percent-encode it (% is %25)"},
		{"amqp://u:SECRET/x@h/", "percent-encode the password"},
		{"amqp://u:SECRET?x@h/", "percent-encode the password"},
		{"amqp://u:SECRET@x@h/", "more than one '@'"},
		{"amqp://u:SECRET x@h/", "percent-encode"},
		{"amqp://u:SECRET\n@h/", "percent-encode"},
		{"amqp://u:SECRET", "not a port"},
		{"amqp://u:SECRET/", "not a port"},
		{"amqp://::1:5672/", "brackets"},
		{"amqp://::1", "brackets"},
		{"amqp://[::1", "no ']'"},
		{"amqp://[::1]x", "only :port"},
		{"amqp://[127.0.0.1]", "not an IPv6 address"},
		{"amqp://[SECRET]", "not an IPv6 address"},
		{"amqp://h:0", "not a port"},
		{"amqp://h:", "not a port"},
		{"amqp://h:65536", "not a port"},
		{"amqp://h:+5672", "not a port"},
		{"amqp://h^x/", "character that no host name has"},
		{"amqp://h//", "raw '/'"},
		{"amqp://h/a/b", "raw '/'"},
		{"amqp://h/%zz", "the vhost"},
		{"amqp://h/" + strings.Repeat("v", 256), "at most 255"},
		{"amqp://h?lazy=1", `"lazy" is not supported`},
		{"amqp://h?heartbeat=1&heartbeat=2", "heartbeat is given twice"},
		{"amqp://h?heartbeat", "heartbeat has no value"},
		{"amqp://h?heartbeat=x", "heartbeat=x"},
		{"amqp://h?channel_max=65536", "channel_max=65536"},
		{"amqp://h?frame_max=4095", "frame_max=4095"},
		{"amqp://h?connection_timeout=0", "connection_timeout=0"},
		{"amqp://h?auth_mechanism=amqplain", "want plain or external"},
		{"amqp://h?cacertfile=/x.pem", "cacertfile needs TLS"},
		{"amqps://h?cacertfile=/does/not/exist.pem", "/does/not/exist.pem"},
		{"amqps://h?verify=maybe", "want verify_peer or verify_none"},
		{"amqps://h?certfile=/x.pem", "--key"},
		{"amqps://h?fail_if_no_peer_cert=true", "fail_if_no_peer_cert"},
	} {
		_, err := ParseURI(c.uri)
		if err == nil {
			t.Errorf("%s: accepted", c.uri)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %q does not say %q", c.uri, err, c.want)
		}
		if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the error shows the password: %v", c.uri, err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is not one line: %q", c.uri, err)
		}
	}
}

// C106: query options are honoured.
func TestURIQueryOptions(t *testing.T) {
	e := mustParse(t, "amqps://host?heartbeat=10&channel_max=5&frame_max=8192&connection_timeout=1500&auth_mechanism=external&verify=verify_none&server_name_indication=other.example")
	if *e.Heartbeat != 10*time.Second || *e.ChannelMax != 5 || *e.FrameMax != 8192 || *e.ConnectTimeout != 1500*time.Millisecond {
		t.Errorf("limits %v %v %v %v", *e.Heartbeat, *e.ChannelMax, *e.FrameMax, *e.ConnectTimeout)
	}
	if !e.External || !e.TLS.InsecureSkipVerify || e.TLS.ServerName != "other.example" {
		t.Errorf("external %v, insecure %v, name %s", e.External, e.TLS.InsecureSkipVerify, e.TLS.ServerName)
	}
	o := ConnectOptions{}.withDefaults(&e)
	if o.Timeout != 1500*time.Millisecond || o.ChannelMax != 5 || o.FrameMax != 8192 || o.heartbeatSeconds() != 10 {
		t.Errorf("connect options %+v", o)
	}
	if o = (ConnectOptions{FrameMax: 4096, Heartbeat: -1}).withDefaults(&e); o.FrameMax != 4096 || o.heartbeatSeconds() != 0 {
		t.Errorf("an option of the plan does not win over the URI's: %+v", o)
	}
}

// Whatever prints an endpoint, alone or inside something else, does not print the password (C015).
func TestEndpointNeverShowsItsPassword(t *testing.T) {
	secret := fmt.Sprintf("s%d", time.Now().UnixNano())
	e := mustParse(t, "amqp://user:"+secret+"@broker.example:5673/my%2Fvhost")
	asJSON, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	plan := &Plan{Endpoint: e}
	hidden := struct{ inner Endpoint }{e}
	for _, s := range []string{
		e.String(), fmt.Sprint(e), fmt.Sprintf("%+v", e), fmt.Sprintf("%#v", e), fmt.Sprintf("%q", e),
		fmt.Sprintf("%+v", *plan), fmt.Sprintf("%#v", *plan), fmt.Sprintf("%+v", hidden), fmt.Sprintf("%#v", hidden), string(asJSON),
		fmt.Sprintf("%+v", &e), fmt.Sprintf("%+v", ConnectError{Endpoint: e.String(), Stage: StageLogin}),
	} {
		if strings.Contains(s, secret) {
			t.Errorf("the password shows in %s", s)
		}
	}
	if got, want := e.String(), "amqp://user@broker.example:5673/my%2Fvhost"; got != want {
		t.Errorf("String %s, want %s", got, want)
	}
	v6 := mustParse(t, "amqps://[fe80::1%25eth0]")
	if got, want := v6.String(), "amqps://guest@[fe80::1%25eth0]:5671/%2F"; got != want {
		t.Errorf("String %s, want %s", got, want)
	}
	if again := mustParse(t, v6.String()); again.Host != v6.Host || again.VHost != "/" {
		t.Errorf("%s does not parse to itself: %+v", v6, again)
	}
}

func FuzzParseURI(f *testing.F) {
	for _, s := range []string{"amqp://u:p@h:1/v?heartbeat=1", "amqps://[::1%25eth0]", "amqp://u:a%40@h/%2F", "amqp://u:p#@h", "Amqp://0%40@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if strings.Contains(uri, "file") {
			return // would read files
		}
		e, err := ParseURI(uri)
		if err != nil {
			return
		}
		again, err := ParseURI(e.String())
		if err != nil {
			t.Fatalf("%q became %q, which is refused: %v", uri, e, err)
		}
		if again.Host != e.Host || again.Port != e.Port || again.VHost != e.VHost || (again.TLS == nil) != (e.TLS == nil) || e.User != "" && again.User != e.User {
			t.Fatalf("%q became %q, which is another endpoint", uri, e)
		}
	})
}
