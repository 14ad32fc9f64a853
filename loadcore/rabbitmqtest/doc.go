// Package rabbitmqtest gives tests real RabbitMQ nodes: private ones, of their own folder, name, cookie, ports and epmd,
// so that nothing is shared with a RabbitMQ that may run on the machine, and nothing is left behind.
//
// A test package shares one node, started when the first test asks for it, and each test gets a virtual host of its own:
//
//	func TestMain(m *testing.M) { rabbitmqtest.Main(m) }
//
//	func TestPublish(t *testing.T) {
//		node := rabbitmqtest.Shared(t)
//		uri := node.URI(t) // amqp://user:password@127.0.0.1:port/vhost, a new vhost, deleted when the test ends
//		...
//	}
//
// What would disturb others (restart, kill, pause, a cluster, TLS, own settings) starts private nodes, which end with the
// test:
//
//	node := rabbitmqtest.Start(t, rabbitmqtest.Options{TLS: true})
//	nodes := rabbitmqtest.StartCluster(t, 3, rabbitmqtest.Options{})
//
// A node is ready when RabbitMQ itself says that its startup is complete, not when a port answers. Its management plugin
// always runs. When a test fails the end of the node's log is shown.
//
// The end of a node does not depend on the test's: a watchdog process holds one end of a pipe, and when the other end is
// closed, by a regular end or because the test binary died in whatever way, it kills the processes of the node by their
// ids and removes the folder.
//
// A node keeps a goroutine of this package waiting for its process. A test that looks for leaked goroutines calls
// Shared or Start first and then takes its picture of what already runs (goleak.IgnoreCurrent).
//
// Environment:
//
//   - LEVERET_RABBITMQ_SERVER: the RabbitMQ installation to start nodes from, a folder that holds sbin/rabbitmq-server.
//   - LEVERET_TEST_URI: an existing broker in place of the shared node. Its management API is needed, for a virtual host
//     per test: on port 15672 of the same host, or where LEVERET_TEST_MANAGEMENT says (http://host:port), with the user
//     and password of the URI, who must be an administrator. What needs the machine of the node (Ctl, Log) fails there
//     and says so.
package rabbitmqtest
