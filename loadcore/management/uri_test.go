package management

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestURIs(t *testing.T) {
	for text, want := range map[string]string{
		"http://host":                         "http://host:15672",
		"https://host":                        "https://host:15671",
		"http://u:p@host:80/":                 "http://u@host:80",
		"http://u:p@[::1]:1234/proxy/rabbit/": "http://u@[::1]:1234/proxy/rabbit",
		"http://u:p@host/api":                 "http://u@host:15672",
		"http://u%40x:p%2Fq@host":             "http://u%40x@host:15672",
	} {
		target, err := ParseURI(text)
		if err != nil || target.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, target, err, want)
		}
	}
}

// What is wrong is said without a word of the URI, and no form of printing shows the password.
func TestPasswordsDoNotShow(t *testing.T) {
	password := rand.Text()
	for _, text := range []string{
		"amqp://u:" + password + "@host", "http://u:" + password + "#x@host", "http://u:1/" + password + "@host", "http://u:" + password + "?@host",
		"http://u:%zz" + password + "@host", password, "http://", "http://u:" + password + "@", "http://u:" + password + "@host:port", "http://u:1" + password + "@host?x=1",
	} {
		_, err := ParseURI(text)
		if err == nil || strings.Contains(err.Error(), password) || strings.Contains(Redacted(text), password) {
			t.Errorf("%s: %v, shown as %s", text, err, Redacted(text))
		}
	}
	target, err := ParseURI("http://u:" + password + "@host")
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{fmt.Sprint(target), fmt.Sprintf("%#v", target), fmt.Sprintf("%+v", target), string(asJSON)} {
		if strings.Contains(form, password) {
			t.Errorf("shown in %s", form)
		}
	}
}

// The login of the broker is taken where the URI has none.
func TestLogin(t *testing.T) {
	for text, want := range map[string]string{"http://host": "b/secret", "http://a:other@host": "a/other", "http://a@host": "a/"} {
		target, err := ParseURI(text)
		if err != nil {
			t.Fatal(err)
		}
		target.SetLogin("b", "secret")
		if got := target.User + "/" + *target.password; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
