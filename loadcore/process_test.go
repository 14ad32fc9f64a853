package loadcore

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"leveret/loadcore/broker"
)

// asBroker makes the test binary an embedded broker in a process of its own.
const asBroker = "LEVERET_TEST_RUN_AS_BROKER"

// brokerMain prints its address and serves until its standard input ends.
func brokerMain() {
	b, err := broker.Start(broker.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(b.Addr())
	os.Stdin.Read(make([]byte, 1))
	b.Close()
}

// startSelf starts the test binary as what the environment variable makes of it, and returns the address that it prints. It
// ends with the test.
func startSelf(tb testing.TB, variable string) (address string) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n]))
}

// brokerProcess starts an embedded broker in a process of its own and declares the queue "q" on it.
func brokerProcess(tb testing.TB) Endpoint {
	tb.Helper()
	ep, err := ParseURI("amqp://" + startSelf(tb, asBroker))
	if err != nil {
		tb.Fatal(err)
	}
	newAdmin(tb, ep).declare("q", nil)
	return ep
}
