package rabbitmqtest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"leveret/loadcore/rabbitmqtest"
)

// TestExistingBroker runs tests of this package again in a child process that is given the shared node as an existing
// broker.
func TestExistingBroker(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	child := func(pattern string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run="+pattern)
		cmd.Env = append(os.Environ(), rabbitmqtest.URIVariable+"="+node.URIFor("/"),
			rabbitmqtest.ManagementVariable+"="+node.ManagementURL(), childControl+"=1")
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
	if output, err := child("^(TestShared|TestManagement|TestUsers)"); err != nil || strings.Count(output, "\n--- PASS: Test") != 3 {
		t.Errorf("tests that share a broker: %v\n%s", err, output)
	}
	output, err := child("^TestControlOfTheSharedNode$")
	if err == nil || !strings.Contains(output, rabbitmqtest.URIVariable+" leads to an existing broker: use rabbitmqtest.Start") {
		t.Errorf("rabbitmqctl against an existing broker: %v, want a failure that says why\n%s", err, output)
	}
	if strings.Contains(output, node.Password()) {
		t.Error("the output holds the password")
	}
}

const childControl = "LEVERET_TEST_CHILD_CONTROL"

// TestControlOfTheSharedNode: what the shared node allows and what it does not.
func TestControlOfTheSharedNode(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	if os.Getenv(rabbitmqtest.URIVariable) != "" && os.Getenv(childControl) == "" {
		t.Log("an existing broker is controlled by its owner")
		return
	}
	if vhost := node.VHost(t); !strings.Contains(node.Ctl(t, "--quiet", "list_vhosts"), vhost) {
		t.Errorf("rabbitmqctl does not list %s", vhost)
	}
}
