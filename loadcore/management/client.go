package management

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of one question. The largest answers that are asked for are pages of 500 queues, and the bindings of an exchange.
const (
	callTimeout = 5 * time.Second
	mostBytes   = 32 << 20
	mostRefusal = 4 << 10 // of the text that an answer which refuses has
)

// Client asks one API. It keeps one connection open between questions; Close ends it. Safe for concurrent use.
type Client struct {
	target  Target
	http    *http.Client
	timeout time.Duration // of one question
}

// NewClient makes a client; nothing is connected yet. config is for https, nil is the system's authorities.
func NewClient(t Target, config *tls.Config) *Client {
	transport := &http.Transport{
		TLSClientConfig: config, TLSHandshakeTimeout: callTimeout, ResponseHeaderTimeout: callTimeout,
		MaxIdleConnsPerHost: 1, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 2 * time.Minute,
	}
	return &Client{target: t, timeout: callTimeout, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // user and password are for this host
	}}
}

// Close ends the connection that is kept open.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// URI is where the API is, without the password.
func (c *Client) URI() string { return c.target.String() }

// get reads a path below /api, its parts escaped, into answer.
func (c *Client) get(ctx context.Context, path string, query url.Values, answer any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.Do(ctx, http.MethodGet, path, nil, answer)
}

// Do sends a request: path below /api with its parts escaped (url.PathEscape), body and answer as JSON where not nil. It takes at
// most five seconds. Errors are *Error, or that of body.
func (c *Client) Do(ctx context.Context, method, path string, body, answer any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("management API: %s %s: %w", method, path, err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no answer within %v", c.timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.target.base+"/api/"+path, bytes.NewReader(text))
	if err != nil {
		return c.failed(method, path, err)
	}
	if c.target.password != nil {
		request.SetBasicAuth(c.target.User, *c.target.password)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return c.failed(method, path, err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		refusal, _ := io.ReadAll(io.LimitReader(response.Body, mostRefusal))
		return c.refused(method, path, response, refusal)
	}
	got, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return c.failed(method, path, context.Cause(ctx))
	case err != nil:
		return c.failed(method, path, err)
	case len(got) > mostBytes:
		return c.failed(method, path, fmt.Errorf("the answer has more than %d MiB", mostBytes>>20))
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(got, answer); err != nil {
		e := c.failed(method, path, fmt.Errorf("the answer is not what the API gives: %w", err))
		e.Hint = "is it the management API of RabbitMQ that answers there?"
		return e
	}
	return nil
}

// Error is a question that was not answered as it should be. It holds no password.
type Error struct {
	URI      string // of the API
	Question string // "GET nodes"
	Status   int    // of HTTP; 0: there was no answer
	Text     string
	Hint     string // what to do
	Err      error  // nil where the API refused
}

func (e *Error) Error() string {
	text := fmt.Sprintf("management API at %s: %s: %s", e.URI, e.Question, e.Text)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// question is a request without its query, which is long and says nothing to a person.
func question(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	return method + " " + path
}

func (c *Client) failed(method, path string, err error) *Error {
	var of *url.Error // repeats the whole URL
	if errors.As(err, &of) {
		err = of.Err
	}
	e := &Error{URI: c.target.String(), Question: question(method, path), Text: err.Error(), Err: err}
	e.Hint = remedy(err)
	return e
}

func (c *Client) refused(method, path string, response *http.Response, text []byte) *Error {
	e := &Error{URI: c.target.String(), Question: question(method, path), Status: response.StatusCode, Text: response.Status}
	var said struct{ Error, Reason string }
	if json.Unmarshal(text, &said) == nil && said.Reason != "" {
		e.Text += " (" + inLine(said.Reason) + ")"
	}
	switch response.StatusCode {
	case http.StatusBadRequest:
		if strings.Contains(string(text), "HTTPS") {
			e.Hint = "TLS is spoken there: write https://"
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Hint = "user and password go into --management-uri, http://USER:PASSWORD@HOST:15672; the user needs the tag monitoring (rabbitmqctl set_user_tags USER monitoring)"
	case http.StatusNotFound:
		e.Hint = "is it the management API of RabbitMQ that answers there, and is this the virtual host's broker?"
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		e.Hint = "it leads elsewhere: give the address that it leads to"
	}
	return e
}
