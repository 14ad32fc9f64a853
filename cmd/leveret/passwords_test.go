package main

import (
	"crypto/rand"
	"strings"
	"testing"
)

// An option that was forgotten, or mistyped, leaves a URI where none is expected. What is said of it holds no password.
func TestMisplacedURIsAreShownWithoutPasswords(t *testing.T) {
	password := rand.Text()
	uri := "amqp://user:" + password + "@host/vhost"
	for _, args := range [][]string{
		{uri},
		{"run", uri},
		{"run", "--queue", "q", uri + "," + uri},
		{"run", "--time", uri},
		{"perf-test", uri},
		{"perf-test", "-z", uri},
		{"perf-test", "-z" + uri},
		{"perf-test", "-x", "1", "amqp://user:" + password + "/and@more@host"},
		{"plan", "perf-test", uri},
		{"plan", uri},
		{"runjava", uri},
		{"analyze", uri},
		{"version", uri},
		{"help", uri},
	} {
		code, out, errs := invoke(t, args...)
		if code == exitOK || strings.Contains(out+errs, password) || !strings.Contains(errs, "amqp://user@") {
			t.Errorf("%s: exit %d\n%s%s", args[0], code, out, errs)
		}
	}
}

func TestTextsWithoutPasswordsStayAsTheyAre(t *testing.T) {
	for _, text := range []string{
		"cannot connect: amqp://guest@127.0.0.1:5672/%2F: login: refused", "http://host:8080/token answered 404; ask user@host",
		"amqp://[::1]:5672, queue a@b", "--queue=a:b@c",
	} {
		if got := withoutPasswords(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
