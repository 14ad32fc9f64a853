package wire

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestClientProperties(t *testing.T) {
	got := ClientProperties("leveret", "1.2.3", "leveret producers 0")
	want := Table{
		{Key: "product", Value: "leveret"}, {Key: "version", Value: "1.2.3"}, {Key: "platform", Value: "Go"},
		{Key: "capabilities", Value: Table{
			{Key: "publisher_confirms", Value: true}, {Key: "basic.nack", Value: true}, {Key: "consumer_cancel_notify", Value: true},
			{Key: "connection.blocked", Value: true}, {Key: "authentication_failure_close", Value: true},
			{Key: "exchange_exchange_bindings", Value: true}, {Key: "per_consumer_qos", Value: true},
		}},
		{Key: "connection_name", Value: "leveret producers 0"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if err := CheckTable("client-properties", got); err != nil {
		t.Error(err)
	}
	if _, ok := ClientProperties("leveret", "1.2.3", "").Get("connection_name"); ok {
		t.Error("an empty connection name is announced")
	}
}

func TestHasCapability(t *testing.T) {
	for _, c := range []struct {
		properties Table
		want       bool
	}{
		{ClientProperties("a", "b", ""), true},
		{nil, false},
		{Table{{Key: "capabilities", Value: "basic.nack"}}, false},
		{Table{{Key: "capabilities", Value: Table{{Key: "basic.nack", Value: false}}}}, false},
		{Table{{Key: "capabilities", Value: Table{{Key: "basic.nack", Value: "true"}}}}, false},
		{Table{{Key: "capabilities", Value: Table{{Key: "basic.nack", Value: true}}}}, true},
	} {
		if got := HasCapability(c.properties, "basic.nack"); got != c.want {
			t.Errorf("%+v: %v", c.properties, got)
		}
	}
}

// RFC 4616, with an empty authorization identity.
func TestPlainResponse(t *testing.T) {
	secret := strings.Repeat("s", 3)
	if got := PlainResponse("tim", secret); got != "\x00tim\x00sss" {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		response, user, password string
		ok                       bool
	}{
		{"\x00tim\x00sss", "tim", "sss", true},
		{"\x00\x00", "", "", true},
		{"\x00tüm\x00s s", "tüm", "s s", true},
		{"", "", "", false},
		{"tim", "", "", false},
		{"\x00tim", "", "", false},
		{"else\x00tim\x00sss", "", "", false},
		{"\x00tim\x00sss\x00", "", "", false},
	} {
		user, password, err := ParsePlainResponse(c.response)
		if user != c.user || password != c.password || (err == nil) != c.ok {
			t.Errorf("%q: %q, %q, %v", c.response, user, password, err)
		}
		if err != nil && (strings.Contains(err.Error(), "tim") || strings.Contains(err.Error(), "sss")) {
			t.Errorf("the error repeats the response: %v", err)
		}
	}
}

func TestCredentialsAreNotPrinted(t *testing.T) {
	secret := strings.Repeat("s3", 5)
	response := PlainResponse("tim", secret)
	for _, m := range []Method{&ConnectionStartOk{Mechanism: "PLAIN", Response: response}, &ConnectionSecureOk{Response: response}, &ConnectionUpdateSecret{NewSecret: response}} {
		value := reflect.ValueOf(m).Elem().Interface()
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			for _, got := range []string{fmt.Sprintf(verb, m), fmt.Sprintf(verb, value), fmt.Sprintf(verb, []any{m, value})} {
				if strings.Contains(got, "s3s3") || strings.Contains(got, "73337333") || !strings.Contains(got, "hidden") {
					t.Errorf("%s prints %s", verb, got)
				}
			}
		}
	}
}
