package rabbitmqtest_test

import (
	"crypto/tls"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"leveret/loadcore/rabbitmqtest"
)

func TestMain(m *testing.M) { rabbitmqtest.Main(m) }

// dial opens a connection and a channel that end with the test.
func dial(t *testing.T, uri string, config amqp.Config) *amqp.Channel {
	t.Helper()
	conn, err := amqp.DialConfig(uri, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func publish(t *testing.T, ch *amqp.Channel, queue string) {
	t.Helper()
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	confirm, err := ch.PublishWithDeferredConfirmWithContext(t.Context(), "", queue, true, false,
		amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("hello")})
	if err != nil {
		t.Fatal(err)
	}
	if !confirm.Wait() {
		t.Fatal("the message was not confirmed")
	}
}

func ready(t *testing.T, ch *amqp.Channel, queue string) int {
	t.Helper()
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q.Messages
}

func declare(t *testing.T, ch *amqp.Channel, queue string, args amqp.Table) {
	t.Helper()
	if _, err := ch.QueueDeclare(queue, true, false, false, false, args); err != nil {
		t.Fatal(err)
	}
}

func TestSharedGivesEachTestItsOwnVirtualHost(t *testing.T) {
	var first, second string
	t.Run("one", func(t *testing.T) {
		first = rabbitmqtest.Shared(t).URI(t)
		ch := dial(t, first, amqp.Config{})
		declare(t, ch, "q", nil)
		publish(t, ch, "q")
		if n := ready(t, ch, "q"); n != 1 {
			t.Errorf("ready = %d, want 1", n)
		}
	})
	t.Run("two", func(t *testing.T) {
		second = rabbitmqtest.Shared(t).URI(t)
		ch := dial(t, second, amqp.Config{})
		if _, err := ch.QueueDeclarePassive("q", true, false, false, false, nil); err == nil {
			t.Error("the queue of another test is there")
		}
	})
	if first == second {
		t.Errorf("both tests got %s", first)
	}
	_, err := amqp.Dial(first)
	if err == nil {
		t.Error("the virtual host of a finished test is still there")
	} else if strings.Contains(err.Error(), "refused") {
		t.Errorf("the node itself is gone: %v", err)
	}
}

func TestManagementAgreesWithTheQueue(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	ch := dial(t, node.URIFor(vhost), amqp.Config{})
	declare(t, ch, "a/b", nil)
	var queue struct {
		Name    string
		Durable bool
	}
	node.ManagementGet(t, "queues/"+url.PathEscape(vhost)+"/"+url.PathEscape("a/b"), &queue)
	if queue.Name != "a/b" || !queue.Durable {
		t.Errorf("management API: %+v", queue)
	}
}

func TestUsersHaveTheirPermissionsOnly(t *testing.T) {
	node := rabbitmqtest.Shared(t)
	vhost := node.VHost(t)
	user, password := node.AddUser(t, vhost, rabbitmqtest.Permissions{Configure: "^mine$"})
	ch := dial(t, node.UserURI(user, password, vhost), amqp.Config{})
	declare(t, ch, "mine", nil)
	_, err := ch.QueueDeclare("other", true, false, false, false, nil)
	if err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("declaring a queue without permission: %v, want 403", err)
	}
}

func TestPrivateNodeSurvivesKillAndRestart(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{})
	vhost := node.VHost(t)
	if out := node.Ctl(t, "--quiet", "list_vhosts", "name"); !strings.Contains(out, vhost) {
		t.Errorf("rabbitmqctl list_vhosts does not show %s:\n%s", vhost, out)
	}
	node.Tool(t, "rabbitmq-diagnostics", "check_running")

	uri := node.URIFor(vhost)
	ch := dial(t, uri, amqp.Config{})
	declare(t, ch, "kept", nil)
	publish(t, ch, "kept")
	// RabbitMQ's database writes what was declared a little later, and a node that is killed before has never heard of it.
	node.Ctl(t, "--quiet", "eval", "mnesia:sync_log().")
	node.Kill(t)
	if _, err := amqp.Dial(uri); err == nil {
		t.Fatal("a killed node answers")
	}
	node.Restart(t)
	if n := ready(t, dial(t, uri, amqp.Config{}), "kept"); n != 1 {
		t.Errorf("after kill and restart: ready = %d, want the persistent message", n)
	}
	node.Restart(t)
	if n := ready(t, dial(t, uri, amqp.Config{}), "kept"); n != 1 {
		t.Errorf("after a regular restart: ready = %d, want the persistent message", n)
	}
	node.Pause(t)
	node.Resume(t)
	if n := ready(t, dial(t, uri, amqp.Config{}), "kept"); n != 1 {
		t.Errorf("after pause and resume: ready = %d, want the persistent message", n)
	}
}

func TestTLSAndCertificateLogin(t *testing.T) {
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
	vhost := node.VHost(t)
	certificates := node.Certificates(t)
	config, err := certificates.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	ch := dial(t, node.TLSURIFor(vhost), amqp.Config{TLSClientConfig: config})
	declare(t, ch, "q", nil)

	_, err = amqp.DialConfig(node.TLSURIFor(vhost), amqp.Config{TLSClientConfig: &tls.Config{}})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the node's authority: %v, want an error about its certificate", err)
	}

	node.AddCertUser(t, vhost, rabbitmqtest.AllPermissions)
	external := dial(t, node.TLSURIFor(vhost), amqp.Config{
		TLSClientConfig: config, SASL: []amqp.Authentication{&amqp.ExternalAuth{}}})
	if n := ready(t, external, "q"); n != 0 {
		t.Errorf("ready = %d, want 0", n)
	}
}

func TestClusterOfThreeRunsAQuorumQueue(t *testing.T) {
	nodes := rabbitmqtest.StartCluster(t, 3, rabbitmqtest.Options{})
	nodes[0].Ctl(t, "await_online_nodes", "3", "--timeout", "60")
	vhost := nodes[0].VHost(t)
	ch := dial(t, nodes[0].URIFor(vhost), amqp.Config{})
	declare(t, ch, "quorum", amqp.Table{"x-queue-type": "quorum"})
	publish(t, ch, "quorum")
	// Two of three members are a majority: the message must outlive the node it was sent to.
	nodes[0].Kill(t)
	// Until the others have elected a leader they answer with an error, which closes the connection.
	var delivery amqp.Delivery
	for deadline := time.Now().Add(time.Minute); delivery.Body == nil; time.Sleep(100 * time.Millisecond) {
		var err error
		if delivery, err = getOne(nodes[1].URIFor(vhost), "quorum"); err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if string(delivery.Body) != "hello" {
		t.Errorf("basic.get on another node: %q, want the message", delivery.Body)
	}
}

func getOne(uri, queue string) (amqp.Delivery, error) {
	conn, err := amqp.Dial(uri)
	if err != nil {
		return amqp.Delivery{}, err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return amqp.Delivery{}, err
	}
	delivery, ok, err := ch.Get(queue, true)
	if err == nil && !ok {
		err = errors.New("the queue is empty")
	}
	return delivery, err
}
