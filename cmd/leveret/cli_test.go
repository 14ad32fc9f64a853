package main

import (
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leveret/cmd/internal/options"
	"leveret/loadcore/rabbitmqtest"
)

func TestCommandLineMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exitUsage, "Usage: leveret COMMAND"},
		{[]string{"rum"}, exitUsage, `unknown command "rum"`},
		{[]string{"help", "rum"}, exitUsage, `unknown command "rum"`},
		{[]string{"run", "--producer", "1"}, exitUsage, "did you mean --producers?"},
		{[]string{"run", "--size", "4"}, exitUsage, "--size=4: want at least 12 bytes"},
		{[]string{"run", "--variable-size", "4:5"}, exitUsage, "--variable-size=4: want at least 12 bytes"},
		{[]string{"run", "60"}, exitUsage, `unexpected argument "60"`},
		{[]string{"run", "--faults", "explode@3"}, exitUsage, "explode"},
		{[]string{"run", "--uri", "amqp://127.0.0.1:1", "--faults", "drop@3"}, exitUsage, "--faults works on the embedded broker only"},
		{[]string{"run", "--quorum-queue"}, exitUsage, "give --queue"},
		{[]string{"run", "--qos", "10", "--multi-ack-every", "20"}, exitUsage, "10"},
		{[]string{"run", "--rate", "10", "--coalesce", "1ms"}, exitUsage, "--coalesce=1ms: with a rate"},
		{[]string{"run", "--rate", "10", "--variable-rate", "5:1"}, exitUsage, "--rate and --variable-rate"},
		{[]string{"run", "--variable-rate", "0:1"}, exitUsage, "all stages of the varying rate are pauses"},
		{[]string{"churn", "queue", "--variable-rate", "0:1"}, exitUsage, "all stages of the varying rate are pauses"},
		{[]string{"churn", "queue", "--ramp", "0:0:1"}, exitUsage, "all stages of the varying rate are pauses"},
		{[]string{"run", "--queue", "a,a"}, exitUsage, "stands there twice"},
		{[]string{"run", "--producers", "65536", "--producer-channel-count", "65535"}, exitUsage, "at most 65536 are possible"},
		{[]string{"run", "--record-memory", "9223372036854775807"}, exitUsage, "--record-memory"},
		{[]string{"run", "--cacert", "nowhere.pem"}, exitUsage, "--cacert"},
		{[]string{"analyze"}, exitUsage, "which capture?"},
		{[]string{"analyze", "no-such-directory"}, exitFailed, "no-such-directory"},
		{[]string{"export"}, exitUsage, "which capture?"},
		{[]string{"export", "no-such-directory"}, exitFailed, "no-such-directory"},
		{[]string{"export", "c", "--rows", "letters"}, exitUsage, "--rows=letters: is none of messages"},
		{[]string{"export", "c", "--where", "vanished"}, exitUsage, "--where=vanished: is none of"},
		{[]string{"export", "c", "--sequence", "9-3"}, exitUsage, "--sequence=9-3: must be"},
		{[]string{"broker", "--listen", "127.0.0.1:notaport"}, exitFailed, "--listen=127.0.0.1:notaport"},
		{[]string{"broker", "--cert", "nowhere.pem"}, exitUsage, "--cert=nowhere.pem"},
	} {
		code, stdout, stderr := invoke(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("leveret %s: exit %d, want %d with %q\nstdout: %s\nstderr: %s", strings.Join(c.args, " "), code, c.code, c.want, stdout, stderr)
		}
	}
}

func TestHelpGoesToStdout(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"help", "run"}, {"run", "--help"}, {"run", "-h"}, {"analyze", "--help"}, {"broker", "--help"}, {"version"}} {
		code, stdout, stderr := invoke(t, args...)
		if code != exitOK || stdout == "" || stderr != "" {
			t.Errorf("leveret %s: exit %d, %d characters on stdout, stderr: %s", strings.Join(args, " "), code, len(stdout), stderr)
		}
	}
}

// C052: what could not run says so in one line and never looks like a success.
func TestC052FailureToConnectIsAFailure(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	for _, c := range []struct{ name, uri, want string }{
		{"refused", "amqp://127.0.0.1:1", "refused"},
		{"unknown host", "amqp://no-such-host.invalid", "no-such-host.invalid"},
		{"wrong password", node.UserURI(node.User(), "not"+node.Password(), vhost), "ACCESS_REFUSED"},
		{"missing vhost", node.URIFor("no-such-vhost"), "no-such-vhost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "capture")
			code, stdout, stderr := invoke(t, "run", "--uri", c.uri, "--time", "3", "--capture", dir)
			if code != exitFailed || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, want %d and one line with %q\nstdout: %s\nstderr: %s", code, exitFailed, c.want, stdout, stderr)
			}
			if strings.Contains(stderr, node.Password()) {
				t.Error("the password is in the message")
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("a capture was left behind")
			}
		})
	}
}

// C100: the usual mix-ups of ports are named, within the connect timeout.
func TestC100PortMixUpsAreNamed(t *testing.T) {
	t.Parallel()
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	for _, c := range []struct{ name, uri, want string }{
		{"TLS to the plain port", "amqps://" + node.Addr(), "TLS"},
		{"plain to the TLS port", "amqp://" + node.TLSAddr(), "amqps"},
		{"AMQP to the management port", "amqp://" + strings.TrimPrefix(node.ManagementURL(), "http://"), "15672 is the management API"},
		{"a server that never answers", "amqp://" + mute(t, ""), "answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begun := time.Now()
			code, stdout, stderr := invoke(t, "run", "--uri", c.uri, "--time", "3", "--connect-timeout", "3", "--capture", filepath.Join(t.TempDir(), "c"))
			if code != exitFailed || stdout != "" || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, want %d with %q\nstderr: %s", code, exitFailed, c.want, stderr)
			}
			// The bound is generous: what must not happen is a wait without end.
			if took := time.Since(begun); took > 30*time.Second {
				t.Errorf("took %v with a connect timeout of 3 s", took)
			}
		})
	}
}

// mute listens, accepts, says a few words at most, and nothing more to whatever comes.
func mute(t *testing.T, words string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.WriteString(c, words)
				io.Copy(io.Discard, c)
			}()
		}
	}()
	return l.Addr().String()
}

// C015: the password is in no output, no file and no error.
func TestC015PasswordAppearsNowhere(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	uri := node.URI(t)
	home := t.TempDir()
	dir, charts := filepath.Join(home, "capture"), filepath.Join(home, "charts")
	code, stdout, stderr := invoke(t, "run", "--uri", uri, "--pmessages", "100", "--confirm", "10", "--capture", dir, "--charts", charts)
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	secret := node.Password()
	texts := map[string]string{"stdout": stdout, "stderr": stderr}
	for _, format := range options.ReportFormats {
		_, texts[format], _ = invoke(t, "analyze", dir, "--format", format)
		if format == "html" && !strings.Contains(texts[format], "--uri amqp://") {
			t.Error("the page does not show the command line")
		}
	}
	for name, text := range texts {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the password", name)
		}
	}
	files := 0
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil || files < 5 {
		t.Fatalf("looked into %d files: %v", files, err)
	}
	secret = "S3c" + "ret"
	for _, uri := range []string{"amqp://u:" + secret + "@127.0.0.1:1/", "amqp://u:" + secret + "#x@h/", "amqp://u:" + secret + "@h:port/", "amqp://u:%zz" + secret + "@h/"} {
		code, stdout, stderr := invoke(t, "run", "--uri", uri, "--time", "1", "--capture", filepath.Join(home, "c2"))
		if code == exitOK || strings.Contains(stdout+stderr, secret) {
			t.Errorf("exit %d\n%s%s", code, stdout, stderr)
		}
	}
}
