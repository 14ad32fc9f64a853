package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"leveret/cmd/internal/options"
	"leveret/loadcore"
)

// endpointsOf reads the URIs and the TLS options; no endpoint stands for the embedded broker. The first URI gives everything
// but host and port, which are each URI's own, as in PerfTest; notes say what of the others does not count.
func endpointsOf(o *options.Run, given func(option string) bool) (eps []loadcore.Endpoint, notes []string, err error) {
	uris, option := o.URIs, "--uris: "
	if len(uris) == 0 && o.URI != "" {
		uris, option = []string{o.URI}, ""
	}
	var first loadcore.Endpoint
	for i, uri := range uris {
		e, err := loadcore.ParseURI(uri)
		if err != nil && len(uris) > 1 {
			err = fmt.Errorf("%sURI %d of %d: %w", option, i+1, len(uris), err)
		}
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			first, err = secured(e, o, given)
			e = first
		} else {
			if what := unlike(&first, &e, uri); what != "" {
				notes = append(notes, fmt.Sprintf("--uris: only host and port of %s count; its %s is the first URI's", e.Address(), what))
			}
			e, err = first.At(e.Host, e.Port)
		}
		if err != nil {
			return nil, nil, err
		}
		eps = append(eps, e)
	}
	if len(uris) == 0 {
		_, err = secured(loadcore.Endpoint{}, o, given)
	}
	return eps, notes, err
}

// secured lays the options of TLS and login over those of the URI.
func secured(e loadcore.Endpoint, o *options.Run, given func(option string) bool) (loadcore.Endpoint, error) {
	tls := loadcore.TLSOptions{CACert: o.CACert, Cert: o.Cert, Key: o.Key, ServerName: o.ServerName, Insecure: o.Insecure}
	if e.TLS == nil && !given("insecure") {
		tls.Insecure = false // a default, and there is no certificate
	}
	if e.TLS == nil && o.OAuth2.TokenEndpoint != "" {
		tls.Insecure, tls.CACert = false, "" // they are for the token endpoint
	}
	if e.TLS == nil && managedByTLS(o) {
		tls.Insecure, tls.CACert, tls.Cert, tls.Key = false, "", "", "" // they are for the management API
	}
	if err := e.ConfigureTLS(tls); err != nil {
		return e, err
	}
	e.External = e.External || o.SASLExternal
	if e.External && o.OAuth2.TokenEndpoint != "" {
		return e, errors.New("--sasl-external and --oauth2-token-endpoint contradict each other: give one of them")
	}
	return e, nil
}

// unlike says what a further URI gives, and the first gives otherwise.
func unlike(first, other *loadcore.Endpoint, uri string) string {
	_, rest, _ := strings.Cut(uri, "://")
	_, path, _ := strings.Cut(rest, "/")
	switch {
	case (first.TLS == nil) != (other.TLS == nil):
		return "scheme"
	case strings.Contains(rest, "@") && (first.User != other.User || first.Password() != other.Password()):
		return "user or password"
	case path != "" && first.VHost != other.VHost:
		return "vhost"
	}
	return ""
}

// embedded: the run goes through the embedded broker.
func embedded(o *options.Run) bool { return o.URI == "" && len(o.URIs) == 0 }

// redactURI is the URI as it may be shown. One that can't be read may hold a password anywhere, so nothing of it is shown.
func redactURI(uri string) string {
	if uri == "" {
		return ""
	}
	e, err := loadcore.ParseURI(uri)
	if err != nil {
		return "(unreadable URI)"
	}
	return e.String()
}

// passwordInURI is a password in whatever may be meant as a URI: up to the last @ of the word.
var passwordInURI = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"?]*):\S*@`)

// withoutPasswords is a text that may quote a command line, where a URI may stand in any place: forgotten options leave it
// behind another one, or alone.
func withoutPasswords(text string) string { return passwordInURI.ReplaceAllString(text, "$1@") }
