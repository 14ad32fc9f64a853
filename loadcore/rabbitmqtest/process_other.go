//go:build !unix

package rabbitmqtest

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

var errPlatform = errors.New("private RabbitMQ nodes need a Unix system, this is " + runtime.GOOS +
	": set LEVERET_TEST_URI for the tests that share a broker")

func ownSession(*exec.Cmd) {}

func terminate(*os.Process) error { return errPlatform }
func pause(*os.Process) error     { return errPlatform }
func resume(*os.Process) error    { return errPlatform }
func killGroup(*os.Process) error { return errPlatform }

func platformError() error { return errPlatform }
