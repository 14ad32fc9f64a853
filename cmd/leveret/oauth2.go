package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"leveret/cmd/internal/options"
	"leveret/loadcore"
)

// tokensOf makes the source of passwords that expire, nil where the options name none. As in PerfTest the token is the
// password, and the user name is empty: the broker takes it from the token. secured is how the token endpoint's certificate is
// checked.
func tokensOf(o *options.OAuth2, secured *tls.Config) (*loadcore.Tokens, error) {
	if o.TokenEndpoint == "" {
		if o.ClientID != "" || o.ClientSecret != "" || len(o.Parameters) > 0 {
			return nil, errors.New("--oauth2-client-id, --oauth2-client-secret and --oauth2-parameters need --oauth2-token-endpoint")
		}
		return nil, nil
	}
	u, err := url.Parse(o.TokenEndpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("--oauth2-token-endpoint: want an http:// or https:// URL")
	}
	if u.User != nil {
		return nil, errors.New("--oauth2-token-endpoint: the URL holds a user: the client is given by --oauth2-client-id and --oauth2-client-secret")
	}
	if o.ClientID == "" || o.ClientSecret == "" {
		return nil, errors.New("--oauth2-token-endpoint needs --oauth2-client-id and --oauth2-client-secret")
	}
	config := &clientcredentials.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, TokenURL: o.TokenEndpoint,
		EndpointParams: url.Values{},
		// Some servers take the client's secret in the header only, some in the body only.
		AuthStyle: oauth2.AuthStyleAutoDetect,
	}
	if o.GrantType != "" {
		config.EndpointParams.Set("grant_type", o.GrantType)
	}
	for _, p := range o.Parameters {
		key, value, _ := strings.Cut(p, "=")
		config.EndpointParams.Add(key, value)
	}
	return loadcore.NewTokens(fetchWith(config, secured)), nil
}

// tokenTLS trusts what the system trusts, and --cacert besides: whoever gives tokens need not be certified as the broker is.
// As in PerfTest, perf-test trusts everybody unless it is told otherwise.
func (r *recording) tokenTLS() (*tls.Config, error) {
	o := r.options
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	c.InsecureSkipVerify = o.Insecure || r.perfTest && o.CACert == "" && !r.given("use-default-ssl-context")
	if c.InsecureSkipVerify && strings.HasPrefix(strings.ToLower(o.OAuth2.TokenEndpoint), "https:") {
		r.connecting = append(r.connecting, "the certificate of --oauth2-token-endpoint is not verified")
	}
	if o.CACert == "" || o.OAuth2.TokenEndpoint == "" {
		return c, nil
	}
	text, err := os.ReadFile(o.CACert)
	if err != nil {
		return nil, fmt.Errorf("--cacert: %w", err)
	}
	if c.RootCAs, err = x509.SystemCertPool(); err != nil {
		c.RootCAs = x509.NewCertPool() // a system without
	}
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--cacert: %s holds no PEM certificate", o.CACert)
	}
	return c, nil
}

// fetchWith asks the token endpoint. The answer to a POST with the client's secret is never a redirection that would be
// followed.
func fetchWith(config *clientcredentials.Config, secured *tls.Config) func(context.Context) (loadcore.Token, error) {
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: secured, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context) (loadcore.Token, error) {
		t, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		if err != nil {
			return loadcore.Token{}, tokenError(config, err)
		}
		return loadcore.Token{Secret: t.AccessToken, Expires: t.Expiry}, nil
	}
}

// tokenError is one line that holds nothing of the request, and of the answer only what OAuth2 calls an error.
func tokenError(config *clientcredentials.Config, err error) error {
	const what = "OAuth2: no token from"
	endpoint := "the token endpoint"
	if u, err := url.Parse(config.TokenURL); err == nil { // its query may be a secret
		endpoint = u.Scheme + "://" + u.Host + u.Path
	}
	var refused *oauth2.RetrieveError
	var unreachable *url.Error
	switch {
	case errors.As(err, &refused):
		text := refused.Response.Status
		if refused.ErrorCode != "" {
			text += ", " + withoutSecrets(config, refused.ErrorCode+" "+refused.ErrorDescription)
		}
		return fmt.Errorf("%s %s: %s; check --oauth2-client-id, --oauth2-client-secret, --oauth2-grant-type and --oauth2-parameters", what, endpoint, text)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s %s: no answer in time", what, endpoint)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s %s: interrupted", what, endpoint)
	case errors.As(err, &unreachable):
		return fmt.Errorf("%s %s: %s", what, endpoint, withoutSecrets(config, unreachable.Err.Error()))
	}
	return fmt.Errorf("%s %s: its answer is not one of OAuth2: want JSON with access_token", what, endpoint)
}

// withoutSecrets is a server's text, in case that it repeats what it was sent.
func withoutSecrets(config *clientcredentials.Config, text string) string {
	const most = 200
	text = strings.Join(strings.Fields(text), " ")
	secrets := []string{config.ClientSecret}
	for _, values := range config.EndpointParams {
		secrets = append(secrets, values...)
	}
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "(hidden)")
		}
	}
	return text[:min(len(text), most)]
}

// renewal keeps the token of a run fresh, and remembers what went wrong, for the notes of the capture.
type renewal struct {
	tokens *loadcore.Tokens
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex // guards the following
	problems []string
}

// logInWithTokens has all connections of the run log in with tokens.
func (r *recording) logInWithTokens(ctx context.Context) (*renewal, error) {
	for i := range r.endpoints {
		r.endpoints[i].User = ""
		r.endpoints[i].SetTokens(r.tokens)
	}
	var err error
	r.renewal, err = beginRenewal(ctx, r.tokens)
	return r.renewal, err
}

// beginRenewal gets the first token, and has the following ones follow until end is called.
func beginRenewal(ctx context.Context, tokens *loadcore.Tokens) (*renewal, error) {
	if err := tokens.Renew(ctx); err != nil {
		return nil, err
	}
	n := &renewal{tokens: tokens}
	// An interrupted run still drains and closes.
	ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.done.Go(func() { tokens.Keep(ctx, n.report) })
	return n, nil
}

// mostProblems bounds what is remembered of a token endpoint that fails for hours.
const mostProblems = 20

func (n *renewal) report(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := time.Now().Format(time.TimeOnly)
	switch {
	case len(n.problems) >= mostProblems:
	case err == nil:
		n.problems = append(n.problems, at+" the token is renewed again")
	default:
		left := time.Until(n.tokens.Expires()).Round(time.Second)
		n.problems = append(n.problems, fmt.Sprintf("%s the token was not renewed (it expires in %v): %v", at, left, err))
	}
}

// notes are what reports shall repeat; n may be nil, where there are no tokens.
func (n *renewal) notes() []string {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	notes := slices.Clone(n.problems)
	if n.tokens.Expires().IsZero() {
		notes = append(notes, "the token endpoint gave no expires_in: the token was not renewed")
	}
	return notes
}

func (n *renewal) end() {
	n.stop()
	n.done.Wait()
}
