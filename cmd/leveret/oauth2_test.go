package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"leveret/analyze/result"
	"leveret/cmd/internal/options"
	"leveret/loadcore/rabbitmqtest"
)

// issuer is an OAuth2 authorization server on loopback: it gives signed tokens (JWT, RFC 7519) to one client.
type issuer struct {
	key        *rsa.PrivateKey
	id, secret string
	scopes     []string
	life       time.Duration
	server     *httptest.Server

	mu     sync.Mutex // guards the following
	asked  []url.Values
	issued []string
}

func newIssuer(t *testing.T, life time.Duration, scopes ...string) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &issuer{key: key, id: "load test", secret: rand.Text() + "+/=", scopes: scopes, life: life}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

// publicKey is a PEM file of it.
func (s *issuer) publicKey(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&s.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "public.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// ServeHTTP answers as RFC 6749 says, sections 4.4, 5.1 and 5.2.
func (s *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	w.Header().Set("Content-Type", "application/json")
	id, secret, _ := r.BasicAuth()
	// Section 2.3.1: both are form-encoded before.
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	if id != s.id || secret != s.secret {
		w.WriteHeader(http.StatusUnauthorized)
		// A server may repeat what it was sent.
		json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": "no client with secret " + secret + r.PostForm.Get("client_secret")})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r.PostForm)
	token := s.sign(map[string]any{
		"aud": "rabbitmq", "sub": "load", "client_id": "load", "scope": s.scopes,
		"exp": time.Now().Add(s.life + time.Minute).Unix(), "jti": len(s.issued),
	})
	s.issued = append(s.issued, token)
	json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "bearer", "expires_in": int(s.life / time.Second)})
}

func (s *issuer) sign(claims map[string]any) string {
	part := func(v any) string {
		b, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(b)
	}
	text := part(map[string]string{"alg": "RS256", "kid": "k1", "typ": "JWT"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// mustNotShow looks for secrets in texts and in every file of a capture.
func (s *issuer) mustNotShow(t *testing.T, dir string, texts ...string) {
	t.Helper()
	if dir != "" {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
	}
	for _, text := range texts {
		for _, secret := range append(s.issued, s.secret, url.QueryEscape(s.secret)) {
			if strings.Contains(text, secret) {
				t.Errorf("a secret is shown in %.300q", text)
			}
		}
	}
}

// The real plugin checks the tokens; RabbitMQ's log says that it took each new one, on every connection of the run.
func TestOAuth2OverRabbitMQ(t *testing.T) {
	t.Parallel()
	s := newIssuer(t, 4*time.Second, "rabbitmq.configure:*/*", "rabbitmq.write:*/*", "rabbitmq.read:*/*")
	node := rabbitmqtest.Start(t, rabbitmqtest.Options{Plugins: []string{"rabbitmq_auth_backend_oauth2"}, Config: fmt.Sprintf(`
auth_backends.1 = rabbit_auth_backend_oauth2
auth_backends.2 = rabbit_auth_backend_internal
auth_oauth2.resource_server_id = rabbitmq
auth_oauth2.default_key = k1
auth_oauth2.signing_keys.k1 = %s
`, s.publicKey(t))})
	vhost := node.VHost(t)
	uri := "amqp://" + node.Addr() + "/" + url.PathEscape(vhost)
	dir := filepath.Join(t.TempDir(), "capture")
	code, stdout, stderr := invoke(t, "run", "--quiet", "--format", "json", "--capture", dir, "--uri", uri, "--queue", "q",
		"--rate", "100", "--confirm", "100", "--time", "6", "--oauth2-token-endpoint", s.server.URL, "--oauth2-client-id", s.id,
		"--oauth2-client-secret", s.secret, "--oauth2-parameters", "audience=rabbitmq")
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != exitOK || r.Verdict != result.Pass || r.Counts.Sent < 500 {
		t.Fatalf("exit %d, %v, %s, %+v\n%s", code, err, r.Verdict, r.Counts, stderr)
	}
	if len(s.asked) < 2 || s.asked[0].Get("grant_type") != "client_credentials" || s.asked[0].Get("audience") != "rabbitmq" {
		t.Errorf("asked for %v", s.asked)
	}
	// The first renewal comes after 4/5 of 4 s. Three connections are open: the producer's, the consumer's, the one that declared.
	log := node.Log(t)
	if n := strings.Count(log, "updated secret, reason: the token was renewed"); n != 3*(len(s.issued)-1) {
		t.Errorf("%d secrets updated, %d tokens issued, three connections", n, len(s.issued))
	}
	s.mustNotShow(t, dir, stdout, stderr, log)

	t.Run("a token that the broker does not take", func(t *testing.T) {
		other := newIssuer(t, time.Minute)
		code, stdout, stderr := invoke(t, "run", "--uri", uri, "--time", "1", "--oauth2-token-endpoint", other.server.URL,
			"--oauth2-client-id", other.id, "--oauth2-client-secret", other.secret)
		if code != exitFailed || !strings.Contains(stderr, "ACCESS_REFUSED") || !strings.Contains(stderr, "did not accept the token") {
			t.Errorf("exit %d\n%s", code, stderr)
		}
		other.mustNotShow(t, "", stdout, stderr)
	})
}

func TestOAuth2Errors(t *testing.T) {
	s := newIssuer(t, time.Minute)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	t.Cleanup(plain.Close)
	elsewhere := httptest.NewServer(http.RedirectHandler(s.server.URL, http.StatusTemporaryRedirect))
	t.Cleanup(elsewhere.Close)
	for _, c := range []struct {
		name, endpoint, secret string
		want                   []string
	}{
		{"wrong secret", s.server.URL + "/token?key=hush", "wrong-" + s.secret, []string{"401 Unauthorized", "invalid_client", s.server.URL + "/token:", "--oauth2-client-secret"}},
		{"nobody there", "http://127.0.0.1:1/token", s.secret, []string{"http://127.0.0.1:1/token", "connection refused"}},
		{"no OAuth2", plain.URL, s.secret, []string{plain.URL, "access_token"}},
		{"sent elsewhere", elsewhere.URL, s.secret, []string{"307"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens, err := tokensOf(&options.OAuth2{TokenEndpoint: c.endpoint, ClientID: s.id, ClientSecret: c.secret, Parameters: []string{"password=hush"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err = tokens.Renew(ctx)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), c.secret) || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q: shows a secret, or is more than a line", err)
			}
		})
	}
	if len(s.issued) > 0 {
		t.Error("a redirection was followed")
	}
	for _, c := range []struct {
		o    options.OAuth2
		want string
	}{
		{options.OAuth2{ClientID: "x"}, "--oauth2-token-endpoint"},
		{options.OAuth2{TokenEndpoint: "http://h/"}, "needs --oauth2-client-id and --oauth2-client-secret"},
		{options.OAuth2{TokenEndpoint: "http://u:hush@h/", ClientID: "x", ClientSecret: "y"}, "the URL holds a user"},
		{options.OAuth2{TokenEndpoint: "h:1", ClientID: "x", ClientSecret: "y"}, "http://"},
	} {
		if _, err := tokensOf(&c.o, nil); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Whose certificate is taken for the token endpoint's: run's verifies, perf-test's does not unless it is told to.
func TestTokenEndpointOverTLS(t *testing.T) {
	s := newIssuer(t, time.Minute)
	secured := httptest.NewTLSServer(s)
	t.Cleanup(secured.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secured.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		perfTest bool
		given    string
		o        options.Run
		err      string
		notes    int
	}{
		{"run", false, "", options.Run{}, "certificate", 0},
		{"run, its authority given", false, "", options.Run{CACert: ca}, "", 0},
		{"run, not verified", false, "", options.Run{Insecure: true}, "", 1},
		{"perf-test", true, "", options.Run{}, "", 1},
		{"perf-test with the default context", true, "use-default-ssl-context", options.Run{}, "certificate", 0},
		{"perf-test with an authority", true, "", options.Run{CACert: ca}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.OAuth2 = options.OAuth2{TokenEndpoint: secured.URL, ClientID: s.id, ClientSecret: s.secret}
			r := &recording{options: &c.o, perfTest: c.perfTest, given: func(name string) bool { return name == c.given }}
			config, err := r.tokenTLS()
			if err != nil {
				t.Fatal(err)
			}
			tokens, err := tokensOf(&c.o.OAuth2, config)
			if err != nil {
				t.Fatal(err)
			}
			if err = tokens.Renew(t.Context()); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if len(r.connecting) != c.notes {
				t.Errorf("notes %q", r.connecting)
			}
		})
	}
}
