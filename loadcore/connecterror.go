package loadcore

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"leveret/loadcore/wire"
)

// Stage is how far the opening of a connection got.
type Stage string

const (
	StageResolve  Stage = "name lookup"
	StageDial     Stage = "TCP connect"
	StageTLS      Stage = "TLS handshake"
	StageProtocol Stage = "protocol header"
	StageLogin    Stage = "login"
	StageTune     Stage = "limits"
	StageOpen     Stage = "opening the vhost"
	StageChannel  Stage = "opening a channel"
)

// ConnectError says why a connection could not be opened. It is one line, and holds no password.
type ConnectError struct {
	Endpoint string // as Endpoint.String shows it
	Stage    Stage
	Code     uint16 // the broker's reply code; 0 where the broker did not speak
	Text     string // the broker's text, or the cause
	Hint     string // what to do about it; may be empty
	Err      error  // the cause, where there is one
}

func (e *ConnectError) Error() string {
	s := fmt.Sprintf("%s%s: %s: %s", cannotConnect, e.Endpoint, e.Stage, oneLine(e.Text))
	if e.Code != 0 && !strings.Contains(e.Text, wire.ReplyCode(e.Code).String()) {
		s += fmt.Sprintf(" (%d %s)", e.Code, wire.ReplyCode(e.Code))
	} else if code := fmt.Sprintf(" (%d)", e.Code); e.Code != 0 && !strings.HasSuffix(s, code) { // a channel's end has it already
		s += code
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *ConnectError) Unwrap() error { return e.Err }

const cannotConnect = "cannot connect: "

// NoneError says why none of several endpoints could be connected to.
type NoneError []*ConnectError

func (e NoneError) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = strings.TrimPrefix(one.Error(), cannotConnect)
	}
	return fmt.Sprintf("%snone of %d endpoints: %s", cannotConnect, len(e), strings.Join(texts, "; "))
}

func (e NoneError) Unwrap() []error {
	errs := make([]error, len(e))
	for i, one := range e {
		errs[i] = one
	}
	return errs
}

// add takes the error of open.
func (e *NoneError) add(err error) {
	var one *ConnectError
	if !errors.As(err, &one) {
		one = &ConnectError{Text: err.Error(), Err: err}
	}
	*e = append(*e, one)
}

// final: the endpoints that were not tried yet would refuse as well.
func (e NoneError) final() bool { return sameEverywhere(e[len(e)-1]) }

// error is the one that there is, or all of them; where the last one goes for all, that one.
func (e NoneError) error() error {
	if len(e) == 1 || e.final() {
		return e[len(e)-1]
	}
	return e
}

const (
	hintPorts   = "5672 is usual for amqp, 5671 for amqps, 15672 is the management API's"
	hintNoTLS   = "the server does not speak TLS on this port; 5671 is usual for amqps"
	hintTLSPort = "the server speaks TLS on this port: write the URI with amqps://"
	hintHTTP    = "this is an HTTP port; " + hintPorts
)

// dialError explains why no TCP connection came about.
func dialError(ep *Endpoint, timeout time.Duration, err error) *ConnectError {
	e := &ConnectError{Endpoint: ep.String(), Stage: StageDial, Err: err, Text: innermost(err)}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		e.Stage, e.Text = StageResolve, dns.Err
		e.Hint = "check the host's name"
		if dns.IsTimeout {
			e.Hint = "the name server did not answer"
		}
	case isTimeout(err):
		e.Text = fmt.Sprintf("no answer within %v", timeout)
		e.Hint = "a firewall may drop the packets, or the host may be down"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Hint = fmt.Sprintf("nothing listens on port %d; %s", ep.Port, hintPorts)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Hint = "this host has no local port left towards the broker: widen net.ipv4.ip_local_port_range, or give more addresses with --source-address"
	case errors.Is(err, syscall.EMFILE):
		e.Hint = "this process has no file descriptor left: raise the limit (ulimit -n), or open fewer connections"
	case errors.Is(err, context.Canceled):
		e.Text = "interrupted"
	}
	return e
}

// tlsError explains why the TLS handshake failed.
func tlsError(ep *Endpoint, timeout time.Duration, err error) *ConnectError {
	e := &ConnectError{Endpoint: ep.String(), Stage: StageTLS, Err: err, Text: err.Error()}
	var header tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &header):
		e.Text, e.Hint = "the answer is not TLS", hintNoTLS
		if bytes.HasPrefix(header.RecordHeader[:], []byte("HTTP")) {
			e.Text, e.Hint = "the answer is HTTP", hintHTTP
		}
	case certificateHint(err) != "":
		e.Hint = certificateHint(err)
	case isTimeout(err):
		e.Text, e.Hint = fmt.Sprintf("no answer within %v", timeout), hintNoTLS
	case errors.Is(err, context.Canceled):
		e.Text = "interrupted"
	case errors.As(err, &alert):
		e.Hint = "the server may want a client certificate that it trusts: --cert and --key"
	case isClosed(err):
		e.Text, e.Hint = "the server closed the connection", hintNoTLS
	}
	return e
}

// answerError explains what came, or did not come, where a frame was awaited. got is what had been read by then.
func answerError(ep *Endpoint, stage Stage, timeout time.Duration, got []byte, err error) *ConnectError {
	e := &ConnectError{Endpoint: ep.String(), Stage: stage, Err: err, Text: innermost(err)}
	if stage == StageProtocol && strangerError(e, got) {
		return e
	}
	switch {
	case isTimeout(err):
		e.Text = fmt.Sprintf("the server accepted the connection and did not answer within %v", timeout)
		if stage == StageProtocol {
			e.Hint = "is this an AMQP port? " + hintPorts
		}
	case errors.Is(err, context.Canceled):
		e.Text = "interrupted"
	case isClosed(err) && stage == StageProtocol:
		e.Text, e.Hint = "the server closed the connection without an answer", "is this an AMQP port? "+hintPorts+"; a TLS port wants amqps://"
	case isClosed(err) && stage == StageLogin:
		e.Text, e.Hint = "the server closed the connection", "user or password may be wrong"
		if n := len(ep.Password()); n > longSecret {
			e.Hint = fmt.Sprintf("the token has %d bytes, and RabbitMQ takes frames of only 4096 (8192 from 4.1 on) before the login: raise initial_frame_max in its configuration", n)
		}
	case isClosed(err):
		e.Text = "the server closed the connection"
	}
	return e
}

// longSecret is what fits beside the rest of connection.start-ok into the 4096 bytes that RabbitMQ up to 4.0 takes of it.
const longSecret = 3500

// strangerError recognizes what servers of other protocols say first.
func strangerError(e *ConnectError, got []byte) bool {
	switch {
	case bytes.HasPrefix(got, []byte("HTTP/")):
		e.Text, e.Hint = "the answer is HTTP", hintHTTP
	case len(got) >= 2 && (got[0] == 0x15 || got[0] == 0x16) && got[1] == 3: // a TLS alert or handshake record
		e.Text, e.Hint = "the answer is a TLS record", hintTLSPort
	case len(got) >= 8 && bytes.HasPrefix(got, wire.ProtocolHeader[:4]):
		e.Text = fmt.Sprintf("the server does not speak AMQP 0-9-1; it offers protocol %d, version %d.%d.%d", got[4], got[5], got[6], got[7])
	default:
		return false
	}
	return true
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// innermost is the text of the last cause: the wrappings repeat addresses that are said already.
func innermost(err error) string {
	var op *net.OpError
	for errors.As(err, &op) {
		err = op.Err
	}
	var sys *os.SyscallError
	if errors.As(err, &sys) {
		err = sys.Err
	}
	return err.Error()
}
