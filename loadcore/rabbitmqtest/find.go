package rabbitmqtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// InstallationVariable names the environment variable that overrides the search for RabbitMQ.
const InstallationVariable = "LEVERET_RABBITMQ_SERVER"

// ErrNotInstalled: no RabbitMQ was found on this machine.
var ErrNotInstalled = errors.New("RabbitMQ is not installed: on Debian and Ubuntu `make test` installs it " +
	"(package rabbitmq-server), elsewhere install RabbitMQ 3.10 or newer, or set " + InstallationVariable +
	" to the folder of an installation (the one that holds sbin/rabbitmq-server)")

// places are where packages put RabbitMQ. The scripts inside are started directly: the commands that packages put on the
// PATH switch to another user and to the folders of the machine's own node.
var places = []string{
	"/usr/lib/rabbitmq/lib/rabbitmq_server-*",
	"/opt/rabbitmq",
	"/opt/rabbitmq_server-*",
	"/opt/homebrew/opt/rabbitmq",
	"/usr/local/opt/rabbitmq",
}

// Installation is a folder that RabbitMQ can be started from.
type Installation struct {
	// Sbin is the folder with the scripts rabbitmq-server, rabbitmqctl, ...
	Sbin string
	// Epmd is the Erlang port mapper's program.
	Epmd string
	// Erlang is the folder of the installation's own erl; "": that of the PATH.
	Erlang string
}

// Find returns the RabbitMQ installation that nodes are started from. The error is, or wraps, ErrNotInstalled where there
// is none; a folder named by the environment that holds no RabbitMQ is an error of its own.
func Find() (Installation, error) {
	home, err := findHome()
	if err != nil {
		return Installation{}, err
	}
	return installationIn(home)
}

// RabbitMQ4Variable names the environment variable for an installation of RabbitMQ 4, where `make rabbitmq4` cannot lay one.
const RabbitMQ4Variable = "LEVERET_RABBITMQ4"

// ErrNoRabbitMQ4: the tests with RabbitMQ 4 have none.
var ErrNoRabbitMQ4 = errors.New("RabbitMQ 4 is not there: `make rabbitmq4` lays it into bin/rabbitmq4 on Debian and Ubuntu; elsewhere set " +
	RabbitMQ4Variable + " to a folder that holds sbin/rabbitmq-server")

// Find4 returns the RabbitMQ 4 that `make rabbitmq4` has laid, or that the environment names. The error is, or wraps, ErrNoRabbitMQ4.
func Find4() (Installation, error) {
	home := os.Getenv(RabbitMQ4Variable)
	if home == "" {
		dir, err := os.Getwd()
		if err != nil {
			return Installation{}, fmt.Errorf("looking for RabbitMQ 4: %w", err)
		}
		for home = filepath.Join(dir, laidRabbitMQ4); !holdsServer(home); home = filepath.Join(dir, laidRabbitMQ4) {
			parent := filepath.Dir(dir)
			if parent == dir {
				return Installation{}, ErrNoRabbitMQ4
			}
			dir = parent
		}
	}
	if !holdsServer(home) {
		return Installation{}, fmt.Errorf("%s=%s: %w", RabbitMQ4Variable, home, ErrNoRabbitMQ4)
	}
	return installationIn(home)
}

// laidRabbitMQ4 is where `make rabbitmq4` lays it, in the project's folder.
const laidRabbitMQ4 = "bin/rabbitmq4/server"

// installationIn is the one of a folder. An Erlang of its own stands in the folder erlang.
func installationIn(home string) (Installation, error) {
	if own := filepath.Join(home, "erlang"); isFile(filepath.Join(own, "erl")) && isFile(filepath.Join(own, "epmd")) {
		return Installation{Sbin: filepath.Join(home, "sbin"), Epmd: filepath.Join(own, "epmd"), Erlang: own}, nil
	}
	epmd, err := findEpmd()
	if err != nil {
		return Installation{}, err
	}
	return Installation{Sbin: filepath.Join(home, "sbin"), Epmd: epmd}, nil
}

func findHome() (string, error) {
	if home := os.Getenv(InstallationVariable); home != "" {
		if !holdsServer(home) {
			return "", fmt.Errorf("%s=%s: no sbin/rabbitmq-server in that folder", InstallationVariable, home)
		}
		return filepath.Abs(home)
	}
	var found []string
	for _, pattern := range places {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return "", fmt.Errorf("looking for RabbitMQ: %s: %w", pattern, err)
		}
		found = append(found, slices.DeleteFunc(matches, func(home string) bool { return !holdsServer(home) })...)
	}
	if len(found) > 0 {
		return slices.MaxFunc(found, compareVersions), nil
	}
	// An unpacked distribution whose sbin is on the PATH; a package's wrapper has no rabbitmq-env beside it.
	if script, err := exec.LookPath("rabbitmq-server"); err == nil {
		if real, err := filepath.EvalSymlinks(script); err == nil {
			home := filepath.Dir(filepath.Dir(real))
			if holdsServer(home) {
				return home, nil
			}
		}
	}
	return "", ErrNotInstalled
}

// holdsServer reports whether the folder is an installation: rabbitmq-env is what tells it from a wrapper's folder.
func holdsServer(home string) bool {
	return isFile(filepath.Join(home, "sbin", "rabbitmq-server")) && isFile(filepath.Join(home, "sbin", "rabbitmq-env"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// findEpmd looks beside erl, which is where Erlang keeps it, and on the PATH.
func findEpmd() (string, error) {
	if epmd, err := exec.LookPath("epmd"); err == nil {
		return epmd, nil
	}
	erl, err := exec.LookPath("erl")
	if err != nil {
		return "", fmt.Errorf("erl is not on the PATH, but RabbitMQ needs Erlang: %w", ErrNotInstalled)
	}
	if real, err := filepath.EvalSymlinks(erl); err == nil {
		epmd := filepath.Join(filepath.Dir(real), "epmd")
		if _, err := os.Stat(epmd); err == nil {
			return epmd, nil
		}
	}
	return "", fmt.Errorf("epmd is neither on the PATH nor beside %s", erl)
}

// compareVersions orders folders by the version that ends their names (rabbitmq_server-3.10.8); no version comes first.
func compareVersions(a, b string) int {
	return slices.Compare(version(a), version(b))
}

func version(home string) []int {
	_, text, _ := strings.Cut(filepath.Base(home), "-")
	var numbers []int
	for part := range strings.SplitSeq(text, ".") {
		number, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		numbers = append(numbers, number)
	}
	return numbers
}
