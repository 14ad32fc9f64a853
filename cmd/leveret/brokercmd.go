package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"

	"leveret/cmd/internal/options"
	"leveret/loadcore/broker"
)

func brokerCommand() command {
	return command{name: "broker", arguments: "[options]", summary: "the embedded broker by itself, with faults on request",
		run: runBroker, help: brokerHelp}
}

func brokerHelp(w io.Writer) {
	set, _ := options.NewBroker()
	commandHelp(w, brokerCommand(), `
Runs the embedded AMQP 0-9-1 broker until Ctrl-C and prints its URI on stdout. It is made for testing
leveret and other clients: queues live in memory, and what it does not implement it refuses.`, `
  leveret broker --listen 127.0.0.1:5680
  leveret broker --listen 127.0.0.1:0 --faults stall@5000:1s,drop@100`, set)
	fmt.Fprintf(w, "\n%s\n", broker.FaultsHelp)
}

func runBroker(ctx context.Context, args []string, s streams) (int, error) {
	set, o := options.NewBroker()
	if err := parseOnlyOptions(set, args); err != nil {
		return 0, err
	}
	faults, err := broker.ParseFaults(o.Faults)
	if err != nil {
		return 0, &options.UsageError{Command: "broker", Err: fmt.Errorf("--faults: %w", err)}
	}
	config, err := serverTLS(o)
	if err != nil {
		return 0, &options.UsageError{Command: "broker", Err: err}
	}
	server, err := broker.Start(broker.Options{Addr: o.Listen, TLS: config, Faults: faults, Version: toolVersion()})
	if err != nil {
		return exitFailed, fmt.Errorf("--listen=%s: %w", o.Listen, err)
	}
	fmt.Fprintln(s.out, server.URI())
	fmt.Fprintln(s.err, "the embedded broker is ready; Ctrl-C ends it")
	if o.UntilEOF {
		ctx = untilEOF(ctx, s.in)
	}
	<-ctx.Done()
	return exitOK, server.Close()
}

// untilEOF is a context that ends with the input, too.
func untilEOF(ctx context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx
}

// serverTLS reads the server's certificate; nil without one.
func serverTLS(o *options.Broker) (*tls.Config, error) {
	if o.Cert == "" && o.Key == "" {
		if o.CACert != "" {
			return nil, errors.New("--cacert needs --cert and --key: client certificates come with TLS only")
		}
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, fmt.Errorf("--cert=%s --key=%s: %w", o.Cert, o.Key, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if o.CACert == "" {
		return config, nil
	}
	pem, err := os.ReadFile(o.CACert)
	if err != nil {
		return nil, fmt.Errorf("--cacert: %w", err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--cacert=%s: holds no PEM certificate", o.CACert)
	}
	return config, nil
}
