package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leveret/cmd/internal/suite"
)

// Setting up and removing end their connections to the management API: there are two of them for each run.
func TestSuiteKeepsNoConnectionOfTheAPI(t *testing.T) {
	var open, asked atomic.Int64
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	api.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	api.Start()
	defer api.Close()
	s, err := suite.Read("a.yaml", []byte("tables: [{rows: [{}], columns: [{figure: sent}], setup: {policies: [{name: p, pattern: q, definition: {max-length: 1}}]}}]"))
	if err != nil {
		t.Fatal(err)
	}
	uris := func(uri string) map[string]string { return map[string]string{s.Targets[0].Name: uri} }
	c := &suiteRun{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}, suite: s, aims: aims{s, uris("amqp://127.0.0.1:1"), uris(api.URL)}}
	setup := &s.Tables[0].Setup
	if err := c.prepare(t.Context(), s.Targets[0].Name, setup); err != nil {
		t.Fatal(err)
	}
	if err := c.remove(s.Targets[0].Name, setup); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); open.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are still open after %d requests", open.Load(), asked.Load())
		}
	}
	if asked.Load() != 3 {
		t.Errorf("%d requests", asked.Load())
	}
}
