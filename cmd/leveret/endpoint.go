package main

import (
	"leveret/cmd/internal/options"
	"leveret/loadcore"
)

// endpointOf reads --uri and the TLS options; the zero endpoint stands for the embedded broker.
func endpointOf(o *options.Run) (loadcore.Endpoint, error) {
	tls := loadcore.TLSOptions{CACert: o.CACert, Cert: o.Cert, Key: o.Key, ServerName: o.ServerName, Insecure: o.Insecure}
	var e loadcore.Endpoint
	if o.URI != "" {
		var err error
		if e, err = loadcore.ParseURI(o.URI); err != nil {
			return e, err
		}
	}
	if err := e.ConfigureTLS(tls); err != nil {
		return e, err
	}
	e.External = e.External || o.SASLExternal
	return e, nil
}

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
