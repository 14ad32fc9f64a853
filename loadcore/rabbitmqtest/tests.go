package rabbitmqtest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// sharedNode is the package's node: started once, ended by Main.
var sharedNode struct {
	sync.Mutex // guards the following
	main       bool
	tried      bool
	node       *Node
	err        error
}

// Main runs the tests of a package, ends the shared node if there is one, and exits. It is all that TestMain does.
func Main(m interface{ Run() int }) {
	sharedNode.Lock()
	sharedNode.main = true
	sharedNode.Unlock()
	code := m.Run()
	sharedNode.Lock()
	defer sharedNode.Unlock()
	if n := sharedNode.node; n != nil && n.rig != nil {
		if err := n.rig.end(); err != nil {
			fmt.Fprintln(os.Stderr, "ending the shared RabbitMQ node:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Shared returns the node that the tests of the package share. The first call starts it. It fails the test, never skips
// it, where there is no RabbitMQ. Each test works in virtual hosts of its own (URI, VHost).
func Shared(t testing.TB) *Node {
	t.Helper()
	sharedNode.Lock()
	defer sharedNode.Unlock()
	if !sharedNode.main {
		t.Fatal("rabbitmqtest.Shared needs func TestMain(m *testing.M) { rabbitmqtest.Main(m) } in this package")
	}
	if !sharedNode.tried {
		sharedNode.tried = true
		sharedNode.node, sharedNode.err = startShared()
	}
	if sharedNode.err != nil {
		t.Fatal(sharedNode.err)
	}
	sharedNode.node.showLog(t)
	return sharedNode.node
}

func startShared() (*Node, error) {
	ctx := context.Background()
	if n, err := useExisting(ctx); n != nil || err != nil {
		return n, err
	}
	n, err := Launch(ctx, Options{})
	if err != nil {
		return nil, err
	}
	n.shared = true
	return n, nil
}

// Start returns a node of the test's own, which ends with the test. It is a private one also where LEVERET_TEST_URI is
// set.
func Start(t testing.TB, o Options) *Node {
	t.Helper()
	return StartCluster(t, 1, o)[0]
}

// StartCluster returns nodes of the test's own that form a cluster. Fixed ports in the options are for single nodes.
func StartCluster(t testing.TB, size int, o Options) []*Node {
	t.Helper()
	nodes, err := LaunchCluster(context.Background(), size, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := nodes[0].rig.end(); err != nil {
			t.Errorf("ending RabbitMQ: %v", err)
		}
	})
	for _, n := range nodes {
		n.showLog(t)
	}
	return nodes
}

// showLog shows, when the test has failed, what the node has logged since.
func (n *Node) showLog(t testing.TB) {
	if n.existing != nil {
		return
	}
	var offset int64
	if info, err := os.Stat(n.logFile()); err == nil && n.shared {
		offset = info.Size()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s: %s", n.name, n.logTail(offset))
		}
	})
}

// vhosts numbers virtual hosts, so that a test run again (-count) gets a new one.
var vhosts atomic.Int64

// VHost makes a virtual host and returns its name. It is deleted when the test ends.
func (n *Node) VHost(t testing.TB) string {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r == '/' {
			return '.'
		}
		return r
	}, t.Name())
	// The process id keeps test packages apart that use one existing broker.
	vhost := name + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(vhosts.Add(1), 10)
	if err := n.addVHost(t.Context(), vhost); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n.private() {
			return // it ends now, and may have been killed
		}
		// The test's own context has ended.
		if err := n.deleteVHost(context.Background(), vhost); err != nil {
			t.Errorf("deleting the virtual host of the test: %v", err)
		}
	})
	return vhost
}

func (n *Node) private() bool { return !n.shared }

// URI makes a virtual host and returns its URI, user and password included.
func (n *Node) URI(t testing.TB) string {
	t.Helper()
	return n.URIFor(n.VHost(t))
}

// TLSURI makes a virtual host and returns its amqps URI on a node started with Options.TLS.
func (n *Node) TLSURI(t testing.TB) string {
	t.Helper()
	vhost := n.VHost(t)
	n.Certificates(t) // fails the test on a node without TLS
	return n.TLSURIFor(vhost)
}

// Certificates returns the paths of the certificates of a node started with Options.TLS.
func (n *Node) Certificates(t testing.TB) *Certificates {
	t.Helper()
	if n.certificates == nil {
		t.Fatal("the node has no TLS: start one with rabbitmqtest.Options{TLS: true}")
	}
	return n.certificates
}

// AddUser makes a user with a password made up at run time and the permissions given in the virtual host. It is deleted
// when the test ends.
func (n *Node) AddUser(t testing.TB, vhost string, p Permissions) (user, password string) {
	t.Helper()
	user, password = "user-"+secret(4), secret(16)
	n.newUser(t, user, password, vhost, p)
	return user, password
}

// AddCertUser makes the user of the client certificate of a node started with Options.TLS, who has no password.
func (n *Node) AddCertUser(t testing.TB, vhost string, p Permissions) (user string) {
	t.Helper()
	user = n.Certificates(t).CertUser
	n.newUser(t, user, "", vhost, p)
	return user
}

func (n *Node) newUser(t testing.TB, user, password, vhost string, p Permissions) {
	t.Helper()
	if err := n.addUser(t.Context(), user, password); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n.private() {
			return
		}
		if err := n.deleteUser(context.Background(), user); err != nil {
			t.Errorf("deleting a user of the test: %v", err)
		}
	})
	if err := n.permit(t.Context(), user, vhost, p); err != nil {
		t.Fatal(err)
	}
}

// ManagementGet reads a path of the management API, as in "queues/"+url.PathEscape(vhost)+"/q", into v.
func (n *Node) ManagementGet(t testing.TB, path string, v any) {
	t.Helper()
	if err := n.request(t.Context(), "GET", path, nil, v); err != nil {
		t.Fatal(err)
	}
}

// Log returns the node's log so far, its last 64 KiB.
func (n *Node) Log(t testing.TB) string {
	t.Helper()
	n.mustBeOurs(t, "Log")
	return n.logTail(0)
}
