// Command node runs a private RabbitMQ node, or a cluster of them, in the foreground, for trying things, until Ctrl-C or SIGTERM:
//
//	go run ./loadcore/rabbitmqtest/node
//
// With -check it only says where RabbitMQ would be started from, exit code 1 where there is none.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"leveret/loadcore/rabbitmqtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal stops the node regularly, a second one ends this program at once, and the watchdog the node.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("node", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "only look for RabbitMQ")
	port := flags.Int("port", 0, "AMQP port (0: a free one)")
	management := flags.Int("management-port", 0, "port of the management plugin (0: a free one)")
	four := flags.Bool("4", false, "RabbitMQ 4, as make rabbitmq4 lays it")
	nodes := flags.Int("nodes", 1, "nodes of a cluster, 1 to 7; more than one take free ports")
	tls := flags.Bool("tls", false, "listen for TLS as well, with certificates made for this node")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *check {
		return find(stdout, stderr)
	}
	if *nodes < 1 || *nodes > 7 || *nodes > 1 && *port+*management > 0 {
		fmt.Fprintf(stderr, "-nodes=%d: must be 1 to 7, and more than one take no -port and -management-port\n", *nodes)
		return 2
	}
	fmt.Fprintln(stderr, "starting RabbitMQ ...")
	all, err := rabbitmqtest.LaunchCluster(ctx, *nodes, rabbitmqtest.Options{Port: *port, ManagementPort: *management, TLS: *tls, RabbitMQ4: *four})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	node := all[0]
	for _, n := range all {
		describe(stdout, n, *tls)
	}
	fmt.Fprintf(stdout, "Ctrl-C stops it and removes its data; or: kill %d\n", os.Getpid())
	select {
	case <-ctx.Done():
		fmt.Fprintln(stderr, "\nstopping RabbitMQ ...")
	case <-node.Done():
		fmt.Fprintln(stderr, "RabbitMQ has ended by itself:")
		fmt.Fprintln(stderr, node.LogTail())
		err = fmt.Errorf("ended early")
	}
	// The signal that ends the wait must not end the regular stop.
	if closeErr := node.Close(context.WithoutCancel(ctx)); closeErr != nil {
		fmt.Fprintln(stderr, closeErr)
		return 1
	}
	if err != nil {
		return 1
	}
	fmt.Fprintln(stderr, "stopped, its folder removed")
	return 0
}

func find(stdout, stderr io.Writer) int {
	install, err := rabbitmqtest.Find()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintln(stdout, "RabbitMQ:", install.Sbin)
	return 0
}

// describe prints how to reach the node. The password is the node's own and dies with it.
func describe(w io.Writer, node *rabbitmqtest.Node, tls bool) {
	fmt.Fprintln(w, "URI:       ", node.URIFor("/"))
	if tls {
		fmt.Fprintln(w, "TLS URI:   ", node.TLSURIFor("/"))
		fmt.Fprintln(w, "CA:        ", node.CACert())
	}
	fmt.Fprintln(w, "management:", node.ManagementURL(), "user", node.User(), "password", node.Password())
}
