package rabbitmqtest

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTheNewestInstallationIsTaken(t *testing.T) {
	homes := []string{"/a/rabbitmq_server-3.9.28", "/b/rabbitmq", "/a/rabbitmq_server-3.10.8", "/a/rabbitmq_server-3.10", "/a/rabbitmq_server-4.0.1-rc.1"}
	slices.SortFunc(homes, compareVersions)
	want := []string{"/b/rabbitmq", "/a/rabbitmq_server-3.9.28", "/a/rabbitmq_server-3.10", "/a/rabbitmq_server-3.10.8", "/a/rabbitmq_server-4.0.1-rc.1"}
	if !slices.Equal(homes, want) {
		t.Errorf("order %v, want %v", homes, want)
	}
}

func TestFindTakesTheFolderOfTheEnvironmentOrSaysWhy(t *testing.T) {
	home := t.TempDir()
	t.Setenv(InstallationVariable, home)
	if _, err := Find(); err == nil || !strings.Contains(err.Error(), home) || !strings.Contains(err.Error(), InstallationVariable) {
		t.Errorf("a folder without RabbitMQ: %v, want an error that names variable and folder", err)
	}
	sbin := filepath.Join(home, "sbin")
	if err := os.Mkdir(sbin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rabbitmq-server", "rabbitmq-env"} {
		if err := os.WriteFile(filepath.Join(sbin, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if install, err := Find(); err != nil || install.Sbin != sbin {
		t.Errorf("Find: %+v, %v; want %s", install, err, sbin)
	}
}

// RabbitMQ 4 is looked for where make rabbitmq4 lays it, from a package's folder upwards, and brings its own Erlang.
func TestFind4(t *testing.T) {
	t.Setenv(RabbitMQ4Variable, "")
	project := t.TempDir()
	home, deep := filepath.Join(project, laidRabbitMQ4), filepath.Join(project, "cmd", "program")
	for _, dir := range []string{filepath.Join(home, "sbin"), filepath.Join(home, "erlang"), deep} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(deep)
	if _, err := Find4(); !errors.Is(err, ErrNoRabbitMQ4) || !strings.Contains(err.Error(), "make rabbitmq4") {
		t.Errorf("where there is none: %v", err)
	}
	for _, name := range []string{"sbin/rabbitmq-server", "sbin/rabbitmq-env", "erlang/erl", "erlang/epmd"} {
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := Installation{Sbin: filepath.Join(home, "sbin"), Epmd: filepath.Join(home, "erlang", "epmd"), Erlang: filepath.Join(home, "erlang")}
	if got, err := Find4(); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	t.Setenv(RabbitMQ4Variable, deep)
	if _, err := Find4(); !errors.Is(err, ErrNoRabbitMQ4) || !strings.Contains(err.Error(), deep) {
		t.Errorf("the environment names a folder without one: %v", err)
	}
}

func TestMissingErlangIsSaid(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := findEpmd(); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "Erlang") {
		t.Errorf("without erl on the PATH: %v", err)
	}
}

func TestBlocksOfPortsAreApartAndFree(t *testing.T) {
	var taken []int
	for range 3 {
		b, err := takeBlock()
		if err != nil {
			t.Fatal(err)
		}
		defer b.lock.Close()
		for i := 1; i < blockSize; i++ {
			port := b.port(i)
			if slices.Contains(taken, port) {
				t.Errorf("port %d is in two blocks", port)
			}
			taken = append(taken, port)
		}
	}
	// A port in use takes its whole block out.
	b, err := takeBlock()
	if err != nil {
		t.Fatal(err)
	}
	used, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(b.port(3)))
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	if free(b.base+1, b.base+blockSize) {
		t.Errorf("ports from %d on are said to be free, and %d is used", b.base+1, b.port(3))
	}
	if err := b.lock.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorsOfAnExistingBrokerHoldNoPassword(t *testing.T) {
	t.Setenv(ManagementVariable, "http://127.0.0.1:1") // nothing listens there
	password := secret(8)
	for _, uri := range []string{
		"amqp://u:" + password + "#x@h/", "http://u:" + password + "@h/", "amqp://u:" + password + "%zz@h/",
		"amqp://u:" + password + "@127.0.0.1/",
	} {
		t.Setenv(URIVariable, uri)
		_, err := useExisting(t.Context())
		if err == nil || !strings.Contains(err.Error(), URIVariable) {
			t.Errorf("%s: %v, want an error that names the variable", strings.ReplaceAll(uri, password, "..."), err)
		}
		if err != nil && strings.Contains(err.Error(), password) {
			t.Error("the error holds the password")
		}
	}
}
