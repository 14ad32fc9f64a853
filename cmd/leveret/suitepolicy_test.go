package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"leveret/cmd/internal/suite"
	"leveret/loadcore/management"
)

// A policy is set only where the API says that there is none: whatever else it answers, one may be there, and it is somebody's. One that
// was asked for may be there although the answer was an error, and is then to be removed.
func TestPolicyIsSetOnlyWhereThereIsNone(t *testing.T) {
	for _, c := range []struct {
		look, put  int // statuses answered
		puts       int
		begun, set bool
	}{
		{look: 404, put: 201, puts: 1, begun: true, set: true},
		{look: 404, put: 400, puts: 1, begun: true},
		{look: 200, put: 204},
		{look: 401, put: 204},
		{look: 400, put: 204},
	} {
		puts := 0
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				puts++
				w.WriteHeader(c.put)
				return
			}
			w.WriteHeader(c.look)
		}))
		target, err := management.ParseURI(api.URL)
		if err != nil {
			t.Fatal(err)
		}
		client := management.NewClient(target, nil)
		begun, err := putPolicy(t.Context(), client, "/", &suite.Policy{Name: "p", Pattern: ".*", Definition: map[string]any{"ha-mode": "all"}})
		if begun != c.begun || (err == nil) != c.set || puts != c.puts {
			t.Errorf("look %d, put %d: begun %v, %v, %d set", c.look, c.put, begun, err, puts)
		}
		client.Close()
		api.Close()
	}
}
